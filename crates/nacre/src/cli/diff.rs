//! Two versions of a small text, line by line.

/// Longer texts are shown whole: comparing them would take the square of their length.
const MAX_LINES: usize = 2000;

/// Lines around a change that are shown.
const CONTEXT: usize = 2;

/// What happened to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Both,
    Old,
    New,
}

/// The lines that changed, each with a few around it.
pub(crate) fn diff<'t>(old: &'t str, new: &'t str) -> Vec<(Side, &'t str)> {
    let (a, b): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    if a.len() > MAX_LINES || b.len() > MAX_LINES {
        let old = a.into_iter().map(|line| (Side::Old, line));
        return old.chain(b.into_iter().map(|line| (Side::New, line))).collect();
    }
    let all = aligned(&a, &b);
    let is_near = |idx: usize| {
        let (first, last) = (idx.saturating_sub(CONTEXT), (idx + CONTEXT + 1).min(all.len()));
        all[first..last].iter().any(|(side, _)| *side != Side::Both)
    };
    (0..all.len()).filter(|idx| is_near(*idx)).map(|idx| all[idx]).collect()
}

/// Both texts as one row of lines, by their longest common subsequence.
fn aligned<'t>(a: &[&'t str], b: &[&'t str]) -> Vec<(Side, &'t str)> {
    let mut longest = vec![vec![0_u32; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            longest[i][j] = if a[i] == b[j] {
                longest[i + 1][j + 1] + 1
            } else {
                longest[i + 1][j].max(longest[i][j + 1])
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
    fn only_what_changed_is_shown() {
        let shown: Vec<String> = diff("a\nb\nc\nd\ne\nf\n", "a\nb\nc\nd\nE\nf\ng\n")
            .into_iter()
            .map(|(side, line)| match side {
                Side::Both => format!(" {line}"),
                Side::Old => format!("-{line}"),
                Side::New => format!("+{line}"),
            })
            .collect();
        assert_eq!(shown, [" c", " d", "-e", "+E", " f", "+g"]);
        assert!(diff("same\n", "same\n").is_empty());
    }
}
