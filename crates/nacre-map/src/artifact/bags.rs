//! The words of a project's texts, kept beside its artifact, by content.
//!
//! Packs of a project's own, not those of all projects: a question looks at every bag of a project, and looking each one up among
//! the texts of all others would cost more than counting. What a pack lacks is counted again from the file.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use nacre_core::safefs::{FsError, RelPath, Writer};
use xxhash_rust::xxh3::xxh3_64;

use super::cache::{Cache, names_in};
use super::fresh::NewPack;
use super::mapped::Mapped;
use super::model::{FileHash, Project};
use super::pack::{self, Pack, Span};
use crate::words::{Bag, WORDS_FORMAT};

const PREFIX: &str = "words-";

/// More packs than these are merged, the small ones.
const MAX_PACKS: usize = 24;

/// A larger pack is not worth writing again.
const SMALL_BYTES: usize = 8 << 20;

/// No pack has a larger number; what has, was not written here.
const MAX_NUMBER: u64 = 1 << 48;

/// What the words of a text are found by: its bytes, and whether they are read as code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BagKey(u64);

impl BagKey {
    pub fn new(hash: FileHash, is_code: bool) -> Self {
        let mut bytes = [0; 10];
        bytes[..8].copy_from_slice(&hash.0.to_le_bytes());
        bytes[8..].copy_from_slice(&[WORDS_FORMAT, u8::from(is_code)]);
        Self(xxh3_64(&bytes))
    }
}

/// Where the words of a text lie: the pack, and the place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BagPlace((u32, u32));

/// Bags that are on no disk yet.
#[derive(Debug, Default)]
pub struct NewBags {
    bytes: Vec<u8>,
    entries: Vec<(u64, Span)>,
}

impl NewBags {
    pub fn n_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Adds the words of a text, as a [`crate::words::BagMaker`] made them.
    pub fn insert(&mut self, key: BagKey, bag: &[u8]) {
        if self.bytes.is_empty() {
            self.bytes = pack::begin();
        }
        self.entries.push((key.0, Span { start: self.bytes.len(), len: bag.len() }));
        self.bytes.extend_from_slice(bag);
    }

    /// All of them as a pack; `None` when there are none.
    pub fn into_pack(self) -> Option<NewPack> {
        let Self { bytes, mut entries } = self;
        entries.sort_unstable_by_key(|(key, span)| (*key, span.start));
        entries.dedup_by_key(|(key, _)| *key);
        let is_empty = entries.is_empty();
        (!is_empty).then(|| NewPack(pack::finish(bytes, entries.into_iter())))
    }
}

/// The words of a project's texts.
#[derive(Debug, Default)]
pub struct Bags {
    packs: Vec<Pack>,
    /// The pack of each key, and its place there.
    places: HashMap<BagKey, (u32, u32), RandomState>,
}

impl Bags {
    /// The words of a text; `None` when they are not known.
    pub fn get(&self, key: BagKey) -> Option<Bag<'_>> {
        self.at(self.place(key)?)
    }

    /// Where the words of a text lie; `None` when they are not known.
    pub fn place(&self, key: BagKey) -> Option<BagPlace> {
        self.places.get(&key).copied().map(BagPlace)
    }

    /// The words at a place; `None` when they are damaged.
    pub fn at(&self, place: BagPlace) -> Option<Bag<'_>> {
        let BagPlace((pack, place)) = place;
        Bag::read(self.packs.get(pack as usize)?.at(place as usize)?)
    }

    /// How many bytes all packs have.
    pub fn n_bytes(&self) -> usize {
        self.packs.iter().map(Pack::n_bytes).sum()
    }

    /// Holds what could not be kept, for as long as this answer lives.
    pub fn hold(&mut self, new: NewPack) {
        self.packs.extend(Pack::open(Mapped::Memory(new.0)));
        self.place_last();
    }

    fn add(&mut self, pack: Pack) {
        self.packs.push(pack);
        self.place_last();
    }

    fn place_last(&mut self) {
        let Some((pack, number)) = self.packs.last().zip(self.packs.len().checked_sub(1)) else {
            return;
        };
        let keys = pack.keys();
        self.places.reserve(keys.len());
        for (place, key) in (0..).zip(keys) {
            self.places.entry(BagKey(key)).or_insert((u32::try_from(number).unwrap_or(0), place));
        }
    }
}

impl Cache {
    /// The words that are kept of a project's texts.
    pub fn bags(&self, project: &Project) -> Bags {
        let mut bags = Bags::default();
        let id = self.name_of(project.id);
        for number in self.bag_numbers(&id) {
            if let Some(pack) = self.bytes(&bag_name(&id, number)).and_then(Pack::open) {
                bags.add(pack);
            }
        }
        bags
    }

    /// Keeps words of texts. Where there are too many small packs, they are merged, without the texts that are gone.
    pub fn keep_bags(
        &self,
        project: &Project,
        new: &[NewPack],
        is_live: &dyn Fn(BagKey) -> bool,
    ) -> Result<(), FsError> {
        let scope = self.scope()?;
        let id = self.name_of(project.id);
        let writer = self.writer(&scope, &id)?;
        let known = self.bag_numbers(&id);
        let mut next = known.last().map_or(1, |last| last + 1);
        for NewPack(bytes) in new {
            self.put(&writer, &bag_name(&id, next), bytes)?;
            next += 1;
        }
        if MAX_PACKS < known.len() + new.len() {
            self.merge_bags(&writer, &id, next, is_live)?;
        }
        Ok(())
    }

    /// Keeps words of texts while others are still read, and gives back what could not be kept.
    pub fn keep_held_bags(&self, project: &Project, held: NewPack) -> Option<NewPack> {
        let kept = self.keep_bags(project, std::slice::from_ref(&held), &|_| true);
        kept.is_err().then_some(held)
    }

    fn merge_bags(
        &self,
        writer: &Writer<'_>,
        id: &str,
        next: u64,
        is_live: &dyn Fn(BagKey) -> bool,
    ) -> Result<(), FsError> {
        let (mut merged, mut old) = (NewBags::default(), Vec::new());
        for number in self.bag_numbers(id) {
            let pack = self.bytes(&bag_name(id, number)).and_then(Pack::open);
            let is_large = pack.as_ref().is_some_and(|pack| SMALL_BYTES < pack.n_bytes());
            let has_live = |pack: &Pack| pack.keys().any(|key| is_live(BagKey(key)));
            if is_large && pack.as_ref().is_some_and(has_live) {
                continue;
            }
            for (key, blob) in pack.iter().flat_map(Pack::blobs) {
                if is_live(BagKey(key)) {
                    merged.insert(BagKey(key), blob);
                }
            }
            old.push(number);
        }
        if let Some(NewPack(bytes)) = merged.into_pack() {
            self.put(writer, &bag_name(id, next), &bytes)?;
        }
        old.iter()
            .try_for_each(|number| writer.remove_derived(&RelPath::new(&bag_name(id, *number))?))
    }

    /// The numbers of the packs of words in a project's folder, in order.
    fn bag_numbers(&self, id: &str) -> Vec<u64> {
        let folder = self.folder().join(id);
        let names = names_in(&folder);
        let mut numbers: Vec<u64> =
            names.filter_map(|name| name.strip_prefix(PREFIX)?.parse().ok()).collect();
        numbers.retain(|number| *number < MAX_NUMBER);
        numbers.sort_unstable();
        numbers
    }
}

fn bag_name(id: &str, number: u64) -> String {
    format!("{id}/{PREFIX}{number}")
}
