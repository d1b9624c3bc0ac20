//! A view of an index at one point in time: the file, and statistics that are computed on first
//! use.
//!
//! A unit's rows are consecutive and in order, so a session's next message is in the next row.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use nacre_base::text::inverse_frequency;

use super::record::{
    Fingerprint, Link, LinkKind, Standing, UNPROVEN, Voice, facet_term, weigh_length,
};
use super::segment::{Counts, Row, Segment, checksum};

#[derive(Debug, Default)]
pub struct Snapshot {
    segment: Arc<Segment>,
    /// Indexed by unit number. Empty if all units are visible.
    is_unit_hidden: Vec<bool>,
    layout: OnceLock<Layout>,
    pub(super) corpus: Option<Corpus>,
}

/// Statistics about all records, for an index that contains only candidates. Computing term rarity
/// from a few hundred candidates would give wrong results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Corpus {
    pub n_records: usize,
    pub n_units: usize,
    pub mean_length: f32,
    /// How many records contain each term. Missing terms have a count of zero.
    pub holding: HashMap<String, usize>,
}

impl Snapshot {
    pub(super) fn new(segment: Segment) -> Self {
        Self { segment: Arc::new(segment), ..Self::default() }
    }

    pub(super) fn without(&self, is_hidden: impl Fn(&str) -> bool) -> Self {
        let segment = Arc::clone(&self.segment);
        let is_unit_hidden =
            (0..segment.n_units()).map(|unit| is_hidden(segment.unit_key(unit))).collect();
        Self { segment, is_unit_hidden, ..Self::default() }
    }

    pub(super) fn with_corpus(self, corpus: Corpus) -> Self {
        Self { corpus: Some(corpus), layout: OnceLock::new(), ..self }
    }

    pub(super) fn n_in_corpus(&self, term: &str) -> Option<usize> {
        self.corpus.as_ref().map(|corpus| corpus.holding.get(term).copied().unwrap_or(0))
    }

    pub(super) fn segment(&self) -> &Segment {
        &self.segment
    }

    pub(super) fn checksum(&self) -> Option<u64> {
        checksum(&self.segment.bytes)
    }

    /// Returns the number of rows, both visible and hidden.
    pub(crate) fn n_rows(&self) -> usize {
        self.segment.n_rows
    }

    pub fn n_records(&self) -> usize {
        (0..self.n_rows()).filter(|row| self.is_live(*row)).count()
    }

    /// Returns the name of the model that computed the vectors, or an empty string if there is no
    /// index.
    pub(crate) fn model(&self) -> &str {
        self.segment.model()
    }

    pub(crate) fn layout(&self) -> &Layout {
        self.layout.get_or_init(|| {
            let layout = Layout::new(self);
            self.corpus.iter().fold(layout, Layout::scale_to)
        })
    }

    /// Returns the sources' watermark, which is independent of the units' stamps.
    pub(super) fn watermark(&self) -> u64 {
        self.segment.watermark()
    }

    pub(super) fn units(&self) -> impl Iterator<Item = (&str, Fingerprint)> {
        let visible = (0..self.segment.n_units()).filter(|unit| self.is_unit_live(*unit));
        visible.map(|unit| (self.segment.unit_key(unit), self.segment.fingerprint(unit)))
    }

    pub(super) fn empty_units(&self) -> impl Iterator<Item = (&str, Fingerprint)> {
        let is_empty =
            |unit: &usize| self.is_unit_live(*unit) && self.segment.unit_rows(*unit).is_empty();
        let empty = (0..self.segment.n_units()).filter(is_empty);
        empty.map(|unit| (self.segment.unit_key(unit), self.segment.fingerprint(unit)))
    }

    pub(crate) fn is_live(&self, row: usize) -> bool {
        row < self.n_rows()
            && (self.is_unit_hidden.is_empty()
                || self.is_unit_live(self.segment.row(row).unit as usize))
    }

    fn is_unit_live(&self, unit: usize) -> bool {
        !self.is_unit_hidden.get(unit).is_some_and(|is_hidden| *is_hidden)
    }

    pub(crate) fn row(&self, row: usize) -> Row {
        self.segment.row(row)
    }

    pub fn key(&self, row: usize) -> &str {
        self.segment.row_key(row)
    }

    pub fn unit_key(&self, row: usize) -> &str {
        self.segment.unit_key(self.segment.row(row).unit as usize)
    }

    pub(super) fn links(&self, row: usize) -> impl Iterator<Item = Link> {
        self.segment.links(row)
    }

    pub(super) fn links_of(&self, row: usize, kind: LinkKind) -> impl Iterator<Item = &str> {
        self.segment.links_of(row, kind)
    }

    /// Returns the visible rows that contain `term`, in ascending order.
    pub(crate) fn postings<'s>(
        &'s self,
        term: &str,
    ) -> impl Iterator<Item = (usize, Counts)> + use<'s> {
        let rows = self.segment.postings(term).into_iter().flatten();
        rows.map(|(row, counts)| (row as usize, counts)).filter(|(row, _)| self.is_live(*row))
    }

    pub(crate) fn rows_with<'s>(
        &'s self,
        name: &str,
        value: &str,
    ) -> impl Iterator<Item = usize> + use<'s> {
        self.postings(&facet_term(name, value)).map(|(row, _)| row)
    }

    /// Returns the visible rows that have a facet, each with the value in lower case.
    pub(super) fn values_of<'s>(
        &'s self,
        name: &str,
    ) -> impl Iterator<Item = (&'s str, usize)> + use<'s> {
        let prefix = facet_term(name, "");
        let start = prefix.len();
        let terms: Vec<_> = self.segment.terms_with_prefix(prefix).collect();
        terms.into_iter().flat_map(move |(term, postings)| {
            let rows = postings.map(|(row, _)| row as usize).filter(|row| self.is_live(*row));
            rows.map(move |row| (&term[start..], row))
        })
    }

    pub(super) fn row_of(&self, id: &str) -> Option<usize> {
        self.rows_with("id", id).next()
    }

    pub(super) fn find_unproven(&self) -> HashSet<usize> {
        self.rows_with(UNPROVEN, "").collect()
    }

    /// Returns how many records contain a term, both visible and hidden ones.
    pub(crate) fn n_holding(&self, term: &str) -> usize {
        self.segment.postings(term).map_or(0, |postings| postings.n_rows() as usize)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Layout {
    pub(super) unit_of: Vec<u32>,
    pub(super) is_live: Vec<bool>,
    /// Whether a row is visible and not archived.
    pub(super) is_shown: Vec<bool>,
    pub(crate) rows: Lengths,
    /// How long windows are. A window is a row together with its neighbors in the same unit.
    pub(super) windows: Lengths,
    pub(super) units: Lengths,
    /// Whether any unit has more than one row. Otherwise, each row is also its own window and unit.
    pub(super) has_neighbors: bool,
    /// Whether rows have both neighbors and speakers.
    pub(super) has_voices: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Lengths {
    pub(super) of: Vec<f32>,
    pub(super) mean: f32,
    pub(crate) n_counted: usize,
}

impl Lengths {
    fn new(of: Vec<f32>, counts: impl Fn(usize) -> bool) -> Self {
        let counted = of.iter().enumerate().filter(|(idx, _)| counts(*idx));
        let (sum, n_counted) =
            counted.fold((0.0_f64, 0), |(sum, n), (_, length)| (sum + f64::from(*length), n + 1));
        let mean = if n_counted == 0 { 1.0 } else { (sum / n_counted as f64) as f32 };
        Self { of, mean: mean.max(1.0), n_counted }
    }

    fn set_scale(&mut self, n_counted: usize, mean: f32) {
        (self.n_counted, self.mean) = (n_counted, mean.max(1.0));
    }

    pub(super) fn rarity(&self, n_holding: usize) -> f32 {
        inverse_frequency(self.n_counted as f32, n_holding as f32)
    }
}

impl Layout {
    fn new(snapshot: &Snapshot) -> Self {
        let n_rows = snapshot.n_rows();
        let mut layout = Self { unit_of: vec![0; n_rows], ..Self::default() };
        let mut row_lengths = Vec::with_capacity(n_rows);
        for number in 0..n_rows {
            let (row, is_live) = (snapshot.row(number), snapshot.is_live(number));
            layout.is_live.push(is_live);
            layout.has_voices |= row.voice != Voice::None;
            layout.is_shown.push(is_live && row.standing != Standing::Archived);
            row_lengths.push(weigh_length(&row.lengths));
        }
        let mut window_lengths = vec![0.0; n_rows];
        let (mut unit_lengths, mut is_unit_live) = (Vec::new(), Vec::new());
        for unit in 0..snapshot.segment.n_units() {
            let rows: Range<usize> = snapshot.segment.unit_rows(unit);
            layout.has_neighbors |= rows.len() > 1;
            unit_lengths.push(row_lengths[rows.clone()].iter().sum());
            is_unit_live.push(rows.clone().any(|row| layout.is_live[row]));
            for row in rows.clone() {
                layout.unit_of[row] = u32::try_from(unit).unwrap_or(u32::MAX);
                let first = row.saturating_sub(1).max(rows.start);
                let end = (row + 2).min(rows.end);
                window_lengths[row] = row_lengths[first..end].iter().sum();
            }
        }
        layout.has_voices &= layout.has_neighbors;
        layout.rows = Lengths::new(row_lengths, |row| layout.is_live[row]);
        layout.windows = Lengths::new(window_lengths, |row| layout.is_live[row]);
        layout.units = Lengths::new(unit_lengths, |unit| is_unit_live[unit]);
        layout
    }

    fn scale_to(mut self, corpus: &Corpus) -> Self {
        let n_records = corpus.n_records.max(self.rows.n_counted);
        let n_units = corpus.n_units.max(self.units.n_counted);
        let mean = corpus.mean_length.max(1.0);
        let units_per_record = n_units as f32 / n_records.max(1) as f32;
        self.rows.set_scale(n_records, mean);
        // Each record belongs to three windows: its own and those of its two neighbors. The first
        // and last records in a unit have only one neighbor.
        self.windows.set_scale(n_records, mean * (3.0 - 2.0 * units_per_record));
        self.units.set_scale(n_units, mean / units_per_record.max(f32::MIN_POSITIVE));
        self
    }

    pub(super) fn are_together(&self, a: usize, b: usize) -> bool {
        self.unit_of.get(a).is_some_and(|unit| self.unit_of.get(b) == Some(unit))
    }
}
