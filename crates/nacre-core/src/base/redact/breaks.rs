//! Line breaks in text of any kind, and what stands before the text of a line.

use super::text::Text;
use super::value;

/// Room for indentation, or for the end of one literal and the beginning of the next.
pub(super) const MAX_MARGIN: usize = 48;

/// Returns where the line break at `pos` ends: raw, escaped at any depth, or behind a backslash.
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

/// How far back the beginning of a line is looked for.
const MAX_LINE: usize = 240;

/// Returns where the line break behind a backslash at `pos` ends, which code and shells read over.
pub(super) fn continued_end(text: &Text<'_>, pos: usize) -> Option<usize> {
    let rest = text.rest(pos);
    let n_slashes = rest.iter().take(32).take_while(|byte| **byte == b'\\').count();
    // In a JSON string a backslash is two, and the line break is a third with its letter.
    let is_continued = match rest.get(n_slashes) {
        Some(b'\n' | b'\r') => n_slashes > 0,
        Some(b'n' | b'r') => n_slashes > 1 && !n_slashes.is_multiple_of(2),
        Some(_) | None => false,
    };
    is_continued.then(|| break_end(text, pos)).flatten()
}

/// Returns where the line of `pos` begins.
pub(super) fn line_start(text: &Text<'_>, pos: usize) -> usize {
    let floor = pos.saturating_sub(MAX_LINE);
    let head = text.slice(floor, pos);
    let raw = memchr::memrchr2(b'\n', b'\r', head).map(|at| at + 1);
    let escaped = memchr::memmem::rfind(head, b"\\n").map(|at| at + 2);
    floor + raw.max(escaped).unwrap_or(0)
}

/// Skips indentation, raw or escaped.
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

/// Skips blanks, one line break, and the indentation of the next line.
pub(super) fn skip_lines(text: &Text<'_>, pos: usize) -> usize {
    let at = skip_blanks(text, pos);
    break_end(text, at).map_or(at, |next| skip_blanks(text, next))
}

/// Blanks between a value and the end of its line.
const MAX_BLANKS: usize = 8;

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
