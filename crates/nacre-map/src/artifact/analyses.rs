//! What was found in texts, by their content: worktrees, branches and clones of a repository share it.
//!
//! Nothing here is needed: what is missing is found again in the file.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use nacre_core::safefs::{FsError, RelPath, Writer};
use xxhash_rust::xxh3::xxh3_64;

use super::blob;
use super::cache::Cache;
use super::fresh::NewPack;
use super::mapped::Mapped;
use super::model::FileHash;
use super::pack::{self, Pack, Span};
use crate::languages::{Analysis, Depth, Language, MAX_NAME_BYTES, Outline};

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

/// What an analysis is of: the bytes and how they are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AnalysisKey(u64);

impl AnalysisKey {
    pub fn new(hash: FileHash, language: Language) -> Self {
        let name = language.name().as_bytes();
        let mut bytes = [0; 8 + MAX_NAME_BYTES];
        bytes[..8].copy_from_slice(&hash.0.to_le_bytes());
        bytes[8..][..name.len()].copy_from_slice(name);
        Self(xxh3_64(&bytes))
    }

    pub(super) fn number(self) -> u64 {
        self.0
    }
}

/// All analyses of this machine.
#[derive(Debug, Default)]
pub struct Analyses {
    packs: Vec<(u64, Arc<Pack>)>,
    /// What could not be kept.
    loose: Vec<Arc<Pack>>,
}

/// Packs that are open by their numbers: none is mapped and checked, or deciphered, twice.
#[derive(Debug, Default)]
pub(super) struct OpenPacks(Mutex<BTreeMap<u64, (PackStamp, Arc<Pack>)>>);

/// Tells a file from another one of its name: size, inode and time.
type PackStamp = (u64, u64, i64);

impl OpenPacks {
    /// Opens these packs, as far as they are not, and closes all others.
    fn open(&self, cache: &Cache, numbers: &[u64]) -> Vec<(u64, Arc<Pack>)> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let open = numbers.iter().filter_map(|number| {
            let name = pack_name(*number);
            let stamp = pack_stamp(&cache.folder().join(&name))?;
            let pack = match known.get(number).filter(|(known, _)| *known == stamp) {
                Some((_, pack)) => Arc::clone(pack),
                None => Arc::new(Pack::open(cache.bytes(&name)?)?),
            };
            Some((*number, (stamp, pack)))
        });
        *known = open.collect();
        known.iter().map(|(number, (_, pack))| (*number, Arc::clone(pack))).collect()
    }

    /// Closes packs that are gone, with what was brought into memory of them.
    fn close(&self, numbers: &[u64]) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|number, _| !numbers.contains(number));
    }
}

fn pack_stamp(file: &Path) -> Option<PackStamp> {
    let metadata = file.symlink_metadata().ok()?;
    let nanos = metadata.mtime().checked_mul(1_000_000_000)?.checked_add(metadata.mtime_nsec())?;
    Some((metadata.size(), metadata.ino(), nanos))
}

impl Analyses {
    /// Opens what is there below the folder of the artifacts.
    pub(super) fn open(cache: &Cache) -> Self {
        let numbers = numbers(&cache.folder().join(FOLDER));
        Self { packs: cache.open_packs().open(cache, &numbers), loose: Vec::new() }
    }

    /// What is known of a text, from the closest look that anybody took.
    pub fn get(&self, key: AnalysisKey) -> Option<Analysis> {
        self.blobs(key).max_by_key(|bytes| blob::depth_of(bytes)).and_then(blob::decode)
    }

    /// The names of what is known to be defined in a text.
    pub fn names(&self, key: AnalysisKey) -> Vec<&str> {
        let closest = self.blobs(key).max_by_key(|bytes| blob::depth_of(bytes));
        closest.and_then(blob::names).unwrap_or_default()
    }

    /// What is known of a text as a whole.
    pub fn outline(&self, key: AnalysisKey, language: Language) -> Option<Outline<'_>> {
        let closest = self.blobs(key).max_by_key(|bytes| blob::depth_of(bytes))?;
        blob::decode_outline(closest, language)
    }

    /// How closely a text was looked at; `None` when it never was.
    pub fn depth(&self, key: AnalysisKey) -> Option<Depth> {
        self.blobs(key).map(blob::depth_of).max()
    }

    fn blobs(&self, key: AnalysisKey) -> impl Iterator<Item = &[u8]> {
        let packs = self.packs.iter().map(|(_, pack)| pack).chain(&self.loose);
        packs.filter_map(move |pack| pack.get(key.0))
    }

    /// Holds what could not be kept, for as long as this answer lives.
    pub fn hold(&mut self, new: impl IntoIterator<Item = NewPack>) {
        let packs = new.into_iter().filter_map(|NewPack(bytes)| Pack::open(Mapped::Memory(bytes)));
        self.loose.extend(packs.map(Arc::new));
    }

    /// Adds analyses and tidies up: small packs are merged, and the oldest go when there is too much.
    pub(super) fn add(cache: &Cache, writer: &Writer<'_>, new: &[NewPack]) -> Result<(), FsError> {
        let mut all = Self::open(cache);
        let known = numbers(&cache.folder().join(FOLDER));
        let mut next = known.last().map_or(1, |last| last + 1);
        // What cannot be read is of another version, or damaged.
        for number in known.iter().filter(|number| !all.has(**number)) {
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
        self.packs.iter().any(|(known, _)| *known == number)
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
        self.packs.extend(pack.map(|pack| (number, Arc::new(pack))));
        Ok(())
    }

    /// The numbers of packs of about one size, when there are too many.
    fn alike(&self) -> Option<Vec<u64>> {
        let mut classes: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for (number, pack) in self.packs.iter().filter(|(_, pack)| pack.n_bytes() < LARGE_BYTES) {
            let class = (pack.n_bytes() / SMALL_BYTES).checked_ilog(MAX_ALIKE).map_or(0, |n| n + 1);
            classes.entry(class).or_default().push(*number);
        }
        classes.into_values().find(|alike| MAX_ALIKE <= alike.len())
    }

    fn merge(
        &mut self,
        cache: &Cache,
        writer: &Writer<'_>,
        number: u64,
        alike: &[u64],
    ) -> Result<(), FsError> {
        let mut merged: BTreeMap<u64, &[u8]> = BTreeMap::new();
        for (_, pack) in self.packs.iter().filter(|(number, _)| alike.contains(number)) {
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
        self.packs.retain(|(number, _)| !alike.contains(number));
        cache.open_packs().close(alike);
        self.put(cache, writer, number, &bytes)?;
        alike.iter().try_for_each(|number| writer.remove_derived(&pack_path(*number)?))
    }

    fn drop_oldest(&mut self, writer: &Writer<'_>) -> Result<(), FsError> {
        self.packs.sort_by_key(|(number, _)| *number);
        let total = |packs: &[(u64, Arc<Pack>)]| {
            packs.iter().map(|(_, pack)| pack.n_bytes()).sum::<usize>()
        };
        while MAX_BYTES < total(&self.packs) && 1 < self.packs.len() {
            let (number, _) = self.packs.remove(0);
            writer.remove_derived(&pack_path(number)?)?;
        }
        Ok(())
    }
}

/// The numbers of the packs in a folder, in order.
fn numbers(folder: &Path) -> Vec<u64> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut numbers: Vec<u64> =
        names.filter_map(|name| name.strip_suffix(PACK_END)?.parse().ok()).collect();
    numbers.sort_unstable();
    numbers
}

fn pack_name(number: u64) -> String {
    format!("{FOLDER}/{number}{PACK_END}")
}

fn pack_path(number: u64) -> Result<RelPath, FsError> {
    RelPath::new(&pack_name(number))
}
