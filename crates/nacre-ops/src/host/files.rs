//! Reads and changes small text files in stores and in the global directory.

use std::fs::File;
use std::io::{self, Read as _};

use nacre_base::config::AtRest;
use nacre_base::fs::ChangeSet;
use nacre_base::platform::ext::MetadataExt as _;
use nacre_map::artifact::{Cache, Seal};
use nacre_map::indexer::CacheWrites;

use crate::prelude::*;

/// Size limit for configuration files. It only protects against reading a huge file; the limit in
/// `config` is lower.
const MAX_CONFIG_BYTES: u64 = 2 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    /// The previous text, or `None` if the file did not exist.
    pub before: Option<String>,
    pub after: String,
}

impl Host {
    /// Changes a small text file. Returns an error if the user edits the file at the same time.
    ///
    /// The file is read under the scope's lock, because another process may have changed it.
    pub fn edit_text(
        &self,
        scope: &WriteScope,
        name: &str,
        command: &str,
        change: impl FnOnce(&str, &Path) -> Result<String>,
    ) -> Result<TextEdit> {
        let writer = scope.lock(&self.owner(command), self.settings().lock.wait)?;
        let before = read_text_in(scope, name)?;
        let after = change(before.as_deref().unwrap_or_default(), &scope.path().join(name))?;
        let mut set = ChangeSet::new();
        let bytes = after.clone().into_bytes();
        set.put(RelPath::new(name)?, before.as_deref().map(str::as_bytes), bytes);
        writer.commit(set)?;
        Ok(TextEdit { before, after })
    }

    /// Like `edit_text`, but for a file in the global directory.
    pub fn edit_home_text(
        &self,
        name: &str,
        command: &str,
        change: impl FnOnce(&str, &Path) -> Result<String>,
    ) -> Result<TextEdit> {
        self.edit_text(&self.home_scope()?, name, command, change)
    }

    pub(crate) fn home_folder(&self, name: &str) -> Result<WriteScope> {
        Ok(WriteScope::create_inside(self.home_scope()?.path(), name, Access::Private)?)
    }

    /// Like `home_folder`, but returns `None` if the directory does not exist.
    pub(crate) fn existing_home_folder(&self, name: &str) -> Result<Option<WriteScope>> {
        if_there(WriteScope::open_inside(self.home()?, name, Access::Private))
    }
}

/// Converts the error for a missing directory to `None`.
pub(crate) fn if_there(opened: Result<WriteScope, FsError>) -> Result<Option<WriteScope>> {
    match opened {
        Err(error) if error.is_missing() => Ok(None),
        opened => Ok(Some(opened?)),
    }
}

/// Returns the text of a small file, or `None` if the file or its directory does not exist.
pub(crate) fn read_text(folder: &Path, name: &str) -> Result<Option<String>> {
    match if_there(WriteScope::open(folder, Access::Private))? {
        Some(scope) => read_text_in(&scope, name),
        None => Ok(None),
    }
}

pub(crate) fn read_text_in(scope: &WriteScope, name: &str) -> Result<Option<String>> {
    let folder = scope.path();
    let Some(bytes) = scope.read_optional(&RelPath::new(name)?, MAX_CONFIG_BYTES)? else {
        return Ok(None);
    };
    let not_text =
        |_| OpError::failed(format!("`{}` is not valid UTF-8", folder.join(name).display()));
    String::from_utf8(bytes).map(Some).map_err(not_text)
}

const MAX_TEXT: u64 = 1024 * 1024 * 1024;
const PIECE: u64 = 1024 * 1024;

/// Reads a file named by the user. Rejects pipes and devices, because reading them could block
/// forever.
pub fn read_plain(path: &Path) -> io::Result<String> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    read_bounded(path, MAX_TEXT)
}

/// Reads at most `limit` bytes of text. Stops at the first NUL byte, so that a large sparse file is
/// rejected quickly.
fn read_bounded(path: &Path, limit: u64) -> io::Result<String> {
    let odd = |reason: String| io::Error::new(io::ErrorKind::InvalidData, reason);
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    loop {
        let n_before = bytes.len();
        if file.by_ref().take(PIECE).read_to_end(&mut bytes)? == 0 {
            break;
        }
        if bytes[n_before..].contains(&0) {
            return Err(odd("it contains NUL bytes, so it is not text".to_owned()));
        }
        if limit < bytes.len() as u64 {
            return Err(odd(format!("it is larger than {limit} bytes")));
        }
    }
    String::from_utf8(bytes).map_err(|_| odd("it is not valid UTF-8".to_owned()))
}

const PLAIN_FOLDER: &str = "cache/codemap";
const SEALED_FOLDER: &str = "cache/codemap-sealed";

const KEY_FILE: &str = "map.key";

type Key = [u8; Seal::KEY_BYTES];

const MAX_KEY_BYTES: u64 = 1 << 10;

const MODE_OF_OTHERS: u32 = 0o077;

/// Returns the map cache in the configured form, and whether it may be written. If it may not be
/// written, nothing is created or removed.
pub fn map_cache(host: &Host, command: &str, keeping: CacheWrites) -> Result<(Cache, CacheWrites)> {
    let at_rest = host.settings().map.at_rest;
    if keeping == CacheWrites::On {
        settle(host, command, at_rest)?;
    }
    match at_rest {
        AtRest::Plain => Ok((in_folder(host, command, PLAIN_FOLDER)?, keeping)),
        AtRest::Encrypted => {
            let (key, keeping) = key(host, keeping)?;
            let cache = in_folder(host, command, SEALED_FOLDER)?;
            Ok((cache.with_seal(Seal::new(&key)), keeping))
        }
    }
}

/// Removes any cache that is not stored in the form `at_rest`.
pub fn settle(host: &Host, command: &str, at_rest: AtRest) -> Result<()> {
    let plain = in_folder(host, command, PLAIN_FOLDER)?;
    match at_rest {
        AtRest::Encrypted => plain.retire()?,
        AtRest::Plain => {
            // Files that could not be removed are encrypted. The next command tries to remove them
            // again.
            let _ = plain.reopen();
            let _ = in_folder(host, command, SEALED_FOLDER)?.clear();
        }
    }
    Ok(())
}

fn in_folder(host: &Host, command: &str, name: &str) -> Result<Cache> {
    Ok(Cache::new(host.home()?.join(name), host.owner(command)))
}

/// Returns the key, creating it on first use. If the key cannot be stored, nothing encrypted with
/// it may be stored either.
fn key(host: &Host, keeping: CacheWrites) -> Result<(Key, CacheWrites)> {
    if let Some(home) = if_there(WriteScope::open(host.home()?, Access::Private))?
        && let Some(key) = read(&home)?
    {
        return Ok((key, keeping));
    }
    let key: Key = host.environment.random_bytes()?;
    if keeping == CacheWrites::Off {
        return Ok((key, keeping));
    }
    let Ok(home) = host.home_scope() else { return Ok((key, CacheWrites::Off)) };
    match home.create_file(&RelPath::new(KEY_FILE)?, &key) {
        Ok(()) => Ok((key, keeping)),
        Err(FsError::Conflict { .. }) => {
            let theirs = read(&home)?;
            Ok(theirs.map_or((key, CacheWrites::Off), |key| (key, keeping)))
        }
        Err(_) => Ok((key, CacheWrites::Off)),
    }
}

fn read(home: &WriteScope) -> Result<Option<Key>> {
    let path = RelPath::new(KEY_FILE)?;
    let file = home.full(&path);
    let hint = format!("Remove it, and Nacre rebuilds the map: `rm {}`", file.display());
    let bytes = match home.read_optional(&path, MAX_KEY_BYTES) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(None),
        Err(error) => return Err(OpError { hints: vec![hint], ..error.into() }),
    };
    let is_open =
        file.symlink_metadata().is_ok_and(|metadata| metadata.mode() & MODE_OF_OTHERS != 0);
    if is_open {
        let message = format!("Other users can access `{}`", file.display());
        return Err(OpError::failed(message).hint(hint));
    }
    let key = bytes
        .try_into()
        .map_err(|_| OpError::failed(format!("`{}` is not a key", file.display())).hint(hint))?;
    Ok(Some(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test makes its own files")]
    fn a_file_is_read_as_far_as_it_is_a_text_of_a_bounded_length() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("set.jsonl");
        std::fs::write(&path, "é\n").unwrap();
        assert_eq!(read_plain(&path).unwrap(), "é\n");
        assert!(read_bounded(&path, 3).is_ok());
        assert!(read_bounded(&path, 2).unwrap_err().to_string().contains("larger than 2 bytes"));
        // The test must not read a one-terabyte sparse file to its end.
        std::fs::File::options().write(true).open(&path).unwrap().set_len(1 << 40).unwrap();
        assert!(read_plain(&path).unwrap_err().to_string().contains("NUL"));
    }
}
