//! Builds an index file from the previous one and new records.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use nacre_base::fs::FileBytes;
use nacre_base::on_all_cores;
use nacre_base::text::each_term;
use xxhash_rust::xxh3::xxh3_64;

use super::embed::Builtin;
use super::record::{Field, Fingerprint, N_FIELDS, Record, Traits, Unit, facet_term};
use super::segment::{Counts, FORMAT, HEADER_BYTES, MAGIC, Row, Segment};

/// Number of units to analyze at once. This limits the memory that a rebuild uses.
const UNITS_AT_ONCE: usize = 256;

/// With fewer units, starting a thread costs more time than it saves.
const UNITS_PER_THREAD: usize = 64;

/// The file format stores the first field's count in four bits.
const MAX_FIRST_COUNT: u8 = 15;

#[derive(Debug, Default)]
pub(super) struct Draft {
    dims: usize,
    head: Vec<u8>,
    model: Vec<u8>,
    n_rows: u32,
    n_units: u32,
    units: Vec<u8>,
    unit_keys: StringsBuilder,
    rows: Vec<u8>,
    row_keys: StringsBuilder,
    terms: HashMap<String, PostingsBuilder, RandomState>,
    links: StringsBuilder,
    scales: Vec<u8>,
    vectors: Vec<u8>,
}

impl Draft {
    pub(super) fn new(model: &str, dims: usize, watermark: u64) -> Self {
        let mut head = u32_of(dims).to_le_bytes().to_vec();
        head.extend(watermark.to_le_bytes());
        Self { dims, head, model: model.as_bytes().to_vec(), ..Self::default() }
    }

    /// Starts an index that has the built-in model's vectors.
    pub(super) fn of_shipped_model(watermark: u64) -> Self {
        let model = Builtin::shipped();
        Self::new(model.id(), model.dims(), watermark)
    }

    pub(super) fn push_units(&mut self, units: &[Unit]) {
        for piece in units.chunks(UNITS_AT_ONCE) {
            let analyzed =
                on_all_cores(piece, UNITS_PER_THREAD, |units| units.iter().map(analyze).collect());
            for (unit, records) in piece.iter().zip(analyzed) {
                self.push_unit(unit, records);
            }
        }
    }

    pub(super) fn push_unit(&mut self, unit: &Unit, records: Vec<AnalyzedRecord>) {
        self.begin_unit(&unit.key, unit.fingerprint, records.len());
        for (record, analyzed) in unit.records.iter().zip(records) {
            for (term, counts) in analyzed.terms {
                self.terms.entry(term).or_default().push(self.n_rows, counts);
            }
            let lines = record.links.iter().filter(|link| !link.to.contains('\n'));
            let links: String =
                lines.map(|link| format!("{}{}\n", link.kind.code(), link.to)).collect();
            self.push_row(&record.key, analyzed.row, &links);
            self.push_vector(&analyzed.vector, analyzed.scale);
        }
        self.n_units += 1;
    }

    pub(super) fn absorb(&mut self, segment: &Segment, is_kept: impl Fn(&str) -> bool) {
        let mut moved = vec![None; segment.n_rows];
        for unit in (0..segment.n_units()).filter(|unit| is_kept(segment.unit_key(*unit))) {
            let rows = segment.unit_rows(unit);
            self.begin_unit(segment.unit_key(unit), segment.fingerprint(unit), rows.len());
            for row in rows {
                moved[row] = Some(self.n_rows);
                let links: String = segment
                    .links(row)
                    .map(|link| format!("{}{}\n", link.kind.code(), link.to))
                    .collect();
                self.push_row(segment.row_key(row), segment.row(row), &links);
                let vector = segment.vectors().get(row * self.dims..(row + 1) * self.dims);
                self.push_vector(vector.unwrap_or_default(), segment.scale(row));
            }
            self.n_units += 1;
        }
        for (term, postings) in segment.terms_with_prefix(String::new()) {
            let mut rows = postings
                .filter_map(|(row, counts)| Some((moved.get(row as usize).copied()??, counts)))
                .peekable();
            if rows.peek().is_some() {
                let builder = self.terms.entry(term.to_owned()).or_default();
                rows.for_each(|(row, counts)| builder.push(row, counts));
            }
        }
    }

    pub(super) fn finish(self) -> Segment {
        let mut sorted: Vec<(String, PostingsBuilder)> = self.terms.into_iter().collect();
        sorted.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let (mut terms, mut postings) = (StringsBuilder::default(), StringsBuilder::default());
        for (term, builder) in sorted {
            terms.push(term.as_bytes());
            postings.push(&builder.finish());
        }
        // The order must match `segment`.
        let sections = [
            self.head,
            self.model,
            self.units,
            self.unit_keys.starts,
            self.unit_keys.bytes,
            self.rows,
            self.row_keys.starts,
            self.row_keys.bytes,
            terms.starts,
            terms.bytes,
            postings.starts,
            postings.bytes,
            self.links.starts,
            self.links.bytes,
            self.scales,
            self.vectors,
        ];
        let n_bytes: usize = sections.iter().map(|section| section.len() + 8).sum();
        let mut file = Vec::with_capacity(HEADER_BYTES + n_bytes + 8);
        file.extend(MAGIC);
        file.extend(FORMAT.to_le_bytes());
        file.extend(u32_of(sections.len()).to_le_bytes());
        for section in &sections {
            file.extend((section.len() as u64).to_le_bytes());
        }
        sections.iter().for_each(|section| file.extend(section));
        file.extend(xxh3_64(&file).to_le_bytes());
        Segment::open(FileBytes::Memory(file)).unwrap_or_default()
    }

    fn begin_unit(&mut self, key: &str, fingerprint: Fingerprint, n_rows: usize) {
        self.unit_keys.push(key.as_bytes());
        for number in [fingerprint.stamp, fingerprint.side, fingerprint.content] {
            self.units.extend(number.to_le_bytes());
        }
        self.units.extend(self.n_rows.to_le_bytes());
        self.units.extend(u32_of(n_rows).to_le_bytes());
    }

    fn push_row(&mut self, key: &str, row: Row, links: &str) {
        self.row_keys.push(key.as_bytes());
        self.links.push(links.as_bytes());
        self.rows.extend(row.time_ms.to_le_bytes());
        self.rows.extend(self.n_units.to_le_bytes());
        self.rows.extend(row.lengths.iter().flat_map(|length| length.to_le_bytes()));
        let codes = [row.voice.code(), row.standing.code(), row.confidence, row.traits.0];
        self.rows.extend(codes);
        self.n_rows += 1;
    }

    fn push_vector(&mut self, vector: &[i8], scale: f32) {
        let scale = if vector.len() == self.dims { scale } else { 0.0 };
        let end = self.vectors.len() + self.dims;
        self.vectors.extend_from_slice(bytemuck::cast_slice(vector));
        self.vectors.resize(end, 0);
        self.scales.extend(scale.to_le_bytes());
    }
}

fn analyze(unit: &Unit) -> Vec<AnalyzedRecord> {
    let vector = |record: &Record| Builtin::shipped().embed(&record.text_to_embed());
    let records = unit.records.iter();
    records.map(|record| AnalyzedRecord::new(record, &vector(record), |_| true)).collect()
}

#[derive(Debug)]
pub(super) struct AnalyzedRecord {
    pub(super) row: Row,
    terms: HashMap<String, Counts, RandomState>,
    vector: Vec<i8>,
    scale: f32,
}

impl AnalyzedRecord {
    /// Keeps only the terms that `is_wanted` accepts. An empty `vector` means that the record has
    /// none.
    pub(super) fn new(record: &Record, vector: &[f32], is_wanted: impl Fn(&str) -> bool) -> Self {
        let mut terms: HashMap<String, Counts, RandomState> = HashMap::default();
        let mut lengths = [0_u16; N_FIELDS];
        for field in Field::ALL {
            let idx = field as usize;
            each_term(record.field(field), |term| {
                lengths[idx] = lengths[idx].saturating_add(1);
                if !is_wanted(term) {
                    return;
                }
                let counts = match terms.get_mut(term) {
                    Some(counts) => counts,
                    None => terms.entry(term.to_owned()).or_default(),
                };
                counts[idx] = counts[idx].saturating_add(1);
            });
        }
        for (name, value) in record.all_facets() {
            terms.entry(facet_term(name, value)).or_default()[0] = 1;
        }
        let (vector, scale) = quantize(vector);
        let row = Row {
            time_ms: record.time_ms,
            unit: 0,
            lengths,
            voice: record.voice,
            standing: record.standing,
            confidence: (record.confidence.clamp(0.0, 1.0) * 255.0).round() as u8,
            traits: Traits::of(&record.body),
        };
        Self { row, terms, vector, scale }
    }
}

pub(super) fn quantize(vector: &[f32]) -> (Vec<i8>, f32) {
    let largest = vector.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return (vec![0; vector.len()], 0.0);
    }
    let scale = largest / 127.0;
    (vector.iter().map(|x| (x / scale).round() as i8).collect(), scale)
}

fn u32_of(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[derive(Debug)]
struct StringsBuilder {
    starts: Vec<u8>,
    bytes: Vec<u8>,
}

impl Default for StringsBuilder {
    fn default() -> Self {
        Self { starts: 0_u32.to_le_bytes().to_vec(), bytes: Vec::new() }
    }
}

impl StringsBuilder {
    fn push(&mut self, string: &[u8]) {
        self.bytes.extend(string);
        self.starts.extend(u32_of(self.bytes.len()).to_le_bytes());
    }
}

#[derive(Debug, Default)]
pub(super) struct PostingsBuilder {
    bytes: Vec<u8>,
    next_row: u32,
    n_rows: u32,
}

impl PostingsBuilder {
    /// Rows must be added in ascending order.
    pub(super) fn push(&mut self, row: u32, counts: Counts) {
        push_varint(&mut self.bytes, row.saturating_sub(self.next_row));
        self.next_row = row + 1;
        self.n_rows += 1;
        let mut held = counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let mask = held.clone().fold(0_u8, |mask, (field, _)| mask | (1 << field));
        let first = held.next().map_or(0, |(_, count)| (*count).min(MAX_FIRST_COUNT));
        self.bytes.push(mask | (first << 4));
        self.bytes.extend(held.map(|(_, count)| *count));
    }

    pub(super) fn finish(self) -> Vec<u8> {
        let mut packed = Vec::with_capacity(self.bytes.len() + 4);
        push_varint(&mut packed, self.n_rows);
        packed.extend(self.bytes);
        packed
    }
}

fn push_varint(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

#[cfg(test)]
mod tests;
