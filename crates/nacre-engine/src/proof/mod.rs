//! Checks whether a statement follows from its cited lines by comparing words.
//!
//! A statement may contain only names and numbers that appear in the cited lines, and may negate
//! only what those lines negate too. It may still be wrong, so the lines are shown beside it.

mod invented;
mod marks;
mod stated;
mod words;

use std::collections::BTreeSet;

use nacre_base::text::collapse_whitespace;

use crate::proof::words::{
    ABOUT_CODE, JOINTS, ProofWord, WordKind, denials, key_of, parts_of_name, words,
};

pub use invented::{has_invented, names_another};
pub use marks::{Clause, Marks, Sentence, Sentences, gap, marks};
pub use stated::is_stated;
pub use words::{contradicts, says_something};

/// Minimum share of a sentence's words that must appear in the cited code. The share is low because
/// prose about code also uses words that are not in the code.
const MIN_OF_CODE: f32 = 0.5;

pub const INVENTED: &str = "a name, number or path in it does not occur in the cited lines";
const NEGATED: &str = "it contains a negation, but the cited lines do not";
const UNSUPPORTED: &str = "most of its words do not occur in the cited lines";

pub fn check_statement(statement: &str, source: &CitedSource) -> Result<(), &'static str> {
    let is_written = |span: &&str| occurs_in(&source.text, &collapse_whitespace(span));
    let is_named = |name: &&str| occurs_in(&source.text.to_lowercase(), &name.to_lowercase());
    let has_spans = code_spans(statement).iter().all(is_written);
    if !has_spans || !find_dotted_names(statement).iter().all(is_named) {
        return Err(INVENTED);
    }
    parts(statement).iter().try_for_each(|part| check_part(part, source))
}

fn parts(statement: &str) -> Vec<Vec<ProofWord>> {
    let mut found = Vec::new();
    for piece in pieces(statement) {
        for part in words(piece).split(|word| JOINTS.contains(&word.text.as_str())) {
            found.push(part.to_vec());
        }
    }
    found.retain(|part| part.iter().any(|word| word.kind != WordKind::Filler));
    found
}

/// Splits at clause punctuation outside of code. Commas and colons count only before a space, so
/// that numbers are not split.
fn pieces(statement: &str) -> Vec<&str> {
    let is_border = |c: char| matches!(c, ';' | '(' | ')' | '—' | '–' | '…' | '。' | '．' | '"');
    let (mut found, mut start, mut is_code) = (Vec::new(), 0, false);
    for (at, c) in statement.char_indices() {
        is_code ^= c == '`';
        let end = at + c.len_utf8();
        let is_comma = matches!(c, ',' | ':') && statement[end..].starts_with(char::is_whitespace);
        if !is_code && (is_border(c) || is_comma) {
            found.push(&statement[start..at]);
            start = end;
        }
    }
    found.push(&statement[start..]);
    found
}

fn check_part(said: &[ProofWord], source: &CitedSource) -> Result<(), &'static str> {
    let mut numbers = said.iter().filter(|word| word.kind == WordKind::Number);
    if numbers.any(|number| !source.has(&number.key)) {
        return Err(INVENTED);
    }
    let content = || said.iter().filter(|word| word.is_content());
    let n_known = content().filter(|word| source.has(&word.key)).count();
    let is_strange =
        |word: &&ProofWord| !source.has(&word.key) && !ABOUT_CODE.contains(word.text.as_str());
    let n_strange = content().filter(is_strange).count();
    if (n_known as f32) < (n_known + n_strange) as f32 * MIN_OF_CODE {
        return Err(UNSUPPORTED);
    }
    let denies = !denials(said).is_empty();
    let is_denial = |unit: &Unit| {
        let has_mark = unit.text.contains('!') || !denials(&unit.words).is_empty();
        has_mark
            || ["none", "false", "null", "nil", "err"].iter().any(|word| unit.has(&key_of(word)))
    };
    if denies && !source.units.iter().any(is_denial) { Err(NEGATED) } else { Ok(()) }
}

const MAX_UNITS: usize = 2_000;

#[derive(Clone, Debug)]
struct Unit {
    text: String,
    words: Vec<ProofWord>,
    keys: BTreeSet<String>,
}

impl Unit {
    fn new(text: &str) -> Self {
        let words = words(text);
        let mut keys: BTreeSet<String> = words.iter().map(|word| word.key.clone()).collect();
        let names = text.split(|c: char| !c.is_alphanumeric());
        keys.extend(names.flat_map(parts_of_name).map(|part| key_of(&part)));
        Self { text: text.trim().to_owned(), words, keys }
    }

    fn has(&self, key: &str) -> bool {
        self.keys.contains(key)
    }
}

#[derive(Clone, Debug, Default)]
pub struct CitedSource {
    units: Vec<Unit>,
    topic: BTreeSet<String>,
    text: String,
}

impl CitedSource {
    /// Adds lines of a file. Each line becomes a unit, and the words in the path are added to the
    /// topic.
    pub fn add_lines(&mut self, path: &str, lines: &str) {
        self.topic.extend(words(path).into_iter().map(|word| word.key));
        for line in lines.lines() {
            if self.units.len() < MAX_UNITS && line.chars().any(char::is_alphanumeric) {
                self.units.push(Unit::new(line));
            }
        }
        self.text.push_str(&format!("{path}\n{lines}\n"));
    }

    fn has(&self, key: &str) -> bool {
        self.topic.contains(key) || self.units.iter().any(|unit| unit.has(key))
    }
}

fn code_spans(text: &str) -> Vec<&str> {
    let mut pieces = text.split('`');
    let mut spans = Vec::new();
    // Every second piece is code. After an unclosed backtick, the remaining text counts as code.
    while pieces.next().is_some() {
        spans.extend(pieces.next().map(str::trim).filter(|span| !span.is_empty()));
    }
    spans
}

fn find_dotted_names(text: &str) -> Vec<&str> {
    let bare = |piece: &'_ str| -> bool {
        let inner = piece.char_indices().any(|(at, c)| {
            matches!(c, '/' | '.' | '_' | ':' | '\\')
                && piece[..at].ends_with(char::is_alphanumeric)
                && piece[at + c.len_utf8()..].starts_with(char::is_alphanumeric)
        });
        inner && piece.chars().any(char::is_alphabetic)
    };
    let pieces = text.split(|c: char| c.is_whitespace() || "`,;()\"“”".contains(c));
    let trimmed = pieces.map(|piece| piece.trim_matches(|c: char| !c.is_alphanumeric()));
    trimmed.filter(|piece| bare(piece)).collect()
}

/// Returns whether `span` occurs in the text at word boundaries and is not a prefix of a longer
/// command.
fn occurs_in(text: &str, span: &str) -> bool {
    let text = collapse_whitespace(text);
    let is_inside = |c: char| c.is_alphanumeric() || c == '_';
    let spans: Vec<String> = code_spans(&text).into_iter().map(collapse_whitespace).collect();
    let is_command = span.contains(' ');
    if is_command && spans.iter().any(|known| known.contains(span)) {
        return spans.iter().any(|known| known == span);
    }
    text.match_indices(span).any(|(at, found)| {
        !text[..at].ends_with(is_inside) && !text[at + found.len()..].starts_with(is_inside)
    })
}

#[cfg(test)]
mod verbatim_tests {
    use super::*;

    #[test]
    fn code_is_found_and_must_be_whole() {
        assert_eq!(code_spans("Run `a b` and `c` or `d"), ["a b", "c", "d"]);
        assert_eq!(
            find_dotted_names("In src/money.rs, hooks.deadline_ms and (docs/a.md:12). At 23:00."),
            ["src/money.rs", "hooks.deadline_ms", "docs/a.md:12"]
        );
        let text = "Look first: `tide jobs dead --reasons`. The type is Cents.";
        for (span, expected) in [
            ("tide jobs dead --reasons", true),
            ("tide jobs dead", false),
            ("Cents", true),
            ("Cent", false),
            ("tide", true),
            ("rm -rf", false),
        ] {
            assert_eq!(occurs_in(text, span), expected, "{span}");
        }
    }
}
