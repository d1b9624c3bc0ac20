//! Takes secrets out of text: provider keys, private keys, passwords in URLs, headers and settings.
//!
//! Works on raw bytes of any text and leaves JSON valid, also JSON inside a JSON string: a finding
//! never crosses a quote and never cuts an escape, so lines need no parsing before they are clean.

mod arguments;
mod automaton;
mod aws;
mod base64;
mod breaks;
mod calls;
mod cluster;
mod codec;
mod commands;
mod context;
mod extra;
mod fallback;
mod finding;
mod fold;
mod forms;
mod headers;
mod inserts;
mod judge;
mod jwk;
mod live;
mod names;
mod pairs;
mod pem;
mod prefix;
mod programs;
mod prose;
mod rules;
mod scan;
mod seeds;
mod settings;
mod shape;
mod spoken;
mod tables;
mod text;
mod url;
mod value;
mod wrap;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use finding::{FoundSecret, PLACEHOLDER};

pub use extra::ExtraWords;
pub use live::{LiveRedactor, LiveText};

/// How often the surroundings of a finding are looked at again after it was taken out.
///
/// What was taken out may have hidden an edge or kept a command too far from its flag. One round is
/// usual, and only texts with findings pay for it.
const MAX_ROUNDS: usize = 4;

/// How far from a finding its absence can matter: the longest look back of any rule.
const REACH: usize = 512;

/// Secrets taken out, by kind.
pub type Hits = BTreeMap<&'static str, usize>;

/// A text without its secrets, and what they were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redacted<'t> {
    /// Borrowed when nothing was found.
    pub text: Cow<'t, str>,
    pub hits: Hits,
}

/// Returns `text` with every secret replaced by `[redacted:kind]`.
pub fn redact(text: &str) -> Cow<'_, str> {
    redact_counted(text).text
}

/// Returns `text` with every secret replaced by `[redacted:kind]`, and the number of each kind.
pub fn redact_counted(text: &str) -> Redacted<'_> {
    redact_found(text, scan::scan(text))
}

/// Replaces `found`, and what becomes visible to a rule once it is gone.
fn redact_found(text: &str, mut found: Vec<FoundSecret>) -> Redacted<'_> {
    let mut redacted = Redacted { text: Cow::Borrowed(text), hits: Hits::new() };
    for _ in 0..MAX_ROUNDS {
        if found.is_empty() {
            break;
        }
        let mut clean = String::with_capacity(redacted.text.len());
        let mut spots = Vec::with_capacity(found.len());
        let mut done = 0;
        for one in &found {
            clean.push_str(redacted.text.get(done..one.start).unwrap_or_default());
            spots.push(clean.len());
            push_placeholder(one.kind, &mut clean, &mut redacted.hits);
            done = one.end;
        }
        clean.push_str(redacted.text.get(done..).unwrap_or_default());
        found = scan::scan_parts(&clean, &surroundings(&spots, clean.len()));
        redacted.text = Cow::Owned(clean);
    }
    redacted
}

fn push_placeholder(kind: &'static str, clean: &mut String, hits: &mut Hits) {
    clean.push_str(PLACEHOLDER);
    clean.push_str(kind);
    clean.push(']');
    *hits.entry(kind).or_default() += 1;
}

/// Returns what lies within reach of `spots`, which are in order.
fn surroundings(spots: &[usize], len: usize) -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    for spot in spots {
        let (start, end) = (spot.saturating_sub(REACH), len.min(spot + REACH));
        match parts.last_mut() {
            Some(last) if start <= last.end => last.end = end,
            Some(_) | None => parts.push(start..end),
        }
    }
    parts
}
