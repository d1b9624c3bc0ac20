//! Removes secrets from text: provider keys, private keys, and passwords in URLs, headers and
//! settings.
//!
//! Any text is accepted. JSON stays valid, including JSON inside JSON strings, because a finding
//! never crosses a quote or splits an escape. Lines can therefore be redacted before they are
//! parsed.

mod base64;
mod context;
mod documents;
mod extra;
mod fold;
mod http;
mod judge;
mod live;
mod names;
mod places;
mod rules;
mod scan;
mod tables;
mod text;
mod value;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use text::{PLACEHOLDER, Secrets};

pub use extra::ExtraWords;
pub use live::{LiveRedactor, LiveText};

/// Maximum number of passes over the text around removed findings.
///
/// Removing a secret may uncover a word boundary or join a command with its flag, so the remaining
/// text is searched again. One pass is usually enough, and text without findings needs none.
const MAX_ROUNDS: usize = 4;

/// The longest lookbehind in any rule. Removing a finding cannot affect matches that are farther
/// away.
const REACH: usize = 512;

pub type Hits = BTreeMap<&'static str, usize>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redacted<'t> {
    pub text: Cow<'t, str>,
    pub hits: Hits,
}

pub fn redact(text: &str) -> Cow<'_, str> {
    redact_counted(text).text
}

pub fn redact_counted(text: &str) -> Redacted<'_> {
    redact_found(text, scan::scan(text))
}

/// Replaces `found`, along with any secrets that are recognizable only afterwards.
fn redact_found(text: &str, mut found: Secrets) -> Redacted<'_> {
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
