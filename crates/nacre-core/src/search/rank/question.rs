//! What a question asks: its terms, whom and what it names, when, and what kind of answer it wants.

use super::dates::{self, Range};
use crate::search::query::Query;
use crate::search::snapshot::Snapshot;
use crate::search::thesaurus::Thesaurus;
use crate::search::words;

/// What a word is worth that only names the project, which is a filter more than a topic.
const PROJECT_WORD: f32 = 0.25;

/// Names longer than this are no project's.
const MAX_NAME_WORDS: usize = 4;

/// A term of a question, and words that mean nearly the same.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Term {
    pub(super) stem: String,
    pub(super) weight: f32,
    /// Stems, and how near they are, from 0 to 1.
    pub(super) variants: Vec<(String, f32)>,
}

/// The kind of answer that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cue {
    None,
    /// A date or a duration.
    Time,
    Number,
}

/// A question, understood as far as that needs no understanding.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) terms: Vec<Term>,
    /// The one speaker it names.
    pub(super) speaker: Option<String>,
    /// The one project it names.
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
        let speaker = the_only(named(snapshot, "speaker", &lower));
        let project = the_only(named(snapshot, "project", &lower));
        let is_named = |name: &Option<String>, stem: &str| {
            name.as_ref().is_some_and(|name| words::terms(name).iter().any(|term| term == stem))
        };
        let terms = words::terms_with_words(text).into_iter().filter_map(|(stem, word)| {
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

/// The stems of a text's words, and those of words near them.
pub(in crate::search) fn question_terms(
    text: &str,
    thesaurus: Thesaurus<'_>,
) -> Vec<(String, Vec<(String, f32)>)> {
    let terms = words::terms_with_words(text).into_iter();
    terms.map(|(stem, word)| (stem.clone(), variants(thesaurus, &word, &stem))).collect()
}

/// Stems of words near `word`, each once, without its own.
fn variants(thesaurus: Thesaurus<'_>, word: &str, own: &str) -> Vec<(String, f32)> {
    let mut found: Vec<(String, f32)> = Vec::new();
    for (near, nearness) in thesaurus.near(word) {
        for stem in words::terms(near) {
            if stem != own && !found.iter().any(|(known, _)| *known == stem) {
                found.push((stem, nearness));
            }
        }
    }
    found
}

/// Lower-case words; hyphens join, as they do in names.
fn plain_words(text: &str) -> Vec<String> {
    let is_word = |c: char| c.is_alphanumeric() || "-_".contains(c);
    let words = text.split(|c: char| !is_word(c)).filter(|word| !word.is_empty());
    words.take(200).map(str::to_lowercase).collect()
}

/// The values of a property that the question names.
fn named(snapshot: &Snapshot, facet: &str, lower: &[String]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for start in 0..lower.len() {
        for n_words in 1..=MAX_NAME_WORDS.min(lower.len() - start) {
            let name = lower[start..start + n_words].join(" ");
            if !found.contains(&name) && snapshot.n_holding(&words::facet(facet, &name)) > 0 {
                found.push(name);
            }
        }
    }
    found
}

fn the_only(mut names: Vec<String>) -> Option<String> {
    if names.len() == 1 { names.pop() } else { None }
}

/// Whether a question is about something that happened, and not about how things are: its verb is in the past.
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
