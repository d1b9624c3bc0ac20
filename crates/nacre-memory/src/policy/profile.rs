//! Extracts the parts of a claim that are compared: its terms, the specific things it names, and
//! the terms it negates.
//!
//! More specific terms have more weight, so a flag, a file or a number counts more than "use" or
//! "must". Words that express change or negation are not topics, so they are counted separately.

use std::collections::{BTreeMap, BTreeSet};

use nacre_base::text::stem;

use super::lexicon::{
    ADDITIONS, AMENDMENTS, ANTONYMS, CHANGES, DENIALS, DUTIES, EMPTY, FREEDOMS, NUMBERS, OPPOSITES,
    WEAK, is_general,
};

/// Maximum number of words to read from a text.
const MAX_WORDS: usize = 400;

/// Minimum strength with which a claim's phrases must announce a change.
const MIN_CHANGE: f32 = 0.7;

/// A negation applies to at most this many words after it.
const REACH: usize = 4;

/// Weights of a term that names something specific, of an ordinary term, and of a term that may
/// occur in any claim.
const SPECIFIC: f32 = 2.0;
const PLAIN: f32 = 1.0;
const COMMON: f32 = 0.25;

/// The parts of a claim that are compared.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// Terms in the complete text, and their weights.
    pub(super) terms: BTreeMap<String, f32>,
    /// Terms in the title, and their weights.
    pub(super) title: BTreeMap<String, f32>,
    /// Names, flags, files and numbers.
    pub(super) specifics: BTreeSet<String>,
    /// Terms in the title that contain a digit.
    pub(super) title_values: BTreeSet<String>,
    /// Terms negated in the title and, in the next field, in the complete text.
    pub(super) denied_title: BTreeSet<String>,
    pub(super) denied: BTreeSet<String>,
    /// How strongly phrases announce a change, in the complete text and in the title.
    pub(super) change: f32,
    pub(super) title_change: f32,
    /// Three properties of the title: whether it expresses an obligation, whether it gives
    /// permission, and how many of its phrases and separators introduce additional information.
    pub(super) is_duty: bool,
    pub(super) is_freedom: bool,
    pub(super) n_additions: f32,
    /// The title's terms in order, without function words.
    pub(super) order: Vec<String>,
    /// All words in the title, for comparing adjacent words.
    pub(super) line: Vec<TitleWord>,
    /// All words in lower case, for finding opposites.
    pub(super) words: BTreeSet<String>,
    /// All words in order, for finding claims contained in other claims.
    pub(super) plain: String,
    pub(super) n_terms: usize,
}

impl Profile {
    pub fn of(title: &str, body: &str) -> Self {
        let (title_words, mut body_words) = (words(title), words(body));
        // A body that repeats its title makes the same claim.
        if body_words.iter().map(|word| &word.text).eq(title_words.iter().map(|word| &word.text)) {
            body_words.clear();
        }
        let mut profile = Self::default();
        profile.denied_title = take(&title_words, &mut profile.title);
        profile.terms = profile.title.clone();
        profile.denied = take(&body_words, &mut profile.terms);
        profile.denied.extend(profile.denied_title.iter().cloned());
        for word in title_words.iter().chain(&body_words) {
            if word.is_specific {
                profile.specifics.insert(term(word));
            }
            profile.words.insert(word.text.clone());
        }
        let has_digit = |word: &&Word| word.text.bytes().any(|byte| byte.is_ascii_digit());
        profile.title_values = title_words.iter().filter(has_digit).map(term).collect();
        profile.title_change = change_of(&title_words);
        profile.change = profile.title_change + change_of(&body_words);
        profile.is_duty = n_held(&title_words, DUTIES) > 0;
        profile.is_freedom = n_held(&title_words, FREEDOMS) > 0;
        profile.n_additions =
            n_held(&title_words, ADDITIONS) as f32 + title.matches([',', ';', ':']).count() as f32;
        let is_full = |word: &&Word| !EMPTY.contains(word.text.as_str());
        profile.order = title_words.iter().filter(is_full).map(term).collect();
        profile.line = title_words.iter().map(TitleWord::of).collect();
        profile.plain = join_words(&title_words).trim_end().to_owned() + &join_words(&body_words);
        if body_words.is_empty() {
            profile.plain = join_words(&title_words);
        }
        profile.n_terms = profile.terms.len();
        profile
    }

    /// Returns whether this claim contains all words of another claim in the same order.
    pub fn holds(&self, other: &Self) -> bool {
        !other.plain.trim().is_empty() && self.plain.contains(other.plain.as_str())
    }

    /// Returns all words in lower case. Two claims with the same words are identical.
    pub fn plain(&self) -> &str {
        self.plain.trim()
    }

    pub fn topics(&self) -> impl Iterator<Item = &str> {
        self.line.iter().filter(|word| word.is_topic).map(|word| word.term.as_str())
    }

    /// Returns the names and topics that the other claim does not mention.
    pub fn missing_from<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = &'a str> {
        let topics = self.line.iter().filter(|word| word.is_topic);
        let topics = topics.filter(move |word| !self.specifics.contains(&word.term));
        let topics = topics.map(|word| (&word.term, &word.text));
        let named = self.specifics.iter().map(|name| (name, name)).chain(topics);
        named
            .filter(move |(term, _)| !other.terms.contains_key(*term))
            .map(|(_, text)| text.as_str())
    }

    /// Returns whether the claim's phrases announce a change.
    pub fn announces_change(&self) -> bool {
        self.change >= MIN_CHANGE
    }

    /// Returns how many specific things the claim names: code, files, numbers and names.
    pub fn n_named(&self) -> usize {
        self.specifics.len()
    }

    /// Returns the share of this claim's terms, by weight, that the other claim mentions.
    pub fn share_held_by(&self, other: &Self) -> f32 {
        let all: f32 = self.terms.values().sum();
        let held = self.terms.iter().filter(|(term, _)| other.terms.contains_key(*term));
        let held: f32 = held.map(|(_, weight)| weight).sum();
        if all > 0.0 { held / all } else { 1.0 }
    }

    pub fn names_beyond(&self, other: &Self) -> bool {
        self.specifics.iter().any(|name| !other.terms.contains_key(name))
    }
}

#[derive(Clone, Debug)]
struct Word {
    text: String,
    /// Whether the word identifies a specific thing, such as code, a file, a number or a
    /// capitalized name.
    is_specific: bool,
}

#[derive(Clone, Debug)]
pub(super) struct TitleWord {
    pub(super) text: String,
    pub(super) term: String,
    pub(super) is_topic: bool,
}

impl TitleWord {
    fn of(word: &Word) -> Self {
        let is_topic = !is_general(&word.text);
        Self { text: word.text.clone(), term: term(word), is_topic }
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
    // "one" is excluded, because it is rarely used as a number.
    NUMBERS.iter().position(|name| *name == word).filter(|n| *n > 1).map(|n| n.to_string())
}

/// Adds the terms in `words` to `terms`, and returns those that are negated.
fn take(words: &[Word], terms: &mut BTreeMap<String, f32>) -> BTreeSet<String> {
    let mut denied = BTreeSet::new();
    let mut reach = 0;
    for word in words {
        if DENIALS.contains(word.text.as_str()) {
            reach = REACH;
            continue;
        }
        reach = reach.saturating_sub(1);
        if EMPTY.contains(word.text.as_str()) {
            continue;
        }
        let name = term(word);
        let weight = match (word.is_specific, WEAK.contains(word.text.as_str())) {
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

fn term(word: &Word) -> String {
    if word.text.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        stem(&word.text)
    } else {
        word.text.clone()
    }
}

fn change_of(words: &[Word]) -> f32 {
    // At the start, "from now on" introduces a rule, whether or not it is a new one.
    let text = join_words(words);
    let text = text.strip_prefix(" from now on").unwrap_or(&text);
    let holds = |cue: &str| text.contains(&format!(" {cue} "));
    CHANGES.iter().filter(|(cue, _)| holds(cue)).map(|(_, weight)| weight).sum()
}

/// Returns whether a person's words say that a rule replaces an earlier one, in which case this
/// need not be inferred by comparing the two rules.
pub fn is_amendment(text: &str) -> bool {
    let words = words(text);
    let is_given_up = n_held(&words, &["no longer"]) > 0;
    n_held(&words, AMENDMENTS) > 0
        || (is_given_up && n_held(&words, &["use", "now", "instead"]) > 0)
}

/// Returns how many of the phrases occur in a text.
fn n_held(words: &[Word], phrases: &[&str]) -> usize {
    let text = join_words(words);
    phrases.iter().filter(|phrase| text.contains(&format!(" {phrase} "))).count()
}

fn join_words(words: &[Word]) -> String {
    let text = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
    format!(" {text} ")
}

/// Returns how many pairs of opposites have one word in each claim.
pub(super) fn opposites(a: &Profile, b: &Profile) -> f32 {
    let has = |profile: &Profile, word: &str| profile.words.contains(word);
    OPPOSITES
        .iter()
        .filter(|pair| are_split(pair, |word| has(a, word), |word| has(b, word)))
        .count() as f32
}

/// Returns whether the titles contain opposites, one word in each title.
pub(super) fn have_opposite_titles(a: &Profile, b: &Profile) -> bool {
    let has = |profile: &Profile, word: &str| profile.line.iter().any(|own| own.text == word);
    let mut pairs = OPPOSITES.iter().chain(ANTONYMS);
    pairs.any(|pair| are_split(pair, |word| has(a, word), |word| has(b, word)))
}

fn are_split(
    pair: &(&str, &str),
    in_a: impl Fn(&str) -> bool,
    in_b: impl Fn(&str) -> bool,
) -> bool {
    let (one, other) = pair;
    (in_a(one) && in_b(other) && !in_a(other)) || (in_b(one) && in_a(other) && !in_b(other))
}
