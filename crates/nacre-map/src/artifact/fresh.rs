//! Analyses on their way to the disk, one behind the other in one stretch of memory: there are tens of thousands of them.

use std::cmp::Reverse;

use super::analysis_key::AnalysisKey;
use super::blob;
use super::codec::Encoder;
use super::pack::{self, Span};
use crate::languages::AnalysisRef;

/// Analyses that are on no disk yet.
#[derive(Debug, Default)]
pub struct NewAnalyses {
    /// The beginning of a pack.
    bytes: Vec<u8>,
    entries: Vec<(AnalysisKey, Span)>,
}

/// A pack that is on no disk yet.
#[derive(Debug)]
pub struct NewPack(pub(super) Vec<u8>);

impl NewAnalyses {
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn n_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Adds one.
    pub fn insert(&mut self, key: AnalysisKey, analysis: &AnalysisRef<'_>) {
        let mut bytes = std::mem::take(&mut self.bytes);
        if bytes.is_empty() {
            bytes = pack::begin();
        }
        let start = bytes.len();
        let mut to = Encoder::onto(bytes);
        blob::encode(analysis, &mut to);
        self.bytes = to.into_bytes();
        self.entries.push((key, Span { start, len: self.bytes.len() - start }));
    }

    /// Adds all of others.
    pub fn append(&mut self, others: Self) {
        if self.is_empty() {
            *self = others;
            return;
        }
        for (key, Span { start, len }) in others.entries {
            self.entries.push((key, Span { start: self.bytes.len(), len }));
            self.bytes.extend_from_slice(&others.bytes[start..][..len]);
        }
    }

    /// All of them as a pack, of several looks at one text the closest; `None` when there are none.
    pub fn into_pack(self) -> Option<NewPack> {
        let Self { bytes, mut entries } = self;
        let depth = |span: &Span| blob::depth_of(&bytes[span.start..][..span.len]);
        entries.sort_by_key(|(key, span)| (*key, Reverse(depth(span))));
        entries.dedup_by_key(|(key, _)| *key);
        let is_empty = entries.is_empty();
        let entries = entries.into_iter().map(|(key, span)| (key.number(), span));
        (!is_empty).then(|| NewPack(pack::finish(bytes, entries)))
    }
}
