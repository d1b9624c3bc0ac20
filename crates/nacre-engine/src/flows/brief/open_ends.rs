//! What the last sessions left open, in the words with which they ended.

use nacre_core::memory::{Memory, Store};

use super::item::{Item, safe};

/// Sessions that are looked at; what an older one left open was closed or forgotten since.
pub(super) const MAX_SESSIONS: usize = 6;

/// The longest that is told of one.
const MAX_BYTES: usize = 200;

/// The heading under which a summary tells how the session ended.
const OUTCOME: &str = "## Outcome";

/// Words by which somebody says that something is not finished.
const CUES: &[&str] = &[
    "blocked",
    "failing",
    "fails",
    "flaky",
    "follow-up",
    "left to",
    "need to",
    "needs to",
    "next step",
    "next:",
    "not yet",
    "open question",
    "remaining",
    "remains",
    "still ",
    "to do",
    "todo",
    "unfinished",
    "will have to",
];

/// The first sentence of a session's end that says that something is open.
pub(super) fn open_end(store: &Store, memory: &Memory, scope: &'static str) -> Option<Item> {
    let body = memory.document.body();
    let outcome = &body[body.find(OUTCOME)? + OUTCOME.len()..];
    let outcome = outcome.split("\n## ").next().unwrap_or_default();
    let sentences = outcome.lines().flat_map(|line| line.split_inclusive(". "));
    let is_open = |sentence: &&str| {
        let lower = sentence.to_lowercase();
        CUES.iter().any(|cue| lower.contains(cue))
    };
    let sentence = sentences.map(str::trim).find(is_open)?;
    let text = safe(store, sentence.trim_start_matches(['-', '*', ' ']), MAX_BYTES)?;
    Some(Item { id: memory.at.id.to_string(), scope, text })
}
