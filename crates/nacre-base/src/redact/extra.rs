//! User-defined words that are always redacted, in addition to recognized secrets.
//!
//! Words are matched exactly, and also in their escaped form inside JSON strings. A replacement
//! never splits an escape or includes a quote at its edge, so JSON stays valid.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};
use serde::de::IgnoredAny;
use xxhash_rust::xxh3::xxh3_64;

use super::fold::Folded;
use super::text::{
    FoundSecret, MAX_KIND, PLACEHOLDER, Secrets, Text, Weight, merge, placeholder_end,
};
use super::{Redacted, redact_found, scan};

const KIND: &str = "extra";

#[derive(Clone, Default)]
pub struct ExtraWords {
    automaton: Option<AhoCorasick>,
    n_words: usize,
    fingerprint: u64,
}

// Prints only the number of words, because the words themselves must not appear in logs.
debug_only!(ExtraWords { n_words });

impl ExtraWords {
    /// Empty words are ignored.
    pub fn new(words: &[String]) -> Self {
        let words: BTreeSet<&str> =
            words.iter().map(String::as_str).filter(|word| !word.is_empty()).collect();
        if words.is_empty() {
            return Self::default();
        }
        let forms: BTreeSet<String> = words.iter().flat_map(|word| spellings(word)).collect();
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(forms)
            .expect("the settings limit the words far below the automaton's maximum");
        let mut listed = Vec::new();
        for word in &words {
            listed.extend(word.len().to_le_bytes());
            listed.extend(word.as_bytes());
        }
        Self {
            automaton: Some(automaton),
            n_words: words.len(),
            // The lowest bit is always set, so only an empty list has the fingerprint 0.
            fingerprint: xxh3_64(&listed) | 1,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.automaton.is_none()
    }

    pub(super) fn longest(&self) -> usize {
        self.automaton.as_ref().map_or(0, AhoCorasick::max_pattern_len)
    }

    /// Returns a hash of the list that does not depend on word order.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.redact_counted(text).text
    }

    pub fn redact_counted<'t>(&self, text: &'t str) -> Redacted<'t> {
        // Search the original text for both secrets and words, because a word may be part of a
        // secret or contain one.
        let mut found = scan::scan(text);
        let literals = self.find(text, &mut found);
        if literals.is_empty() {
            return redact_found(text, merge(found));
        }
        let quoted = quote_literals(text, &literals);
        let redacted = self.redact_counted(&quoted);
        let mut hits = redacted.hits;
        *hits.entry(KIND).or_default() += literals.len();
        Redacted { text: Cow::Owned(redacted.text.into_owned()), hits }
    }

    fn find(&self, text: &str, found: &mut Secrets) -> Vec<Range<usize>> {
        let mut literals: Vec<Range<usize>> = Vec::new();
        let Some(automaton) = &self.automaton else { return literals };
        let mut layout = Layout::new(text);
        let mut hits: Vec<Range<usize>> =
            automaton.find_iter(text).map(|hit| hit.range()).collect();
        if let Some(folded) = Folded::new(text) {
            let seen = automaton.find_iter(&folded.text);
            hits.extend(seen.map(|hit| folded.origin(hit.range())));
        }
        for hit in hits {
            if overlaps_placeholder(text, hit.clone()) {
                continue;
            }
            let range = keep_escapes(text, trim_quotes(text, hit));
            if range.is_empty() {
                continue;
            }
            match layout.place(&range) {
                WordPlace::Structure => {}
                WordPlace::Literal(range) => literals.push(range),
                WordPlace::Text => found.push(FoundSecret::new(range, KIND, Weight::Name)),
            }
        }
        literals.sort_by_key(|range| range.start);
        literals.dedup();
        literals
    }
}

fn quote_literals(text: &str, literals: &[Range<usize>]) -> String {
    let mut quoted = String::with_capacity(text.len());
    let mut done = 0;
    for range in literals {
        quoted.push_str(&text[done..range.start]);
        quoted.push_str("\"[redacted:extra]\"");
        done = range.end;
    }
    quoted.push_str(&text[done..]);
    quoted
}

/// Returns the forms in which `word` can appear: as is, in a JSON string, and in JSON inside a JSON
/// string.
fn spellings(word: &str) -> Vec<String> {
    let json = json_escaped(word);
    let mut forms = vec![
        unicode_escaped(&json, |c| !c.is_ascii(), |unit| format!("\\u{unit:04x}")),
        unicode_escaped(&json, |c| !c.is_ascii(), |unit| format!("\\u{unit:04X}")),
        unicode_escaped(&json, |c| matches!(c, '&' | '<' | '>'), |unit| format!("\\u{unit:04x}")),
        json.replace('/', "\\/"),
        json,
    ];
    for idx in 0..forms.len() {
        forms.push(json_escaped(&forms[idx]));
    }
    forms.push(word.to_owned());
    forms
}

fn json_escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted.get(1..quoted.len() - 1).unwrap_or_default().to_owned()
}

fn unicode_escaped(text: &str, is_escaped: fn(char) -> bool, escape: fn(u16) -> String) -> String {
    let mut written = String::with_capacity(text.len());
    for c in text.chars() {
        if is_escaped(c) {
            written.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| escape(*unit)));
        } else {
            written.push(c);
        }
    }
    written
}

/// Returns whether `range` overlaps an existing placeholder, inside which words such as `token`
/// must not match.
fn overlaps_placeholder(text: &str, range: Range<usize>) -> bool {
    let from = range.start.saturating_sub(PLACEHOLDER.len() + MAX_KIND);
    let to = text.len().min(range.end + PLACEHOLDER.len());
    let bytes = Text::new(text);
    memchr::memmem::find_iter(bytes.slice(from, to), PLACEHOLDER).any(|at| {
        let inner = from + at + PLACEHOLDER.len();
        let end = placeholder_end(&bytes, inner);
        inner < end && from + at < range.end && range.start < end
    })
}

fn trim_quotes(text: &str, range: Range<usize>) -> Range<usize> {
    let bytes = text.as_bytes();
    let Range { mut start, mut end } = range;
    while start < end {
        let n_slashes = bytes[start..end].iter().take_while(|byte| **byte == b'\\').count();
        if bytes[start..end].get(n_slashes) != Some(&b'"') {
            break;
        }
        start += n_slashes + 1;
    }
    while start < end && matches!(bytes[end - 1], b'"' | b'\\') {
        end -= 1;
    }
    start..end
}

/// Extends `range` so that no escape sequence or surrogate pair is split.
fn keep_escapes(text: &str, range: Range<usize>) -> Range<usize> {
    let bytes = text.as_bytes();
    if range.is_empty() {
        return range;
    }
    let Range { mut start, mut end } = range;
    start = escape_start(bytes, start);
    if unicode_escape(bytes, start).is_some_and(Unit::is_second_half) {
        let half = escape_start(bytes, start.saturating_sub(1));
        let is_pair = |unit: Unit| unit.is_first_half() && unit.end == start;
        start = if unicode_escape(bytes, half).is_some_and(is_pair) { half } else { start };
    }
    let last = escape_start(bytes, end);
    if let Some(unit) = unicode_escape(bytes, last).filter(|_| last < end) {
        end = end.max(unit.end);
        let other = unicode_escape(bytes, unit.end).filter(|other| other.is_second_half());
        end = other.filter(|_| unit.is_first_half()).map_or(end, |other| other.end);
    }
    start..end
}

fn escape_start(bytes: &[u8], pos: usize) -> usize {
    let head = &bytes[..pos];
    let n_digits = head.iter().rev().take(4).take_while(|byte| byte.is_ascii_hexdigit()).count();
    let is_unicode = |n_digits: &usize| head[..pos - n_digits].ends_with(b"\\u");
    let letter = (0..=n_digits).find(is_unicode).map_or(pos, |n_digits| pos - n_digits - 1);
    letter - head[..letter].iter().rev().take_while(|byte| **byte == b'\\').count()
}

#[derive(Clone, Copy)]
struct Unit {
    code: u32,
    end: usize,
}

impl Unit {
    fn is_first_half(self) -> bool {
        (0xd800..0xdc00).contains(&self.code)
    }

    fn is_second_half(self) -> bool {
        (0xdc00..0xe000).contains(&self.code)
    }
}

fn unicode_escape(bytes: &[u8], pos: usize) -> Option<Unit> {
    let rest = bytes.get(pos..)?;
    let n_slashes = rest.iter().take_while(|byte| **byte == b'\\').count();
    let digits = rest.get(n_slashes..)?.strip_prefix(b"u")?.get(..4)?;
    let digits = std::str::from_utf8(digits).ok().filter(|_| n_slashes > 0)?;
    let code = u32::from_str_radix(digits, 16).ok()?;
    Some(Unit { code, end: pos + n_slashes + 5 })
}

enum WordPlace {
    /// Plain text, or text inside a JSON string.
    Text,
    /// A number or literal in a JSON document.
    Literal(Range<usize>),
    /// Syntax of a JSON document, which must not be changed.
    Structure,
}

struct Document {
    range: Range<usize>,
    /// Ranges between quotes, in order. Empty if the text is not JSON.
    strings: Vec<Range<usize>>,
    is_json: bool,
}

struct Layout<'t> {
    text: &'t str,
    whole: Option<Document>,
    line: Option<Document>,
}

impl<'t> Layout<'t> {
    fn new(text: &'t str) -> Self {
        Self { text, whole: None, line: None }
    }

    fn place(&mut self, range: &Range<usize>) -> WordPlace {
        let text = self.text;
        let whole = self.whole.get_or_insert_with(|| Document::new(text, 0..text.len()));
        if whole.is_json {
            return whole.place(text, range);
        }
        if let Some(line) = self.line.as_ref().filter(|line| line.range.contains(&range.start)) {
            return line.place(text, range);
        }
        let bytes = text.as_bytes();
        let start = memchr::memrchr(b'\n', &bytes[..range.start]).map_or(0, |at| at + 1);
        let rest = &bytes[range.start..];
        let end = memchr::memchr(b'\n', rest).map_or(bytes.len(), |at| range.start + at);
        self.line.insert(Document::new(text, start..end)).place(text, range)
    }
}

impl Document {
    fn new(text: &str, range: Range<usize>) -> Self {
        let body = &text[range.clone()];
        let can_be_json = body.trim_start().starts_with(['{', '[', '"']);
        let is_json = can_be_json && serde_json::from_str::<IgnoredAny>(body).is_ok();
        let strings = if is_json { strings(text, &range) } else { Vec::new() };
        Self { range, strings, is_json }
    }

    fn place(&self, text: &str, range: &Range<usize>) -> WordPlace {
        if !self.is_json {
            return WordPlace::Text;
        }
        let next = self.strings.partition_point(|one| one.end < range.end);
        if self.strings.get(next).is_some_and(|one| one.start <= range.start) {
            return WordPlace::Text;
        }
        let bytes = text.as_bytes();
        let is_literal = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
        if !bytes[range.clone()].iter().all(|byte| is_literal(&byte)) {
            return WordPlace::Structure;
        }
        let n_before = bytes[..range.start].iter().rev().take_while(is_literal).count();
        let n_after = bytes[range.end..].iter().take_while(is_literal).count();
        WordPlace::Literal(range.start - n_before..range.end + n_after)
    }
}

fn strings(text: &str, range: &Range<usize>) -> Vec<Range<usize>> {
    let bytes = &text.as_bytes()[..range.end];
    let mut strings = Vec::new();
    let mut pos = range.start;
    while let Some(at) = memchr::memchr(b'"', &bytes[pos..]) {
        let start = pos + at + 1;
        let mut end = start;
        while let Some(at) = memchr::memchr2(b'"', b'\\', &bytes[end..]) {
            end += at;
            if bytes[end] == b'"' {
                break;
            }
            end += 2;
        }
        strings.push(start..end);
        pos = end + 1;
    }
    strings
}
