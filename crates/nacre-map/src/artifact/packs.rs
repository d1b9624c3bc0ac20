//! The packs of the cache: which there are, and which are worth writing anew.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use nacre_core::safefs::{FsError, RelPath, Writer};

use super::blob;
use super::cache::Cache;
use super::fresh::NewPack;
use super::pack::{self, Pack, Span};

/// The folder of the packs, among those of the projects.
pub(super) const FOLDER: &str = "analyses";

const PACK_END: &str = ".pack";

/// So many packs of about one size are merged.
const MAX_ALIKE: usize = 4;

/// The smallest packs are alike below this size.
const SMALL_BYTES: usize = 64 << 10;

/// A larger pack is not worth writing again.
const LARGE_BYTES: usize = 16 << 20;

/// The oldest packs are dropped when all together are larger.
const MAX_BYTES: usize = 1 << 30;

/// So often packs are listed again that were removed while they were opened.
const MAX_TRIES: usize = 3;

/// No pack has a larger number; what has, was not written here.
const MAX_NUMBER: u64 = 1 << 48;

/// Packs by their numbers, in order.
#[derive(Debug, Default)]
pub(super) struct Packs(Vec<(u64, Arc<Pack>)>);

impl Packs {
    /// Opens all that are whole.
    pub(super) fn open(cache: &Cache) -> Self {
        let folder = cache.folder().join(FOLDER);
        let mut known = numbers(&folder);
        let mut packs = open(cache, &known);
        // Others may be merged meanwhile, and what they held is in one that was not there yet.
        for _ in 0..MAX_TRIES {
            let now = numbers(&folder);
            if now == known {
                break;
            }
            known = now;
            packs = open(cache, &known);
        }
        Self(packs)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<Pack>> {
        self.0.iter().map(|(_, pack)| pack)
    }

    /// Adds analyses and tidies up: small packs are merged, and the oldest go when there is too much.
    pub(super) fn add(cache: &Cache, writer: &Writer<'_>, new: &[NewPack]) -> Result<(), FsError> {
        let mut all = Self::open(cache);
        let known = numbers(&cache.folder().join(FOLDER));
        let mut next = known.last().map_or(1, |last| last + 1);
        // What can be opened and not be read is of another version, or damaged.
        let is_there = |number: u64| File::open(cache.folder().join(pack_name(number))).is_ok();
        for number in known.iter().filter(|number| !all.has(**number) && is_there(**number)) {
            writer.remove_derived(&pack_path(*number)?)?;
        }
        for NewPack(bytes) in new {
            all.put(cache, writer, next, bytes)?;
            next += 1;
        }
        while let Some(alike) = all.alike() {
            all.merge(cache, writer, next, &alike)?;
            next += 1;
        }
        all.drop_oldest(writer)
    }

    fn has(&self, number: u64) -> bool {
        self.0.iter().any(|(known, _)| *known == number)
    }

    fn put(
        &mut self,
        cache: &Cache,
        writer: &Writer<'_>,
        number: u64,
        bytes: &[u8],
    ) -> Result<(), FsError> {
        cache.put(writer, &pack_name(number), bytes)?;
        let pack = cache.bytes(&pack_name(number)).and_then(Pack::open);
        self.0.extend(pack.map(|pack| (number, Arc::new(pack))));
        Ok(())
    }

    /// The numbers of packs of about one size, when there are too many.
    fn alike(&self) -> Option<Vec<u64>> {
        let mut classes: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for (number, pack) in self.0.iter().filter(|(_, pack)| pack.n_bytes() < LARGE_BYTES) {
            let class = (pack.n_bytes() / SMALL_BYTES).checked_ilog(MAX_ALIKE).map_or(0, |n| n + 1);
            classes.entry(class).or_default().push(*number);
        }
        let mut alike = classes.into_values().find(|alike| MAX_ALIKE <= alike.len())?;
        alike.truncate(MAX_ALIKE);
        Some(alike)
    }

    fn merge(
        &mut self,
        cache: &Cache,
        writer: &Writer<'_>,
        number: u64,
        alike: &[u64],
    ) -> Result<(), FsError> {
        let mut merged: BTreeMap<u64, &[u8]> = BTreeMap::new();
        for (_, pack) in self.0.iter().filter(|(number, _)| alike.contains(number)) {
            for (key, bytes) in pack.blobs() {
                let kept = merged.entry(key).or_insert(bytes);
                if blob::depth_of(kept) < blob::depth_of(bytes) {
                    *kept = bytes;
                }
            }
        }
        let (mut bytes, mut entries) = (pack::begin(), Vec::with_capacity(merged.len()));
        for (key, blob) in merged {
            entries.push((key, Span { start: bytes.len(), len: blob.len() }));
            bytes.extend_from_slice(blob);
        }
        let bytes = pack::finish(bytes, entries.into_iter());
        self.0.retain(|(number, _)| !alike.contains(number));
        cache.open_packs().close(alike);
        self.put(cache, writer, number, &bytes)?;
        if !self.has(number) {
            return Ok(());
        }
        alike.iter().try_for_each(|number| writer.remove_derived(&pack_path(*number)?))
    }

    fn drop_oldest(&mut self, writer: &Writer<'_>) -> Result<(), FsError> {
        self.0.sort_by_key(|(number, _)| *number);
        let total = |packs: &[(u64, Arc<Pack>)]| {
            packs.iter().map(|(_, pack)| pack.n_bytes()).sum::<usize>()
        };
        while MAX_BYTES < total(&self.0) && 1 < self.0.len() {
            let (number, _) = self.0.remove(0);
            writer.remove_derived(&pack_path(number)?)?;
        }
        Ok(())
    }
}

/// Opens the packs of these numbers that are whole.
fn open(cache: &Cache, numbers: &[u64]) -> Vec<(u64, Arc<Pack>)> {
    let files = numbers.iter().map(|number| (*number, cache.folder().join(pack_name(*number))));
    cache.open_packs().open(files, |number| Pack::open(cache.bytes(&pack_name(number))?))
}

/// The numbers of the packs in a folder, in order.
fn numbers(folder: &Path) -> Vec<u64> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut numbers: Vec<u64> =
        names.filter_map(|name| name.strip_suffix(PACK_END)?.parse().ok()).collect();
    numbers.retain(|number| *number < MAX_NUMBER);
    numbers.sort_unstable();
    numbers
}

fn pack_name(number: u64) -> String {
    format!("{FOLDER}/{number}{PACK_END}")
}

fn pack_path(number: u64) -> Result<RelPath, FsError> {
    RelPath::new(&pack_name(number))
}
