//! Finds where a store's index is stored on disk.
//!
//! An index's content is trusted, so it is stored in the user's own data directory, where clones
//! and archives cannot place files.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::{IndexPlace, Store};
use nacre_base::ContentHash;
use nacre_base::fs::{Access, FolderEntry, FsError, Owner, RelPath, WriteScope};

pub const INDEX_FOLDER: &str = "index";

/// The parent directory of all repositories' indexes, relative to the user's data directory.
const STORES: [&str; 2] = ["cache", "memories"];

/// An index that has been unused for this long is removed. If needed, a search rebuilds the index.
const MAX_AGE: Duration = Duration::from_secs(90 * 24 * 3600);

fn base(store: &Store) -> Option<PathBuf> {
    match &store.rules().index {
        IndexPlace::InStore => Some(store.path().to_owned()),
        IndexPlace::Below(data) => Some(stores(data).join(name_of(store.path()))),
        IndexPlace::Nowhere => None,
    }
}

fn stores(data: &Path) -> PathBuf {
    STORES.iter().fold(data.to_owned(), |path, part| path.join(part))
}

fn name_of(store: &Path) -> String {
    ContentHash::of(store.as_os_str().as_encoded_bytes()).to_string()
}

pub fn index_path(store: &Store) -> Option<PathBuf> {
    base(store).map(|base| base.join(INDEX_FOLDER))
}

pub fn index_scope(store: &Store) -> Option<WriteScope> {
    WriteScope::open(&base(store)?, Access::Private).ok()
}

pub(super) fn present(store: &Store) -> Option<WriteScope> {
    WriteScope::open_inside(&base(store)?, INDEX_FOLDER, Access::Private).ok()
}

/// Returns the index directory, creating it if needed. Returns `None` if that fails.
pub(super) fn open_or_create(store: &Store) -> Option<WriteScope> {
    if let Some(folder) = present(store) {
        return Some(folder);
    }
    let base = base(store)?;
    if let IndexPlace::Below(data) = &store.rules().index {
        let mut folder = data.clone();
        for part in STORES.into_iter().chain([name_of(store.path()).as_str()]) {
            WriteScope::create_inside(&folder, part, Access::Private).ok()?;
            folder.push(part);
        }
    }
    WriteScope::create_inside(&base, INDEX_FOLDER, Access::Private).ok()
}

/// Removes indexes that have not changed for a long time, because their stores may be gone.
pub fn prune_indexes(
    data: &Path,
    owner: &Owner,
    patience: Duration,
    now: SystemTime,
) -> Result<usize, FsError> {
    let [cache, folder] = STORES;
    let folder = RelPath::new(folder)?;
    let Ok(scope) = WriteScope::open(&data.join(cache), Access::Private) else { return Ok(0) };
    let is_old = |entry: &FolderEntry| {
        let index = stores(data).join(&entry.name).join(INDEX_FOLDER);
        let written = std::fs::metadata(index).and_then(|facts| facts.modified());
        written.is_ok_and(|written| now.duration_since(written).is_ok_and(|age| MAX_AGE < age))
    };
    let old: Vec<FolderEntry> = scope.list(&folder)?.into_iter().filter(is_old).collect();
    if old.is_empty() {
        return Ok(0);
    }
    let writer = scope.lock(owner, patience)?;
    for entry in &old {
        writer.remove_scratch(&folder.join(&entry.name)?)?;
    }
    Ok(old.len())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::Rules;

    fn store(root: &Path, index: IndexPlace) -> Store {
        let scope = WriteScope::create_inside(root, ".nacre", Access::Shared).unwrap();
        Store::new(scope, Rules { index, ..Rules::default() })
    }

    #[test]
    fn an_index_lies_among_the_persons_data_and_never_in_a_repository() {
        let (data, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let store = store(root.path(), IndexPlace::Below(data.path().to_owned()));
        // An index that is part of the repository is ignored.
        WriteScope::create_inside(store.path(), INDEX_FOLDER, Access::Private).unwrap();
        assert!(present(&store).is_none());
        let made = open_or_create(&store).unwrap();
        assert_eq!(Some(made.path()), index_path(&store).as_deref());
        assert!(made.path().starts_with(data.path().join("cache/memories")));
        assert!(present(&store).is_some() && index_scope(&store).is_some());
    }

    #[test]
    fn an_index_that_lies_nowhere_is_not_made() {
        let root = tempfile::tempdir().unwrap();
        let store = store(root.path(), IndexPlace::Nowhere);
        assert!(open_or_create(&store).is_none() && index_path(&store).is_none());
        assert_eq!(fs::read_dir(store.path()).unwrap().count(), 0);
    }

    #[test]
    fn old_indexes_go_and_others_stay() {
        let (data, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let store = store(root.path(), IndexPlace::Below(data.path().to_owned()));
        open_or_create(&store).unwrap();
        let owner = Owner { pid: 1, command: "test".to_owned(), since: String::new() };
        let written = fs::metadata(index_path(&store).unwrap()).unwrap().modified().unwrap();
        let prune = |now| prune_indexes(data.path(), &owner, Duration::ZERO, now).unwrap();
        assert_eq!((prune(written), prune(written + MAX_AGE)), (0, 0));
        assert_eq!(prune(written + MAX_AGE * 2), 1);
        assert!(present(&store).is_none());
    }
}
