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
