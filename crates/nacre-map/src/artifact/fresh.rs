//! Analyses on their way to the disk, one behind the other in one stretch of memory: there are tens of thousands of them.

use std::cmp::Reverse;

use super::analyses::AnalysisKey;
use super::blob;
use super::codec::Encoder;
use super::pack;
use crate::languages::AnalysisRef;

/// Analyses that are on no disk yet.
#[derive(Debug, Default)]
pub struct NewAnalyses {
    bytes: Vec<u8>,
    entries: Vec<(AnalysisKey, pack::Span)>,
}

impl NewAnalyses {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn n_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Adds one.
    pub fn insert(&mut self, key: AnalysisKey, analysis: &AnalysisRef<'_>) {
        let start = self.bytes.len();
        let mut to = Encoder::onto(std::mem::take(&mut self.bytes));
        blob::encode(analysis, &mut to);
        self.bytes = to.into_bytes();
        self.entries.push((key, pack::Span { start, len: self.bytes.len() - start }));
    }

    /// Adds all of others.
    pub fn append(&mut self, others: &Self) {
        let first = self.bytes.len();
        self.bytes.extend_from_slice(&others.bytes);
        let moved = others
            .entries
            .iter()
            .map(|(key, span)| (*key, pack::Span { start: first + span.start, len: span.len }));
        self.entries.extend(moved);
    }

    /// All of them as a pack; of several looks at one text the closest.
    pub(super) fn to_pack(&self) -> Vec<u8> {
        let depth = |span: &pack::Span| blob::depth_of(&self.bytes[span.start..][..span.len]);
        let mut entries = self.entries.clone();
        entries.sort_by_key(|(key, span)| (*key, Reverse(depth(span))));
        entries.dedup_by_key(|(key, _)| *key);
        let entries = entries.into_iter().map(|(key, span)| (key.number(), span));
        pack::render(entries, &self.bytes)
    }
}
