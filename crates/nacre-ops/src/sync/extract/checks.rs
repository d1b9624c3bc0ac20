//! Decides whether to read a session, and which candidates to keep. Agents repeat what they read,
//! so a claim whose words first appeared in tool output is attributed to the tool.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher as _};

use nacre_memory::{Quote, Speaker};
use nacre_traces::transcript::{
    EventKind, InjectedReason, Lane, SessionFacts, SessionRole, TextOrigin, TranscriptEvent,
};
use nacre_types::{DropReason, Gate, Signal};

use super::cues::{fold, plain_words};
use super::said::Message;
use crate::sync::candidate::Candidate;

const MIN_TITLE: usize = 10;
const MAX_TITLE: usize = 200;
const MIN_BODY: usize = 30;
const MAX_BODY: usize = 4000;
/// Minimum number of bytes that a body must add to the title.
const MIN_ADDED: usize = 20;
const MIN_CONFIDENCE: f64 = 0.55;
/// Maximum number of bytes of injected text to compare with quotes.
const MAX_INJECTED: usize = 64 * 1024;

/// Text that programs added to the session, such as rules, recalled memories and reminders.
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
        if self.seen.insert(hash(text)) {
            store.push_str(&plain(&text[..text.floor_char_boundary(room)]));
            store.push('\n');
        }
    }

    /// Returns the reason to drop a quote, if there is one. A quote from the user is dropped only
    /// if it repeats a recalled memory.
    fn of(&self, quote: &Quote) -> Option<DropReason> {
        let words = plain(&quote.text);
        let is_persons = matches!(quote.speaker, Speaker::User | Speaker::Human);
        if words.is_empty() {
            None
        } else if self.recalled.contains(&words) {
            Some(DropReason::Recalled)
        } else {
            (!is_persons && self.rules.contains(&words)).then_some(DropReason::Injected)
        }
    }
}

/// Converts text to case-folded words separated by single spaces.
pub(super) fn plain(text: &str) -> String {
    plain_words(&fold(text)).collect::<Vec<&str>>().join(" ")
}

pub type IsForgotten<'a> = dyn Fn(&str, &str) -> bool + 'a;

pub(super) fn fault(
    candidate: &Candidate,
    injected: &Injected,
    is_forgotten: &IsForgotten<'_>,
) -> Option<DropReason> {
    let Candidate { title, body, quotes, confidence, .. } = candidate;
    let (n_title, n_body) = (title.chars().count(), body.chars().count());
    let is_quoted = !quotes.is_empty() && quotes.iter().all(|quote| !quote.text.trim().is_empty());
    let by_rules = candidate.signal != Signal::Model;
    let faults = [
        (!is_quoted, DropReason::NoEvidence),
        (is_redacted(title) || quotes.iter().any(|one| is_redacted(&one.text)), DropReason::Secret),
        (n_title < MIN_TITLE || n_body < MIN_BODY, DropReason::TooShort),
        (n_title > MAX_TITLE || n_body > MAX_BODY, DropReason::TooLong),
        (is_tautology(title, body), DropReason::Tautology),
        (is_about_nacre(title), DropReason::AboutNacre),
        (by_rules && is_derivable(title), DropReason::Derivable),
        (*confidence < MIN_CONFIDENCE, DropReason::Weak),
        (is_forgotten(title, body), DropReason::Forgotten),
    ];
    let first = faults.into_iter().find(|(is_fault, _)| *is_fault).map(|(_, reason)| reason);
    first.or_else(|| quotes.iter().map(|quote| injected.of(quote)).reduce(Option::and).flatten())
}

pub(crate) fn fault_alone(
    candidate: &Candidate,
    is_forgotten: &IsForgotten<'_>,
) -> Option<DropReason> {
    fault(candidate, &Injected::default(), is_forgotten)
}

/// The replacement for words listed in the `redact.extra` setting.
const EXTRA_PLACEHOLDER: &str = "[redacted:extra]";

fn is_redacted(text: &str) -> bool {
    // Words that the user chose to exclude are not secrets.
    text.replace(EXTRA_PLACEHOLDER, "").contains("[redacted:")
}

fn is_tautology(title: &str, body: &str) -> bool {
    let (title, body) = (plain(title), plain(body));
    body == title || body.strip_prefix(&title).is_some_and(|rest| rest.len() < MIN_ADDED)
}

/// Returns whether the claim is about Nacre's own runs instead of the project.
fn is_about_nacre(title: &str) -> bool {
    let title = plain(title);
    let words: Vec<&str> = title.split(' ').collect();
    words.contains(&"nacre")
        && ["memory", "memories", "sync", "run", "brief", "recall", "extract"]
            .iter()
            .any(|word| words.contains(word))
}

/// Returns whether the information can be found in the code or in git, because the title is only a
/// path or names a commit.
fn is_derivable(title: &str) -> bool {
    let folded = fold(title);
    let words: Vec<&str> = folded.split_whitespace().collect();
    let n_paths = words
        .iter()
        .filter(|word| word.contains('/') || word.contains("::") || word.ends_with("()"))
        .count();
    let is_hash = |word: &&str| {
        word.len() >= 7
            && word.len() <= 40
            && word.bytes().all(|byte| byte.is_ascii_hexdigit())
            && word.bytes().any(|byte| byte.is_ascii_digit())
    };
    n_paths * 2 > words.len() || words.iter().any(is_hash)
}

/// Minimum number of words. Shorter sentences are usually instructions or answers.
const MIN_WORDS: usize = 5;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counter {
    n_messages: u64,
    n_substantial: u64,
    n_acts: u64,
}

impl Counter {
    pub(super) fn agent(&mut self, event: &TranscriptEvent) {
        self.n_acts += u64::from(matches!(event.kind, EventKind::Assistant | EventKind::ToolCall));
    }

    /// Counts a user message. A short message counts as substantial only if it answers a question.
    pub(super) fn person(&mut self, said: &Message<'_>, is_answer: bool) {
        self.n_messages += 1;
        let has_words = |text: &str| {
            let n_wide = text.chars().filter(|c| u32::from(*c) >= 0x2e80).count();
            text.split_whitespace().count() + n_wide / 2 >= MIN_WORDS
        };
        let is_said =
            !said.is_document && said.sentences.iter().any(|sentence| has_words(sentence.text));
        let is_substantial = is_said || (is_answer && !said.sentences.is_empty());
        self.n_substantial += u64::from(is_substantial);
    }

    pub(super) fn verdict(&self, facts: &SessionFacts, n_signals: usize) -> Gate {
        if facts.role != SessionRole::Main {
            Gate::NotAPersons
        } else if self.n_messages == 0 {
            Gate::NoWords
        } else if n_signals > 0 {
            Gate::Open
        } else if self.n_acts < 2 && self.n_messages == 1 {
            Gate::Abandoned
        } else if self.n_substantial == 0 {
            Gate::Mechanical
        } else {
            Gate::Open
        }
    }
}

/// Length of a window in words. Matching windows of this length are rarely a coincidence.
const WINDOW: usize = 6;

/// Minimum number of consecutive matching windows for a body to count as repeated. Together they
/// span nine words, which rarely fit in a single line of an error message.
const MIN_RUN: usize = 4;

const MAX_WINDOWS: usize = 600_000;

/// Maps the hash of each word window to whether it first appeared in tool output.
#[derive(Debug, Default)]
pub(super) struct Repeated {
    first_by_tool: HashMap<u64, bool>,
}

impl Repeated {
    pub(super) fn note(&mut self, event: &TranscriptEvent) {
        if event.lane != Lane::Main {
            return;
        }
        let (is_tools, is_persons) = match (event.kind, event.origin) {
            (EventKind::User, TextOrigin::Person(_)) => (false, true),
            (EventKind::Assistant | EventKind::ToolCall, TextOrigin::Agent) => (false, false),
            (EventKind::ToolResult, TextOrigin::Tool) | (_, TextOrigin::Injected(_)) => {
                (true, false)
            }
            _ => return,
        };
        for text in [event.text.head(), event.text.tail()] {
            self.note_text(text, is_tools, is_persons);
        }
    }

    fn note_text(&mut self, text: &str, is_tools: bool, is_persons: bool) {
        for window in windows(text) {
            if is_persons {
                self.first_by_tool.insert(window, false);
            } else if self.first_by_tool.len() < MAX_WINDOWS {
                self.first_by_tool.entry(window).or_insert(is_tools);
            }
        }
    }

    /// Returns whether the claim repeats tool output, or quotes an agent that repeats tool output.
    pub(super) fn holds(&self, candidate: &Candidate) -> bool {
        let Candidate { title, body, quotes, signal, .. } = candidate;
        // The body of a failure is expected to contain tool output.
        let is_body = || *signal != Signal::Failure && self.is_repeated(body);
        self.longest_run(title) > 0 || is_body() || quotes.iter().any(|quote| self.is_echo(quote))
    }

    pub(super) fn is_repeated(&self, text: &str) -> bool {
        self.longest_run(text) >= MIN_RUN
    }

    /// Returns whether most of an agent's quote first appeared in tool output.
    pub(super) fn is_echo(&self, quote: &Quote) -> bool {
        let all: Vec<u64> = windows(&quote.text).collect();
        let n_tools = all.iter().filter(|window| self.is_tools(window)).count();
        quote.speaker == Speaker::Assistant && 2 * n_tools > all.len()
    }

    fn longest_run(&self, text: &str) -> usize {
        let (mut longest, mut run) = (0, 0);
        for window in windows(text) {
            run = if self.is_tools(&window) { run + 1 } else { 0 };
            longest = longest.max(run);
        }
        longest
    }

    fn is_tools(&self, window: &u64) -> bool {
        self.first_by_tool.get(window).copied().unwrap_or(false)
    }
}

fn windows(text: &str) -> impl Iterator<Item = u64> {
    let words: Vec<u64> = plain_words(&fold(text)).map(hash).collect();
    let hashes: Vec<u64> = words.windows(WINDOW).map(hash).collect();
    hashes.into_iter()
}

pub(super) fn hash<T: Hash + ?Sized>(of: &T) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod repeated_tests {
    use nacre_memory::{Basis, Claim, Status};

    use super::*;
    use crate::sync::candidate::candidate_id;

    const PAGE: &str = "the billing team has decided to use the mirror in Oslo for all packages";

    fn candidate(title: &str, body: &str, quote: &str) -> Candidate {
        Candidate {
            id: candidate_id(0),
            claim: Claim::Decision,
            title: title.to_owned(),
            body: body.to_owned(),
            tags: Vec::new(),
            applies: Vec::new(),
            confidence: 0.8,
            basis: Basis::Stated,
            status: Status::Active,
            signal: Signal::Model,
            quotes: vec![Quote {
                text: quote.to_owned(),
                speaker: Speaker::Assistant,
                place: "s:1".to_owned(),
                at: String::new(),
            }],
            is_repeated: false,
            importance: None,
            link: None,
        }
    }

    /// Creates a session from messages sent by a tool (`t`), the agent (`a`) and the user (`p`).
    fn session(said: &[(char, &str)]) -> Repeated {
        let mut repeated = Repeated::default();
        for (who, text) in said {
            repeated.note_text(text, *who == 't', *who == 'p');
        }
        repeated
    }

    #[test]
    fn what_a_tool_said_first_is_the_tools_whoever_repeats_it() {
        let own = "I looked at it and it is slow";
        let claims = [
            candidate("Use the mirror", "x", &format!("The page says: {PAGE}.")),
            candidate(PAGE, "x", own),
            candidate("Use the mirror", &format!("As decided: {PAGE}."), own),
        ];
        for claim in &claims {
            assert!(session(&[('t', PAGE), ('a', PAGE)]).holds(claim), "{claim:?}");
            assert!(!session(&[('a', PAGE), ('t', PAGE)]).holds(claim), "the agent said it first");
            assert!(!session(&[('t', PAGE), ('p', PAGE)]).holds(claim), "the person says it, too");
        }
        let other = candidate("Keep the queue in one file", "No server is needed.", own);
        assert!(!session(&[('t', PAGE)]).holds(&other));
    }
}
