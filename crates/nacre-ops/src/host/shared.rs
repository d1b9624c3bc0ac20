//! What the calls of one process share, so that the second is quicker than the first.
//!
//! A command has one call. A server has many a second: it opens the model once, keeps the indexes that it read, and looks at every
//! file of a store once a second at most. In between it looks at the folders: what came or went is found, and so is what Nacre
//! itself changed, for that replaces files; words that a person edited in place are found a second later.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nacre_core::search::KeptSnapshots;

use super::embedding::LocalModel;

/// How long a whole look at a store holds.
const LOOK_HOLDS: Duration = Duration::from_secs(1);

/// Shared by all calls that are opened with it.
#[derive(Clone, Debug, Default)]
pub struct Shared {
    pub(super) model: Arc<LocalModel>,
    /// When each store was last looked at whole; nothing where every call looks.
    looks: Option<Arc<Mutex<BTreeMap<PathBuf, Duration>>>>,
    /// The indexes that were read; nothing where a call reads its own.
    pub(super) snapshots: Option<Arc<KeptSnapshots>>,
}

impl Shared {
    /// For a process that answers many calls.
    pub fn for_server() -> Self {
        Self {
            model: Arc::default(),
            looks: Some(Arc::default()),
            snapshots: Some(Arc::default()),
        }
    }

    /// Whether the store at `path` was looked at whole a moment ago; else that is done now. `now` is the age of the process.
    pub(super) fn is_looked_at(&self, path: &Path, now: Duration) -> bool {
        let Some(looks) = &self.looks else { return false };
        let mut looks = looks.lock().unwrap_or_else(PoisonError::into_inner);
        match looks.get(path) {
            Some(last) if now.saturating_sub(*last) < LOOK_HOLDS => true,
            Some(_) | None => {
                looks.insert(path.to_owned(), now);
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_looks_once_a_second_and_a_command_always() {
        let (store, at) = (Path::new("/a"), Duration::from_millis);
        let shared = Shared::for_server();
        let looked: Vec<bool> =
            [0, 10, 999, 1000, 1500].map(|now| shared.is_looked_at(store, at(now))).into();
        assert_eq!(looked, [false, true, true, false, true]);
        assert!(!shared.is_looked_at(Path::new("/b"), at(1500)));
        assert!(!Shared::default().is_looked_at(store, at(0)));
        assert!(!Shared::default().is_looked_at(store, at(1)));
    }
}
