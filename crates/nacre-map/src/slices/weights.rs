//! Weights for ranking files, and helpers for truncated lists.
//!
//! The weights were fitted on three public projects (80 tasks each, where a task is a commit's
//! subject and the files it changed) and validated on two others. The results are in `docs/map.md`.
//! `nacre-lab map ablations` measures the effect of each kind of evidence.

use nacre_types::Listed;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// BM25 saturation. A higher value gives more weight to repeated words.
    pub k1: f64,
    /// BM25 length normalization for file contents and for defined names, from 0 (none) to 1
    /// (full).
    pub text_length: f64,
    pub defined_length: f64,
    /// Factors for a word in a defined name, in a directory name and in the file name, relative to
    /// a word elsewhere in the file.
    pub defined: f64,
    pub folder: f64,
    pub name: f64,
    /// Weight of whole identifiers and of joined adjacent words.
    pub whole: f64,
    /// Weights of related words: other forms, synonyms, and words with a similar meaning.
    /// `widened_text` is the factor for related words in file contents, relative to those in names.
    pub form: f64,
    pub synonym: f64,
    pub neighbor: f64,
    pub widened_text: f64,
    /// Factor for a task word's related words other than the best match.
    pub further: f64,
    /// How strongly to prefer files that contain all of the task's words over files that repeat a
    /// few of them.
    pub coverage: f64,
    /// Factor for tests, copies and generated files.
    pub aside: f64,
    /// Factor for files that are not code.
    pub prose: f64,
    /// Weights of the other evidence, relative to the best word score.
    pub meaning: f64,
    pub near: f64,
    pub memory: f64,
}

pub const WEIGHTS: Weights = Weights {
    k1: 5.0,
    text_length: 0.3,
    defined_length: 0.3,
    defined: 4.0,
    folder: 4.0,
    name: 8.0,
    whole: 1.0,
    form: 0.7,
    synonym: 0.5,
    neighbor: 0.3,
    widened_text: 0.5,
    further: 0.3,
    coverage: 0.25,
    aside: 0.4,
    prose: 0.7,
    meaning: 1.0,
    near: 0.06,
    memory: 0.3,
};

pub(super) fn list_first<A, T>(all: &[A], limit: usize, make: impl FnMut(&A) -> T) -> Listed<T> {
    Listed { total: all.len(), items: all.iter().take(limit).map(make).collect() }
}

/// Moves the first `limit` items in sort order to the front of a list, and sorts only those.
pub(super) fn first_by<T>(
    all: &mut [T],
    limit: usize,
    mut compare: impl FnMut(&T, &T) -> std::cmp::Ordering,
) {
    let first = match limit.checked_sub(1).filter(|last| *last < all.len()) {
        Some(last) => {
            all.select_nth_unstable_by(last, &mut compare);
            &mut all[..limit]
        }
        None if limit == 0 => return,
        None => all,
    };
    first.sort_unstable_by(compare);
}

pub(super) fn as_number(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}
