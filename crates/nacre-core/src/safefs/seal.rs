//! Which key proves that a journaled change was begun, or a file marked, by this person.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

pub(super) const KEY_BYTES: usize = 32;

pub(super) type Key = [u8; KEY_BYTES];

/// Where the key lies that proves who began a change. It is made when it is first needed.
#[derive(Clone)]
pub struct Seal {
    folder: PathBuf,
    /// As it was read first.
    known: Arc<OnceLock<Key>>,
}

impl Seal {
    /// A key in `folder`, which must be the person's own: no repository may bring it.
    pub fn kept_in(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), known: Arc::default() }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn known(&self) -> &OnceLock<Key> {
        &self.known
    }
}

impl std::fmt::Debug for Seal {
    /// Without the key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seal").field("folder", &self.folder).finish_non_exhaustive()
    }
}
