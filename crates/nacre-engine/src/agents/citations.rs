//! Whether the places that an answer cites are really there.
//!
//! A model that makes up a line number makes it up convincingly. So each place is read again: the file is in scope, it
//! has those lines, and the quoted words stand in them. What does not hold is said to the model while it can mend it,
//! and to the reader when it could not.

use nacre_core::safefs::RelPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tools::Area;
use crate::tools::Permissions;
use crate::tools::Workspace;

/// More places than this are not looked at, and count as not found.
const MAX_CITATIONS: usize = 50;

/// A shorter quote stands in every file.
const MIN_QUOTE_CHARS: usize = 4;

/// How far from the cited lines a quote is looked for, to tell the model where it is.
const MAX_LINES: usize = 200_000;

/// What an explorer hands in.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// The answer, in a few sentences.
    pub answer: String,
    /// The places that prove it; every statement about the code needs one.
    #[schemars(length(max = 50))]
    pub citations: Vec<Citation>,
}

/// A place in the workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Citation {
    /// The path of the file below the workspace.
    pub file: String,
    /// The first line, from 1.
    #[schemars(range(min = 1))]
    pub first_line: u32,
    /// The last line.
    #[schemars(range(min = 1))]
    pub last_line: u32,
    /// Words copied letter for letter from those lines, without line numbers.
    #[schemars(length(min = 1, max = 400))]
    pub quote: String,
}

/// What came of looking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CitationState {
    Verified,
    /// Why not, in words that a model can act on.
    Unverified(String),
}

/// Looks at every place that a report cites, in order. `None` where the value is no report.
pub fn check_report(
    report: &Value,
    workspace: &Workspace,
    permissions: &Permissions,
) -> Option<Vec<(Citation, CitationState)>> {
    let report: Report = serde_json::from_value(report.clone()).ok()?;
    let mut checked = Vec::new();
    for (number, citation) in report.citations.into_iter().enumerate() {
        let looked = match number {
            0..MAX_CITATIONS => look(&citation, workspace, permissions),
            _ => Err("there are too many citations to look at them all".to_owned()),
        };
        let state = looked.map_or_else(CitationState::Unverified, |()| CitationState::Verified);
        checked.push((citation, state));
    }
    Some(checked)
}

fn look(
    citation: &Citation,
    workspace: &Workspace,
    permissions: &Permissions,
) -> Result<(), String> {
    let Citation { file, first_line, last_line, quote } = citation;
    let outside = |_| format!("`{file}` is no path below the workspace");
    let path = RelPath::new(file.strip_prefix("./").unwrap_or(file)).map_err(outside)?;
    let area = Area::File(path.clone());
    if !permissions.reads.iter().any(|allowed| allowed.covers(&area)) {
        return Err(format!("`{path}` is outside of what may be read"));
    }
    let bytes = workspace.read(&path).map_err(|error| error.what)?;
    let text = String::from_utf8(bytes).map_err(|_| format!("`{path}` is no text"))?;
    let lines: Vec<&str> = text.lines().take(MAX_LINES).collect();
    let (first, last) = (*first_line as usize, *last_line as usize);
    if last < first || first == 0 {
        return Err(format!("lines {first} to {last} of `{path}` are no range"));
    }
    let Some(range) = lines.get(first - 1..last) else {
        return Err(format!("`{path}` has {} lines, not {last}", lines.len()));
    };
    let words = folded(quote);
    if words.chars().count() < MIN_QUOTE_CHARS {
        return Err(format!("the quote from `{path}` is too short to be found"));
    }
    if folded(&range.join("\n")).contains(&words) {
        return Ok(());
    }
    Err(match place_of(&words, &lines) {
        Some(line) => {
            format!("the quote stands in line {line} of `{path}`, not in {first} to {last}")
        }
        None => format!("the quote does not occur in `{path}`"),
    })
}

/// The line in which the quote begins, if it stands in the file at all.
fn place_of(words: &str, lines: &[&str]) -> Option<usize> {
    // A quote may go over several lines; each line but its last then ends with a beginning of it.
    let mut from = 0;
    let all = folded(&lines.join("\n"));
    let at = all.find(words)?;
    for (number, line) in lines.iter().enumerate() {
        let length = folded(line).len();
        if length != 0 {
            from += length + usize::from(from != 0);
        }
        if at < from {
            return Some(number + 1);
        }
    }
    None
}

/// The text with every run of white space as one blank: indentation is not what a quote is about.
fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test plays the person who writes files")]
mod tests {
    use std::fs;

    use proptest::prelude::*;
    use serde_json::json;
    use tempfile::TempDir;

    use super::*;

    const SOURCE: &str = "fn main() {\n    lock();\n\n    write(\n        \"file\",\n    );\n}\n";

    fn workspace() -> (TempDir, Workspace) {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("src")).unwrap();
        fs::write(folder.path().join("src/main.rs"), SOURCE).unwrap();
        fs::write(folder.path().join("secret.txt"), "nothing to see\n").unwrap();
        let root = folder.path().canonicalize().unwrap();
        let workspace = Workspace::open(&root, &[]).unwrap();
        (folder, workspace)
    }

    fn state(file: &str, lines: (u32, u32), quote: &str) -> CitationState {
        let (_folder, workspace) = workspace();
        let source = RelPath::new("src").unwrap();
        let reads = vec![Area::Tree(Some(source))];
        let permissions = Permissions { reads, ..Permissions::default() };
        let citation =
            json!({ "file": file, "first_line": lines.0, "last_line": lines.1, "quote": quote });
        let report = json!({ "answer": "a", "citations": [citation] });
        check_report(&report, &workspace, &permissions).unwrap().remove(0).1
    }

    #[test]
    fn a_place_is_there_or_the_reader_is_told_why_not() {
        let unverified = |why: &str| CitationState::Unverified(why.to_owned());
        for (file, lines, quote, expected) in [
            ("src/main.rs", (2, 2), "lock();", CitationState::Verified),
            ("./src/main.rs", (1, 3), "lock();", CitationState::Verified),
            ("src/main.rs", (4, 6), "write( \"file\", );", CitationState::Verified),
            (
                "src/main.rs",
                (1, 1),
                "lock();",
                unverified("the quote stands in line 2 of `src/main.rs`, not in 1 to 1"),
            ),
            (
                "src/main.rs",
                (1, 2),
                "write( \"file\"",
                unverified("the quote stands in line 4 of `src/main.rs`, not in 1 to 2"),
            ),
            (
                "src/main.rs",
                (1, 2),
                "unlock();",
                unverified("the quote does not occur in `src/main.rs`"),
            ),
            ("src/main.rs", (7, 8), "lock();", unverified("`src/main.rs` has 7 lines, not 8")),
            (
                "src/main.rs",
                (3, 2),
                "lock();",
                unverified("lines 3 to 2 of `src/main.rs` are no range"),
            ),
            (
                "src/main.rs",
                (2, 2),
                "l  ",
                unverified("the quote from `src/main.rs` is too short to be found"),
            ),
            (
                "secret.txt",
                (1, 1),
                "nothing to see",
                unverified("`secret.txt` is outside of what may be read"),
            ),
            (
                "../etc/passwd",
                (1, 1),
                "root",
                unverified("`../etc/passwd` is no path below the workspace"),
            ),
        ] {
            assert_eq!(state(file, lines, quote), expected, "{file} {lines:?} {quote}");
        }
        assert!(matches!(state("src/gone.rs", (1, 1), "lock"), CitationState::Unverified(_)));
    }

    #[test]
    fn what_is_no_report_has_no_places() {
        let (_folder, workspace) = workspace();
        for value in [json!({}), json!({ "answer": 1, "citations": [] }), json!([])] {
            assert_eq!(check_report(&value, &workspace, &Permissions::read_only()), None);
        }
    }

    proptest! {
        /// Whatever is quoted out of a file is found where it stands.
        #[test]
        fn a_true_quote_is_always_verified(first in 1_u32..=7, n_more in 0_u32..7) {
            let last = (first + n_more).min(7);
            let lines: Vec<&str> = SOURCE.lines().collect();
            let quote = lines[first as usize - 1..last as usize].join("\n");
            prop_assume!(MIN_QUOTE_CHARS <= folded(&quote).chars().count());
            prop_assert_eq!(state("src/main.rs", (first, last), &quote), CitationState::Verified);
        }
    }
}
