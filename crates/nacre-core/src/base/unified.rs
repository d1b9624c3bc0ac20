//! What changes in a file, as a unified diff that shows no secret.

use std::fmt::Write as _;

use super::redact::redact;

/// Lines around a change.
const CONTEXT: usize = 2;

/// More lines between the first and the last change are shown as one block: comparing them takes the square of their number.
const MAX_COMPARED: usize = 1500;

/// The difference between two texts of the file `name`; `None` where there is no file.
pub fn unified_diff(name: &str, before: Option<&str>, after: Option<&str>) -> String {
    let shown = |text: Option<&str>| if text.is_some() { name } else { "/dev/null" };
    let mut text = format!("--- {}\n+++ {}\n", shown(before), shown(after));
    text += &hunks(before.unwrap_or_default(), after.unwrap_or_default());
    redact(&text).into_owned()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Both,
    Old,
    New,
}

/// The changed parts, each with the lines around it.
fn hunks(old: &str, new: &str) -> String {
    let rows = rows(old, new);
    let is_changed: Vec<bool> = rows.iter().map(|(side, _)| *side != Side::Both).collect();
    let is_near = |idx: usize| {
        let (first, last) = (idx.saturating_sub(CONTEXT), (idx + CONTEXT + 1).min(rows.len()));
        is_changed[first..last].contains(&true)
    };
    let (mut text, mut at) = (String::new(), (1, 1));
    let mut idx = 0;
    while idx < rows.len() {
        let end = (idx..rows.len()).find(|idx| !is_near(*idx)).unwrap_or(rows.len());
        if end > idx {
            text += &hunk(&rows[idx..end], at);
        }
        for (side, _) in &rows[idx..end.max(idx + 1)] {
            at.0 += usize::from(*side != Side::New);
            at.1 += usize::from(*side != Side::Old);
        }
        idx = end.max(idx + 1);
    }
    text
}

fn hunk(rows: &[(Side, &str)], (old_at, new_at): (usize, usize)) -> String {
    let count = |not: Side| rows.iter().filter(|(side, _)| *side != not).count();
    let (n_old, n_new) = (count(Side::New), count(Side::Old));
    let at = |line: usize, n_lines: usize| if n_lines == 0 { line - 1 } else { line };
    let mut text = format!("@@ -{},{n_old} +{},{n_new} @@\n", at(old_at, n_old), at(new_at, n_new));
    for (side, line) in rows {
        let sign = match side {
            Side::Both => ' ',
            Side::Old => '-',
            Side::New => '+',
        };
        // Never cut: a person agrees to what is shown, and the end of a long line is a part of it.
        let _ = writeln!(text, "{sign}{line}");
    }
    text
}

/// Both texts as one row of lines.
fn rows<'t>(old: &'t str, new: &'t str) -> Vec<(Side, &'t str)> {
    let (a, b): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let same =
        |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| pairs.take_while(|(a, b)| a == b).count();
    let first = same(&mut a.iter().zip(&b));
    let most = a.len().min(b.len()) - first;
    let last = same(&mut a.iter().rev().zip(b.iter().rev())).min(most);
    let (a_mid, b_mid) = (&a[first..a.len() - last], &b[first..b.len() - last]);
    let mut rows: Vec<_> = a[..first].iter().map(|line| (Side::Both, *line)).collect();
    if a_mid.len() > MAX_COMPARED || b_mid.len() > MAX_COMPARED {
        rows.extend(a_mid.iter().map(|line| (Side::Old, *line)));
        rows.extend(b_mid.iter().map(|line| (Side::New, *line)));
    } else {
        rows.extend(aligned(a_mid, b_mid));
    }
    rows.extend(a[a.len() - last..].iter().map(|line| (Side::Both, *line)));
    rows
}

/// Lines side by side, by their longest common subsequence.
fn aligned<'t>(a: &[&'t str], b: &[&'t str]) -> Vec<(Side, &'t str)> {
    let mut longest = vec![vec![0_u32; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            longest[i][j] = match a[i] == b[j] {
                true => longest[i + 1][j + 1] + 1,
                false => longest[i + 1][j].max(longest[i][j + 1]),
            };
        }
    }
    let (mut i, mut j, mut rows) = (0, 0, Vec::new());
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && a[i] == b[j] {
            rows.push((Side::Both, a[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == b.len() || (i < a.len() && longest[i + 1][j] >= longest[i][j + 1]) {
            rows.push((Side::Old, a[i]));
            i += 1;
        } else {
            rows.push((Side::New, b[j]));
            j += 1;
        }
    }
    rows
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
        let long = "x".repeat(5000);
        assert_eq!(hunks("", &long), format!("@@ -0,0 +1,1 @@\n+{long}\n"));
    }
}
