//! Reads the value that follows a name: quoted at any depth of escaping, or bare.
//!
//! In JSON inside a JSON string a quote is `\"`, one level deeper `\\\"`. A value ends at the quote of
//! its own level or of an outer one, so that taking it out never breaks the document around it.

use super::text::{Set, Text};

/// A longer quoted text is no secret.
const MAX_VALUE: usize = 8192;

/// A longer quoted text with blanks in it is a message.
const MAX_PHRASE: usize = 96;

/// Deeper escaping than this is not followed; `\` doubles with every level.
const MAX_LEVEL: usize = 5;

/// How far before a value the beginning of a query is looked for.
const MAX_QUERY: usize = 512;

/// The longest name of a parameter.
const MAX_PARAMETER: usize = 64;

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writing {
    Quoted,
    /// Quoted, with blanks in it.
    Phrase,
    Bare,
    /// Bare, with a bracket in it.
    Bracketed,
}

/// Where a value stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Where it would end if `&` separated: `end`, but for a bare value with an `&` in it.
    pub(super) core_end: usize,
    pub(super) writing: Writing,
}

/// An opening or closing quote with the backslashes that belong to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quote {
    pub(super) mark: u8,
    level: usize,
    pub(super) end: usize,
}

/// Returns the quote at `pos`, if there is one.
pub(super) fn quote_at(text: &Text<'_>, pos: usize) -> Option<Quote> {
    let rest = text.rest(pos);
    // Asked for around every name, and nearly always there is none.
    if !matches!(rest.first()?, b'\\' | b'"' | b'\'' | b'`') {
        return None;
    }
    let n_slashes = rest.iter().take(1 << MAX_LEVEL).take_while(|byte| **byte == b'\\').count();
    let mark = *rest.get(n_slashes)?;
    let level = (n_slashes + 1).ilog2() as usize;
    let is_quote = matches!(mark, b'"' | b'\'' | b'`') && n_slashes + 1 == 1 << level;
    is_quote.then_some(Quote { mark, level, end: pos + n_slashes + 1 })
}

/// Returns the value at `pos`, if it is one word.
pub(super) fn read(text: &mut Text<'_>, pos: usize) -> Option<Value> {
    read_phrase(text, pos).filter(|value| value.writing != Writing::Phrase)
}

/// Returns the value at `pos`, which may be several words if it is quoted.
pub(super) fn read_phrase(text: &mut Text<'_>, pos: usize) -> Option<Value> {
    match quote_at(text, pos) {
        Some(quote) => read_quoted(text, past_triple(text, quote)),
        None => read_bare(text, pos),
    }
}

/// Moves `open` to the end of a triple quote.
fn past_triple(text: &Text<'_>, open: Quote) -> Quote {
    let is_triple = open.level == 0 && text.rest(open.end).starts_with(&[open.mark, open.mark]);
    if is_triple { Quote { end: open.end + 2, ..open } } else { open }
}

/// Returns what stands between `open` and the quote that closes it; a secret holds no white space but blanks.
fn read_quoted(text: &Text<'_>, open: Quote) -> Option<Value> {
    let start = open.end;
    // Had this quote closed a JSON string, one of these would follow it.
    if matches!(text.at(start)?, b',' | b':' | b'}' | b']') {
        return None;
    }
    let mut n_slashes = 0;
    let mut writing = Writing::Quoted;
    for (idx, byte) in text.rest(start).iter().take(MAX_VALUE).enumerate() {
        match byte {
            b'\\' => n_slashes += 1,
            b'"' | b'\'' | b'`' if *byte == open.mark || *byte == b'"' => {
                if let Some(end) = closes(open, *byte, start + idx, n_slashes) {
                    return Some(Value { start, end, core_end: end, writing });
                }
                n_slashes = 0;
            }
            b' ' if 0 < idx && idx < MAX_PHRASE => (writing, n_slashes) = (Writing::Phrase, 0),
            b' ' | b'\n' | b'\r' | b'\t' => return None,
            b'n' | b't' | b'r' if is_blank_escape(open, n_slashes) => return None,
            _ => n_slashes = 0,
        }
    }
    None
}

/// Says whether a letter behind `n_slashes` backslashes is a line break of the text that holds the value.
fn is_blank_escape(open: Quote, n_slashes: usize) -> bool {
    n_slashes > 0 && (open.mark != b'"' || n_slashes < 1 << open.level)
}

/// Returns where the value ends if the quote at `pos`, behind `n_slashes` backslashes, closes it.
fn closes(open: Quote, mark: u8, pos: usize, mut n_slashes: usize) -> Option<usize> {
    if mark != open.mark {
        // A double quote inside single quotes may be the end of a JSON string around them.
        return Some(pos - n_slashes);
    }
    for level in 0..=open.level {
        let n_own = (1 << level) - 1;
        if n_slashes.is_multiple_of(2) {
            return Some(pos - n_own);
        }
        n_slashes /= 2;
    }
    None
}

/// Returns the bare word at `pos`, if it is not the beginning of an expression.
fn read_bare(text: &mut Text<'_>, pos: usize) -> Option<Value> {
    let core_end = text.run_end(Set::Bare, pos);
    let mut end = core_end;
    while end > pos && text.at(end) == Some(b'&') && !separates(text, pos, end) {
        end = text.run_end(Set::Bare, end + 1);
    }
    let is_expression = match text.at(end) {
        Some(b'(' | b'[' | b'{') => true,
        Some(b'<') => text.at(end + 1) != Some(b'/'),
        Some(_) | None => false,
    };
    let value = Value { start: pos, end, core_end, writing: Writing::Bare };
    (!is_expression && end - pos <= MAX_VALUE).then_some(value)
}

/// Says whether the `&` at `at` ends the value that begins at `pos`: it does in the query of an address, before the next
/// parameter of a form, and where nothing of a value follows.
fn separates(text: &Text<'_>, pos: usize, at: usize) -> bool {
    let rest = text.rest(at + 1);
    if !rest.first().is_some_and(|byte| Set::Bare.has(*byte)) || rest.starts_with(b"amp;") {
        return true;
    }
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-.%".contains(byte);
    let n_name = rest.iter().take(MAX_PARAMETER).take_while(is_name).count();
    let is_parameter = n_name > 0 && rest.get(n_name) == Some(&b'=');
    let head = text.slice(pos.saturating_sub(MAX_QUERY), pos);
    let is_address = |byte: &&u8| byte.is_ascii_graphic() && !b"\"'`".contains(byte);
    let mut address = head.iter().rev().take_while(is_address);
    is_parameter || address.any(|byte| matches!(byte, b'?' | b'&' | b'#'))
}
