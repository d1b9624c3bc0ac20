//! Small texts of ours: settings, registers, lists. Read with a bound, changed under a lock.

use std::path::Path;

use nacre_core::safefs::{Access, ChangeSet, RelPath, WriteScope};

use super::Host;
use crate::error::OpError;

/// Larger configuration files are refused by the `config` room; this bounds the read.
const MAX_CONFIG_BYTES: u64 = 2 << 20;

/// A text before and after a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    /// `None` where there was no file.
    pub before: Option<String>,
    pub after: String,
}

impl Host {
    /// Changes a small text of ours under the scope's lock; a person's edit meanwhile is a conflict.
    ///
    /// The text is read under the lock, for another process may have changed it since we started.
    pub fn edit_text(
        &self,
        scope: &WriteScope,
        name: &str,
        command: &str,
        change: impl FnOnce(&str, &Path) -> Result<String, OpError>,
    ) -> Result<TextEdit, OpError> {
        let writer = scope.lock(&self.owner(command), self.settings().lock.wait)?;
        let before = read_text_in(scope, name)?;
        let after = change(before.as_deref().unwrap_or_default(), &scope.path().join(name))?;
        let mut set = ChangeSet::new();
        let bytes = after.clone().into_bytes();
        set.put(RelPath::new(name)?, before.as_deref().map(str::as_bytes), bytes);
        writer.commit(set)?;
        Ok(TextEdit { before, after })
    }

    /// Changes a small text of the global folder in the same way.
    pub fn edit_home_text(
        &self,
        name: &str,
        command: &str,
        change: impl FnOnce(&str, &Path) -> Result<String, OpError>,
    ) -> Result<TextEdit, OpError> {
        self.edit_text(&self.home_scope()?, name, command, change)
    }
}

/// Reads a small text of ours; `None` when the file or its folder is not there.
pub(crate) fn read_text(folder: &Path, name: &str) -> Result<Option<String>, OpError> {
    let scope = match WriteScope::open(folder, Access::Private) {
        Err(error) if error.is_missing() => return Ok(None),
        scope => scope?,
    };
    read_text_in(&scope, name)
}

/// Reads a small text inside a scope; `None` when it is not there.
pub(crate) fn read_text_in(scope: &WriteScope, name: &str) -> Result<Option<String>, OpError> {
    let folder = scope.path();
    let Some(bytes) = scope.read_optional(&RelPath::new(name)?, MAX_CONFIG_BYTES)? else {
        return Ok(None);
    };
    let not_text =
        |_| OpError::failed(format!("`{}` is not valid UTF-8", folder.join(name).display()));
    String::from_utf8(bytes).map(Some).map_err(not_text)
}
