//! Unified diffs as the pairs of old and new text that editors show.

use std::path::Path;

use super::paths::inside;
use super::protocol::Diff;

/// The hunks of a diff, each as a pair; `None` where a part of it cannot be read, such as the end of one that was cut.
pub(super) fn pairs(root: &Path, unified: &str) -> Option<Vec<Diff>> {
    let mut lines = unified.lines();
    let mut found = Vec::new();
    let mut file = None;
    while let Some(line) = lines.next() {
        if let Some(old) = line.strip_prefix("--- ") {
            let new = lines.next()?.strip_prefix("+++ ")?;
            file = Some((old, new));
            continue;
        }
        let (n_old, n_new) = counts(line)?;
        let (old, new) = file?;
        let (old_text, new_text) = hunk(&mut lines, n_old, n_new)?;
        let name = if new == NO_FILE { old } else { new };
        found.push(Diff {
            path: inside(root, name)?,
            old_text: (old != NO_FILE).then_some(old_text),
            new_text,
        });
    }
    Some(found)
}

const NO_FILE: &str = "/dev/null";

/// How many old and new lines a hunk has, from `@@ -1,2 +1,3 @@`.
fn counts(header: &str) -> Option<(usize, usize)> {
    let rest = header.strip_prefix("@@ -")?;
    let (old, rest) = rest.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let count = |range: &str| match range.split_once(',') {
        Some((_, count)) => count.parse().ok(),
        None => Some(1),
    };
    Some((count(old)?, count(new)?))
}

fn hunk<'d>(
    lines: &mut impl Iterator<Item = &'d str>,
    mut n_old: usize,
    mut n_new: usize,
) -> Option<(String, String)> {
    let (mut old, mut new) = (String::new(), String::new());
    let push = |text: &mut String, line: &str| {
        text.push_str(line);
        text.push('\n');
    };
    while 0 < n_old || 0 < n_new {
        let line = lines.next()?;
        let (sign, rest) = line.split_at_checked(1)?;
        if matches!(sign, " " | "-") {
            n_old = n_old.checked_sub(1)?;
            push(&mut old, rest);
        }
        if matches!(sign, " " | "+") {
            n_new = n_new.checked_sub(1)?;
            push(&mut new, rest);
        }
        if !matches!(sign, " " | "-" | "+") {
            return None;
        }
    }
    Some((old, new))
}

#[cfg(test)]
mod tests {
    use nacre_core::base::unified_diff;

    use super::*;

    fn shown(unified: &str) -> Option<Vec<(String, Option<String>, String)>> {
        let found = pairs(Path::new("/w"), unified)?;
        Some(found.into_iter().map(|diff| (diff.path, diff.old_text, diff.new_text)).collect())
    }

    #[test]
    fn each_hunk_is_a_pair() {
        let lines =
            |range: std::ops::Range<u32>| range.map(|n| format!("{n}\n")).collect::<String>();
        let before = lines(0..40);
        let after = before.replace("\n3\n", "\nthree\n").replace("\n30\n", "\n--- a\n+++ b\n");
        let mut unified = unified_diff("src/a.rs", Some(&before), Some(&after));
        unified += &unified_diff("new.txt", None, Some("x\n"));
        unified += &unified_diff("old.txt", Some("x\n"), None);
        let found = shown(&unified).unwrap();
        let names: Vec<&str> = found.iter().map(|(path, ..)| path.as_str()).collect();
        assert_eq!(names, ["/w/src/a.rs", "/w/src/a.rs", "/w/new.txt", "/w/old.txt"]);
        assert!(found[0].1.as_deref().unwrap().contains("\n3\n"));
        assert!(found[0].2.contains("\nthree\n"));
        assert!(found[1].2.contains("--- a\n+++ b\n"), "lines that look like headers: {found:?}");
        assert_eq!((found[2].1.as_deref(), found[2].2.as_str()), (None, "x\n"));
        assert_eq!((found[3].1.as_deref(), found[3].2.as_str()), (Some("x\n"), ""));
    }

    #[test]
    fn what_was_cut_or_leaves_the_workspace_is_no_pair() {
        let unified = unified_diff("a", Some("1\n2\n3\n"), Some("1\n2\nthree\n"));
        let end = unified.rfind("+three").unwrap();
        for wrong in [
            &unified[..end],
            "@@ -1,1 +1,1 @@\n-a\n+b\n",
            "--- a\n+++ a\n@@ -1,99999999999999999999 +1,1 @@\n",
            "--- a\n",
            "--- ../a\n+++ ../a\n@@ -1,1 +1,1 @@\n-a\n+b\n",
            "--- a\n+++ a\n@@ -1,1 +1,1 @@\nxa\n",
            "--- a\n+++ a\n@@ -1,1 +1,1 @@\n é\n-b\n",
            "words",
        ] {
            assert_eq!(shown(wrong), None, "{wrong}");
        }
    }
}
