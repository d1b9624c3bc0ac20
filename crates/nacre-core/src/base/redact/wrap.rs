//! Base64 that is broken into lines.

use std::ops::Range;

use super::breaks::{break_end, skip_blanks, skip_quotes};
use super::codec;
use super::judge;
use super::text::{Set, Text};

/// Encoded text is broken into lines of at least this width.
const MIN_WIDTH: usize = 56;

/// Shorter lines are taken for encoded text only if they decode to text.
pub(super) const MIN_NARROW: usize = 16;

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
    let width = end - start;
    let is_narrow = width.is_multiple_of(4) && (MIN_NARROW..=MIN_WIDTH).contains(&width);
    let mut lines: Vec<Range<usize>> = Vec::new();
    while let Some(next) = break_end(text, end).filter(|_| lines.len() < max_lines) {
        let start = skip_quotes(text, skip_blanks(text, next));
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
        let goes_on = is_narrow && !run.is_empty() && run.len() <= MIN_WIDTH && codec::is_text(run);
        if !ends_line || run.len() > MAX_LINE || !(is_full || is_last || goes_on) {
            break;
        }
        lines.push(start..end);
        if !is_full && !goes_on {
            break;
        }
    }
    lines
}

/// Says whether a short last line is the rest of what was encoded, and not a word.
fn is_rest(run: &[u8]) -> bool {
    run.ends_with(b"=") || judge::Stats::of(run).n_jumps > 0
}
