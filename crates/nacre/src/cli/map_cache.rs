//! Where the map keeps what it knows: in the clear, or sealed with a key that is this person's own.

use std::path::Path;

use nacre_core::config::AtRest;
use nacre_core::safefs::{Access, FsError, RelPath, WriteScope};
use nacre_map::artifact::{Cache, Seal};
use nacre_map::indexer::Keeping;

use super::env;
use super::error::CommandError;
use super::runtime::Runtime;

/// Where artifacts lie below the folder of global data, in the clear and sealed.
const PLAIN_FOLDER: &str = "cache/codemap";
const SEALED_FOLDER: &str = "cache/codemap-sealed";

/// The key, beside them all.
const KEY_FILE: &str = "map.key";

type Key = [u8; Seal::KEY_BYTES];

/// More is no key.
const MAX_KEY_BYTES: u64 = 1 << 10;

/// The cache of the map, as the settings want it kept. Where nothing is to be kept, nothing is made or removed, either.
pub(crate) fn map_cache(
    runtime: &Runtime,
    command: &str,
    keeping: Keeping,
) -> Result<Cache, CommandError> {
    let at_rest = runtime.settings().map.at_rest;
    if keeping == Keeping::Kept {
        settle(runtime, command, at_rest)?;
    }
    match at_rest {
        AtRest::Plain => in_folder(runtime, command, PLAIN_FOLDER),
        AtRest::Encrypted => {
            let key = match keeping {
                Keeping::Kept => kept_key(&runtime.home_scope()?)?,
                Keeping::Dropped => known_key(runtime.home()?)?.map_or_else(drawn_key, Ok)?,
            };
            Ok(in_folder(runtime, command, SEALED_FOLDER)?.sealed(Seal::new(&key)))
        }
    }
}

/// Removes what is kept in another way than it should be.
pub(crate) fn settle(
    runtime: &Runtime,
    command: &str,
    at_rest: AtRest,
) -> Result<(), CommandError> {
    let plain = in_folder(runtime, command, PLAIN_FOLDER)?;
    match at_rest {
        AtRest::Encrypted => plain.retire()?,
        AtRest::Plain => {
            // What stays for now tells nobody anything, and is removed by the next command.
            let _ = plain.reopen();
            let _ = in_folder(runtime, command, SEALED_FOLDER)?.clear();
        }
    }
    Ok(())
}

fn in_folder(runtime: &Runtime, command: &str, name: &str) -> Result<Cache, CommandError> {
    Ok(Cache::new(runtime.home()?.join(name), runtime.owner(command)))
}

/// The key; the first who asks makes it.
fn kept_key(home: &WriteScope) -> Result<Key, CommandError> {
    let path = RelPath::new(KEY_FILE)?;
    if let Some(key) = read(home, &path)? {
        return Ok(key);
    }
    let key = drawn_key()?;
    match home.create_file(&path, &key) {
        Ok(()) => Ok(key),
        // Another process was faster.
        Err(error @ FsError::Conflict { .. }) => read(home, &path)?.ok_or_else(|| error.into()),
        Err(error) => Err(error.into()),
    }
}

/// The key, where there is one.
fn known_key(home: &Path) -> Result<Option<Key>, CommandError> {
    match WriteScope::open(home, Access::Private) {
        Ok(home) => read(&home, &RelPath::new(KEY_FILE)?),
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn drawn_key() -> Result<Key, CommandError> {
    env::random().map_err(|error| CommandError {
        causes: vec![error.to_string()],
        ..CommandError::failed("Cannot draw a key for the map")
    })
}

fn read(home: &WriteScope, path: &RelPath) -> Result<Option<Key>, CommandError> {
    let Some(bytes) = home.read_optional(path, MAX_KEY_BYTES)? else { return Ok(None) };
    let key = bytes.try_into().map_err(|_| {
        let file = home.full(path);
        CommandError::failed(format!("`{}` is no key", file.display()))
            .hint(format!("Remove it; the map is made again: `rm {}`", file.display()))
    })?;
    Ok(Some(key))
}
