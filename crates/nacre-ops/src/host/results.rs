//! Files that a person asked for by name: a report, or what was found in a session. No file of anybody else's is written over.

use std::path::{Path, PathBuf};

use nacre_api::wire::ErrorCode;
use nacre_core::safefs::{Access, RelPath, WriteScope};
use serde::Serialize;

use super::Host;
use crate::error::OpError;

/// What is read of a file to see whose it is.
const MAX_BYTES: u64 = 64 << 20;

/// A file to write.
#[derive(Clone, Copy, Debug)]
pub struct ResultFile<'r> {
    pub file: &'r str,
    /// Write also over a file that is not ours.
    pub force: bool,
    /// What other processes see while it writes.
    pub command: &'r str,
}

impl ResultFile<'_> {
    /// Refuses a file that is there and that `is_ours` does not know. To be called before long work is begun.
    pub fn check(&self, host: &Host, is_ours: &dyn Fn(&[u8]) -> bool) -> Result<(), OpError> {
        let (path, _) = self.place(host)?;
        let there = path.symlink_metadata().ok();
        if self.force || there.as_ref().is_none_or(|there| there.len() == 0) {
            return Ok(());
        }
        let is_small = there.is_some_and(|there| there.len() <= MAX_BYTES);
        if is_small && std::fs::read(&path).is_ok_and(|bytes| is_ours(&bytes)) {
            return Ok(());
        }
        let message = format!("`{}` was not written by `nacre {}`", self.file, self.command);
        Err(OpError { code: ErrorCode::Refused, ..OpError::failed(message) }
            .hint("Choose another file, or add --force to write over it"))
    }

    /// Writes it whole.
    pub fn put(&self, host: &Host, bytes: &[u8]) -> Result<(), OpError> {
        let (path, name) = self.place(host)?;
        let folder = path.parent().unwrap_or_else(|| Path::new("/"));
        let scope = WriteScope::open(folder, Access::Shared)?;
        scope.put_output(&RelPath::new(&name)?, bytes, &host.owner(self.command))?;
        Ok(())
    }

    /// Writes a value as JSON.
    pub fn put_json(&self, host: &Host, value: &impl Serialize) -> Result<(), OpError> {
        let mut json = serde_json::to_vec_pretty(value).map_err(std::io::Error::other)?;
        json.push(b'\n');
        self.put(host, &json)
    }

    fn place(&self, host: &Host) -> Result<(PathBuf, String), OpError> {
        let named = host.environment.folder.join(self.file);
        let name = named.file_name().and_then(|name| name.to_str()).map(str::to_owned);
        let folder = named.parent().map(|folder| host.environment.absolute(folder));
        let (Some(name), Some(folder)) = (name, folder.filter(|_| !named.is_dir())) else {
            return Err(OpError::usage(format!("`{}` is not a file name", self.file))
                .hint("Name a file in a folder that is there"));
        };
        let path = folder.join(&name);
        // A device, a pipe or what a link leads to is never replaced, whoever asks for it.
        if path.symlink_metadata().is_ok_and(|there| !there.is_file()) {
            let message = format!("`{}` is not a regular file", self.file);
            return Err(OpError { code: ErrorCode::Refused, ..OpError::failed(message) }
                .hint("Name a new file; links, devices and pipes are not written to"));
        }
        Ok((path, name))
    }
}

/// Whether a file holds a JSON object with these keys, as our results do.
pub fn is_result(bytes: &[u8], keys: &[&str]) -> bool {
    let value = serde_json::from_slice::<serde_json::Value>(bytes);
    value.is_ok_and(|value| keys.iter().all(|key| value.get(key).is_some()))
}
