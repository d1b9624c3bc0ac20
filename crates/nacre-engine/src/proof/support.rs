//! Whether a statement about code is made of what its lines say.

use super::names::exchanges_names;
use super::polarity::denials;
use super::source::{Source, Unit};
use super::tables::{ABOUT_CODE, JOINTS};
use super::verbatim::{code_spans, dotted_names, is_named, is_written};
use super::words::{Word, WordKind, key_of, words};

/// The share of a sentence's words that lines of code must have: prose about code has words of its own.
const MIN_OF_CODE: f32 = 0.5;

/// Why a statement does not follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Flaw {
    /// Code, a path or a number that the source does not have, or has of something else.
    Invented,
    /// It denies what the source affirms, or the other way round.
    Negated,
    /// It has words that the source does not have.
    Unsupported,
    /// Its names stand the other way round in the source.
    Exchanged,
}

/// Holds a statement about code, without its citations, against the lines that it cites.
pub fn check_statement(statement: &str, source: &Source) -> Result<(), Flaw> {
    let has_spans = code_spans(statement).iter().all(|span| is_written(span, source));
    if !has_spans || !dotted_names(statement).iter().all(|name| is_named(name, source)) {
        return Err(Flaw::Invented);
    }
    if exchanges_names(statement, source) {
        return Err(Flaw::Exchanged);
    }
    parts(statement).iter().try_for_each(|part| check_part(part, source))
}

/// A statement in the parts that must hold each by itself.
fn parts(statement: &str) -> Vec<Vec<Word>> {
    let mut found = Vec::new();
    for piece in pieces(statement) {
        for part in words(piece).split(|word| JOINTS.contains(&word.text.as_str())) {
            found.push(part.to_vec());
        }
    }
    found.retain(|part| part.iter().any(|word| word.kind != WordKind::Filler));
    found
}

/// Cuts at the marks between clauses, outside of code. Commas and colons count before a blank: those of a number do not.
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

/// Whether a word is neither of the source nor of those that all prose about code has.
fn is_strange(word: &Word, source: &Source) -> bool {
    !source.has(&word.key) && !ABOUT_CODE.contains(&word.text.as_str())
}

/// Code is described, not repeated: half of the words of each part must stand in it, every number, and a denial needs one.
fn check_part(said: &[Word], source: &Source) -> Result<(), Flaw> {
    let mut numbers = said.iter().filter(|word| word.kind == WordKind::Number);
    if numbers.any(|number| !source.has(&number.key)) {
        return Err(Flaw::Invented);
    }
    let content = || said.iter().filter(|word| word.is_content());
    let n_known = content().filter(|word| source.has(&word.key)).count();
    let n_strange = content().filter(|word| is_strange(word, source)).count();
    if (n_known as f32) < (n_known + n_strange) as f32 * MIN_OF_CODE {
        return Err(Flaw::Unsupported);
    }
    let denies = !denials(said).is_empty();
    let is_denial = |unit: &Unit| {
        let has_mark = unit.text.contains('!') || !denials(&unit.words).is_empty();
        has_mark
            || ["none", "false", "null", "nil", "err"].iter().any(|word| unit.has(&key_of(word)))
    };
    if denies && !source.units.iter().any(is_denial) { Err(Flaw::Negated) } else { Ok(()) }
}
