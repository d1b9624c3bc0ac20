//! What the ranking is measured against: plain BM25 over single messages, the person's words counting more.
//!
//! It has the same words as the ranking and nothing else of it: no windows, no sessions, no meaning, no dates.

use super::DEPTH;
use crate::search::record::Voice;
use crate::search::snapshot::Snapshot;
use crate::search::words;

/// The usual constants of BM25.
const K1: f32 = 1.2;
const B: f32 = 0.75;

/// What the person's words are worth beside those of others.
const USER: f32 = 1.6;

/// The best rows for a question, best first.
pub(super) fn rank(snapshot: &Snapshot, question: &str) -> Vec<usize> {
    let texts = &snapshot.layout().rows;
    let mut scores = vec![0.0_f32; snapshot.n_rows()];
    for term in words::terms(question) {
        let found: Vec<(usize, f32)> = snapshot
            .postings(term.as_bytes())
            .map(|(row, counts)| (row, counts.iter().map(|count| f32::from(*count)).sum()))
            .collect();
        let rarity = texts.rarity(found.len());
        for (row, n) in found {
            let norm = 1.0 - B + B * texts.of[row] / texts.mean;
            scores[row] += rarity * n * (K1 + 1.0) / (n + K1 * norm);
        }
    }
    for (row, score) in scores.iter_mut().enumerate() {
        if snapshot.row(row).voice == Voice::User {
            *score *= USER;
        }
    }
    let mut rows: Vec<usize> = (0..scores.len()).filter(|row| scores[*row] > 0.0).collect();
    rows.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
    rows.truncate(DEPTH);
    rows
}
