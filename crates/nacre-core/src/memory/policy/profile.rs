//! A claim as the policy sees it: its words, what is specific in them, and what it says no to.
//!
//! Words are stemmed and weighed by how much they name: a flag, a file or a number says more about which claim
//! this is than "use" or "must". Words of change and denial are no topic, so they are counted apart.

use std::collections::{BTreeMap, BTreeSet};

use rust_stemmers::{Algorithm, Stemmer};

use super::general::{ANTONYMS, is_general};
use super::word_lists::{
    ADDITIONS, CHANGES, DENIALS, DUTIES, EMPTY, FREEDOMS, NUMBERS, OPPOSITES, WEAK,
};

/// A word of a claim counts at most this many times its own weight, however long the text is.
const MAX_WORDS: usize = 400;

/// How far a denial reaches, in words.
const REACH: usize = 4;

/// Weights of what names something, of a plain word, and of one that any claim may hold.
const SPECIFIC: f32 = 2.0;
const PLAIN: f32 = 1.0;
const COMMON: f32 = 0.25;

/// What the policy knows of one claim.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// Terms of the whole text, with their weights.
    pub(super) terms: BTreeMap<String, f32>,
    /// Terms of the title.
    pub(super) title: BTreeMap<String, f32>,
    /// Names, flags, files and numbers.
    pub(super) specifics: BTreeSet<String>,
    /// Those of the title that hold a digit.
    pub(super) title_values: BTreeSet<String>,
    /// Terms of the title and of the whole text that stand behind a denial.
    pub(super) denied_title: BTreeSet<String>,
    pub(super) denied: BTreeSet<String>,
    /// How much it speaks of a change.
    pub(super) change: f32,
    pub(super) title_change: f32,
    /// Whether its title obliges, sets free, and adds.
    pub(super) is_duty: bool,
    pub(super) is_freedom: bool,
    pub(super) n_additions: f32,
    /// The title's words that are not empty, in their order.
    pub(super) order: Vec<String>,
    /// The title word by word, for what stands beside what.
    pub(super) line: Vec<TitleWord>,
    /// Every word in lower case, for opposites.
    pub(super) words: BTreeSet<String>,
    /// The words in their order, for what contains what.
    pub(super) plain: String,
    pub(super) n_terms: usize,
}

impl Profile {
    /// Reads a claim.
    pub fn of(title: &str, body: &str) -> Self {
        let stemmer = Stemmer::create(Algorithm::English);
        let (title_words, body_words) = (words(title), words(body));
        let mut profile = Self::default();
        profile.denied_title = take(&title_words, &stemmer, &mut profile.title);
        profile.terms = profile.title.clone();
        profile.denied = take(&body_words, &stemmer, &mut profile.terms);
        profile.denied.extend(profile.denied_title.iter().cloned());
        for word in title_words.iter().chain(&body_words) {
            if word.is_specific {
                profile.specifics.insert(term(word, &stemmer));
            }
            profile.words.insert(word.text.clone());
        }
        let has_digit = |word: &&Word| word.text.bytes().any(|byte| byte.is_ascii_digit());
        profile.title_values =
            title_words.iter().filter(has_digit).map(|word| term(word, &stemmer)).collect();
        profile.title_change = change_of(&title_words);
        profile.change = profile.title_change + change_of(&body_words);
        profile.is_duty = n_held(&title_words, DUTIES) > 0;
        profile.is_freedom = n_held(&title_words, FREEDOMS) > 0;
        profile.n_additions =
            n_held(&title_words, ADDITIONS) as f32 + title.matches([',', ';', ':']).count() as f32;
        let is_full = |word: &&Word| !EMPTY.contains(&word.text.as_str());
        profile.order =
            title_words.iter().filter(is_full).map(|word| term(word, &stemmer)).collect();
        profile.line = title_words.iter().map(|word| TitleWord::of(word, &stemmer)).collect();
        profile.plain = joined(&title_words).trim_end().to_owned() + &joined(&body_words);
        if body_words.is_empty() {
            profile.plain = joined(&title_words);
        }
        profile.n_terms = profile.terms.len();
        profile
    }
}

impl Profile {
    /// Whether it holds all words of another claim, in their order.
    pub fn holds(&self, other: &Self) -> bool {
        !other.plain.trim().is_empty() && self.plain.contains(other.plain.as_str())
    }

    /// All its words in lower case: two claims with the same are one.
    pub fn plain(&self) -> &str {
        self.plain.trim()
    }

    /// What its title is about.
    pub fn topics(&self) -> impl Iterator<Item = &str> {
        self.line.iter().filter(|word| word.is_topic).map(|word| word.term.as_str())
    }

    /// Whether its title is about something that another claim does not speak of.
    pub fn is_about_more_than(&self, other: &Self) -> bool {
        self.topics().any(|topic| !other.terms.contains_key(topic))
    }

    /// How many things it names: code, files, numbers, names.
    pub fn n_named(&self) -> usize {
        self.specifics.len()
    }

    /// How much of what it says another claim speaks of, from 0 to 1.
    pub fn share_held_by(&self, other: &Self) -> f32 {
        let all: f32 = self.terms.values().sum();
        let held = self.terms.iter().filter(|(term, _)| other.terms.contains_key(*term));
        let held: f32 = held.map(|(_, weight)| weight).sum();
        if all > 0.0 { held / all } else { 1.0 }
    }

    /// Whether it names something that another claim does not speak of.
    pub fn names_beyond(&self, other: &Self) -> bool {
        self.specifics.iter().any(|name| !other.terms.contains_key(name))
    }
}

/// A word as it was written, in lower case.
#[derive(Clone, Debug)]
struct Word {
    text: String,
    /// Whether it names one thing: code, a file, a number, a capitalised name.
    is_specific: bool,
}

/// A word of a title.
#[derive(Clone, Debug)]
pub(super) struct TitleWord {
    pub(super) text: String,
    pub(super) term: String,
    /// Whether it says what the claim is about.
    pub(super) is_topic: bool,
}

impl TitleWord {
    fn of(word: &Word, stemmer: &Stemmer) -> Self {
        let is_topic = !is_general(&word.text);
        Self { text: word.text.clone(), term: term(word, stemmer), is_topic }
    }

    pub(super) fn is_number(&self) -> bool {
        self.text.bytes().any(|byte| byte.is_ascii_digit())
    }
}

fn words(text: &str) -> Vec<Word> {
    let mut found = Vec::new();
    let mut in_code = false;
    let mut starts_sentence = true;
    for piece in text.split_whitespace().take(MAX_WORDS) {
        let opens = piece.starts_with('`') || piece.starts_with("(`");
        in_code |= opens;
        let core = piece.trim_matches(|c: char| !c.is_alphanumeric() && !"-§$@#".contains(c));
        let core = core.trim_end_matches(['-', '.']);
        if core.chars().any(char::is_alphanumeric) {
            let is_joined = core.contains(['.', '_', '/', '@', '=']) || core.starts_with("--");
            let has_digit = core.bytes().any(|byte| byte.is_ascii_digit());
            let has_inner_capital = core.chars().skip(1).any(char::is_uppercase);
            let is_name =
                has_inner_capital || (!starts_sentence && core.starts_with(char::is_uppercase));
            let lower = core.to_lowercase().replace('’', "'");
            let lower = number(&lower).unwrap_or(lower);
            let is_specific = in_code || is_joined || has_digit || is_name;
            found.push(Word { text: lower, is_specific });
            starts_sentence = piece.ends_with(['.', ':', '!', '?']);
        }
        if piece.trim_end_matches(['.', ',', ';', ':', ')']).ends_with('`') {
            in_code = false;
        }
    }
    found
}

fn number(word: &str) -> Option<String> {
    // "one" is rarely a number.
    NUMBERS.iter().position(|name| *name == word).filter(|n| *n > 1).map(|n| n.to_string())
}

/// Adds the terms of `words` to `terms`; returns those that are denied.
fn take(words: &[Word], stemmer: &Stemmer, terms: &mut BTreeMap<String, f32>) -> BTreeSet<String> {
    let mut denied = BTreeSet::new();
    let mut reach = 0;
    for word in words {
        if DENIALS.contains(&word.text.as_str()) {
            reach = REACH;
            continue;
        }
        reach = reach.saturating_sub(1);
        if EMPTY.contains(&word.text.as_str()) {
            continue;
        }
        let name = term(word, stemmer);
        let weight = match (word.is_specific, WEAK.contains(&word.text.as_str())) {
            (_, true) => COMMON,
            (true, false) => SPECIFIC,
            (false, false) => PLAIN,
        };
        if reach > 0 && weight > COMMON {
            denied.insert(name.clone());
        }
        let known = terms.entry(name).or_default();
        *known = known.max(weight);
    }
    denied
}

fn term(word: &Word, stemmer: &Stemmer) -> String {
    if word.text.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        stemmer.stem(&word.text).into_owned()
    } else {
        word.text.clone()
    }
}

/// How much a text speaks of a change.
fn change_of(words: &[Word]) -> f32 {
    let text = joined(words);
    let holds = |cue: &str| text.contains(&format!(" {cue} "));
    CHANGES.iter().filter(|(cue, _)| holds(cue)).map(|(_, weight)| weight).sum()
}

/// How many of these phrases a text holds.
fn n_held(words: &[Word], phrases: &[&str]) -> usize {
    let text = joined(words);
    phrases.iter().filter(|phrase| text.contains(&format!(" {phrase} "))).count()
}

fn joined(words: &[Word]) -> String {
    let text = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
    format!(" {text} ")
}

/// How many pairs of opposite words stand one in each claim, and not both in one.
pub(super) fn opposites(a: &Profile, b: &Profile) -> f32 {
    let has = |profile: &Profile, word: &str| profile.words.contains(word);
    OPPOSITES
        .iter()
        .filter(|pair| are_split(pair, |word| has(a, word), |word| has(b, word)))
        .count() as f32
}

/// Whether two titles hold opposite words, one each.
pub(super) fn have_opposite_titles(a: &Profile, b: &Profile) -> bool {
    let has = |profile: &Profile, word: &str| profile.line.iter().any(|own| own.text == word);
    let mut pairs = OPPOSITES.iter().chain(ANTONYMS);
    pairs.any(|pair| are_split(pair, |word| has(a, word), |word| has(b, word)))
}

fn are_split(
    (one, other): &(&str, &str),
    in_a: impl Fn(&str) -> bool,
    in_b: impl Fn(&str) -> bool,
) -> bool {
    (in_a(one) && in_b(other) && !in_a(other)) || (in_b(one) && in_a(other) && !in_b(other))
}
