//! The file format of everything the index keeps: numbered sections behind a checksum.
//!
//! Nothing here is ever flushed to the disk on purpose: the checksum covers every byte, so a file that
//! was torn by a power cut, cut short or written by another version reads as "not there", and what it
//! held is made again from the memories.

use std::ops::Deref;

use xxhash_rust::xxh3::xxh3_64;

use crate::safefs::Mapped;

/// Grows whenever the meaning of any section changes; an index of another number is rebuilt.
const FORMAT: u32 = 2;

const MAGIC: [u8; 8] = *b"NACREIDX";

/// Magic, format and the number of sections.
const HEADER_BYTES: usize = 16;

const CHECKSUM_BYTES: usize = 8;

/// Builds a file section by section.
#[derive(Debug, Default)]
pub(super) struct Builder {
    sections: Vec<Vec<u8>>,
}

impl Builder {
    pub(super) fn section(mut self, bytes: Vec<u8>) -> Self {
        self.sections.push(bytes);
        self
    }

    /// The whole file.
    pub(super) fn finish(self) -> Vec<u8> {
        let body: usize = self.sections.iter().map(Vec::len).sum();
        let mut file =
            Vec::with_capacity(HEADER_BYTES + self.sections.len() * 8 + body + CHECKSUM_BYTES);
        file.extend(MAGIC);
        file.extend(FORMAT.to_le_bytes());
        file.extend(u32::try_from(self.sections.len()).unwrap_or(u32::MAX).to_le_bytes());
        for section in &self.sections {
            file.extend((section.len() as u64).to_le_bytes());
        }
        for section in self.sections {
            file.extend(section);
        }
        file.extend(xxh3_64(&file).to_le_bytes());
        file
    }
}

/// A file's bytes: as they were made or read, or where they lie.
#[derive(Debug)]
pub(super) enum Bytes {
    Held(Vec<u8>),
    Mapped(Mapped),
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Held(bytes) => bytes,
            Self::Mapped(bytes) => bytes,
        }
    }
}

/// A file that was looked at whole and found undamaged.
#[derive(Debug)]
pub(super) struct Container {
    bytes: Bytes,
    sections: Vec<std::ops::Range<usize>>,
}

impl Container {
    /// Takes a file's bytes; `None` when they are not what [`Builder::finish`] made.
    pub(super) fn open(bytes: Bytes) -> Option<Self> {
        let body_end = bytes.len().checked_sub(CHECKSUM_BYTES)?;
        let (body, checksum) = bytes.split_at(body_end);
        if !body.starts_with(&MAGIC) || u32_at(body, 8)? != FORMAT {
            return None;
        }
        if xxh3_64(body).to_le_bytes() != checksum {
            return None;
        }
        let n_sections = usize::try_from(u32_at(body, 12)?).ok()?;
        let mut at = n_sections.checked_mul(8)?.checked_add(HEADER_BYTES)?;
        let mut sections = Vec::new();
        for idx in 0..n_sections {
            let len = usize::try_from(u64_at(body, HEADER_BYTES + idx * 8)?).ok()?;
            let end = at.checked_add(len)?;
            body.get(at..end)?;
            sections.push(at..end);
            at = end;
        }
        Some(Self { bytes, sections })
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// A section; one that is not there is empty.
    pub(super) fn section(&self, idx: usize) -> &[u8] {
        self.sections.get(idx).and_then(|range| self.bytes.get(range.clone())).unwrap_or_default()
    }
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    bytes.try_into().ok().map(u32::from_le_bytes)
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(8)?)?;
    bytes.try_into().ok().map(u64::from_le_bytes)
}

/// Builds a list of byte strings: where each starts, and the strings.
#[derive(Debug)]
pub(super) struct StringsBuilder {
    starts: Vec<u8>,
    bytes: Vec<u8>,
}

impl Default for StringsBuilder {
    fn default() -> Self {
        Self { starts: 0_u32.to_le_bytes().to_vec(), bytes: Vec::new() }
    }
}

impl StringsBuilder {
    pub(super) fn push(&mut self, string: &[u8]) {
        self.bytes.extend(string);
        self.starts.extend(u32::try_from(self.bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
    }

    pub(super) fn into_sections(self, builder: Builder) -> Builder {
        builder.section(self.starts).section(self.bytes)
    }
}

/// A list of byte strings in two sections of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strings<'a> {
    starts: &'a [u8],
    bytes: &'a [u8],
}

impl<'a> Strings<'a> {
    pub(super) fn new(container: &'a Container, first_section: usize) -> Self {
        Self {
            starts: container.section(first_section),
            bytes: container.section(first_section + 1),
        }
    }

    pub(super) fn len(self) -> usize {
        (self.starts.len() / 4).saturating_sub(1)
    }

    /// One string; one that is not there is empty.
    pub(super) fn get(self, idx: usize) -> &'a [u8] {
        let range = || {
            let start = u32_at(self.starts, idx.checked_mul(4)?)?;
            let end = u32_at(self.starts, idx.checked_add(1)?.checked_mul(4)?)?;
            Some(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
        };
        range().and_then(|range| self.bytes.get(range)).unwrap_or_default()
    }

    pub(super) fn text(self, idx: usize) -> &'a str {
        std::str::from_utf8(self.get(idx)).unwrap_or_default()
    }

    /// Finds a string in a sorted list.
    pub(super) fn find(self, wanted: &[u8]) -> Option<usize> {
        let idx = self.first_from(wanted);
        (idx < self.len() && self.get(idx) == wanted).then_some(idx)
    }

    /// The first string of a sorted list that is not before `wanted`.
    pub(super) fn first_from(self, wanted: &[u8]) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.get(middle) < wanted {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<u8> {
        let mut strings = StringsBuilder::default();
        for text in ["alpha", "", "omega"] {
            strings.push(text.as_bytes());
        }
        strings.into_sections(Builder::default().section(vec![7; 9])).finish()
    }

    #[test]
    fn what_was_built_is_read() {
        let container = Container::open(Bytes::Held(sample())).unwrap();
        assert_eq!(container.section(0), [7; 9]);
        let strings = Strings::new(&container, 1);
        assert_eq!((strings.len(), strings.text(0), strings.text(2)), (3, "alpha", "omega"));
        assert_eq!(strings.text(9), "");
        assert_eq!(container.section(17), [0; 0]);
    }

    #[test]
    fn a_file_that_is_cut_or_changed_anywhere_is_none() {
        let whole = sample();
        for len in 0..whole.len() {
            assert!(Container::open(Bytes::Held(whole[..len].to_vec())).is_none(), "cut at {len}");
        }
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0x20;
            assert!(Container::open(Bytes::Held(changed)).is_none(), "byte {at}");
        }
    }

    #[test]
    fn a_sorted_list_is_searched() {
        let mut strings = StringsBuilder::default();
        for n in 0..100 {
            strings.push(format!("{n:03}").as_bytes());
        }
        let file = strings.into_sections(Builder::default()).finish();
        let container = Container::open(Bytes::Held(file)).unwrap();
        let strings = Strings::new(&container, 0);
        assert_eq!(strings.find(b"042"), Some(42));
        assert_eq!(strings.find(b"0425"), None);
        assert_eq!(strings.find(b"100"), None);
        assert_eq!((strings.first_from(b""), strings.first_from(b"0425")), (0, 43));
        assert_eq!(strings.first_from(b"1"), 100);
    }
}
