//! A segment being made, from records or from older segments.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::postings::PostingsBuilder;
use super::{Counts, Row, Segment, u32_of};
use crate::search::container::{Builder, StringsBuilder};
use crate::search::record::{Field, Fingerprint, Link, N_FIELDS, Record};
use crate::search::traits::Traits;
use crate::search::{weights, words};

/// A record's terms and numbers; made on any thread, without the others.
#[derive(Debug)]
pub(in crate::search) struct Analysed {
    key: String,
    row: Row,
    terms: HashMap<Vec<u8>, Counts, RandomState>,
    links: String,
    vector: Vec<i8>,
    scale: f32,
}

impl Analysed {
    /// Takes a record apart. Its vector has the index's dimensions, or is empty where there is none.
    pub(in crate::search) fn new(record: &Record, vector: &[f32]) -> Self {
        Self::with_terms(record, vector, |_| true)
    }

    /// The same with some of its terms alone; how long it is says nothing of that.
    pub(in crate::search) fn with_terms(
        record: &Record,
        vector: &[f32],
        is_wanted: impl Fn(&str) -> bool,
    ) -> Self {
        let mut terms: HashMap<Vec<u8>, Counts, RandomState> = HashMap::default();
        let mut lengths = [0_u16; N_FIELDS];
        for field in Field::ALL {
            let idx = field as usize;
            words::each_term(record.field(field), |term| {
                lengths[idx] = lengths[idx].saturating_add(1);
                if !is_wanted(term) {
                    return;
                }
                let counts = match terms.get_mut(term.as_bytes()) {
                    Some(counts) => counts,
                    None => terms.entry(term.as_bytes().to_vec()).or_default(),
                };
                counts[idx] = counts[idx].saturating_add(1);
            });
        }
        let speaker = (!record.speaker.is_empty()).then_some(("speaker", &record.speaker));
        let facets = record.facets.iter().map(|(name, value)| (*name, value)).chain(speaker);
        for (name, value) in facets {
            terms.entry(words::facet(name, value)).or_default()[0] = 1;
        }
        let (vector, scale) = quantise(vector);
        Self {
            key: record.key.clone(),
            row: Row {
                time_ms: record.time_ms,
                unit: 0,
                lengths,
                voice: record.voice,
                standing: record.standing,
                confidence: (record.confidence.clamp(0.0, 1.0) * 255.0).round() as u8,
                traits: Traits::of(&record.body),
            },
            terms,
            links: pack_links(&record.links),
            vector,
            scale,
        }
    }
}

impl Analysed {
    /// How many words it has, the better fields counted more.
    pub(in crate::search) fn length(&self) -> f32 {
        weights::length(&self.row.lengths)
    }
}

/// A segment that grows unit by unit.
#[derive(Debug)]
pub(in crate::search) struct Draft {
    dims: usize,
    n_rows: u32,
    n_units: u32,
    units: Vec<u8>,
    unit_keys: StringsBuilder,
    rows: Vec<u8>,
    row_keys: StringsBuilder,
    terms: HashMap<Box<[u8]>, PostingsBuilder, RandomState>,
    links: StringsBuilder,
    scales: Vec<u8>,
    vectors: Vec<u8>,
}

impl Draft {
    pub(in crate::search) fn new(dims: usize) -> Self {
        Self {
            dims,
            n_rows: 0,
            n_units: 0,
            units: Vec::new(),
            unit_keys: StringsBuilder::default(),
            rows: Vec::new(),
            row_keys: StringsBuilder::default(),
            terms: HashMap::default(),
            links: StringsBuilder::default(),
            scales: Vec::new(),
            vectors: Vec::new(),
        }
    }

    /// Adds a unit with its records.
    pub(in crate::search) fn push_unit(
        &mut self,
        key: &str,
        fingerprint: Fingerprint,
        records: Vec<Analysed>,
    ) {
        let n_rows = u32_of(records.len());
        self.begin_unit(key, fingerprint, n_rows);
        for record in records {
            let row = self.n_rows;
            for (term, counts) in record.terms {
                self.terms.entry(term.into_boxed_slice()).or_default().push(row, counts);
            }
            self.push_row(&record.key, record.row, record.links.as_bytes());
            self.push_vector(&record.vector, record.scale);
        }
        self.n_units += 1;
    }

    /// Takes over the units of an older segment that `is_live` accepts.
    pub(in crate::search) fn absorb(&mut self, segment: &Segment, is_live: impl Fn(usize) -> bool) {
        let mut moved = vec![None; segment.n_rows()];
        for idx in (0..segment.n_units()).filter(|idx| is_live(*idx)) {
            let unit = segment.unit(idx);
            self.begin_unit(segment.unit_key(idx), unit.fingerprint, unit.n_rows);
            for old in unit.first_row..unit.first_row + unit.n_rows {
                let old = old as usize;
                moved[old] = Some(self.n_rows);
                let links = pack_links(&segment.links(old));
                self.push_row(segment.row_key(old), segment.row(old), links.as_bytes());
                let vector = segment.vectors().get(old * self.dims..(old + 1) * self.dims);
                self.push_vector(vector.unwrap_or_default(), segment.scale(old));
            }
            self.n_units += 1;
        }
        for (term, postings) in segment.terms() {
            let rows = postings
                .filter_map(|(old, counts)| Some((moved.get(old as usize).copied()??, counts)));
            let mut rows = rows.peekable();
            if rows.peek().is_none() {
                continue;
            }
            let builder = match self.terms.get_mut(term) {
                Some(builder) => builder,
                None => self.terms.entry(term.into()).or_default(),
            };
            rows.for_each(|(row, counts)| builder.push(row, counts));
        }
    }

    /// The segment's file.
    pub(in crate::search) fn finish(self) -> Vec<u8> {
        let mut sorted: Vec<(Box<[u8]>, PostingsBuilder)> = self.terms.into_iter().collect();
        sorted.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let (mut terms, mut postings) = (StringsBuilder::default(), StringsBuilder::default());
        for (term, builder) in sorted {
            terms.push(&term);
            postings.push(&builder.finish());
        }
        let file = self.unit_keys.into_sections(Builder::default().section(self.units));
        let file = self.row_keys.into_sections(file.section(self.rows));
        let file = postings.into_sections(terms.into_sections(file));
        self.links
            .into_sections(file)
            .section(self.scales)
            .section(self.vectors)
            .section(u32_of(self.dims).to_le_bytes().to_vec())
            .finish()
    }

    fn begin_unit(&mut self, key: &str, fingerprint: Fingerprint, n_rows: u32) {
        self.unit_keys.push(key.as_bytes());
        self.units.extend(fingerprint.stamp.to_le_bytes());
        self.units.extend(fingerprint.side.to_le_bytes());
        self.units.extend(fingerprint.content.to_le_bytes());
        self.units.extend(self.n_rows.to_le_bytes());
        self.units.extend(n_rows.to_le_bytes());
    }

    fn push_row(&mut self, key: &str, row: Row, links: &[u8]) {
        self.row_keys.push(key.as_bytes());
        self.links.push(links);
        self.rows.extend(row.time_ms.to_le_bytes());
        self.rows.extend(self.n_units.to_le_bytes());
        self.rows.extend(row.lengths.iter().flat_map(|length| length.to_le_bytes()));
        self.rows.extend([
            row.voice.code(),
            row.standing.code(),
            row.confidence,
            row.traits.code(),
        ]);
        self.n_rows += 1;
    }

    fn push_vector(&mut self, vector: &[i8], scale: f32) {
        if vector.len() == self.dims {
            self.vectors.extend_from_slice(bytemuck::cast_slice(vector));
            self.scales.extend(scale.to_le_bytes());
        } else {
            self.vectors.resize(self.vectors.len() + self.dims, 0);
            self.scales.extend(0.0_f32.to_le_bytes());
        }
    }
}

/// A vector in bytes, and what they are multiplied with to get it back.
pub(in crate::search) fn quantise(vector: &[f32]) -> (Vec<i8>, f32) {
    let largest = vector.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return (vec![0; vector.len()], 0.0);
    }
    let scale = largest / 127.0;
    (vector.iter().map(|x| (x / scale).round() as i8).collect(), scale)
}

fn pack_links(links: &[Link]) -> String {
    let line = |link: &Link| format!("{}{}\n", link.kind.code(), link.to);
    links.iter().filter(|link| !link.to.contains('\n')).map(line).collect()
}
