//! Where the map keeps what it knows: in the clear, or sealed with a key that is this person's own.

use std::path::Path;

use nacre_core::config::AtRest;
use nacre_core::platform::ext::MetadataExt as _;
use nacre_core::safefs::{Access, FsError, RelPath, WriteScope};
use nacre_map::artifact::{Cache, Seal};
use nacre_map::indexer::CacheWrites;

use super::Host;
use crate::error::OpError;

/// Where artifacts lie below the folder of global data, in the clear and sealed.
const PLAIN_FOLDER: &str = "cache/codemap";
const SEALED_FOLDER: &str = "cache/codemap-sealed";

/// The key, beside them all.
const KEY_FILE: &str = "map.key";

type Key = [u8; Seal::KEY_BYTES];

/// More is no key.
const MAX_KEY_BYTES: u64 = 1 << 10;

/// What a group or everybody may do with a file.
const MODE_OF_OTHERS: u32 = 0o077;

/// The cache of the map, as the settings want it kept, and whether anything is. Where nothing is, nothing is made or removed.
pub fn map_cache(
    host: &Host,
    command: &str,
    keeping: CacheWrites,
) -> Result<(Cache, CacheWrites), OpError> {
    let at_rest = host.settings().map.at_rest;
    if keeping == CacheWrites::On {
        settle(host, command, at_rest)?;
    }
    match at_rest {
        AtRest::Plain => Ok((in_folder(host, command, PLAIN_FOLDER)?, keeping)),
        AtRest::Encrypted => {
            let (key, keeping) = key(host, keeping)?;
            let cache = in_folder(host, command, SEALED_FOLDER)?;
            Ok((cache.sealed(Seal::new(&key)), keeping))
        }
    }
}

/// Removes what is kept in another way than it should be.
pub fn settle(host: &Host, command: &str, at_rest: AtRest) -> Result<(), OpError> {
    let plain = in_folder(host, command, PLAIN_FOLDER)?;
    match at_rest {
        AtRest::Encrypted => plain.retire()?,
        AtRest::Plain => {
            // What stays for now tells nobody anything, and is removed by the next command.
            let _ = plain.reopen();
            let _ = in_folder(host, command, SEALED_FOLDER)?.clear();
        }
    }
    Ok(())
}

fn in_folder(host: &Host, command: &str, name: &str) -> Result<Cache, OpError> {
    Ok(Cache::new(host.home()?.join(name), host.owner(command)))
}

/// The key; the first who asks makes it. Where it cannot be kept, nothing that is sealed with it is worth keeping.
fn key(host: &Host, keeping: CacheWrites) -> Result<(Key, CacheWrites), OpError> {
    if let Some(key) = known_key(host.home()?)? {
        return Ok((key, keeping));
    }
    let mut key: Key = [0; Seal::KEY_BYTES];
    (host.environment.random)(&mut key).map_err(|error| OpError {
        causes: vec![error.to_string()],
        ..OpError::failed("Cannot draw a key for the map")
    })?;
    if keeping == CacheWrites::Off {
        return Ok((key, keeping));
    }
    let Ok(home) = host.home_scope() else { return Ok((key, CacheWrites::Off)) };
    match home.create_file(&RelPath::new(KEY_FILE)?, &key) {
        Ok(()) => Ok((key, keeping)),
        // Another process was faster.
        Err(FsError::Conflict { .. }) => {
            let theirs = read(&home)?;
            Ok(theirs.map_or((key, CacheWrites::Off), |key| (key, keeping)))
        }
        Err(_) => Ok((key, CacheWrites::Off)),
    }
}

/// The key, where there is one.
fn known_key(home: &Path) -> Result<Option<Key>, OpError> {
    match WriteScope::open(home, Access::Private) {
        Ok(home) => read(&home),
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn read(home: &WriteScope) -> Result<Option<Key>, OpError> {
    let path = RelPath::new(KEY_FILE)?;
    let file = home.full(&path);
    let hint = format!("Remove it; the map is made again: `rm {}`", file.display());
    let bytes = match home.read_optional(&path, MAX_KEY_BYTES) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(None),
        Err(error) => return Err(OpError { hints: vec![hint], ..error.into() }),
    };
    let is_open =
        file.symlink_metadata().is_ok_and(|metadata| metadata.mode() & MODE_OF_OTHERS != 0);
    if is_open {
        let message = format!("`{}` is not for its owner alone", file.display());
        return Err(OpError::failed(message).hint(hint));
    }
    let key = bytes
        .try_into()
        .map_err(|_| OpError::failed(format!("`{}` is no key", file.display())).hint(hint))?;
    Ok(Some(key))
}
