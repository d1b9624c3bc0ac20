//! Compares two versions of a file and renders a unified diff with secrets redacted.

use std::fmt::Write as _;
use std::ops::Range;

pub use similar::ChangeTag;
use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

use super::redact::redact;

const CONTEXT: usize = 2;

/// File versions longer than this are shown in full instead of being compared, because comparison
/// time is quadratic in the number of differences.
const MAX_LINES: usize = 20_000;

#[derive(Debug)]
pub struct ChangedPart<'t> {
    /// Range of lines in the old text, counted from 0.
    pub old: Range<usize>,
    pub new: Range<usize>,
    pub lines: Vec<(ChangeTag, &'t str)>,
}

pub fn find_changed_parts<'t>(old: &'t str, new: &'t str) -> Vec<ChangedPart<'t>> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let changes = if old.len() + new.len() <= MAX_LINES {
        capture_diff_slices(Algorithm::Myers, &old, &new)
    } else {
        let (old_len, new_len) = (old.len(), new.len());
        vec![DiffOp::Replace { old_index: 0, old_len, new_index: 0, new_len }]
    };
    let parts = group_diff_ops(changes, CONTEXT);
    parts.iter().filter_map(|changes| part(changes, &old, &new)).collect()
}

fn part<'t>(changes: &[DiffOp], old: &[&'t str], new: &[&'t str]) -> Option<ChangedPart<'t>> {
    let (first, last) = (changes.first()?, changes.last()?);
    let slices = changes.iter().flat_map(|change| change.iter_slices(old, new));
    let lines = slices.flat_map(|(tag, lines)| lines.iter().map(move |line| (tag, *line)));
    Some(ChangedPart {
        old: first.old_range().start..last.old_range().end,
        new: first.new_range().start..last.new_range().end,
        lines: lines.collect(),
    })
}

/// `None` means that the file does not exist in that version.
pub fn format_unified_diff(name: &str, before: Option<&str>, after: Option<&str>) -> String {
    let shown = |text: Option<&str>| if text.is_some() { name } else { "/dev/null" };
    let mut text = format!("--- {}\n+++ {}\n", shown(before), shown(after));
    text += &hunks(before.unwrap_or_default(), after.unwrap_or_default());
    redact(&text).into_owned()
}

fn hunks(old: &str, new: &str) -> String {
    // A unified diff identifies an empty range by the line before it.
    let place = |lines: &Range<usize>| match lines.len() {
        0 => format!("{},0", lines.start),
        n_lines => format!("{},{n_lines}", lines.start + 1),
    };
    let mut text = String::new();
    for ChangedPart { old, new, lines } in find_changed_parts(old, new) {
        let _ = writeln!(text, "@@ -{} +{} @@", place(&old), place(&new));
        for (tag, line) in lines {
            // Long lines are never truncated, because the user must see everything they approve.
            let _ = writeln!(text, "{tag}{line}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_has_its_places() {
        let old = "a\nb\nc\nd\ne\nf\ng\nh\ni\n";
        let new = "a\nb\nc\nX\nd\ne\nf\ng\nh\nY\n";
        assert_eq!(
            hunks(old, new),
            "@@ -2,4 +2,5 @@\n b\n c\n+X\n d\n e\n@@ -7,3 +8,3 @@\n g\n h\n-i\n+Y\n"
        );
        assert_eq!(hunks("", "a\n"), "@@ -0,0 +1,1 @@\n+a\n");
        assert_eq!(hunks("a\n", "a\n"), "");
        assert!(find_changed_parts("same\n", "same\n").is_empty());
        let long = "x".repeat(5000);
        assert_eq!(hunks("", &long), format!("@@ -0,0 +1,1 @@\n+{long}\n"));
    }
}
