//! The index file: immutable, memory-mapped tables of units, rows, terms, vectors and links.
//!
//! Each change writes a new file and renames it over the old one, so readers need no lock. The file
//! is not flushed to disk. A checksum covers every byte, and an incomplete or damaged file is
//! rebuilt from its sources. [`Draft`](super::draft::Draft) writes the format.

use std::ops::Range;

use nacre_base::fs::FileBytes;
use xxhash_rust::xxh3::xxh3_64;

use super::record::{Fingerprint, Link, LinkKind, N_FIELDS, Standing, Traits, Voice};

/// Must be increased with every change to the format. An index with a different number is rebuilt.
pub(super) const FORMAT: u32 = 4;

pub(super) const MAGIC: [u8; 8] = *b"NACREIDX";

/// Magic number, format number and number of sections. The lengths of the sections follow.
pub(super) const HEADER_BYTES: usize = 16;

const CHECKSUM_BYTES: usize = 8;

/// The sections, in the order they have in the file. A list of strings takes up two sections.
mod section {
    pub(super) const HEAD: usize = 0;
    pub(super) const MODEL: usize = 1;
    pub(super) const UNITS: usize = 2;
    pub(super) const UNIT_KEYS: usize = 3;
    pub(super) const ROWS: usize = 5;
    pub(super) const ROW_KEYS: usize = 6;
    pub(super) const TERMS: usize = 8;
    pub(super) const POSTINGS: usize = 10;
    pub(super) const LINKS: usize = 12;
    pub(super) const SCALES: usize = 14;
    pub(super) const VECTORS: usize = 15;
}

/// Stamp, side stamp, content hash, first row and number of rows.
const UNIT_BYTES: usize = 32;

/// Time, unit, field lengths, voice, standing, confidence and traits.
const ROW_BYTES: usize = 24;

#[derive(Debug, Default)]
pub(super) struct Segment {
    pub(super) bytes: FileBytes,
    sections: Vec<Range<usize>>,
    pub(super) dims: usize,
    pub(super) n_rows: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Row {
    pub(crate) time_ms: i64,
    pub(super) unit: u32,
    pub(super) lengths: [u16; N_FIELDS],
    pub(super) voice: Voice,
    pub(crate) standing: Standing,
    /// From 0 to 255.
    pub(crate) confidence: u8,
    pub(super) traits: Traits,
}

impl Segment {
    /// Returns `None` if the bytes are not a complete file in this format.
    pub(super) fn open(bytes: FileBytes) -> Option<Self> {
        let body_end = bytes.len().checked_sub(CHECKSUM_BYTES)?;
        let (body, checksum) = bytes.split_at(body_end);
        if !body.starts_with(&MAGIC)
            || u32_at(body, 8)? != FORMAT
            || xxh3_64(body).to_le_bytes() != checksum
        {
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
        let mut segment = Self { bytes, sections, dims: 0, n_rows: 0 };
        segment.dims = usize::try_from(u32_at(segment.section(section::HEAD), 0)?).ok()?;
        segment.n_rows = segment.section(section::ROWS).len() / ROW_BYTES;
        let (dims, n_rows) = (segment.dims, segment.n_rows);
        let is_whole = segment.section(section::VECTORS).len() == n_rows.checked_mul(dims)?
            && segment.section(section::SCALES).len() == n_rows.checked_mul(4)?
            && segment.strings(section::ROW_KEYS).len() == n_rows
            && segment.strings(section::UNIT_KEYS).len() == segment.n_units();
        is_whole.then_some(segment)
    }

    pub(super) fn model(&self) -> &str {
        std::str::from_utf8(self.section(section::MODEL)).unwrap_or_default()
    }

    /// Returns the sources' watermark, which is independent of the units' stamps.
    pub(super) fn watermark(&self) -> u64 {
        u64_at(self.section(section::HEAD), 4).unwrap_or(0)
    }

    pub(super) fn n_units(&self) -> usize {
        self.section(section::UNITS).len() / UNIT_BYTES
    }

    pub(super) fn unit_key(&self, unit: usize) -> &str {
        self.strings(section::UNIT_KEYS).text(unit)
    }

    pub(super) fn fingerprint(&self, unit: usize) -> Fingerprint {
        let number = |at| u64_at(self.section(section::UNITS), unit * UNIT_BYTES + at).unwrap_or(0);
        Fingerprint { stamp: number(0), side: number(8), content: number(16) }
    }

    pub(super) fn unit_rows(&self, unit: usize) -> Range<usize> {
        let number = |at| {
            let number = u32_at(self.section(section::UNITS), unit * UNIT_BYTES + at);
            usize::try_from(number.unwrap_or(0)).unwrap_or(usize::MAX)
        };
        let first = number(24).min(self.n_rows);
        first..first.saturating_add(number(28)).min(self.n_rows)
    }

    pub(super) fn row(&self, row: usize) -> Row {
        let rows = self.section(section::ROWS);
        let Some(row) = rows.get(row * ROW_BYTES..(row + 1) * ROW_BYTES) else {
            return Row::default();
        };
        let mut lengths = [0; N_FIELDS];
        for (length, pair) in lengths.iter_mut().zip(row[12..20].chunks_exact(2)) {
            *length = u16::from_le_bytes([pair[0], pair[1]]);
        }
        Row {
            time_ms: u64_at(row, 0).unwrap_or(0).cast_signed(),
            unit: u32_at(row, 8).unwrap_or(0),
            lengths,
            voice: Voice::from_code(row[20]),
            standing: Standing::from_code(row[21]),
            confidence: row[22],
            traits: Traits(row[23]),
        }
    }

    pub(super) fn row_key(&self, row: usize) -> &str {
        self.strings(section::ROW_KEYS).text(row)
    }

    pub(super) fn postings(&self, term: &str) -> Option<Postings<'_>> {
        let terms = self.strings(section::TERMS);
        let idx = terms.first_from(term.as_bytes());
        (idx < terms.len() && terms.get(idx) == term.as_bytes())
            .then(|| Postings::new(self.strings(section::POSTINGS).get(idx)))
    }

    pub(super) fn terms_with_prefix(
        &self,
        prefix: String,
    ) -> impl Iterator<Item = (&str, Postings<'_>)> {
        let (terms, postings) = (self.strings(section::TERMS), self.strings(section::POSTINGS));
        (terms.first_from(prefix.as_bytes())..terms.len())
            .map(move |idx| (terms.text(idx), Postings::new(postings.get(idx))))
            .take_while(move |(term, _)| term.starts_with(&prefix))
    }

    pub(super) fn links(&self, row: usize) -> impl Iterator<Item = Link> {
        let link = |(kind, to): (LinkKind, &str)| Link { kind, to: to.to_owned() };
        self.unpack_links(row).map(link)
    }

    pub(super) fn links_of(&self, row: usize, wanted: LinkKind) -> impl Iterator<Item = &str> {
        self.unpack_links(row).filter(move |(kind, _)| *kind == wanted).map(|(_, to)| to)
    }

    fn unpack_links(&self, row: usize) -> impl Iterator<Item = (LinkKind, &str)> {
        self.strings(section::LINKS).text(row).lines().filter_map(|line| {
            let kind = LinkKind::from_code(line.bytes().next()?.wrapping_sub(b'0'));
            Some((kind, line.get(1..)?))
        })
    }

    pub(super) fn vectors(&self) -> &[i8] {
        bytemuck::cast_slice(self.section(section::VECTORS))
    }

    /// Returns the factor that converts a row's 8-bit numbers back into vector components.
    pub(super) fn scale(&self, row: usize) -> f32 {
        u32_at(self.section(section::SCALES), row * 4).map_or(0.0, f32::from_bits)
    }

    fn section(&self, idx: usize) -> &[u8] {
        self.sections.get(idx).and_then(|range| self.bytes.get(range.clone())).unwrap_or_default()
    }

    fn strings(&self, first_section: usize) -> Strings<'_> {
        Strings { starts: self.section(first_section), bytes: self.section(first_section + 1) }
    }
}

pub(super) fn checksum(file: &[u8]) -> Option<u64> {
    u64_at(file, file.len().checked_sub(CHECKSUM_BYTES)?)
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    bytes.try_into().ok().map(u32::from_le_bytes)
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(8)?)?;
    bytes.try_into().ok().map(u64::from_le_bytes)
}

/// A list of byte strings, stored as their offsets and the concatenated bytes.
#[derive(Clone, Copy, Debug)]
struct Strings<'a> {
    starts: &'a [u8],
    bytes: &'a [u8],
}

impl<'a> Strings<'a> {
    fn len(self) -> usize {
        (self.starts.len() / 4).saturating_sub(1)
    }

    /// Returns an empty string if the index is out of range.
    fn get(self, idx: usize) -> &'a [u8] {
        let start = |idx: usize| usize::try_from(u32_at(self.starts, idx.checked_mul(4)?)?).ok();
        let range = || Some(start(idx)?..start(idx.checked_add(1)?)?);
        range().and_then(|range| self.bytes.get(range)).unwrap_or_default()
    }

    fn text(self, idx: usize) -> &'a str {
        std::str::from_utf8(self.get(idx)).unwrap_or_default()
    }

    /// Finds the first string that is not less than `wanted` by binary search, and returns its
    /// index.
    fn first_from(self, wanted: &[u8]) -> usize {
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

pub(crate) type Counts = [u8; N_FIELDS];

/// The rows that contain a term. Each row is stored as the distance from the previous row, a mask
/// of its fields, and the counts. The first count takes four bits. Malformed bytes end the
/// iteration early.
#[derive(Clone, Debug)]
pub(super) struct Postings<'a> {
    bytes: &'a [u8],
    next_row: u32,
    n_left: u32,
}

impl<'a> Postings<'a> {
    pub(super) fn new(packed: &'a [u8]) -> Self {
        let mut bytes = packed;
        let n_left = take_varint(&mut bytes).unwrap_or(0);
        Self { bytes, next_row: 0, n_left }
    }

    pub(super) fn n_rows(&self) -> u32 {
        self.n_left
    }

    fn read(&mut self) -> Option<(u32, Counts)> {
        let row = self.next_row.checked_add(take_varint(&mut self.bytes)?)?;
        self.next_row = row.checked_add(1)?;
        let head = *self.bytes.split_off_first()?;
        let mut counts = Counts::default();
        let mut first = Some(head >> 4);
        for (field, count) in counts.iter_mut().enumerate() {
            if head & (1 << field) != 0 {
                *count = match first.take() {
                    Some(first) => first,
                    None => *self.bytes.split_off_first()?,
                };
            }
        }
        Some((row, counts))
    }
}

impl Iterator for Postings<'_> {
    type Item = (u32, Counts);

    fn next(&mut self) -> Option<Self::Item> {
        self.n_left = self.n_left.checked_sub(1)?;
        let read = self.read();
        if read.is_none() {
            self.n_left = 0;
        }
        read
    }
}

fn take_varint(bytes: &mut &[u8]) -> Option<u32> {
    let mut number = 0_u32;
    for shift in (0..32).step_by(7) {
        let byte = *bytes.split_off_first()?;
        number |= u32::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}
