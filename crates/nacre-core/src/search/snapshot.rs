//! An index as a question sees it: all segments side by side, the dead rows left out.
//!
//! Rows are numbered over all segments. The rows of a unit stand together and in order, so that the
//! neighbour of a message is the next row.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::corpus::Corpus;
use super::held::HeldRow;
use super::layout::{Layout, LayoutRow};
use super::manifest::Manifest;
use super::record::{Fingerprint, Link, LinkKind, UNPROVEN};
use super::segment::{Counts, Postings, Row, Segment};
use super::terms::Terms;
use super::words;

/// Everything that can be found now.
#[derive(Debug, Default)]
pub struct Snapshot {
    pub(super) manifest: Manifest,
    pub(super) loaded: Vec<Loaded>,
    layout: OnceLock<Layout>,
    /// By row.
    terms: OnceLock<Box<[OnceLock<Terms>]>>,
    held: OnceLock<Vec<HeldRow>>,
    /// The live units without records, by their segment.
    empty: OnceLock<Vec<(usize, usize)>>,
    /// Where the rows are candidates of a larger corpus.
    corpus: Option<Corpus>,
}

/// A segment and its place among the others.
#[derive(Debug)]
pub(super) struct Loaded {
    /// Shared with the snapshots before and after.
    pub(super) segment: Arc<Segment>,
    first_row: usize,
    is_dead: Vec<bool>,
}

impl Snapshot {
    /// Puts segments together as `manifest` says; they come in the order of its parts.
    pub(super) fn new(manifest: Manifest, segments: Vec<Arc<Segment>>) -> Self {
        let mut snapshot = Self { manifest, ..Self::default() };
        let mut first_row = 0;
        for (segment, part) in segments.into_iter().zip(&snapshot.manifest.parts) {
            let mut is_dead = vec![false; segment.n_rows()];
            for unit in part.dead.iter().filter(|unit| (**unit as usize) < segment.n_units()) {
                let unit = segment.unit(*unit as usize);
                let rows = unit.first_row as usize..(unit.first_row + unit.n_rows) as usize;
                is_dead[rows].fill(true);
            }
            let n_rows = segment.n_rows();
            snapshot.loaded.push(Loaded { segment, first_row, is_dead });
            first_row += n_rows;
        }
        snapshot
    }

    /// The same rows, as candidates of a larger corpus.
    pub(super) fn with_corpus(self, corpus: Corpus) -> Self {
        Self { corpus: Some(corpus), layout: OnceLock::new(), ..self }
    }

    pub(super) fn corpus(&self) -> Option<&Corpus> {
        self.corpus.as_ref()
    }

    /// In how many records of the larger corpus a term stands.
    pub(super) fn n_in_corpus(&self, term: &str) -> Option<usize> {
        self.corpus.as_ref().map(|corpus| corpus.holding.get(term).copied().unwrap_or(0))
    }

    /// How many row numbers there are, dead ones included.
    pub(super) fn n_rows(&self) -> usize {
        self.loaded.last().map_or(0, |last| last.first_row + last.segment.n_rows())
    }

    /// How many records can be found.
    pub fn n_records(&self) -> usize {
        self.loaded.iter().map(Loaded::n_live).sum()
    }

    /// How many pieces the index consists of.
    pub fn n_segments(&self) -> usize {
        self.loaded.len()
    }

    /// The model whose vectors these are; empty when there are none.
    pub fn model(&self) -> &str {
        &self.manifest.model
    }

    /// Numbers about all rows; computed for the first question.
    pub(super) fn layout(&self) -> &Layout {
        self.layout.get_or_init(|| {
            let rows = (0..self.n_rows())
                .map(|row| LayoutRow { row: self.row(row), is_live: self.is_live(row) });
            let layout = Layout::new(rows, self.unit_rows());
            self.corpus.iter().fold(layout, Layout::within)
        })
    }

    /// What the last look at the sources saw besides the units.
    pub(super) fn watermark(&self) -> u64 {
        self.manifest.watermark
    }

    /// The keys of live units without records.
    pub(super) fn empty_units(&self) -> impl Iterator<Item = &str> {
        self.empty().map(|(segment, idx)| segment.unit_key(idx))
    }

    /// The same with the stamps they had.
    pub(super) fn empty_units_with_stamps(&self) -> impl Iterator<Item = (&str, u64)> {
        self.empty()
            .map(|(segment, idx)| (segment.unit_key(idx), segment.unit(idx).fingerprint.stamp))
    }

    fn empty(&self) -> impl Iterator<Item = (&Segment, usize)> {
        let found = self.empty.get_or_init(|| {
            let parts = self.loaded.iter().enumerate().flat_map(|(part, loaded)| {
                let units = 0..loaded.segment.n_units();
                let empty = units.filter(|idx| loaded.segment.unit(*idx).n_rows == 0);
                empty.map(move |idx| (part, idx))
            });
            parts.filter(|(part, idx)| !self.is_dead(*part, *idx)).collect()
        });
        found.iter().map(|(part, idx)| (&*self.loaded[*part].segment, *idx))
    }

    /// Whether a unit of a part was replaced or removed.
    fn is_dead(&self, part: usize, idx: usize) -> bool {
        let dead = &self.manifest.parts[part].dead;
        u32::try_from(idx).is_ok_and(|idx| dead.binary_search(&idx).is_ok())
    }

    /// The rows that hold, found out when they are first asked for.
    pub(super) fn held(&self, make: impl FnOnce() -> Vec<HeldRow>) -> &[HeldRow] {
        self.held.get_or_init(make)
    }

    pub(super) fn dims(&self) -> usize {
        self.manifest.dims as usize
    }

    pub(super) fn is_live(&self, row: usize) -> bool {
        self.at(row).is_some_and(|(loaded, local)| !loaded.is_dead[local])
    }

    pub(super) fn row(&self, row: usize) -> Row {
        self.at(row).map_or_else(Row::default, |(loaded, local)| loaded.segment.row(local))
    }

    pub(super) fn key(&self, row: usize) -> &str {
        self.at(row).map_or("", |(loaded, local)| loaded.segment.row_key(local))
    }

    /// The key of the unit that a row belongs to.
    pub(super) fn unit_key(&self, row: usize) -> &str {
        self.at(row).map_or("", |(loaded, local)| {
            loaded.segment.unit_key(loaded.segment.row(local).unit as usize)
        })
    }

    pub(super) fn links(&self, row: usize) -> Vec<Link> {
        self.at(row).map_or_else(Vec::new, |(loaded, local)| loaded.segment.links(local))
    }

    /// What a row's links of one kind name.
    pub(super) fn links_of(&self, row: usize, kind: LinkKind) -> impl Iterator<Item = &str> {
        let at = self.at(row);
        at.into_iter().flat_map(move |(loaded, local)| loaded.segment.links_of(local, kind))
    }

    /// The terms of a row's text, made when they are first asked for.
    pub(super) fn terms(&self, row: usize, make: impl FnOnce() -> Terms) -> &Terms {
        let all = self.terms.get_or_init(|| (0..self.n_rows()).map(|_| OnceLock::new()).collect());
        all[row].get_or_init(make)
    }

    /// The live rows that hold `term`, ascending.
    pub(super) fn postings(&self, term: &[u8]) -> impl Iterator<Item = (usize, Counts)> {
        let lists: Vec<(&Loaded, Postings<'_>)> = self
            .loaded
            .iter()
            .filter_map(|loaded| Some((loaded, loaded.segment.postings(term)?)))
            .collect();
        lists.into_iter().flat_map(|(loaded, postings)| {
            postings.filter_map(|(local, counts)| loaded.live(local).map(|row| (row, counts)))
        })
    }

    /// The rows that should have evidence and have none.
    pub(super) fn unproven(&self) -> HashSet<usize> {
        self.postings(&words::facet(UNPROVEN, "")).map(|(row, _)| row).collect()
    }

    /// The live rows that hold a term that begins with `start`, and what follows it in that term.
    pub(super) fn rows_under<'a>(
        &'a self,
        start: &[u8],
    ) -> impl Iterator<Item = (&'a [u8], usize)> {
        self.loaded.iter().flat_map(move |loaded| {
            loaded.segment.terms_under(start).flat_map(move |(term, postings)| {
                let rows = postings.filter_map(|(local, _)| loaded.live(local));
                rows.map(move |row| (&term[start.len()..], row))
            })
        })
    }

    /// In about how many records a term stands; dead ones may be counted.
    pub(super) fn n_holding(&self, term: &[u8]) -> u32 {
        let counts = self.loaded.iter().filter_map(|loaded| loaded.segment.postings(term));
        counts.map(|postings| postings.n_rows()).sum()
    }

    /// The rows of all units, live or not, part by part.
    pub(super) fn unit_rows(&self) -> impl Iterator<Item = Range<usize>> {
        self.loaded.iter().flat_map(|loaded| {
            (0..loaded.segment.n_units()).map(|idx| {
                let unit = loaded.segment.unit(idx);
                let first = loaded.first_row + unit.first_row as usize;
                first..first + unit.n_rows as usize
            })
        })
    }

    /// The live units with their keys, part by part.
    pub(super) fn units(&self) -> impl Iterator<Item = (&str, Fingerprint)> {
        self.live_units().map(|(loaded, idx)| {
            (loaded.segment.unit_key(idx), loaded.segment.unit(idx).fingerprint)
        })
    }

    /// The live units, by their segment and their number in it.
    fn live_units(&self) -> impl Iterator<Item = (&Loaded, usize)> {
        self.loaded.iter().enumerate().flat_map(move |(part, loaded)| {
            let units = 0..loaded.segment.n_units();
            let live = units.filter(move |idx| !self.is_dead(part, *idx));
            live.map(move |idx| (loaded, idx))
        })
    }

    /// The segments in the order of their rows, for those who scan them whole.
    pub(super) fn segments(&self) -> impl Iterator<Item = &Segment> {
        self.loaded.iter().map(|loaded| &*loaded.segment)
    }

    fn at(&self, row: usize) -> Option<(&Loaded, usize)> {
        let part = self.loaded.partition_point(|loaded| loaded.first_row <= row).checked_sub(1)?;
        let loaded = self.loaded.get(part)?;
        let local = row - loaded.first_row;
        (local < loaded.segment.n_rows()).then_some((loaded, local))
    }
}

impl Loaded {
    fn live(&self, local: u32) -> Option<usize> {
        let local = local as usize;
        self.is_dead.get(local).is_some_and(|is_dead| !is_dead).then_some(self.first_row + local)
    }

    pub(super) fn n_live(&self) -> usize {
        self.is_dead.iter().filter(|is_dead| !**is_dead).count()
    }
}
