//! Stores many blobs in pack files, indexed by key.
//!
//! Packs are immutable. Each change adds a small pack, and packs of similar size are merged, so the
//! number of bytes written is proportional to the change. Missing blobs can be recomputed.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;

use nacre_base::fs::{Access, FileBytes, RelPath, WriteScope, Writer};
use xxhash_rust::xxh3::xxh3_64;

use super::cache::{ANALYSES, Cache, Result, names_in};
use super::model::{Blobs, Project};

/// Format version of packs and blobs. Increase it whenever the same content would produce a
/// different blob.
const FORMAT: u32 = 4;

const MAGIC: [u8; 8] = *b"NACREPCK";

/// A magic number, the format version, the number of entries and their checksum.
const HEADER_BYTES: usize = 24;

/// A blob's key, start, length and checksum. The entries follow the blobs.
const ENTRY_BYTES: usize = 24;

const EXTENSION: &str = ".pack";

/// Number of similarly sized packs that triggers a merge.
const MAX_ALIKE: usize = 4;

const SMALL_BYTES: usize = 64 << 10;

const LARGE_BYTES: usize = 64 << 20;

/// Maximum total size of all packs. When it is exceeded, the oldest packs are deleted first.
const MAX_BYTES: usize = 1 << 30;

const MAX_TRIES: usize = 3;

/// Packs with larger numbers were not written by this program and are ignored.
const MAX_NUMBER: u64 = 1 << 48;

#[derive(Debug)]
struct Pack {
    number: u64,
    bytes: FileBytes,
    entries_at: usize,
}

impl Pack {
    /// Opens a pack. Returns `None` for damaged packs and other format versions.
    fn open(number: u64, bytes: FileBytes) -> Option<Self> {
        let header = bytes.get(..HEADER_BYTES)?;
        let is_ours = header.starts_with(&MAGIC) && header[8..12] == FORMAT.to_le_bytes();
        let n_entries = u32::from_le_bytes(*header[12..].first_chunk()?) as usize;
        let entries_at = bytes.len().checked_sub(n_entries.checked_mul(ENTRY_BYTES)?)?;
        let entries = bytes.get(entries_at..).filter(|_| HEADER_BYTES <= entries_at)?;
        let is_whole = is_ours && xxh3_64(entries).to_le_bytes() == header[16..24];
        is_whole.then_some(Self { number, bytes, entries_at })
    }

    fn render(blobs: &BTreeMap<u64, &[u8]>) -> Vec<u8> {
        let mut file = vec![0; HEADER_BYTES];
        let mut entries = Vec::with_capacity(blobs.len() * ENTRY_BYTES);
        for (key, blob) in blobs {
            entries.extend(key.to_le_bytes());
            entries.extend((file.len() as u64).to_le_bytes());
            entries.extend(u32::try_from(blob.len()).unwrap_or(u32::MAX).to_le_bytes());
            entries.extend(checksum(blob).to_le_bytes());
            file.extend_from_slice(blob);
        }
        file[..8].copy_from_slice(&MAGIC);
        file[8..12].copy_from_slice(&FORMAT.to_le_bytes());
        file[12..16].copy_from_slice(&u32::try_from(blobs.len()).unwrap_or(0).to_le_bytes());
        file[16..HEADER_BYTES].copy_from_slice(&xxh3_64(&entries).to_le_bytes());
        file.extend(entries);
        file
    }

    fn entries(&self) -> &[[u8; ENTRY_BYTES]] {
        self.bytes[self.entries_at..].as_chunks().0
    }

    fn get(&self, key: u64) -> Option<&[u8]> {
        let at = self.entries().binary_search_by_key(&key, |entry| word(entry, 0)).ok()?;
        self.blob(&self.entries()[at])
    }

    fn blobs(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.entries().iter().filter_map(|entry| Some((word(entry, 0), self.blob(entry)?)))
    }

    fn blob(&self, entry: &[u8; ENTRY_BYTES]) -> Option<&[u8]> {
        let start = usize::try_from(word(entry, 8)).ok()?;
        let (len, check) = (word(entry, 16) & 0xffff_ffff, word(entry, 16) >> 32);
        let span: Range<usize> = start..start.checked_add(usize::try_from(len).ok()?)?;
        self.bytes.get(span).filter(|blob| u64::from(checksum(blob)) == check)
    }
}

fn word(entry: &[u8; ENTRY_BYTES], at: usize) -> u64 {
    entry[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

fn checksum(blob: &[u8]) -> u32 {
    (xxh3_64(blob) & 0xffff_ffff) as u32
}

#[derive(Debug, Default)]
pub struct PackSet {
    /// The cache, and the prefix of its pack file names.
    source: Option<(Cache, String)>,
    /// Opened on first use, because decryption is slow and an unchanged project needs no pack.
    packs: OnceLock<Vec<Pack>>,
    held: Blobs,
}

impl PackSet {
    pub(super) fn new(cache: &Cache, stem: &str) -> Self {
        Self { source: Some((cache.clone(), stem.to_owned())), ..Self::default() }
    }

    pub(crate) fn get(&self, key: u64) -> Option<&[u8]> {
        let stored = || self.packs().iter().find_map(|pack| pack.get(key));
        self.held.get(&key).map(Vec::as_slice).or_else(stored)
    }

    fn packs(&self) -> &[Pack] {
        let open = |(cache, stem): &(Cache, String)| cache.open_packs(stem);
        self.packs.get_or_init(|| self.source.as_ref().map(open).unwrap_or_default())
    }

    pub(crate) fn hold(&mut self, blobs: Blobs) {
        self.held.extend(blobs);
    }

    pub(crate) fn n_bytes(&self) -> usize {
        self.packs().iter().map(|pack| pack.bytes.len()).sum()
    }
}

impl Cache {
    /// Returns all stored analyses. The analyses are keyed by content, so worktrees, branches and
    /// clones share them.
    pub fn analyses(&self) -> PackSet {
        PackSet::new(self, &format!("{ANALYSES}/"))
    }

    pub fn store_analyses(&self, analyses: &Blobs) -> Result<()> {
        let scope = self.scope()?;
        let writer = self.writer(&scope, ANALYSES)?;
        self.add_analyses(&writer, analyses)
    }

    pub(super) fn add_analyses(&self, writer: &Writer<'_>, analyses: &Blobs) -> Result<()> {
        if analyses.is_empty() {
            return Ok(());
        }
        WriteScope::create_inside(&self.folder, ANALYSES, Access::Private)?;
        self.add_blobs(writer, &format!("{ANALYSES}/"), analyses, &|_| true)
    }

    pub fn words(&self, project: &Project) -> PackSet {
        PackSet::new(self, &self.words_stem(project))
    }

    /// Stores word counts. Merging packs drops unused word counts.
    pub fn store_words(
        &self,
        project: &Project,
        words: &Blobs,
        is_live: &dyn Fn(u64) -> bool,
    ) -> Result<()> {
        let scope = self.scope()?;
        let writer = self.writer(&scope, &self.name_of(project))?;
        self.add_blobs(&writer, &self.words_stem(project), words, is_live)
    }

    fn words_stem(&self, project: &Project) -> String {
        format!("{}/words-", self.name_of(project))
    }

    fn open_packs(&self, stem: &str) -> Vec<Pack> {
        let open = |number: &u64| Pack::open(*number, self.bytes(&pack_name(stem, *number))?);
        let mut numbers = self.pack_numbers(stem);
        let mut packs: Vec<Pack> = numbers.iter().filter_map(open).collect();
        for _ in 0..MAX_TRIES {
            let now = self.pack_numbers(stem);
            if now == numbers {
                break;
            }
            packs = now.iter().filter_map(open).collect();
            numbers = now;
        }
        packs
    }

    fn pack_numbers(&self, stem: &str) -> Vec<u64> {
        let (folder, prefix) = stem.rsplit_once('/').unwrap_or((stem, ""));
        let number =
            |name: String| name.strip_prefix(prefix)?.strip_suffix(EXTENSION)?.parse().ok();
        let mut numbers: Vec<u64> =
            names_in(&self.folder.join(folder)).filter_map(number).collect();
        numbers.retain(|number| *number < MAX_NUMBER);
        numbers.sort_unstable();
        numbers
    }

    /// Stores blobs and cleans up: merges packs of similar size without their unused blobs, removes
    /// unreadable packs, and deletes the oldest packs once the size limit is exceeded.
    pub(super) fn add_blobs(
        &self,
        writer: &Writer<'_>,
        stem: &str,
        blobs: &Blobs,
        is_live: &dyn Fn(u64) -> bool,
    ) -> Result<()> {
        let numbers = self.pack_numbers(stem);
        let mut next = numbers.last().map_or(1, |last| last + 1);
        let mut packs = self.open_packs(stem);
        for number in numbers.iter().filter(|one| !packs.iter().any(|pack| pack.number == **one)) {
            remove(writer, stem, *number)?;
        }
        if !blobs.is_empty() {
            let blobs = blobs.iter().map(|(key, blob)| (*key, blob.as_slice())).collect();
            self.put(writer, &pack_name(stem, next), &Pack::render(&blobs))?;
            packs = self.open_packs(stem);
            next += 1;
        }
        while let Some(alike) = alike(&packs) {
            self.merge(writer, stem, next, &alike, is_live)?;
            packs = self.open_packs(stem);
            next += 1;
        }
        let mut n_bytes: usize = packs.iter().map(|pack| pack.bytes.len()).sum();
        for pack in &packs[..packs.len().saturating_sub(1)] {
            if n_bytes <= MAX_BYTES {
                break;
            }
            n_bytes -= pack.bytes.len();
            remove(writer, stem, pack.number)?;
        }
        Ok(())
    }

    fn merge(
        &self,
        writer: &Writer<'_>,
        stem: &str,
        number: u64,
        alike: &[&Pack],
        is_live: &dyn Fn(u64) -> bool,
    ) -> Result<()> {
        let live = alike.iter().flat_map(|pack| pack.blobs()).filter(|(key, _)| is_live(*key));
        let merged: BTreeMap<u64, &[u8]> = live.collect();
        if !merged.is_empty() {
            self.put(writer, &pack_name(stem, number), &Pack::render(&merged))?;
        }
        alike.iter().try_for_each(|pack| remove(writer, stem, pack.number))
    }

    #[cfg(test)]
    pub(crate) fn merge_words(&self, project: &Project, is_live: &dyn Fn(u64) -> bool) {
        let scope = self.scope().unwrap();
        let id = self.name_of(project);
        let writer = self.writer(&scope, &id).unwrap();
        let (stem, next) = (format!("{id}/words-"), 1 << 40);
        let packs = self.open_packs(&stem);
        let all: Vec<&Pack> = packs.iter().collect();
        self.merge(&writer, &stem, next, &all, is_live).unwrap();
    }
}

fn pack_name(stem: &str, number: u64) -> String {
    format!("{stem}{number}{EXTENSION}")
}

fn alike(packs: &[Pack]) -> Option<Vec<&Pack>> {
    let mut classes: BTreeMap<u32, Vec<&Pack>> = BTreeMap::new();
    for pack in packs.iter().filter(|pack| pack.bytes.len() < LARGE_BYTES) {
        let class = (pack.bytes.len() / SMALL_BYTES).checked_ilog(MAX_ALIKE).map_or(0, |n| n + 1);
        classes.entry(class).or_default().push(pack);
    }
    classes.into_values().find(|alike| MAX_ALIKE <= alike.len())
}

fn remove(writer: &Writer<'_>, stem: &str, number: u64) -> Result<()> {
    writer.remove_derived(&RelPath::new(&pack_name(stem, number))?)
}
