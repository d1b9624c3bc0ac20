//! The list of records that hold a term, packed: about three bytes a record.
//!
//! A record is its distance from the one before, then which fields hold the term and how often.

use crate::search::record::N_FIELDS;

/// How often a term stands in each field of a record.
pub(in crate::search) type Counts = [u8; N_FIELDS];

/// The first field's count has four bits.
const MAX_FIRST_COUNT: u8 = 15;

/// Packs postings of one term, in the order of their rows.
#[derive(Debug, Default)]
pub(in crate::search) struct PostingsBuilder {
    bytes: Vec<u8>,
    next_row: u32,
    n_rows: u32,
}

impl PostingsBuilder {
    /// Adds a row, which must not be smaller than the last.
    pub(in crate::search) fn push(&mut self, row: u32, counts: Counts) {
        push_varint(&mut self.bytes, row.saturating_sub(self.next_row));
        self.next_row = row + 1;
        self.n_rows += 1;
        let mut held = counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let mask = held.clone().fold(0_u8, |mask, (field, _)| mask | (1 << field));
        let first = held.next().map_or(0, |(_, count)| (*count).min(MAX_FIRST_COUNT));
        self.bytes.push(mask | (first << 4));
        self.bytes.extend(held.map(|(_, count)| *count));
    }

    /// The number of rows, then the rows.
    pub(in crate::search) fn finish(self) -> Vec<u8> {
        let mut packed = Vec::with_capacity(self.bytes.len() + 4);
        push_varint(&mut packed, self.n_rows);
        packed.extend(self.bytes);
        packed
    }
}

/// Reads packed postings; ends early when they are not well formed.
#[derive(Clone, Debug)]
pub(in crate::search) struct Postings<'a> {
    bytes: &'a [u8],
    next_row: u32,
    n_left: u32,
}

impl<'a> Postings<'a> {
    pub(in crate::search) fn new(packed: &'a [u8]) -> Self {
        let mut bytes = packed;
        let n_left = take_varint(&mut bytes).unwrap_or(0);
        Self { bytes, next_row: 0, n_left }
    }

    /// How many rows there are, deleted ones included.
    pub(in crate::search) fn n_rows(&self) -> u32 {
        self.n_left
    }

    fn read(&mut self) -> Option<(u32, Counts)> {
        let row = self.next_row.checked_add(take_varint(&mut self.bytes)?)?;
        self.next_row = row.checked_add(1)?;
        let head = take_byte(&mut self.bytes)?;
        let mut counts = Counts::default();
        let mut first = Some(head >> 4);
        for (field, count) in counts.iter_mut().enumerate() {
            if head & (1 << field) != 0 {
                *count = match first.take() {
                    Some(first) => first,
                    None => take_byte(&mut self.bytes)?,
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

fn push_varint(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take_byte(bytes: &mut &[u8]) -> Option<u8> {
    let (first, rest) = bytes.split_first()?;
    *bytes = rest;
    Some(*first)
}

fn take_varint(bytes: &mut &[u8]) -> Option<u32> {
    let mut number = 0_u32;
    for shift in (0..32).step_by(7) {
        let byte = take_byte(bytes)?;
        number |= u32::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_was_packed_comes_out(
            rows in prop::collection::btree_map(0_u32..1_000_000, prop::array::uniform4(0_u8..12), 0..50)
        ) {
            let rows: Vec<(u32, Counts)> =
                rows.into_iter().filter(|(_, counts)| counts.iter().any(|n| *n > 0)).collect();
            let mut builder = PostingsBuilder::default();
            for (row, counts) in &rows {
                builder.push(*row, *counts);
            }
            let packed = builder.finish();
            let postings = Postings::new(&packed);
            prop_assert_eq!(postings.n_rows() as usize, rows.len());
            prop_assert_eq!(postings.collect::<Vec<_>>(), rows);
        }

        #[test]
        fn any_bytes_end(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(Postings::new(&bytes).count() <= 200);
        }
    }
}
