//! Redacts text that arrives in pieces.
//!
//! The last 4 KiB are held back until more comes, and as much of what went out is remembered, so that
//! neither a secret nor the name before it is lost where two pieces meet.

use super::finding::FoundSecret;
use super::scan;
use super::text::Text;
use super::{Hits, pem, push_placeholder};

/// How much is held back, and how much of what went out is remembered.
const OVERLAP: usize = 4096;

/// Pieces are gathered up to this much, so that many small ones do not cost a scan each.
const BATCH: usize = 16 * 1024;

/// A key held back for longer than this is let go as a placeholder and its rest is dropped.
const MAX_HELD: usize = 256 * 1024;

/// Redacts a stream of pieces of one text.
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    /// What went out last (as it came in), then what waits.
    buffer: String,
    n_seen: usize,
    /// How much of what waits is a finding that may not have ended yet.
    n_held: usize,
    in_key: bool,
    hits: Hits,
}

impl Redactor {
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next piece and appends to `clean` what is now safe to hand on.
    pub fn push(&mut self, piece: &str, clean: &mut String) {
        self.buffer.push_str(piece);
        if self.buffer.len() - self.n_seen >= self.n_held + OVERLAP + BATCH {
            self.drop_key_rest();
            self.n_held = 0;
            self.advance(clean);
        }
    }

    /// Appends everything that was held back to `clean` and returns what was taken out.
    pub fn finish(mut self, clean: &mut String) -> Hits {
        self.drop_key_rest();
        let found = self.waiting();
        let end = self.emit(&found, clean);
        clean.push_str(self.buffer.get(end..).unwrap_or_default());
        self.hits
    }

    fn advance(&mut self, clean: &mut String) {
        let found = self.waiting();
        let mut cut = self.buffer.floor_char_boundary(self.buffer.len().saturating_sub(OVERLAP));
        if let Some(one) = found.iter().find(|one| one.start < cut && cut <= one.end) {
            let is_endless = self.buffer.len() - one.start > MAX_HELD;
            self.in_key = is_endless && one.kind == pem::KIND;
            cut = if is_endless { one.end } else { one.start };
            self.n_held = self.buffer.len().saturating_sub(cut + OVERLAP);
        }
        if cut <= self.n_seen {
            return;
        }
        let n_out = found.partition_point(|one| one.end <= cut);
        let end = self.emit(&found[..n_out], clean);
        clean.push_str(self.buffer.get(end..cut).unwrap_or_default());
        let keep = self.buffer.floor_char_boundary(cut.saturating_sub(OVERLAP));
        self.buffer.drain(..keep);
        self.n_seen = cut - keep;
    }

    /// Returns the findings in what has not gone out yet.
    fn waiting(&self) -> Vec<FoundSecret> {
        let mut found = scan::scan(&self.buffer);
        found.retain(|one| one.end > self.n_seen);
        if let Some(first) = found.first_mut() {
            first.start = first.start.max(self.n_seen);
        }
        found
    }

    /// Appends what waits up to the end of the last finding, each finding replaced; returns that end.
    fn emit(&mut self, found: &[FoundSecret], clean: &mut String) -> usize {
        let mut done = self.n_seen;
        for one in found {
            clean.push_str(self.buffer.get(done..one.start).unwrap_or_default());
            push_placeholder(one.kind, clean, &mut self.hits);
            done = one.end;
        }
        done
    }

    /// Drops the rest of a key whose beginning was let go.
    fn drop_key_rest(&mut self) {
        if !self.in_key {
            return;
        }
        let waiting = self.buffer.get(self.n_seen..).unwrap_or_default();
        let end = pem::resume(&Text::new(waiting));
        self.in_key = end == waiting.len();
        self.buffer = waiting.get(end..).unwrap_or_default().to_owned();
        self.n_seen = 0;
    }
}
