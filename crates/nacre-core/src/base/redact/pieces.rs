//! Values in pieces: literals that code puts together, behind a name that promises a secret.
//!
//! `"a" + "b"`, `"a" "b"`, `"a" . "b"`, `"".join(["a", "b"])`. The pieces are judged as one value, and each of them goes.

use super::breaks::{self, MAX_MARGIN};
use super::lines::{self, Gap};
use super::text::Text;
use super::value::{self, Value, Writing};

/// More pieces than this are not put together.
const MAX_PIECES: usize = 16;

/// The pieces together are no longer.
const MAX_LEN: usize = 512;

/// What opens a list that is put together.
const CALLS: [&[u8]; 6] = [b".join([", b".join((", b"concat!(", b"concat(", b"CONCAT(", b"["];

/// Returns the pieces of the value that begins at `pos`; none if it is one literal, or none at all.
pub(super) fn read(text: &mut Text<'_>, pos: usize) -> Vec<Value> {
    let first_pos = skip_opening(text, pos);
    let Some(first) = piece_at(text, first_pos) else { return Vec::new() };
    let mut pieces = vec![first];
    let mut has_comma = false;
    while let Some((next, is_listed)) = next_piece(text, first.start, pieces.last()) {
        has_comma |= is_listed;
        pieces.push(next);
        let len = next.end - first.start;
        if pieces.len() == MAX_PIECES || len > MAX_LEN {
            break;
        }
    }
    let end = pieces.last().map_or(first.end, |last| last.end);
    let is_one = !has_comma || lines::is_joined_list(text, first.start, end);
    if pieces.len() > 1 && is_one { pieces } else { Vec::new() }
}

/// Says whether pieces may stand at `pos`; asked before every value, and nearly always not so.
pub(super) fn can_begin(text: &Text<'_>, pos: usize) -> bool {
    matches!(text.at(pos), Some(b'"' | b'\'' | b'`' | b'\\' | b'(' | b'[' | b'c' | b'C'))
}

/// Skips what opens a list or a bracket around literals, and the separator that the list is joined with.
fn skip_opening(text: &Text<'_>, pos: usize) -> usize {
    let empty = value::quote_at(text, pos).and_then(|open| {
        let close = value::quote_at(text, open.end)?;
        (open.mark == close.mark && open.is_as_deep(close)).then_some(close.end)
    });
    let at = empty.unwrap_or(pos);
    let rest = text.rest(at);
    let n_call = CALLS.into_iter().find(|call| rest.starts_with(call)).map_or(0, <[u8]>::len);
    match (n_call, rest.first()) {
        (0, Some(b'(')) => skip_white(text, at + 1),
        (0, _) => pos,
        (n_call, _) => skip_white(text, at + n_call),
    }
}

fn skip_white(text: &Text<'_>, pos: usize) -> usize {
    let mut end = pos;
    while end - pos < MAX_MARGIN {
        let next = breaks::skip_blanks(text, end);
        end = match breaks::break_end(text, next).filter(|_| value::quote_at(text, next).is_none())
        {
            Some(after) => after,
            None => return next,
        };
    }
    end
}

/// Returns the literal of one word at `pos`.
fn piece_at(text: &mut Text<'_>, pos: usize) -> Option<Value> {
    value::quote_at(text, pos)?;
    value::read(text, pos).filter(|value| {
        value.writing == Writing::Quoted && value.start < value.end && value.end - pos <= MAX_LEN
    })
}

/// Returns the literal that goes on behind `last`, and whether a comma stands between.
fn next_piece(text: &mut Text<'_>, start: usize, last: Option<&Value>) -> Option<(Value, bool)> {
    let last = last?;
    let close = value::quote_at(text, last.end)?;
    // In a shell and in SQL nothing needs to stand between.
    let glued = value::quote_at(text, close.end)
        .filter(|open| open.is_as_deep(close) && open.mark == close.mark);
    let gap = match glued {
        Some(open) => {
            Gap { end: open.end, quote: Some(close.end), has_sign: true, has_comma: false }
        }
        None => lines::gap(text, start, last.end)?,
    };
    let piece = piece_at(text, gap.quote?)?;
    let bytes = text.slice(piece.start, piece.end);
    // Without a sign it may be another argument, or the name of the next value.
    let is_piece = gap.has_sign || gap.has_comma || lines::is_generated(bytes);
    (is_piece && !is_name(text, &piece)).then_some((piece, gap.has_comma))
}

/// Says whether something is assigned to the literal.
fn is_name(text: &Text<'_>, piece: &Value) -> bool {
    let end = value::quote_at(text, piece.end).map_or(piece.end, |quote| quote.end);
    matches!(text.at(breaks::skip_blanks(text, end)), Some(b':' | b'='))
}
