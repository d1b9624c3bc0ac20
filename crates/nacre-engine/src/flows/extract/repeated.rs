//! Who said a run of words first in a session: the person or the agent, or a tool and the pages it read.
//!
//! An agent repeats what it reads, and a model that reads the session may take that for the agent's finding. So a claim whose
//! words a tool said first is the tool's, whoever is quoted for it. What the person says is theirs, wherever it stood before.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher as _};

use nacre_core::memory::{Quote, Speaker};
use nacre_core::transcript::{Event, EventKind, Lane, Origin};

use super::super::candidate::{Candidate, Signal};
use super::cues::fold;

/// Words that stand together by chance less often than not.
const WINDOW: usize = 6;

/// Windows in a row that make a body a repetition: nine words. A line of an error is often shorter.
const MIN_RUN: usize = 4;

/// Windows that are held; a session with more has been told enough.
const MAX_WINDOWS: usize = 600_000;

/// The runs of words of a session, and whether a tool said them first.
#[derive(Debug, Default)]
pub(super) struct Repeated {
    first_by_tool: HashMap<u64, bool>,
}

impl Repeated {
    /// Takes the next event.
    pub(super) fn note(&mut self, event: &Event) {
        if event.lane != Lane::Main {
            return;
        }
        let (is_tools, is_persons) = match (event.kind, event.origin) {
            (EventKind::User, Origin::Person(_)) => (false, true),
            (EventKind::Assistant | EventKind::ToolCall, Origin::Agent) => (false, false),
            (EventKind::ToolResult, Origin::Tool) | (_, Origin::Injected(_)) => (true, false),
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

    /// Whether a claim says what a tool said first, or rests on words of the agent that do.
    pub(super) fn holds(&self, candidate: &Candidate) -> bool {
        let Candidate { title, body, quotes, signal, .. } = candidate;
        // A failure tells what the tool said, and who reads it is told so.
        let is_body = || *signal != Signal::Failure && self.is_repeated(body);
        self.longest_run(title) > 0 || is_body() || quotes.iter().any(|quote| self.is_echo(quote))
    }

    /// Whether a text of some length says what a tool said first.
    pub(super) fn is_repeated(&self, text: &str) -> bool {
        self.longest_run(text) >= MIN_RUN
    }

    /// Whether most of what the agent says in a quote was a tool's before.
    fn is_echo(&self, quote: &Quote) -> bool {
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

/// The hashes of every few words of a text that follow each other.
fn windows(text: &str) -> impl Iterator<Item = u64> {
    let folded = fold(text);
    let words: Vec<u64> = folded
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(hash)
        .collect();
    let hashes: Vec<u64> = words.windows(WINDOW).map(hash).collect();
    hashes.into_iter()
}

fn hash<T: Hash + ?Sized>(of: &T) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use nacre_core::memory::{Basis, Claim, Status};

    use super::super::super::candidate::CandidateId;
    use super::*;

    const PAGE: &str = "the billing team has decided to use the mirror in Oslo for all packages";

    fn candidate(title: &str, body: &str, quote: &str) -> Candidate {
        Candidate {
            id: CandidateId::at(0),
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
        }
    }

    /// A session in which these spoke in turn: 't' a tool, 'a' the agent, 'p' the person.
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
