//! Whether a statement is made of what its source says.

use super::names::exchanges_names;
use super::numbers::has_strange_number;
use super::polarity::{affirms_denied, denials, denies_alone, is_opposite, swaps_opposites};
use super::source::{Source, Unit};
use super::tables::{ABOUT_CODE, JOINTS, POINTERS};
use super::verbatim::{code_spans, dotted_names, is_named, is_written, is_written_there};
use super::words::{Word, WordKind, key_of, words};

/// Of so many words of a part one may be missing in the source.
const WORDS_PER_STRANGER: usize = 8;

/// A word that points back stands among the first of a sentence.
const POINTING_WITHIN: usize = 4;

/// The share of a sentence's words that lines of code must have: prose about code has words of its own.
const MIN_OF_CODE: f32 = 0.5;

/// A sentence of the source is near to a part if it has this share of what the nearest has.
const NEAR: f32 = 0.6;

/// What a statement is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// Sentences: a statement repeats their words.
    Prose,
    /// Lines of code: a statement describes them.
    Code,
}

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

/// Holds a statement, without its citations, against what it cites.
pub fn check_statement(statement: &str, source: &Source, kind: SourceKind) -> Result<(), Flaw> {
    let has_spans = pieces(statement).iter().all(|piece| {
        code_spans(piece).iter().all(|span| match kind {
            SourceKind::Prose => is_written_there(span, piece, source),
            SourceKind::Code => is_written(span, source),
        })
    });
    if !has_spans || !dotted_names(statement).iter().all(|name| is_named(name, source)) {
        return Err(Flaw::Invented);
    }
    if kind == SourceKind::Code && exchanges_names(statement, source) {
        return Err(Flaw::Exchanged);
    }
    parts(statement).iter().try_for_each(|part| match kind {
        SourceKind::Prose => check_part(part, source),
        SourceKind::Code => check_against_code(part, source),
    })
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

fn check_part(part: &[Word], source: &Source) -> Result<(), Flaw> {
    if has_strange_number(part, source) {
        return Err(Flaw::Invented);
    }
    let said: Vec<&Word> = part.iter().filter(|word| word.is_content()).collect();
    let n_strange = said.iter().filter(|word| !source.has(&word.key)).count();
    let n_numbers = part.iter().filter(|word| word.kind == WordKind::Number).count();
    let n_free = (said.len() + n_numbers) / WORDS_PER_STRANGER;
    let (near, nearest) = near_units(part, source);
    let is_home = |unit: &&Unit| has_all(unit, &said, n_free, source) && has_subject(unit, part);
    if n_free < n_strange || (!said.is_empty() && !nearest.iter().any(is_home)) {
        return Err(Flaw::Unsupported);
    }
    let is_denied = denies_alone(part, &near)
        || nearest.iter().any(|unit| affirms_denied(part, unit) || is_opposite(part, unit))
        || swaps_opposites(part, source);
    if is_denied { Err(Flaw::Negated) } else { Ok(()) }
}

/// Whether the words stand in one sentence, with the title's words: not picked from all over the text.
fn has_all(unit: &Unit, said: &[&Word], n_free: usize, source: &Source) -> bool {
    let is_missing = |word: &&&Word| !unit.has(&word.key) && !source.topic.contains(&word.key);
    said.iter().filter(is_missing).count() <= n_free
}

/// Whether the sentence is about what the part is about: it has its first word, points back with "it", or begins with
/// another word of the part. Else it says the same of something else.
fn has_subject(unit: &Unit, part: &[Word]) -> bool {
    let counts = |word: &&Word| matches!(word.kind, WordKind::Content | WordKind::Number);
    let said: Vec<&Word> = part.iter().filter(counts).collect();
    let points_back = || {
        unit.words.iter().take(POINTING_WITHIN).any(|word| POINTERS.contains(&word.text.as_str()))
    };
    let begins_alike = || {
        let first = unit.words.iter().find(counts);
        first.is_some_and(|first| said.iter().any(|word| word.key == first.key))
    };
    match said.as_slice() {
        [] | [_] => true,
        [first, ..] => unit.has(&first.key) || points_back() || begins_alike(),
    }
}

/// The sentences that are near to a part, and those of them that are nearest.
fn near_units<'a>(part: &[Word], source: &'a Source) -> (Vec<&'a Unit>, Vec<&'a Unit>) {
    let said: Vec<&Word> = part
        .iter()
        .filter(|word| !matches!(word.kind, WordKind::Filler | WordKind::Negator))
        .collect();
    let best = source.units.iter().map(|unit| unit.n_of(&said)).max().unwrap_or(0);
    let is_near = |unit: &&Unit| unit.n_of(&said) as f32 >= best as f32 * NEAR;
    let near: Vec<&Unit> = source.units.iter().filter(is_near).collect();
    let nearest = near.iter().copied().filter(|unit| best > 0 && unit.n_of(&said) == best);
    (near.clone(), nearest.collect())
}

/// Whether a word is neither of the source nor of those that all prose about code has.
fn is_strange(word: &Word, source: &Source) -> bool {
    !source.has(&word.key) && !ABOUT_CODE.contains(&word.text.as_str())
}

/// Code is described, not repeated: half of the words of each part must stand in it, every number, and a denial needs one.
fn check_against_code(said: &[Word], source: &Source) -> Result<(), Flaw> {
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
