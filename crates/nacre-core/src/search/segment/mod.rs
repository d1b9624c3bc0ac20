//! One immutable piece of the index: units, rows, terms, vectors and links of the records it was made from.
//!
//! A change never touches a segment. It adds a small one and says in the manifest which units of the
//! others are dead; small ones are merged as they pile up. So readers need no lock, and what a change
//! writes is in proportion to the change.

mod draft;
mod postings;
#[cfg(test)]
mod tests;

pub(super) use draft::{Analysed, Draft, quantise};
pub(super) use postings::{Counts, Postings};

use super::container::{Bytes, Container, Strings, u32_at, u64_at};
use super::record::{Fingerprint, Link, LinkKind, N_FIELDS, Standing, Voice};
use super::traits::Traits;

/// The sections of a segment's file, in their order; lists of strings take two.
mod section {
    pub(super) const UNITS: usize = 0;
    pub(super) const UNIT_KEYS: usize = 1;
    pub(super) const ROWS: usize = 3;
    pub(super) const ROW_KEYS: usize = 4;
    pub(super) const TERMS: usize = 6;
    pub(super) const POSTINGS: usize = 8;
    pub(super) const LINKS: usize = 10;
    pub(super) const SCALES: usize = 12;
    pub(super) const VECTORS: usize = 13;
    pub(super) const DIMS: usize = 14;
}

/// Stamp, side stamp, content hash, first row and number of rows.
const UNIT_BYTES: usize = 32;

/// Time, unit, the fields' lengths, voice, standing, confidence and traits.
const ROW_BYTES: usize = 24;

/// A segment that was found whole.
#[derive(Debug)]
pub(super) struct Segment {
    container: Container,
    dims: usize,
    n_rows: usize,
}

/// A unit as a segment holds it.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnitRow {
    pub(super) fingerprint: Fingerprint,
    pub(super) first_row: u32,
    pub(super) n_rows: u32,
}

/// A row's numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Row {
    pub(super) time_ms: i64,
    pub(super) unit: u32,
    pub(super) lengths: [u16; N_FIELDS],
    pub(super) voice: Voice,
    pub(super) standing: Standing,
    /// Of 255.
    pub(super) confidence: u8,
    pub(super) traits: Traits,
}

impl Segment {
    /// Takes a file's bytes; `None` when it is not a whole segment of this version.
    pub(super) fn open(bytes: Bytes) -> Option<Self> {
        let container = Container::open(bytes)?;
        let n_rows = container.section(section::ROWS).len() / ROW_BYTES;
        let dims = usize::try_from(u32_at(container.section(section::DIMS), 0)?).ok()?;
        let is_whole = container.section(section::VECTORS).len() == n_rows.checked_mul(dims)?
            && container.section(section::SCALES).len() == n_rows.checked_mul(4)?
            && Strings::new(&container, section::ROW_KEYS).len() == n_rows
            && Strings::new(&container, section::UNIT_KEYS).len()
                == container.section(section::UNITS).len() / UNIT_BYTES;
        is_whole.then_some(Self { container, dims, n_rows })
    }

    /// The whole file.
    pub(super) fn bytes(&self) -> &[u8] {
        self.container.bytes()
    }

    pub(super) fn n_rows(&self) -> usize {
        self.n_rows
    }

    pub(super) fn n_units(&self) -> usize {
        self.container.section(section::UNITS).len() / UNIT_BYTES
    }

    pub(super) fn unit(&self, idx: usize) -> UnitRow {
        let units = self.container.section(section::UNITS);
        let at = idx * UNIT_BYTES;
        let number = |at| u32_at(units, at).unwrap_or(0);
        let first_row = number(at + 24).min(u32_of(self.n_rows));
        UnitRow {
            fingerprint: Fingerprint {
                stamp: u64_at(units, at).unwrap_or(0),
                side: u64_at(units, at + 8).unwrap_or(0),
                content: u64_at(units, at + 16).unwrap_or(0),
            },
            first_row,
            // A file may claim more than it holds.
            n_rows: number(at + 28).min(u32_of(self.n_rows) - first_row),
        }
    }

    pub(super) fn unit_key(&self, idx: usize) -> &str {
        Strings::new(&self.container, section::UNIT_KEYS).text(idx)
    }

    pub(super) fn row(&self, idx: usize) -> Row {
        let rows = self.container.section(section::ROWS);
        let Some(row) = rows.get(idx * ROW_BYTES..(idx + 1) * ROW_BYTES) else {
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
            traits: Traits::from_code(row[23]),
        }
    }

    pub(super) fn row_key(&self, idx: usize) -> &str {
        Strings::new(&self.container, section::ROW_KEYS).text(idx)
    }

    /// The rows that hold `term`.
    pub(super) fn postings(&self, term: &[u8]) -> Option<Postings<'_>> {
        let idx = Strings::new(&self.container, section::TERMS).find(term)?;
        Some(Postings::new(Strings::new(&self.container, section::POSTINGS).get(idx)))
    }

    /// All terms with their rows, sorted.
    fn terms(&self) -> impl Iterator<Item = (&[u8], Postings<'_>)> {
        self.terms_from(0)
    }

    /// The terms that begin with `start`, with their rows, sorted.
    pub(super) fn terms_under<'a>(
        &'a self,
        start: &[u8],
    ) -> impl Iterator<Item = (&'a [u8], Postings<'a>)> {
        let first = Strings::new(&self.container, section::TERMS).first_from(start);
        self.terms_from(first).take_while(move |(term, _)| term.starts_with(start))
    }

    fn terms_from(&self, first: usize) -> impl Iterator<Item = (&[u8], Postings<'_>)> {
        let terms = Strings::new(&self.container, section::TERMS);
        let postings = Strings::new(&self.container, section::POSTINGS);
        (first..terms.len()).map(move |idx| (terms.get(idx), Postings::new(postings.get(idx))))
    }

    pub(super) fn links(&self, row: usize) -> Vec<Link> {
        self.packed_links(row).map(|(kind, to)| Link { kind, to: to.to_owned() }).collect()
    }

    /// What a row's links of one kind name.
    pub(super) fn links_of(&self, row: usize, wanted: LinkKind) -> impl Iterator<Item = &str> {
        self.packed_links(row).filter(move |(kind, _)| *kind == wanted).map(|(_, to)| to)
    }

    fn packed_links(&self, row: usize) -> impl Iterator<Item = (LinkKind, &str)> {
        let packed = Strings::new(&self.container, section::LINKS).text(row);
        packed.lines().filter_map(|line| {
            let kind = LinkKind::from_code(line.bytes().next()?.wrapping_sub(b'0'));
            Some((kind, line.get(1..)?))
        })
    }

    pub(super) fn dims(&self) -> usize {
        self.dims
    }

    /// All vectors, one after the other.
    pub(super) fn vectors(&self) -> &[i8] {
        bytemuck::cast_slice(self.container.section(section::VECTORS))
    }

    /// What a row's vector is multiplied with.
    pub(super) fn scale(&self, row: usize) -> f32 {
        u32_at(self.container.section(section::SCALES), row * 4).map_or(0.0, f32::from_bits)
    }
}

fn u32_of(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
