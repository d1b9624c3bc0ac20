//! Provides every file's word counts. Stored counts are reused, and missing ones are computed.

use std::cell::OnceCell;
use std::collections::HashSet;

use nacre_base::fs::FsError;

use super::options::{CacheWrites, Deadline};
use super::refresh::Current;
use crate::artifact::{Blobs, Cache, FileRow, PackSet, words_key};
use crate::languages::{Language, MAX_TEXT_BYTES};
use crate::shares::in_batches;
use crate::words::{Bag, render_bag};

const BATCH: usize = 64;

const CHUNK: usize = 4_096;

#[derive(Clone, Copy, Debug)]
pub struct Counting<'c> {
    pub keeping: CacheWrites,
    pub n_threads: usize,
    /// Files that have not been counted by the deadline have no words in the result.
    pub deadline: &'c Deadline,
}

#[derive(Debug)]
pub struct FileBags {
    words: PackSet,
    keys: Vec<Option<u64>>,
}

impl FileBags {
    pub fn of(&self, idx: usize) -> Option<Bag<'_>> {
        Bag::read(self.words.get((*self.keys.get(idx)?)?)?)
    }

    pub fn n_bytes(&self) -> usize {
        self.words.n_bytes()
    }
}

/// Returns the key under which a file's words are stored, or `None` if the file is not read. The
/// key depends on the content, so a file that moves keeps its words.
pub(super) fn file_key(path: &str, row: &FileRow) -> Option<u64> {
    let is_read = !row.is_unread && row.stamp.size <= MAX_TEXT_BYTES as u64;
    is_read.then(|| words_key(row.hash, Language::of_path(path).is_some()))
}

impl Current {
    /// Returns the words in each file of the artifact, in path order.
    pub fn bags(
        &self,
        cache: &Cache,
        files: &[(&str, FileRow)],
        counting: Counting<'_>,
    ) -> FileBags {
        let mut words = cache.words(&self.project);
        let keys: Vec<Option<u64>> = files.iter().map(|(path, row)| file_key(path, row)).collect();
        let missing: Vec<usize> = (0..files.len())
            .filter(|idx| keys[*idx].is_some_and(|key| words.get(key).is_none()))
            .collect();
        for chunk in missing.chunks(CHUNK) {
            let counted = self.count(files, &keys, chunk, counting);
            if counting.keeping == CacheWrites::On {
                // Errors are ignored, because missing words can be counted again.
                let _ = self.store_words(cache, &counted);
            }
            words.hold(counted);
        }
        FileBags { words, keys }
    }

    /// Stores word counts. Counts for removed content are dropped when packs are merged.
    pub(super) fn store_words(&self, cache: &Cache, words: &Blobs) -> Result<(), FsError> {
        let live = || -> HashSet<u64> {
            let files = self.artifact.files();
            files.iter().filter_map(|(path, row)| file_key(path, row)).collect()
        };
        let known = OnceCell::new();
        cache.store_words(&self.project, words, &|key| known.get_or_init(live).contains(&key))
    }

    fn count(
        &self,
        files: &[(&str, FileRow)],
        keys: &[Option<u64>],
        indices: &[usize],
        counting: Counting<'_>,
    ) -> Blobs {
        let texts = self.texts();
        let count = |idx: &usize| {
            let (path, row) = &files[*idx];
            if counting.deadline.is_over() {
                return None;
            }
            let bytes = texts.as_ref()?.bytes(path, row)?;
            Some((keys[*idx]?, render_bag(&bytes, Language::of_path(path).is_some())))
        };
        let batches = in_batches(indices.len(), BATCH, counting.n_threads, |batch| {
            indices[batch].iter().filter_map(count).collect::<Vec<_>>()
        });
        batches.into_iter().flatten().collect()
    }
}
