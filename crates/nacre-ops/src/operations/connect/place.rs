//! Where a file of an agent really lies, and whether it may be written.
//!
//! A link is followed, since people keep their settings in a repository of their own, but only to a place inside the home
//! (or the folder that a variable of the person names). The link itself stays; the file behind it is written.

use std::fs;
use std::path::{Path, PathBuf};

use nacre_api::wire::ErrorCode;
use nacre_core::safefs::{Access, RelPath, WriteScope};

use crate::error::OpError;

/// Larger files are not settings.
const MAX_BYTES: u64 = 16 << 20;

/// A file, by the deepest folder on its way that exists and what is missing below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AgentFile {
    folder: PathBuf,
    rel: RelPath,
}

impl AgentFile {
    /// Finds the place of `path`, which must lie below one of `roots` once all links are followed.
    pub(super) fn find(path: &Path, roots: &[PathBuf]) -> Result<Self, OpError> {
        let is_link = |path: &Path| fs::symlink_metadata(path).is_ok_and(|at| at.is_symlink());
        let real = match fs::canonicalize(path) {
            Ok(real) => real,
            Err(_) if is_link(path) => {
                return Err(refused(path, "It is a link that leads nowhere"));
            }
            Err(_) => path.to_owned(),
        };
        let above = real.ancestors().skip(1).find(|folder| fs::symlink_metadata(folder).is_ok());
        let above = above.unwrap_or(Path::new("/"));
        let rest = real.strip_prefix(above).unwrap_or(&real).to_owned();
        let folder = fs::canonicalize(above)
            .map_err(|_| refused(path, "A folder on its way is a link that leads nowhere"))?;
        let real = folder.join(&rest);
        if !roots.iter().any(|root| real.starts_with(root)) {
            return Err(refused(path, "It is a link that leads out of the home folder"));
        }
        let rest = rest.to_str().ok_or_else(|| refused(path, "Its path is not valid UTF-8"))?;
        Ok(Self { rel: RelPath::new(rest)?, folder })
    }

    pub(super) fn path(&self) -> PathBuf {
        self.folder.join(self.rel.as_str())
    }

    /// The folders that are made with the file, outermost first.
    pub(super) fn missing_folders(&self) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        let mut next = self.rel.parent();
        while let Some(folder) = next {
            folders.push(self.folder.join(folder.as_str()));
            next = folder.parent();
        }
        folders.reverse();
        folders
    }

    /// Its text; `None` where there is no file.
    pub(super) fn read(&self) -> Result<Option<String>, OpError> {
        let scope = self.scope()?;
        let Some(bytes) = scope.read_optional(&self.rel, MAX_BYTES)? else { return Ok(None) };
        let invalid = |_| invalid(&self.path(), "It is not valid UTF-8");
        String::from_utf8(bytes).map(Some).map_err(invalid)
    }

    /// Refuses a file that a person made read-only.
    pub(super) fn check_writable(&self) -> Result<(), OpError> {
        let path = self.path();
        match fs::metadata(&path) {
            Ok(file) if file.permissions().readonly() => Err(refused(&path, "It is read-only")
                .hint(format!("Allow writing and try again: chmod u+w {}", path.display()))),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// The folder that may be written.
    pub(super) fn scope(&self) -> Result<WriteScope, OpError> {
        Ok(WriteScope::open(&self.folder, Access::Private)?)
    }

    pub(super) fn rel(&self) -> &RelPath {
        &self.rel
    }
}

pub(super) fn refused(path: &Path, why: &str) -> OpError {
    let error = OpError::failed(format!("Cannot change `{}`", path.display()));
    OpError { code: ErrorCode::Refused, causes: vec![why.to_owned()], ..error }
}

pub(super) fn invalid(path: &Path, why: &str) -> OpError {
    OpError { code: ErrorCode::Invalid, ..refused(path, why) }
        .hint("The file was left as it is. Put it right and try again")
}
