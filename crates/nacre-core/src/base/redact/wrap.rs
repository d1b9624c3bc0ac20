//! Base64 that is broken into lines of one width.

use std::ops::Range;

use super::breaks::{break_end, skip_blanks};
use super::judge;
use super::text::{Set, Text};

/// Encoded text is broken into lines of at least this width.
pub(super) const MIN_WIDTH: usize = 56;

/// A longer line was not broken to fit a width.
const MAX_LINE: usize = 512;

/// Returns the lines, up to `max_lines` of them, in which the base64 continues that reaches `end`.
pub(super) fn wrapped(text: &mut Text<'_>, mut end: usize, max_lines: usize) -> Vec<Range<usize>> {
    // Padding ends what was encoded.
    let max_lines = if text.before(end) == Some(b'=') { 0 } else { max_lines };
    let mut lines: Vec<Range<usize>> = Vec::new();
    while let Some(next) = break_end(text, end).filter(|_| lines.len() < max_lines) {
        let start = skip_blanks(text, next);
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
        if !ends_line || run.len() > MAX_LINE || !(is_full || is_last) {
            break;
        }
        lines.push(start..end);
        if !is_full || run.ends_with(b"=") {
            break;
        }
    }
    lines
}

/// Says whether a short last line is the rest of what was encoded, and not a word.
fn is_rest(run: &[u8]) -> bool {
    run.ends_with(b"=") || judge::Stats::of(run).n_jumps > 0
}
