//! The words of all files of a project: those that are kept, and those of texts that nobody has counted yet.
//!
//! A look that is taken for who asks for words counts those of the texts that it reads. What other looks left, what was kept by an
//! older version and what could not be kept is counted when somebody asks.

use nacre_core::safefs::FsError;

use super::bag_keys::{bag_key, keep_bags};
use super::deadline::Deadline;
use super::options::CacheWrites;
use super::refresh::Current;
use crate::artifact::{BagKey, BagPlace, Bags, Cache, FileRow, NewBags, NewPack};
use crate::languages::Language;
use crate::shares::in_batches;
use crate::words::{Bag, BagMaker};

/// So many files are counted by a thread at once.
const BATCH: usize = 64;

/// The words of so many files are looked for by a thread at once.
const KEY_BATCH: usize = 4_096;

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

/// The words of a project's files, by the places of those.
#[derive(Debug)]
pub struct FileBags {
    bags: Bags,
    places: Vec<Option<BagPlace>>,
}

impl FileBags {
    /// The words of the file at a place; `None` when they are not known.
    pub fn of(&self, idx: usize) -> Option<Bag<'_>> {
        self.bags.at((*self.places.get(idx)?)?)
    }

    /// The same without its trigrams, for who asks for words alone.
    pub fn words_of(&self, idx: usize) -> Option<Bag<'_>> {
        self.bags.words_at((*self.places.get(idx)?)?)
    }

    /// How many bytes the words of all files take.
    pub fn n_bytes(&self) -> usize {
        self.bags.n_bytes()
    }
}

impl Current {
    /// The words of all files, as they are now; the files are those of the artifact, in order.
    pub fn bags(
        &self,
        cache: &Cache,
        files: &[(&str, FileRow)],
        counting: Counting<'_>,
    ) -> FileBags {
        let mut bags = cache.bags(&self.project);
        let keys = in_batches(files.len(), KEY_BATCH, counting.n_threads, |batch| {
            let place = |(path, row): &(&str, FileRow)| {
                let key = bag_key(path, row);
                (key, key.and_then(|key| bags.place(key)))
            };
            files[batch].iter().map(place).collect::<Vec<_>>()
        });
        let keys: Vec<(Option<BagKey>, Option<BagPlace>)> = keys.into_iter().flatten().collect();
        let is_missing =
            |(key, place): &(Option<BagKey>, Option<BagPlace>)| key.is_some() && place.is_none();
        let missing: Vec<&(&str, FileRow)> = files
            .iter()
            .zip(&keys)
            .filter(|(_, one)| is_missing(one))
            .map(|(file, _)| file)
            .collect();
        for part in missing.chunks(MAX_HELD_FILES) {
            let Some(pack) = self.count(part, counting).into_pack() else { continue };
            if counting.keeping == CacheWrites::On {
                // Best effort: what is not kept is counted again.
                let _ = self.keep_bags(cache, std::slice::from_ref(&pack));
            }
            bags.hold(pack);
        }
        let place = |(key, place): (Option<BagKey>, Option<BagPlace>)| match (key, place) {
            (Some(key), None) => bags.place(key),
            (_, place) => place,
        };
        let places = keys.into_iter().map(place).collect();
        FileBags { bags, places }
    }

    fn keep_bags(&self, cache: &Cache, new: &[NewPack]) -> Result<(), FsError> {
        keep_bags(cache, &self.project, &self.artifact, new)
    }

    fn count(&self, files: &[&(&str, FileRow)], counting: Counting<'_>) -> NewBags {
        let texts = self.texts();
        let batches = in_batches(files.len(), BATCH, counting.n_threads, |batch| {
            let (mut maker, mut counted) = (BagMaker::default(), NewBags::default());
            for (path, row) in &files[batch] {
                if counting.deadline.is_over() {
                    break;
                }
                let bytes = texts.as_ref().and_then(|texts| texts.bytes(path, row));
                if let Some((key, bytes)) = bag_key(path, row).zip(bytes) {
                    counted.insert(key, &maker.make(&bytes, Language::of_path(path).is_some()));
                }
            }
            counted
        });
        let mut bags = NewBags::default();
        batches.into_iter().for_each(|counted| bags.append(counted));
        bags
    }
}
