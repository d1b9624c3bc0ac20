//! Which key proves that a journaled change was begun by this person.

use std::path::{Path, PathBuf};

/// Where the key lies that proves who began a change. It is made when it is first needed.
#[derive(Clone, Debug)]
pub struct Seal {
    folder: PathBuf,
}

impl Seal {
    /// A key in `folder`, which must be the person's own: no repository may bring it.
    pub fn kept_in(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }
}
