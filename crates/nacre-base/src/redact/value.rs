//! Parses the value after a name: quoted at any escaping depth or unquoted, possibly on the next
//! line.
//!
//! A quote in JSON inside a JSON string is `\"`, and one level deeper it is `\\\"`. A value ends at
//! a quote of its own level or of an outer level, so redacting it cannot break the surrounding
//! document.

use super::text::{Set, Text};

/// Longer quoted strings are not secrets.
const MAX_VALUE: usize = 8192;

/// Longer quoted strings that contain spaces are messages.
const MAX_PHRASE: usize = 96;

/// Maximum escaping depth. The number of backslashes doubles with every level.
const MAX_LEVEL: usize = 5;

const MAX_QUERY: usize = 512;

const MAX_PARAMETER: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writing {
    Quoted,
    Phrase,
    Bare,
    Bracketed,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    pub(super) start: usize,
    pub(super) end: usize,
    /// The end of the value if `&` is treated as a separator. Differs from `end` only for an
    /// unquoted value that contains `&`.
    pub(super) core_end: usize,
    pub(super) writing: Writing,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Quote {
    pub(super) mark: u8,
    level: usize,
    pub(super) end: usize,
}

pub(super) fn quote_at(text: &Text<'_>, pos: usize) -> Option<Quote> {
    let rest = text.rest(pos);
    if !matches!(rest.first()?, b'\\' | b'"' | b'\'' | b'`') {
        return None;
    }
    let n_slashes = rest.iter().take(1 << MAX_LEVEL).take_while(|byte| **byte == b'\\').count();
    let mark = *rest.get(n_slashes)?;
    let level = (n_slashes + 1).ilog2() as usize;
    let is_quote = matches!(mark, b'"' | b'\'' | b'`') && n_slashes + 1 == 1 << level;
    is_quote.then_some(Quote { mark, level, end: pos + n_slashes + 1 })
}

pub(super) fn read(text: &mut Text<'_>, pos: usize) -> Option<Value> {
    read_phrase(text, pos).filter(|value| value.writing != Writing::Phrase)
}

pub(super) fn read_phrase(text: &mut Text<'_>, pos: usize) -> Option<Value> {
    match quote_at(text, pos) {
        Some(quote) => read_quoted(text, past_triple(text, quote)),
        None => read_bare(text, pos),
    }
}

fn past_triple(text: &Text<'_>, open: Quote) -> Quote {
    let is_triple = open.level == 0 && text.rest(open.end).starts_with(&[open.mark, open.mark]);
    if is_triple { Quote { end: open.end + 2, ..open } } else { open }
}

/// Returns the value between `open` and its closing quote. Secrets may contain spaces, but no other
/// white space.
fn read_quoted(text: &Text<'_>, open: Quote) -> Option<Value> {
    let start = open.end;
    // If one of these characters follows, the quote is the end of a JSON string.
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

/// Returns whether a letter preceded by `n_slashes` backslashes is a line break in the text that
/// surrounds the value.
fn is_blank_escape(open: Quote, n_slashes: usize) -> bool {
    n_slashes > 0 && (open.mark != b'"' || n_slashes < 1 << open.level)
}

fn closes(open: Quote, mark: u8, pos: usize, mut n_slashes: usize) -> Option<usize> {
    if mark != open.mark {
        // A double quote inside single quotes may close a surrounding JSON string.
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

/// Returns whether the `&` at `at` ends the value that begins at `pos`: it is in a URL query,
/// another form parameter follows, or the value does not continue.
fn separates(text: &Text<'_>, pos: usize, at: usize) -> bool {
    let rest = text.rest(at + 1);
    if !rest.first().is_some_and(|byte| Set::Bare.has(*byte)) || rest.starts_with(b"amp;") {
        return true;
    }
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-.%".contains(byte);
    let n_name = rest.iter().take(MAX_PARAMETER).take_while(is_name).count();
    let is_parameter = n_name > 0 && rest.get(n_name) == Some(&b'=');
    let head = text.behind(pos, MAX_QUERY);
    let is_address = |byte: &&u8| byte.is_ascii_graphic() && !b"\"'`".contains(byte);
    let mut address = head.iter().rev().take_while(is_address);
    is_parameter || address.any(|byte| matches!(byte, b'?' | b'&' | b'#'))
}

pub(super) const MAX_MARGIN: usize = 48;

/// Returns the end of the line break at `pos`, which may be raw, escaped at any depth, or preceded
/// by a backslash.
pub(super) fn break_end(text: &Text<'_>, pos: usize) -> Option<usize> {
    if !matches!(text.at(pos)?, b'\n' | b'\r' | b'\\') {
        return None;
    }
    let slashes =
        |pos: usize| text.rest(pos).iter().take(32).take_while(|byte| **byte == b'\\').count();
    let n_slashes = slashes(pos);
    let after = pos + n_slashes;
    match text.rest(after) {
        [b'\r', b'\n', ..] => Some(after + 2),
        [b'\n' | b'\r', ..] => Some(after + 1),
        [b'n', ..] if n_slashes > 0 => Some(after + 1),
        [b'r', ..] if n_slashes > 0 => {
            let n_more = slashes(after + 1);
            let is_pair = n_more > 0 && text.at(after + 1 + n_more) == Some(b'n');
            Some(if is_pair { after + 2 + n_more } else { after + 1 })
        }
        _ => None,
    }
}

const MAX_LINE: usize = 240;

pub(super) fn find_continued_end(text: &Text<'_>, pos: usize) -> Option<usize> {
    let rest = text.rest(pos);
    let n_slashes = rest.iter().take(32).take_while(|byte| **byte == b'\\').count();
    // In a JSON string, a backslash before a line break becomes three backslashes and a letter: two
    // for the backslash itself, and one for the line break.
    let is_continued = match rest.get(n_slashes) {
        Some(b'\n' | b'\r') => n_slashes > 0,
        Some(b'n' | b'r') => n_slashes > 1 && !n_slashes.is_multiple_of(2),
        Some(_) | None => false,
    };
    is_continued.then(|| break_end(text, pos)).flatten()
}

pub(super) fn line_start(text: &Text<'_>, pos: usize) -> usize {
    let floor = pos.saturating_sub(MAX_LINE);
    let head = text.slice(floor, pos);
    let raw = memchr::memrchr2(b'\n', b'\r', head).map(|at| at + 1);
    let escaped = memchr::memmem::rfind(head, b"\\n").map(|at| at + 2);
    floor + raw.max(escaped).unwrap_or(0)
}

pub(super) fn skip_blanks(text: &Text<'_>, mut pos: usize) -> usize {
    let limit = pos + MAX_MARGIN;
    while pos < limit {
        pos = match text.rest(pos) {
            [b' ' | b'\t', ..] => pos + 1,
            [b'\\', b't', ..] => pos + 2,
            [b'\\', b'\\', b't', ..] => pos + 3,
            _ => break,
        };
    }
    pos
}

/// Skips spaces, one line break, and the indentation of the next line.
pub(super) fn skip_lines(text: &Text<'_>, pos: usize) -> usize {
    let at = skip_blanks(text, pos);
    break_end(text, at).map_or(at, |next| skip_blanks(text, next))
}

const MAX_BLANKS: usize = 8;

pub(super) fn ends_line(text: &Text<'_>, pos: usize) -> bool {
    let rest = text.rest(pos);
    let n_blanks = rest.iter().take(MAX_BLANKS).take_while(|byte| **byte == b' ').count();
    let is_end = match rest.get(n_blanks) {
        None | Some(b'\n' | b'\r') => true,
        Some(b'#') => n_blanks > 0,
        Some(_) => false,
    };
    is_end || quote_at(text, pos).is_some() || matches!(rest, [b'\\', b'n' | b'r' | b'\\', ..])
}
