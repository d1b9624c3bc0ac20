//! Base64 that is broken into lines.

use std::ops::Range;

use super::breaks::{break_end, skip_blanks, skip_number, skip_quotes};
use super::codec;
use super::judge;
use super::text::{Set, Text};

/// Encoded text is broken into lines of at least this width.
const MIN_WIDTH: usize = 56;

/// Shorter lines are taken for encoded text only if they decode to text.
pub(super) const MIN_NARROW: usize = 8;

/// Longer runs of letters that decode to ASCII are no words.
const MIN_WORD: usize = 16;

/// A longer line was not broken to fit a width.
const MAX_LINE: usize = 512;

/// Returns the lines, up to `max_lines` of them, in which the base64 goes on whose groups begin at `start` and that
/// reaches `end`.
pub(super) fn wrapped(
    text: &mut Text<'_>,
    start: usize,
    mut end: usize,
    max_lines: usize,
) -> Vec<Range<usize>> {
    let first = start;
    let width = end - start;
    let is_narrow = (MIN_NARROW..=MAX_LINE).contains(&width);
    let mut n_chars = width;
    // Padding ends what was encoded.
    let max_lines = if text.before(end) == Some(b'=') { 0 } else { max_lines };
    let mut lines: Vec<Range<usize>> = Vec::new();
    while let Some(next) = break_end(text, end).filter(|_| lines.len() < max_lines) {
        let numbered = skip_number(text, first, next);
        let start = skip_quotes(text, skip_blanks(text, numbered));
        end = text.run_end(Set::Base64, start);
        let run = text.slice(start, end);
        let ends_line =
            text.at(end).is_none_or(|byte| matches!(byte, b'\n' | b'\r' | b'\\' | b'"' | b'\''));
        let is_full = match lines.first() {
            None => run.len() >= MIN_WIDTH,
            Some(first) => run.len() == first.len(),
        };
        let is_last = match lines.first() {
            None => judge::is_random(run) && run.len().is_multiple_of(4),
            Some(first) => run.len() < first.len() && is_rest(run),
        };
        // A group may be cut in two by the break.
        let whole = run.get(n_chars.wrapping_neg() % 4..).unwrap_or_default();
        let is_even = width.is_multiple_of(4) && width <= MIN_WIDTH && run.len() <= MIN_WIDTH;
        // A short word is the end of what was encoded only if it fills the last group.
        let is_end = run.len() >= MIN_WORD || (n_chars + run.len()).is_multiple_of(4);
        let goes_on = is_narrow
            && !whole.is_empty()
            && (is_even && codec::is_text(whole) || is_end && codec::is_ascii_text(whole));
        if !ends_line || run.len() > MAX_LINE || !(is_full || is_last || goes_on) {
            break;
        }
        n_chars += run.len();
        lines.push(start..end);
        if (!is_full && !goes_on) || run.ends_with(b"=") {
            break;
        }
    }
    lines
}

/// Says whether a short last line is the rest of what was encoded, and not a word.
fn is_rest(run: &[u8]) -> bool {
    run.ends_with(b"=") || judge::Stats::of(run).n_jumps > 0
}
