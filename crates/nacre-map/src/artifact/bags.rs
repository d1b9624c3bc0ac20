//! The words of a project's texts, kept beside its artifact, by content.
//!
//! Packs of a project's own, not those of all projects: a question looks at every bag of a project, and looking each one up among
//! the texts of all others would cost more than counting. What a pack lacks is counted again from the file.

use std::collections::{BTreeMap, HashMap};

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

/// So many packs of about one size are merged.
const MAX_ALIKE: usize = 4;

/// The smallest packs are alike below this size.
const SMALL_BYTES: u64 = 64 << 10;

/// A larger pack is not worth writing again, unless most of all packs is gone.
const LARGE_BYTES: u64 = 8 << 20;

/// When so much was merged it is looked at how much of all packs is gone.
const MERGED_BYTES: u64 = 1 << 20;

/// No pack becomes larger by merging.
const MAX_PACK_BYTES: usize = 64 << 20;

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

    /// Adds all of others.
    pub fn append(&mut self, others: Self) {
        if self.entries.is_empty() {
            *self = others;
            return;
        }
        for (key, Span { start, len }) in others.entries {
            self.entries.push((key, Span { start: self.bytes.len(), len }));
            self.bytes.extend_from_slice(&others.bytes[start..][..len]);
        }
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

    /// The same without its trigrams, which are not read.
    pub fn words_at(&self, place: BagPlace) -> Option<Bag<'_>> {
        let BagPlace((pack, place)) = place;
        Bag::read_words(self.packs.get(pack as usize)?.at_unchecked(place as usize)?)
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
            if let Some(pack) = self.bag_pack(&id, number) {
                bags.add(pack);
            }
        }
        bags
    }

    /// Keeps words of texts in packs of their own. Where there are several packs of about one size they are merged, without the
    /// texts that are gone, so that what is written is in proportion to what changed.
    pub fn keep_bags(
        &self,
        project: &Project,
        new: &[NewPack],
        is_live: &dyn Fn(BagKey) -> bool,
    ) -> Result<(), FsError> {
        let scope = self.scope()?;
        let id = self.name_of(project.id);
        let writer = self.writer(&scope, &id)?;
        let next = self.bag_numbers(&id).last().map_or(1, |last| last + 1);
        for (number, NewPack(bytes)) in (next..).zip(new) {
            self.put(&writer, &bag_name(&id, number), bytes)?;
        }
        let merging = Merging { cache: self, writer: &writer, id: &id, is_live };
        let mut n_merged = 0;
        while let Some(alike) = alike(&self.bag_sizes(&id)) {
            n_merged += alike.iter().map(|(_, size)| size).sum::<u64>();
            merging.merge(alike.iter().map(|(number, _)| *number))?;
        }
        if MERGED_BYTES <= n_merged && merging.is_mostly_gone() {
            merging.merge(self.bag_numbers(&id).into_iter())?;
        }
        Ok(())
    }

    /// Merges all words of a project into as few packs as there can be.
    #[cfg(test)]
    pub(crate) fn merge_bags(&self, project: &Project, is_live: &dyn Fn(BagKey) -> bool) {
        let scope = self.scope().unwrap();
        let id = self.name_of(project.id);
        let writer = self.writer(&scope, &id).unwrap();
        let merging = Merging { cache: self, writer: &writer, id: &id, is_live };
        merging.merge(self.bag_numbers(&id).into_iter()).unwrap();
    }

    /// Keeps words of texts while others are still read, and gives back what could not be kept.
    pub fn keep_held_bags(&self, project: &Project, held: NewPack) -> Option<NewPack> {
        let kept = self.keep_bags(project, std::slice::from_ref(&held), &|_| true);
        kept.is_err().then_some(held)
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

    /// The same with their sizes.
    fn bag_sizes(&self, id: &str) -> Vec<(u64, u64)> {
        let size = |number: u64| {
            let file = self.folder().join(bag_name(id, number));
            file.symlink_metadata().map_or(0, |metadata| metadata.len())
        };
        self.bag_numbers(id).into_iter().map(|number| (number, size(number))).collect()
    }

    fn bag_pack(&self, id: &str, number: u64) -> Option<Pack> {
        self.bytes(&bag_name(id, number)).and_then(Pack::open)
    }
}

/// The first packs of about one size, when there are too many.
fn alike(sizes: &[(u64, u64)]) -> Option<Vec<(u64, u64)>> {
    let mut classes: BTreeMap<u32, Vec<(u64, u64)>> = BTreeMap::new();
    for (number, size) in sizes.iter().filter(|(_, size)| *size < LARGE_BYTES) {
        let class = (size / SMALL_BYTES).checked_ilog(MAX_ALIKE as u64).map_or(0, |n| n + 1);
        classes.entry(class).or_default().push((*number, *size));
    }
    let mut alike = classes.into_values().find(|alike| MAX_ALIKE <= alike.len())?;
    alike.truncate(MAX_ALIKE);
    Some(alike)
}

/// Who merges the packs of a project.
struct Merging<'m> {
    cache: &'m Cache,
    writer: &'m Writer<'m>,
    id: &'m str,
    is_live: &'m dyn Fn(BagKey) -> bool,
}

impl Merging<'_> {
    /// Puts what is live of some packs in the place of them, in the order of the keys: the same words are the same bytes.
    fn merge(&self, numbers: impl Iterator<Item = u64>) -> Result<(), FsError> {
        let packs: Vec<(u64, Option<Pack>)> =
            numbers.map(|number| (number, self.cache.bag_pack(self.id, number))).collect();
        let blobs = packs.iter().filter_map(|(_, pack)| pack.as_ref()).flat_map(Pack::blobs);
        let mut blobs: Vec<(u64, &[u8])> =
            blobs.filter(|(key, _)| (self.is_live)(BagKey(*key))).collect();
        blobs.sort_by_key(|(key, _)| *key);
        blobs.dedup_by_key(|(key, _)| *key);
        let mut merged = NewBags::default();
        for (key, blob) in blobs {
            if MAX_PACK_BYTES < merged.n_bytes() + blob.len() {
                self.put(std::mem::take(&mut merged))?;
            }
            merged.insert(BagKey(key), blob);
        }
        self.put(merged)?;
        packs.iter().try_for_each(|(number, _)| {
            self.writer.remove_derived(&RelPath::new(&bag_name(self.id, *number))?)
        })
    }

    fn put(&self, merged: NewBags) -> Result<(), FsError> {
        let Some(NewPack(bytes)) = merged.into_pack() else { return Ok(()) };
        let next = self.cache.bag_numbers(self.id).last().map_or(1, |last| last + 1);
        self.cache.put(self.writer, &bag_name(self.id, next), &bytes)
    }

    /// Whether more than half of what all packs hold is of texts that are gone.
    fn is_mostly_gone(&self) -> bool {
        let (mut n_live, mut n_all) = (0, 0);
        for number in self.cache.bag_numbers(self.id) {
            for (key, len) in self.cache.bag_pack(self.id, number).iter().flat_map(Pack::lens) {
                n_all += len;
                n_live += if (self.is_live)(BagKey(key)) { len } else { 0 };
            }
        }
        n_live < n_all / 2
    }
}

fn bag_name(id: &str, number: u64) -> String {
    format!("{id}/{PREFIX}{number}")
}
