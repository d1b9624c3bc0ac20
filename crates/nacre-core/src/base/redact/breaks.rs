//! Line breaks in text of any kind, and what stands before the text of a line.

use super::text::Text;

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

/// Line numbers are not longer.
const MAX_NUMBER: usize = 7;

/// What stands between the number of a line and its text: as `cat -n`, agents, editors and `grep -n` print it.
const NUMBER_MARKS: [&[u8]; 6] = [b"\t", b"\\t", "\u{2192}".as_bytes(), b"|", b":", b" "];

/// Returns where the line break at `pos` ends that a mark before it says is not part of the text: `\` in code and in a
/// shell, `=` in quoted-printable.
pub(super) fn soft_break_end(text: &Text<'_>, pos: usize) -> Option<usize> {
    let rest = text.rest(pos);
    if rest.first() == Some(&b'=') {
        return break_end(text, pos + 1);
    }
    let n_slashes = rest.iter().take(32).take_while(|byte| **byte == b'\\').count();
    // In a JSON string a backslash is two, and the line break is a third with its letter.
    let is_continued = match rest.get(n_slashes) {
        Some(b'\n' | b'\r') => n_slashes > 0,
        Some(b'n' | b'r') => n_slashes > 1 && !n_slashes.is_multiple_of(2),
        Some(_) | None => false,
    };
    is_continued.then(|| break_end(text, pos)).flatten()
}

/// Skips the number of the line that begins at `pos`, if the line of `start` is one of the few before it by its number.
pub(super) fn skip_number(text: &Text<'_>, start: usize, pos: usize) -> usize {
    let number = |pos: usize| number_at(text, skip_blanks(text, pos));
    // Most lines have none, and the line before them need not be looked for.
    let Some((next, mark, end)) = number(pos) else { return pos };
    let line = line_start(text, start);
    // The first line of a JSON string begins behind its quote.
    let quote = memchr::memrchr(b'"', text.slice(line, start));
    let first = number(line).or_else(|| number(line + quote? + 1));
    let Some((first, first_mark, _)) = first else { return pos };
    let is_near = first < next && next - first <= MAX_NUMBERED;
    if mark == first_mark && is_near { skip_blanks(text, end) } else { pos }
}

/// A token does not go over more lines than this.
const MAX_NUMBERED: usize = 12;

/// Returns the number of a line at `pos`, the mark behind it, and where that ends.
fn number_at(text: &Text<'_>, pos: usize) -> Option<(usize, &'static [u8], usize)> {
    let rest = text.rest(pos);
    let n_digits = rest.iter().take(MAX_NUMBER).take_while(|byte| byte.is_ascii_digit()).count();
    let mark = NUMBER_MARKS.into_iter().find(|mark| rest[n_digits..].starts_with(mark))?;
    let number = std::str::from_utf8(&rest[..n_digits]).ok()?.parse().ok()?;
    Some((number, mark, pos + n_digits + mark.len()))
}

/// Returns where the line of `pos` begins.
pub(super) fn line_start(text: &Text<'_>, pos: usize) -> usize {
    let floor = pos.saturating_sub(MAX_LINE);
    let head = text.slice(floor, pos);
    let raw = memchr::memrchr2(b'\n', b'\r', head).map(|at| at + 1);
    let escaped = memchr::memmem::rfind(head, b"\\n").map(|at| at + 2);
    floor + raw.max(escaped).unwrap_or(0)
}

/// Skips the marks of a quote, which a line may have that the line before has not.
pub(super) fn skip_quotes(text: &Text<'_>, mut pos: usize) -> usize {
    let limit = pos + MAX_MARGIN;
    while pos < limit && text.at(pos) == Some(b'>') {
        pos = skip_blanks(text, pos + 1);
    }
    pos
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
