//! Some analyses in one file, found by what they are of.
//!
//! A pack is never changed: a change adds a small one, and small ones are merged as they pile up.

use xxhash_rust::xxh3::xxh3_64;

use super::blob::ANALYSIS_FORMAT;
use super::mapped::Mapped;

const MAGIC: [u8; 8] = *b"NACREPCK";

/// Magic, format, the number of entries, and a checksum of the entries.
const HEADER_BYTES: usize = 24;

/// Key, start, length and checksum of a blob.
const ENTRY_BYTES: usize = 24;

/// Where a blob lies among others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) len: usize,
}

/// The beginning of a pack, which blobs are put behind.
pub(super) fn begin() -> Vec<u8> {
    vec![0; HEADER_BYTES]
}

/// Makes a pack of a beginning with blobs behind it. The keys come in order, each once.
pub(super) fn finish(
    mut file: Vec<u8>,
    entries: impl ExactSizeIterator<Item = (u64, Span)>,
) -> Vec<u8> {
    let (first, n_entries) = (file.len(), entries.len());
    file.reserve(n_entries * ENTRY_BYTES);
    for (key, Span { start, len }) in entries {
        let check = short_sum(&file[start..][..len]);
        file.extend(key.to_le_bytes());
        file.extend((start as u64).to_le_bytes());
        file.extend(u32::try_from(len).unwrap_or(u32::MAX).to_le_bytes());
        file.extend(check.to_le_bytes());
    }
    let check = xxh3_64(&file[first..]);
    file[..8].copy_from_slice(&MAGIC);
    file[8..12].copy_from_slice(&ANALYSIS_FORMAT.to_le_bytes());
    file[12..16].copy_from_slice(&u32::try_from(n_entries).unwrap_or(u32::MAX).to_le_bytes());
    file[16..HEADER_BYTES].copy_from_slice(&check.to_le_bytes());
    file
}

/// A pack, open.
#[derive(Debug)]
pub(super) struct Pack {
    map: Mapped,
    /// Where the entries begin, which stand behind all blobs.
    first: usize,
}

impl Pack {
    /// Opens a pack; `None` for anything that is not whole and of this format.
    pub(super) fn open(map: Mapped) -> Option<Self> {
        let header = map.get(..HEADER_BYTES)?;
        let is_ours = header.starts_with(&MAGIC) && header[8..12] == ANALYSIS_FORMAT.to_le_bytes();
        let n_entries = header[12..16].try_into().ok().map(u32::from_le_bytes)?;
        let n_entries = usize::try_from(n_entries).ok()?;
        let first = map.len().checked_sub(n_entries.checked_mul(ENTRY_BYTES)?)?;
        let entries = map.get(first..).filter(|_| HEADER_BYTES <= first)?;
        let is_whole = is_ours && xxh3_64(entries).to_le_bytes() == header[16..24];
        is_whole.then_some(Self { map, first })
    }

    pub(super) fn n_bytes(&self) -> usize {
        self.map.len()
    }

    /// The blob of a key; one that is damaged is not there.
    pub(super) fn get(&self, key: u64) -> Option<&[u8]> {
        let at = self.entries().binary_search_by_key(&key, |entry| word(entry, 0)).ok()?;
        self.blob(&self.entries()[at])
    }

    /// All blobs that are whole, in the order of their keys.
    pub(super) fn blobs(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.entries().iter().filter_map(|entry| Some((word(entry, 0), self.blob(entry)?)))
    }

    /// All keys in order.
    pub(super) fn keys(&self) -> impl ExactSizeIterator<Item = u64> {
        self.entries().iter().map(|entry| word(entry, 0))
    }

    /// All keys in order, with how many bytes each one's blob has.
    pub(super) fn lens(&self) -> impl Iterator<Item = (u64, u64)> {
        self.entries().iter().map(|entry| (word(entry, 0), word(entry, 16) & 0xffff_ffff))
    }

    /// The blob of the key at a place; one that is damaged is not there.
    pub(super) fn at(&self, place: usize) -> Option<&[u8]> {
        self.blob(self.entries().get(place)?)
    }

    /// The same without a look whether it is damaged, for who has a checksum of its own.
    pub(super) fn at_unchecked(&self, place: usize) -> Option<&[u8]> {
        self.map.get(Self::span(self.entries().get(place)?)?)
    }

    fn entries(&self) -> &[[u8; ENTRY_BYTES]] {
        self.map[self.first..].as_chunks().0
    }

    fn blob(&self, entry: &[u8; ENTRY_BYTES]) -> Option<&[u8]> {
        let blob = self.map.get(Self::span(entry)?)?;
        (short_sum(blob) == (word(entry, 16) >> 32) as u32).then_some(blob)
    }

    fn span(entry: &[u8; ENTRY_BYTES]) -> Option<std::ops::Range<usize>> {
        let start = usize::try_from(word(entry, 8)).ok()?;
        Some(start..start.checked_add((word(entry, 16) & 0xffff_ffff) as usize)?)
    }
}

fn word(entry: &[u8; ENTRY_BYTES], at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&entry[at..at + 8]);
    u64::from_le_bytes(bytes)
}

fn short_sum(blob: &[u8]) -> u32 {
    (xxh3_64(blob) & 0xffff_ffff) as u32
}
