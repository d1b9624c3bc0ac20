//! Which words belong to which file: by its content, so that a file that was moved keeps them.

use std::cell::OnceCell;
use std::collections::HashSet;

use nacre_core::safefs::FsError;

use crate::artifact::{Artifact, BagKey, Cache, FileRow, NewPack, Project};
use crate::languages::{Language, MAX_TEXT_BYTES};

/// What the words of a file are found by; `None` for one that is not read.
pub(super) fn bag_key(path: &str, row: &FileRow) -> Option<BagKey> {
    let is_read = !row.marks.is_unread && row.stamp.size <= MAX_TEXT_BYTES as u64;
    is_read.then(|| BagKey::new(row.hash, Language::of_path(path).is_some()))
}

/// Keeps words of texts, and forgets those of texts that are gone where there are too many.
pub(super) fn keep_bags(
    cache: &Cache,
    project: &Project,
    artifact: &Artifact,
    new: &[NewPack],
) -> Result<(), FsError> {
    let live = || -> HashSet<BagKey> {
        artifact.files().iter().filter_map(|(path, row)| bag_key(path, row)).collect()
    };
    let known = OnceCell::new();
    cache.keep_bags(project, new, &|key| known.get_or_init(live).contains(&key))
}
