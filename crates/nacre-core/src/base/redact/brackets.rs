//! Values with brackets: `<value>`, and passwords that have a bracket in them.
//!
//! A bracket behind a word is nearly always code: a call, an index, a type. It is part of a literal only where code could
//! not go on as the text does.

use super::text::{Set, Text};
use super::value::{self, Value, Writing};

/// A longer value with brackets is an expression.
const MAX_VALUE: usize = 64;

/// How far back the bracket is looked for that one behind a value may close.
const MAX_HEAD: usize = 64;

/// Blanks between a value and the end of its line.
const MAX_BLANKS: usize = 8;

/// Returns the value with brackets at `pos`. In a `variable` of the environment nothing is code.
pub(super) fn read(text: &Text<'_>, pos: usize, is_variable: bool) -> Option<Value> {
    wrapped(text, pos).or_else(|| mixed(text, pos, is_variable))
}

/// Says whether a word may go on with the bracket at `pos`.
pub(super) fn can_go_on(text: &Text<'_>, pos: usize) -> bool {
    match text.rest(pos) {
        [byte, next, ..] if is_closing(*byte) => next.is_ascii_alphanumeric(),
        [byte, ..] => closing(*byte).is_some(),
        [] => false,
    }
}

/// Returns the bracket that closes `open`.
fn closing(open: u8) -> Option<u8> {
    match open {
        b'(' => Some(b')'),
        b'[' => Some(b']'),
        b'{' => Some(b'}'),
        b'<' => Some(b'>'),
        _ => None,
    }
}

fn is_closing(byte: u8) -> bool {
    matches!(byte, b')' | b']' | b'}' | b'>')
}

/// Returns the word between the bracket at `pos` and the one that closes it.
fn wrapped(text: &Text<'_>, pos: usize) -> Option<Value> {
    let close = closing(text.at(pos)?)?;
    let start = pos + 1;
    let rest = text.rest(start);
    let n_word = rest.iter().take(MAX_VALUE).take_while(|byte| Set::Bare.has(**byte)).count();
    let is_closed = rest.get(n_word) == Some(&close);
    let ends = !rest.get(n_word + 1).is_some_and(u8::is_ascii_alphanumeric);
    let end = start + n_word;
    (is_closed && ends && !is_format(&rest[..n_word])).then_some(Value {
        start,
        end,
        core_end: end,
        writing: Writing::Wrapped,
    })
}

/// Says whether a word is a name with the way in which it is written: `name!r`, `name:?`.
fn is_format(word: &[u8]) -> bool {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
    let n_name = word.iter().take_while(|byte| is_name(byte)).count();
    matches!(word.get(n_name), Some(b'!' | b':'))
}

/// Returns the word with a bracket in it at `pos`, if it cannot be code.
fn mixed(text: &Text<'_>, pos: usize, is_variable: bool) -> Option<Value> {
    let rest = text.rest(pos);
    let mut open: Vec<u8> = Vec::new();
    // Whether a word goes on right behind a closing bracket.
    let mut goes_on = false;
    let mut n_word = 0;
    for (idx, byte) in rest.iter().take(MAX_VALUE + 1).enumerate() {
        let is_inner = rest.get(idx + 1).is_some_and(u8::is_ascii_alphanumeric);
        if let Some(close) = closing(*byte) {
            open.push(close);
        } else if is_closing(*byte) {
            let is_pair = open.last() == Some(byte);
            if !is_pair && (!is_inner || closes_outer(text, pos, *byte)) {
                break;
            }
            open.truncate(open.len() - usize::from(is_pair));
            goes_on |= is_inner;
        } else if !Set::Bare.has(*byte) {
            break;
        }
        n_word = idx + 1;
    }
    let is_left_open = !open.is_empty() && ends_line(text, pos + n_word);
    let is_literal = goes_on || is_left_open || (is_variable && open.is_empty());
    let has_bracket =
        rest[..n_word].iter().any(|byte| closing(*byte).is_some() || is_closing(*byte));
    let end = pos + n_word;
    (is_literal && has_bracket && n_word <= MAX_VALUE).then_some(Value {
        start: pos,
        end,
        core_end: end,
        writing: Writing::Bracketed,
    })
}

/// Says whether `close` could close a bracket that stands before the value at `pos` on its line.
fn closes_outer(text: &Text<'_>, pos: usize, close: u8) -> bool {
    let head = text.slice(pos.saturating_sub(MAX_HEAD), pos);
    let mut line = head.iter().rev().take_while(|byte| **byte != b'\n');
    line.any(|byte| closing(*byte) == Some(close))
}

/// Says whether nothing but blanks or a comment follows `pos` on its line, or the end of a string.
pub(super) fn ends_line(text: &Text<'_>, pos: usize) -> bool {
    let rest = text.rest(pos);
    let n_blanks = rest.iter().take(MAX_BLANKS).take_while(|byte| **byte == b' ').count();
    let is_end = match rest.get(n_blanks) {
        None | Some(b'\n' | b'\r') => true,
        Some(b'#') => n_blanks > 0,
        Some(_) => false,
    };
    // A line break of JSON, or the quote around the line.
    is_end
        || value::quote_at(text, pos).is_some()
        || matches!(rest, [b'\\', b'n' | b'r' | b'\\', ..])
}
