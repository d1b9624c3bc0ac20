//! What every candidate must pass, whoever proposed it. Each reason to turn one away is counted.

use std::collections::{HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use nacre_core::memory::{Quote, Speaker};
use nacre_core::transcript::InjectedReason;

use super::super::candidate::{Candidate, DropReason, Signal};
use super::cues::fold;

const MIN_TITLE: usize = 10;
const MAX_TITLE: usize = 200;
const MIN_BODY: usize = 30;
const MAX_BODY: usize = 4000;
/// What the body must add to the title.
const MIN_ADDED: usize = 20;
/// Below this a signal does not stand alone.
const MIN_CONFIDENCE: f64 = 0.55;
/// The most injected text that is held for comparison.
const MAX_INJECTED: usize = 64 * 1024;

/// How many of the agent's messages are held for comparison.
const MAX_ECHOES: usize = 8;

/// What programs put into the session: rules, recalled memories, reminders.
#[derive(Debug, Default)]
pub(super) struct Injected {
    rules: String,
    recalled: String,
    seen: HashSet<u64>,
}

impl Injected {
    pub(super) fn note(&mut self, reason: InjectedReason, text: &str) {
        let store =
            if reason == InjectedReason::Nacre { &mut self.recalled } else { &mut self.rules };
        let room = MAX_INJECTED.saturating_sub(store.len());
        if room == 0 {
            return;
        }
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        if self.seen.insert(hasher.finish()) {
            store.push_str(&plain(&text[..text.floor_char_boundary(room)]));
            store.push('\n');
        }
    }

    /// Whether a quote is a program's. Words that the person typed are the person's, wherever else they stand.
    fn of(&self, quote: &Quote) -> Option<DropReason> {
        let found = self.holds(&quote.text);
        let is_persons = matches!(quote.speaker, Speaker::User | Speaker::Human);
        found.filter(|reason| !is_persons || *reason == DropReason::Recalled)
    }

    /// Whether these words are a program's.
    fn holds(&self, words: &str) -> Option<DropReason> {
        let words = plain(words);
        match () {
            () if words.is_empty() => None,
            () if self.recalled.contains(&words) => Some(DropReason::Recalled),
            () if self.rules.contains(&words) => Some(DropReason::Injected),
            () => None,
        }
    }
}

/// What the agent said lately, as plain words; people copy from it.
#[derive(Debug, Default)]
pub(super) struct Echoes(VecDeque<String>);

impl Echoes {
    pub(super) fn note(&mut self, text: &str) {
        if self.0.len() == MAX_ECHOES {
            self.0.pop_front();
        }
        self.0.push_back(plain(text));
    }

    pub(super) fn hold(&self, sentence: &str) -> bool {
        let words = plain(sentence);
        self.0.iter().any(|text| text.contains(&words))
    }
}

/// Words only, folded, one space between them.
fn plain(text: &str) -> String {
    let folded = fold(text);
    folded
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect::<Vec<&str>>()
        .join(" ")
}

/// Whether a person threw a claim away, by its title and body.
pub type IsForgotten<'a> = dyn Fn(&str, &str) -> bool + 'a;

/// Why a candidate may not stay.
pub(super) fn fault(
    candidate: &Candidate,
    injected: &Injected,
    is_forgotten: &IsForgotten<'_>,
) -> Option<DropReason> {
    let Candidate { title, body, quotes, confidence, .. } = candidate;
    let (n_title, n_body) = (title.chars().count(), body.chars().count());
    let is_quoted = !quotes.is_empty() && quotes.iter().all(|quote| !quote.text.trim().is_empty());
    match () {
        () if !is_quoted => Some(DropReason::NoEvidence),
        () if is_redacted(title) || quotes.iter().any(|quote| is_redacted(&quote.text)) => {
            Some(DropReason::Secret)
        }
        () if n_title < MIN_TITLE || n_body < MIN_BODY => Some(DropReason::TooShort),
        () if n_title > MAX_TITLE || n_body > MAX_BODY => Some(DropReason::TooLong),
        () if is_tautology(title, body) => Some(DropReason::Tautology),
        () if is_about_nacre(title) => Some(DropReason::AboutNacre),
        () if candidate.signal != Signal::Model && is_derivable(title) => {
            Some(DropReason::Derivable)
        }
        () if *confidence < MIN_CONFIDENCE => Some(DropReason::Weak),
        () if is_forgotten(title, body) => Some(DropReason::Forgotten),
        () => quotes.iter().map(|quote| injected.of(quote)).reduce(Option::and).flatten(),
    }
}

/// Why a candidate may not stay, for a caller that has no session to compare it with.
pub(in crate::flows) fn fault_alone(
    candidate: &Candidate,
    is_forgotten: &IsForgotten<'_>,
) -> Option<DropReason> {
    fault(candidate, &Injected::default(), is_forgotten)
}

/// Stands where a word of `redact.extra` stood.
const EXTRA_PLACEHOLDER: &str = "[redacted:extra]";

/// Whether a secret was taken out of it.
fn is_redacted(text: &str) -> bool {
    // A person's own word is left out of a claim without making a secret of the rest.
    text.replace(EXTRA_PLACEHOLDER, "").contains("[redacted:")
}

fn is_tautology(title: &str, body: &str) -> bool {
    let (title, body) = (plain(title), plain(body));
    body == title || body.strip_prefix(&title).is_some_and(|rest| rest.len() < MIN_ADDED)
}

/// Nacre's own runs are no news to a project.
fn is_about_nacre(title: &str) -> bool {
    let title = plain(title);
    let words: Vec<&str> = title.split(' ').collect();
    words.contains(&"nacre")
        && ["memory", "memories", "sync", "run", "brief", "recall", "extract"]
            .iter()
            .any(|word| words.contains(word))
}

/// Whether the code or git says it: a path alone, a count of tests, a commit, a finished task.
fn is_derivable(title: &str) -> bool {
    let folded = fold(title);
    let words: Vec<&str> = folded.split_whitespace().collect();
    let n_paths = words
        .iter()
        .filter(|word| word.contains('/') || word.contains("::") || word.ends_with("()"))
        .count();
    let counts_tests = words.windows(2).any(|pair| {
        pair[0].bytes().all(|byte| byte.is_ascii_digit())
            && (pair[1].starts_with("test")
                || pair[1].starts_with("pass")
                || pair[1].starts_with("file"))
    });
    let is_hash = |word: &&str| {
        word.len() >= 7
            && word.len() <= 40
            && word.bytes().all(|byte| byte.is_ascii_hexdigit())
            && word.bytes().any(|byte| byte.is_ascii_digit())
    };
    let is_finished =
        ["all tests pass", "is complete", "is done", "was merged", "is merged", "has been merged"]
            .iter()
            .any(|end| folded.ends_with(end));
    n_paths * 2 > words.len() || counts_tests || words.iter().any(is_hash) || is_finished
}

#[cfg(test)]
mod tests;
