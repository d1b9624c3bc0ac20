//! Lines of a text, with the line ends that the file has.

/// The line end that a text uses.
pub(super) fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// Gives a text the line ends of the file that it goes into.
pub(super) fn with_line_ends(text: &str, end: &str) -> String {
    let plain = text.replace("\r\n", "\n");
    if end == "\n" { plain } else { plain.replace('\n', end) }
}

/// The number of the line that byte `at` lies in, from 1.
pub(super) fn line_at(text: &str, at: usize) -> usize {
    text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1
}

/// Where the lines `first` to `last` lie in the text, with their ends; `None` when there are not so many.
pub(super) fn range_of_lines(
    text: &str,
    first: usize,
    last: usize,
) -> Option<std::ops::Range<usize>> {
    let mut start = None;
    let mut at = 0;
    for (idx, line) in text.split_inclusive('\n').enumerate() {
        if idx + 1 == first {
            start = Some(at);
        }
        at += line.len();
        if idx + 1 == last {
            return start.map(|start| start..at);
        }
    }
    None
}

/// What an edit did, as a small diff: the lines around are not shown.
pub(super) fn small_diff(before: &str, after: &str, first_line: usize) -> String {
    let mut diff = format!("@@ line {first_line} @@\n");
    for line in before.lines() {
        diff += &format!("-{line}\n");
    }
    for line in after.lines() {
        diff += &format!("+{line}\n");
    }
    diff
}
