//! The words of all files of a project: those that are kept, and those of texts that nobody has counted yet.
//!
//! A text is counted when it is first read. What is missing all the same, because it was kept by an older version or could not be kept,
//! is counted when somebody asks.

use nacre_core::safefs::FsError;

use super::bag_keys::{bag_key, keep_bags};
use super::deadline::Deadline;
use super::refresh::{CacheWrites, Current};
use crate::artifact::{Bags, Cache, FileRow, NewBags, NewPack};
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
