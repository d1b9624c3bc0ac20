//! Finding memories by their words: a scan over the files with ripgrep's engine.
//!
//! Nothing is indexed, so nothing can be out of date. A memory is found when every word and every
//! quoted phrase of the query occurs in it, whatever the case; words in the title and tags weigh
//! more than words in the body.

use grep_matcher::Matcher as _;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::sinks::UTF8;
use grep_searcher::{Searcher, SearcherBuilder};

use super::document::Document;
use super::kinds::Status;
use super::layout::Located;
use super::record::Memory;
use super::store::{MemoryError, Store, Unreadable, memory_of};
use crate::safefs::FsError;

/// More terms than anybody types; the rest of a pasted page adds nothing.
const MAX_TERMS: usize = 32;

/// What one occurrence is worth, by where it stands.
const TITLE_WEIGHT: f64 = 8.0;
const TAG_WEIGHT: f64 = 4.0;
const BODY_WEIGHT: f64 = 1.0;

/// Further occurrences in the body say little.
const MAX_COUNTED: usize = 3;

/// The longest snippet, in characters.
const MAX_SNIPPET: usize = 160;

/// Words and phrases that must all occur.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    terms: Vec<String>,
}

/// A memory that was found.
#[derive(Debug)]
pub struct Hit {
    pub memory: Memory,
    pub score: f64,
    /// The first line of the body that holds a term, or its first line.
    pub snippet: String,
}

impl Query {
    /// Reads words and `"quoted phrases"`; any text is a query.
    pub fn parse(text: &str) -> Self {
        let mut terms = Vec::new();
        for (idx, part) in text.split('"').enumerate() {
            if idx % 2 == 1 {
                terms.push(part.trim().to_owned());
            } else {
                terms.extend(part.split_whitespace().map(str::to_owned));
            }
        }
        terms.retain(|term| !term.is_empty());
        terms.truncate(MAX_TERMS);
        Self { terms }
    }

    /// Whether there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }
}

impl Store {
    /// Finds memories among those that `wanted` accepts, best first, and the files it could not read.
    pub fn find(
        &self,
        query: &Query,
        wanted: impl Fn(&Located) -> bool,
    ) -> Result<(Vec<Hit>, Vec<Unreadable>), MemoryError> {
        let files = self.files()?.located.into_iter().filter(|at| wanted(at)).collect::<Vec<_>>();
        let Some(finder) = Finder::new(query) else { return Ok((Vec::new(), Vec::new())) };
        let mut hits = Vec::new();
        let mut broken = Vec::new();
        for found in self.read_all(&files, |at, bytes| finder.look(at, bytes)).into_iter().flatten()
        {
            match found {
                Ok(hit) => hits.push(hit),
                Err(unreadable) => broken.push(unreadable),
            }
        }
        hits.sort_by(|a, b| {
            let newer = || b.memory.updated.cmp(&a.memory.updated);
            b.score
                .total_cmp(&a.score)
                .then_with(newer)
                .then_with(|| a.memory.at.id.cmp(&b.memory.at.id))
        });
        Ok((hits, broken))
    }
}

/// The query, compiled.
struct Finder {
    terms: Vec<RegexMatcher>,
    any: RegexMatcher,
}

impl Finder {
    /// `None` when the query holds nothing that can be looked for.
    fn new(query: &Query) -> Option<Self> {
        let literal = |terms: &[String]| {
            RegexMatcherBuilder::new()
                .case_insensitive(true)
                .fixed_strings(true)
                .build_many(terms)
                .ok()
        };
        let terms: Option<Vec<_>> =
            query.terms.iter().map(|term| literal(std::slice::from_ref(term))).collect();
        let terms = terms.filter(|terms| !terms.is_empty())?;
        Some(Self { terms, any: literal(&query.terms)? })
    }

    /// Judges one file; `None` when it does not match.
    fn look(
        &self,
        at: &Located,
        bytes: Result<Vec<u8>, FsError>,
    ) -> Option<Result<Hit, Unreadable>> {
        let bytes = match bytes {
            Ok(bytes) if !self.terms.iter().all(|term| has(term, &bytes)) => return None,
            bytes => bytes,
        };
        match memory_of(at, bytes) {
            Ok(memory) => self.judge(memory).map(Ok),
            Err(unreadable) => Some(Err(unreadable)),
        }
    }

    /// Scores a memory whose file holds all terms; `None` when some occur only in keys such as `id`.
    fn judge(&self, memory: Memory) -> Option<Hit> {
        let mut score = 0.0;
        for term in &self.terms {
            let in_title = f64::from(u8::from(has(term, memory.title.as_bytes())));
            let in_tags =
                f64::from(u8::from(memory.tags.iter().any(|tag| has(term, tag.as_bytes()))));
            let in_body = f64::from(count(term, memory.document.body().as_bytes()));
            let term_score = in_title * TITLE_WEIGHT + in_tags * TAG_WEIGHT + in_body * BODY_WEIGHT;
            let in_id = has(term, memory.at.id.as_str().as_bytes());
            if term_score == 0.0 && !in_id {
                return None;
            }
            score += term_score;
        }
        let snippet = self.snippet(&memory.document);
        Some(Hit { score: score * weight(memory.status), memory, snippet })
    }

    fn snippet(&self, document: &Document) -> String {
        let mut found = None;
        let mut searcher: Searcher = SearcherBuilder::new().line_number(true).build();
        let sink = UTF8(|_, line| {
            found = Some(line.to_owned());
            Ok(false)
        });
        // The sink cannot fail, and a body is valid text.
        let _ = searcher.search_slice(&self.any, document.body().as_bytes(), sink);
        let first_line =
            || document.body().lines().find(|line| !line.trim().is_empty()).map(str::to_owned);
        let line = found.or_else(first_line).unwrap_or_default();
        line.trim().chars().take(MAX_SNIPPET).collect()
    }
}

/// What was overturned or has aged stands below what holds.
fn weight(status: Status) -> f64 {
    match status {
        Status::Active => 1.0,
        Status::Candidate => 0.7,
        Status::Stale => 0.5,
        Status::Superseded | Status::Archived => 0.2,
    }
}

fn has(term: &RegexMatcher, bytes: &[u8]) -> bool {
    term.is_match(bytes).unwrap_or(false)
}

fn count(term: &RegexMatcher, bytes: &[u8]) -> u8 {
    let mut n_found = 0_u8;
    // The matcher's error type has no values.
    let _ = term.find_iter(bytes, |_| {
        n_found += 1;
        usize::from(n_found) < MAX_COUNTED
    });
    n_found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_is_a_query() {
        assert_eq!(Query::parse(r#"use "one file" sqlite"#).terms, ["use", "one file", "sqlite"]);
        assert_eq!(Query::parse("\"open").terms, ["open"]);
        assert!(Query::parse("  \"\" ").is_empty());
        for text in ["(", "[a", "\\", "*", "$^", "a|b", "\u{0}"] {
            assert!(Finder::new(&Query::parse(text)).is_some(), "{text:?} cannot be looked for");
        }
    }
}
