//! Private keys in PEM armor, whole, cut short, escaped, indented or spread over string literals.
//!
//! The armor line alone is no secret, and prose mentions it: a key is found only where a body follows.
//! Where quotes stand between lines the body goes line by line, so that arrays of lines stay arrays.

use super::breaks;
use super::finding::{FoundSecret, PLACEHOLDER, Weight};
use super::judge;
use super::text::Text;

pub(super) const KIND: &str = "private-key";

/// The longest label between `BEGIN` and the dashes.
const MAX_LABEL: usize = 48;

/// Room for the headers of an encrypted key before its body.
const MAX_FIRST_GAP: usize = 256;

/// Room for the end of one line and the beginning of the next: `\n" +`, indentation, a line number.
const MAX_GAP: usize = 48;

/// Room for what an ellipsis left out before the closing line, and for that line.
const MAX_FOOTER_GAP: usize = 256;

const MIN_RUN: usize = 16;

/// PuTTY writes lines of 64 characters.
const MAX_PUTTY_LINE: usize = 80;

/// Appends the private key whose `-----BEGIN ` stands at `start..end`.
pub(super) fn find(text: &mut Text<'_>, start: usize, end: usize, found: &mut Vec<FoundSecret>) {
    let Some(body) = armor_end(text, end) else { return };
    let (limit, footer) = next_armor(text, body);
    let runs = body_runs(text, body, limit, MAX_FIRST_GAP);
    if runs.is_empty() {
        return;
    }
    push(found, text, start, body, &runs, footer);
}

/// Appends the rest of a private key whose beginning was cut off, where its `-----END ` stands at
/// `start..end`: a text that is kept by its two ends can lose the line that opens the armor.
pub(super) fn find_rest(
    text: &mut Text<'_>,
    start: usize,
    end: usize,
    found: &mut Vec<FoundSecret>,
) {
    let Some(footer) = armor_end(text, end) else { return };
    let Some(from) = rest_start(text, start) else { return };
    let runs = rest_runs(text, from, start);
    let Some(first) = runs.last() else { return };
    if memchr::memchr(b'"', text.slice(first.0, footer)).is_none() {
        found.push(private_key((first.0, footer)));
    } else {
        found.extend(runs.into_iter().map(private_key));
    }
}

/// Returns from where on the rest of a key that ends at `end` may stand; nowhere if it has its
/// beginning.
fn rest_start(text: &Text<'_>, end: usize) -> Option<usize> {
    let before = text.slice(0, end);
    let Some(dashes) = memchr::memmem::rfind(before, b"-----") else { return Some(0) };
    let label = &before[dashes.saturating_sub(MAX_LABEL)..dashes];
    let is_open = memchr::memmem::find(label, b"-----BEGIN ").is_some();
    (!is_open).then_some(dashes + 5)
}

/// Returns the runs of base64 between `from` and `end`, from the last one back to the first gap.
fn rest_runs(text: &Text<'_>, from: usize, end: usize) -> Vec<(usize, usize)> {
    let is_base64 =
        |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(**byte, b'+' | b'/' | b'=');
    let mut runs = Vec::new();
    let (mut pos, mut edge) = (end, end);
    while from < pos && edge - pos <= MAX_GAP {
        let n_run = text.slice(from, pos).iter().rev().take_while(is_base64).count();
        let mut start = pos - n_run;
        if from < start && text.at(start - 1) == Some(b'\\') {
            // The letter of an escape.
            start = (start + 1).min(pos);
        }
        let run = text.slice(start, pos);
        if run.len() >= MIN_RUN && (run.len() >= 40 || judge::is_random(run)) {
            runs.push((start, pos));
            edge = start;
        }
        pos = start.min(pos - 1);
    }
    runs
}

/// Appends the lines of a PuTTY key that follow `Private-Lines: `, which ends at `end`.
pub(super) fn find_putty(
    text: &mut Text<'_>,
    _start: usize,
    end: usize,
    found: &mut Vec<FoundSecret>,
) {
    let n_digits = text.rest(end).iter().take(3).take_while(|byte| byte.is_ascii_digit()).count();
    let digits = std::str::from_utf8(text.slice(end, end + n_digits)).unwrap_or_default();
    let n_lines: usize = digits.parse().unwrap_or(0);
    let mut body: Option<(usize, usize)> = None;
    let mut pos = end + n_digits;
    for _ in 0..n_lines {
        let Some(next) = breaks::break_end(text, pos) else { break };
        let start = breaks::skip_blanks(text, next);
        let run_end = run_end(text, start, text.bytes.len().min(start + MAX_PUTTY_LINE));
        if start == run_end || text.at(run_end) == Some(b':') {
            break;
        }
        body = Some((body.map_or(start, |body| body.0), run_end));
        pos = run_end;
    }
    let is_key = |body: &(usize, usize)| judge::is_random(text.slice(body.0, body.1));
    found.extend(body.filter(is_key).map(private_key));
}

/// Joins what no quote divides, and appends it.
fn push(
    found: &mut Vec<FoundSecret>,
    text: &Text<'_>,
    start: usize,
    body: usize,
    runs: &[(usize, usize)],
    footer: Option<usize>,
) {
    let is_joined = |from: usize, to: usize| memchr::memchr(b'"', text.slice(from, to)).is_none();
    let mut open = (start, body);
    let mut has_body = false;
    for run in runs {
        if is_joined(open.1, run.0) {
            open.1 = run.1;
        } else {
            if has_body {
                found.push(private_key(open));
            }
            open = *run;
        }
        has_body = true;
    }
    let is_near = |end: usize| end - open.1 <= MAX_FOOTER_GAP;
    if let Some(end) = footer.filter(|end| is_near(*end) && is_joined(open.1, *end)) {
        open.1 = end;
    }
    found.push(private_key(open));
}

fn private_key((start, end): (usize, usize)) -> FoundSecret {
    FoundSecret::new(start..end, KIND, Weight::Shape)
}

/// Returns the end of the armor line whose label begins at `pos`, if it is one of a private key.
fn armor_end(text: &Text<'_>, pos: usize) -> Option<usize> {
    let rest = text.rest(pos);
    let rest = &rest[..rest.len().min(MAX_LABEL)];
    let n_label = memchr::memmem::find(rest, b"-----")?;
    let label = &rest[..n_label];
    let is_label = label
        .iter()
        .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b' ');
    let is_private = memchr::memmem::find(label, b"PRIVATE KEY").is_some();
    (is_label && is_private).then_some(pos + n_label + 5)
}

/// Returns where the next armor line begins, and where it ends if it closes a private key.
fn next_armor(text: &Text<'_>, from: usize) -> (usize, Option<usize>) {
    let mut pos = from;
    while let Some(n) = memchr::memmem::find(text.rest(pos), b"-----") {
        let dashes = pos + n;
        let word = text.rest(dashes + 5);
        if word.starts_with(b"END ") {
            return (dashes, armor_end(text, dashes + 9));
        }
        if word.starts_with(b"BEGIN ") {
            return (dashes, None);
        }
        pos = dashes + 5 + word.iter().take_while(|byte| **byte == b'-').count();
    }
    (text.bytes.len(), None)
}

/// Returns the runs of base64 between `pos` and `limit`, up to the first that is none.
fn body_runs(
    text: &Text<'_>,
    mut pos: usize,
    limit: usize,
    first_gap: usize,
) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    let mut gap_start = pos;
    while pos < limit {
        let max_gap = if runs.is_empty() { first_gap } else { MAX_GAP };
        if pos - gap_start > max_gap || text.rest(pos).starts_with(PLACEHOLDER.as_bytes()) {
            break;
        }
        let Some(byte) = text.at(pos) else { break };
        if byte == b'\\' {
            pos = escape_end(text, pos);
            continue;
        }
        let run_end = run_end(text, pos, limit);
        if is_body(text, pos, run_end, runs.last()) {
            runs.push((pos, run_end));
            gap_start = run_end;
        }
        pos = run_end.max(pos + 1);
    }
    runs
}

fn escape_end(text: &Text<'_>, pos: usize) -> usize {
    let n_slashes = text.rest(pos).iter().take_while(|byte| **byte == b'\\').count();
    let is_letter = matches!(text.at(pos + n_slashes), Some(b'n' | b'r' | b't'));
    pos + n_slashes + usize::from(is_letter)
}

fn run_end(text: &Text<'_>, pos: usize, limit: usize) -> usize {
    let is_base64 =
        |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(**byte, b'+' | b'/' | b'=');
    pos + text.slice(pos, limit).iter().take_while(is_base64).count()
}

/// A generated run, or the short last line that follows one.
fn is_body(text: &Text<'_>, start: usize, end: usize, last: Option<&(usize, usize)>) -> bool {
    let run = text.slice(start, end);
    if run.len() >= MIN_RUN {
        return judge::is_random(run) || (run.len() >= 40 && last.is_some());
    }
    let is_next_line = last.is_some_and(|last| {
        start - last.1 <= MAX_GAP
            && text.slice(last.1, start).iter().all(|byte| {
                matches!(byte, b'\\' | b'n' | b'r' | b't') || byte.is_ascii_whitespace()
            })
    });
    let ends_line =
        text.at(end).is_none_or(|byte| matches!(byte, b'\\' | b'\n' | b'\r' | b'-' | b'"'));
    is_next_line && ends_line && !run.is_empty()
}
