//! Finds and ranks files.
//!
//! Files that define the searched name come first, followed by the other files by score. Tests,
//! copies and generated files score lower.

use super::filter::FileFilter;
use super::lines::each_match;
use super::pattern::Pattern;
use super::query::CodeQuery;
use crate::shares::in_batches;
use crate::slices::{MadePaths, Sketch, path_worth, word_scores};
use crate::words::{Bag, is_text};

const BATCH: usize = 16;

const MAX_NAMED: usize = 2_000;

/// Number of matches that earns a file half of the maximum score.
const DAMPING: f64 = 3.0;

const GENERATED_WORTH: f64 = 0.4;

/// The files of a project, sorted by path.
pub struct SearchedFiles<'s> {
    pub paths: Vec<&'s str>,
    pub bag: &'s (dyn Fn(usize) -> Option<Bag<'s>> + Sync),
    pub made: &'s MadePaths,
    /// Returns a file's bytes, or `None` if the file cannot be read or has changed since the map
    /// was built.
    pub bytes: &'s (dyn Fn(usize) -> Option<Vec<u8>> + Sync),
    /// Returns the names of the symbols that a file defines, one per line.
    pub names: &'s (dyn Fn(usize) -> String + Sync),
    pub is_over: &'s (dyn Fn() -> bool + Sync),
    pub n_threads: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FileHit {
    pub(super) idx: usize,
    /// Number of matching lines. Not set for word searches.
    pub(super) n_matches: usize,
    pub(super) is_definition: bool,
    score: f64,
}

/// Best match first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CodeHits {
    pub(super) files: Vec<FileHit>,
    /// The weight of each query word.
    pub(super) worth: Vec<f64>,
    /// Number of files that might match but were not searched, because they could not be read or
    /// the deadline passed.
    pub n_unsearched: usize,
}

impl CodeHits {
    pub fn best(&self, limit: usize) -> impl Iterator<Item = usize> {
        self.files.iter().take(limit).map(|hit| hit.idx)
    }
}

pub fn find(files: &SearchedFiles<'_>, query: &CodeQuery, filter: &FileFilter) -> CodeHits {
    let mut hits = match &query.pattern {
        Some(pattern) => by_pattern(files, pattern, query, filter),
        None => by_words(files, query, filter),
    };
    sort(&mut hits.files);
    for hit in hits.files.iter_mut().take(MAX_NAMED) {
        hit.is_definition = (files.names)(hit.idx).lines().any(|name| query.names(name));
    }
    sort(&mut hits.files);
    hits
}

fn sort(hits: &mut [FileHit]) {
    hits.sort_by(|one, other| {
        other
            .is_definition
            .cmp(&one.is_definition)
            .then(other.score.total_cmp(&one.score))
            .then(one.idx.cmp(&other.idx))
    });
}

fn by_words(files: &SearchedFiles<'_>, query: &CodeQuery, filter: &FileFilter) -> CodeHits {
    let sketch = Sketch::new(files.paths.clone(), files.bag, files.made, Default::default());
    let scores = word_scores(&sketch, &query.question, files.n_threads);
    let takes = |idx: &usize| 0.0 < scores.files[*idx] && filter.takes(files.paths[*idx]);
    let mut found: Vec<usize> = (0..files.paths.len()).filter(takes).collect();
    // If the query is a single word or identifier, files that contain only parts of it are listed
    // only if no file contains all of it.
    let whole = query.question.asked.first().filter(|_| query.token.is_some());
    let has = |idx: &usize| {
        let bag = (files.bag)(*idx);
        whole.zip(bag).is_some_and(|(whole, bag)| bag.get(whole.word).is_some())
    };
    if found.iter().any(has) {
        found.retain(has);
    }
    let hit =
        |idx: usize| FileHit { idx, n_matches: 0, is_definition: false, score: scores.files[idx] };
    CodeHits { files: found.into_iter().map(hit).collect(), worth: scores.worth, n_unsearched: 0 }
}

fn by_pattern(
    files: &SearchedFiles<'_>,
    pattern: &Pattern,
    query: &CodeQuery,
    filter: &FileFilter,
) -> CodeHits {
    let may_match = |idx: &usize| {
        let fits = |bag: Bag<'_>| bag.trigrams.is_text() && pattern.need.fits(&bag.trigrams);
        filter.takes(files.paths[*idx]) && (files.bag)(*idx).is_none_or(fits)
    };
    let candidates: Vec<usize> = (0..files.paths.len()).filter(may_match).collect();
    let counted = in_batches(candidates.len(), BATCH, files.n_threads, |batch| {
        let count = |idx: &usize| (*idx, count(files, pattern, *idx));
        candidates[batch].iter().map(count).collect::<Vec<_>>()
    });
    let mut hits = CodeHits::default();
    for (idx, counted) in counted.into_iter().flatten() {
        let (n_matches, is_whole) = counted;
        hits.n_unsearched += usize::from(!is_whole);
        if 0 < n_matches {
            let score = score(files, query, idx, n_matches);
            hits.files.push(FileHit { idx, n_matches, is_definition: false, score });
        }
    }
    hits
}

/// Returns the number of matching lines and whether the whole file was searched.
fn count(files: &SearchedFiles<'_>, pattern: &Pattern, idx: usize) -> (usize, bool) {
    if (files.is_over)() {
        return (0, false);
    }
    let Some(bytes) = (files.bytes)(idx) else { return (0, false) };
    let mut n_matches = 0;
    let is_whole =
        !is_text(&bytes) || each_match(pattern, &bytes, &files.is_over, |_| n_matches += 1);
    (n_matches, is_whole)
}

fn score(files: &SearchedFiles<'_>, query: &CodeQuery, idx: usize, n_matches: usize) -> f64 {
    let n_matches = f64::from(u32::try_from(n_matches).unwrap_or(u32::MAX));
    let is_generated =
        (files.bag)(idx).is_some_and(|bag| bag.is_generated) || files.made.has(files.paths[idx]);
    let made = if is_generated { GENERATED_WORTH } else { 1.0 };
    let worth = path_worth(files.paths[idx], query.question.is_about_tests);
    made * worth * n_matches / (n_matches + DAMPING)
}
