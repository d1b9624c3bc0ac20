//! The words of all files of a project: those that are kept, and those of texts that nobody has counted yet.
//!
//! A text is counted when it is first read. What is missing all the same, because it was kept by an older version or could not be kept,
//! is counted when somebody asks.

use std::cell::OnceCell;
use std::collections::HashSet;

use nacre_core::safefs::FsError;

use super::deadline::Deadline;
use super::refresh::{CacheWrites, Current};
use crate::artifact::{Artifact, BagKey, Bags, Cache, FileRow, NewBags, NewPack, Project};
use crate::languages::{Language, MAX_TEXT_BYTES};
use crate::shares::in_batches;
use crate::words::BagMaker;

/// So many files are counted by a thread at once.
const BATCH: usize = 64;

/// So many files are counted before their words are kept: they are held until then.
const MAX_HELD_FILES: usize = 4_096;

/// How missing words are counted.
#[derive(Clone, Copy, Debug)]
pub struct Counting<'c> {
    pub keeping: CacheWrites,
    pub n_threads: usize,
    /// Files that it comes too late for have no words in this answer.
    pub deadline: &'c Deadline,
}

/// What the words of a file are found by; `None` for one that is not read.
pub fn bag_key(path: &str, row: &FileRow) -> Option<BagKey> {
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

impl Current {
    /// The words of all files, as they are now.
    pub fn bags(&self, cache: &Cache, counting: Counting<'_>) -> Bags {
        let mut bags = cache.bags(&self.project);
        let files = self.artifact.files();
        let is_missing =
            |(path, row): &&(&str, FileRow)| bag_key(path, row).is_some_and(|key| !bags.has(key));
        let missing: Vec<&(&str, FileRow)> = files.iter().filter(is_missing).collect();
        for part in missing.chunks(MAX_HELD_FILES) {
            let Some(pack) = self.count(part, counting).into_pack() else { continue };
            if counting.keeping == CacheWrites::On {
                // Best effort: what is not kept is counted again.
                let _ = self.keep_bags(cache, std::slice::from_ref(&pack));
            }
            bags.hold(pack);
        }
        bags
    }

    fn keep_bags(&self, cache: &Cache, new: &[NewPack]) -> Result<(), FsError> {
        keep_bags(cache, &self.project, &self.artifact, new)
    }

    fn count(&self, files: &[&(&str, FileRow)], counting: Counting<'_>) -> NewBags {
        let batches = in_batches(files.len(), BATCH, counting.n_threads, |batch| {
            let mut maker = BagMaker::default();
            let mut counted = Vec::new();
            for (path, row) in &files[batch] {
                if counting.deadline.is_over() {
                    break;
                }
                let key = bag_key(path, row);
                let bytes = self.bytes(path, MAX_TEXT_BYTES as u64);
                counted.extend(key.zip(bytes).map(|(key, bytes)| {
                    (key, maker.make(&bytes, Language::of_path(path).is_some()))
                }));
            }
            counted
        });
        let mut bags = NewBags::default();
        for (key, bag) in batches.into_iter().flatten() {
            bags.insert(key, &bag);
        }
        bags
    }
}
