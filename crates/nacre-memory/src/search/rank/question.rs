//! Analyzes a question: its terms, the speaker, project and dates it mentions, and the kind of
//! answer it expects.

use super::dates::{self, Range};
use crate::search::query::Query;
use crate::search::record::facet_term;
use crate::search::snapshot::Snapshot;
use crate::search::thesaurus::Thesaurus;
use nacre_base::text::{terms, terms_with_words};

/// The weight of a term that is part of the project name. Such a term narrows the search rather
/// than describing the topic.
const PROJECT_WORD: f32 = 0.25;

/// Maximum number of words in a speaker's or project's name.
const MAX_NAME_WORDS: usize = 4;

/// A term in a question, and variants with a similar meaning.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Term {
    pub(super) stem: String,
    pub(super) weight: f32,
    /// Stems, and how similar each one is to the term, from 0 to 1.
    pub(super) variants: Vec<(String, f32)>,
}

/// The expected kind of answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cue {
    None,
    /// A date or a duration.
    Time,
    Number,
}

/// Properties of a question, determined by rules rather than by a model.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) terms: Vec<Term>,
    /// `None` unless the question names exactly one speaker.
    pub(super) speaker: Option<String>,
    /// `None` unless the question names exactly one project.
    pub(super) project: Option<String>,
    pub(super) ranges: Vec<Range>,
    pub(super) cue: Cue,
}

impl Question {
    pub(super) fn new(
        snapshot: &Snapshot,
        query: &Query,
        thesaurus: Thesaurus<'_>,
        now_ms: i64,
    ) -> Self {
        let text = query.text.as_str();
        let lower: Vec<String> = plain_words(text);
        let speaker = the_only(find_named_values(snapshot, "speaker", &lower));
        let project = the_only(find_named_values(snapshot, "project", &lower));
        let is_named = |name: &Option<String>, stem: &str| {
            name.as_ref().is_some_and(|name| terms(name).iter().any(|term| term == stem))
        };
        let terms = terms_with_words(text).into_iter().filter_map(|(stem, word)| {
            if is_named(&speaker, &stem) {
                return None;
            }
            let weight = if is_named(&project, &stem) { PROJECT_WORD } else { 1.0 };
            Some(Term { variants: variants(thesaurus, &word, &stem), stem, weight })
        });
        Self {
            terms: terms.collect(),
            ranges: dates::ranges(text, now_ms),
            cue: cue(&lower),
            speaker,
            project,
        }
    }
}

/// A term in a question and its variants, for use by rankings outside this module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionTerm {
    pub term: String,
    pub variants: Vec<String>,
}

pub fn terms_of_question(query: &Query) -> Vec<QuestionTerm> {
    let term = |(stem, word): (String, String)| {
        let variants = variants(Thesaurus::load_shipped(), &word, &stem);
        QuestionTerm { variants: variants.into_iter().map(|(stem, _)| stem).collect(), term: stem }
    };
    terms_with_words(&query.text).into_iter().map(term).collect()
}

/// Returns the stems of words similar to `word`, excluding duplicates and `own`.
fn variants(thesaurus: Thesaurus<'_>, word: &str, own: &str) -> Vec<(String, f32)> {
    let mut found: Vec<(String, f32)> = Vec::new();
    for (near, nearness) in thesaurus.near(word) {
        for stem in terms(near) {
            if stem != own && !found.iter().any(|(known, _)| *known == stem) {
                found.push((stem, nearness));
            }
        }
    }
    found
}

/// Splits text into lowercase words. Hyphens and underscores are parts of words, because names
/// contain them.
fn plain_words(text: &str) -> Vec<String> {
    let is_word = |c: char| c.is_alphanumeric() || "-_".contains(c);
    let words = text.split(|c: char| !is_word(c)).filter(|word| !word.is_empty());
    words.take(200).map(str::to_lowercase).collect()
}

/// Returns the facet's values that occur in the question.
fn find_named_values(snapshot: &Snapshot, facet: &str, lower: &[String]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for start in 0..lower.len() {
        for n_words in 1..=MAX_NAME_WORDS.min(lower.len() - start) {
            let name = lower[start..start + n_words].join(" ");
            if !found.contains(&name) && snapshot.n_holding(&facet_term(facet, &name)) > 0 {
                found.push(name);
            }
        }
    }
    found
}

fn the_only(mut names: Vec<String>) -> Option<String> {
    if names.len() == 1 { names.pop() } else { None }
}

/// Returns whether a question contains a past-tense verb, which means that it asks about past
/// events rather than the current state.
pub(in crate::search) fn asks_about_past(text: &str) -> bool {
    const PAST: [&str; 8] = ["did", "didn", "was", "wasn", "were", "weren", "had", "hadn"];
    plain_words(text).iter().any(|word| PAST.contains(&word.as_str()))
}

fn cue(lower: &[String]) -> Cue {
    let words: Vec<&str> = lower.iter().map(String::as_str).collect();
    let asks_time = match words.as_slice() {
        ["when", ..] | ["how", "long", ..] => true,
        ["what", what, ..] => ["date", "day", "month", "year", "time"].contains(what),
        ["which", what, ..] => ["month", "year", "day"].contains(what),
        _ => false,
    };
    let is_count =
        |pair: &[&str]| pair[0] == "how" && ["many", "much", "old", "often"].contains(&pair[1]);
    match (asks_time, words.windows(2).any(is_count)) {
        (true, _) => Cue::Time,
        (false, true) => Cue::Number,
        (false, false) => Cue::None,
    }
}
