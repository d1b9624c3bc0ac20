//! Verifies that the citations in an explorer's answer are real and support its sentences.
//!
//! Models invent convincing line numbers, so every cited range is read again: the file must be in
//! scope, a tool must have shown the lines during this run, and the lines must contain the quote.
//! Each sentence is checked against its cited lines. Errors are returned to the model while it can
//! still correct them. Sentences whose errors remain are marked in the answer.

use nacre_base::fs::RelPath;
use nacre_base::text::collapse_whitespace;
use nacre_types::UnprovenSentence;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::proof::{
    CitedSource, Clause, INVENTED, Sentence, Sentences, check_statement, gap, has_invented, marks,
    says_something,
};
use crate::record::ShownLines;
use crate::tools::{Area, Permissions, Workspace};

/// Maximum citations per report. Citations beyond this limit are not checked and count as not
/// found.
const MAX_CITATIONS: usize = 50;

const MIN_QUOTE_CHARS: usize = 8;
const MIN_QUOTE_WORDS: usize = 2;

/// Minimum length of a quote that consists of a whole line. A shorter line, such as `}`, proves
/// nothing.
const MIN_LINE_CHARS: usize = 4;

/// Maximum lines per citation. A longer range could support any claim.
const MAX_RANGE: u32 = 30;

const MARK: &str = "[not verified]";

const MAX_LINES: usize = 200_000;

/// What an explorer hands in.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// The answer, in a few sentences. Each sentence ends with the numbers of the citations that
    /// support it: [1] or [1][3].
    pub answer: String,
    /// The source locations that support the answer, numbered from 1; every statement about the
    /// code needs one.
    #[schemars(length(max = 50))]
    pub citations: Vec<Citation>,
}

/// A place in the workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Citation {
    /// The file's path, relative to the workspace.
    pub file: String,
    /// The first line, from 1.
    #[schemars(range(min = 1))]
    pub first_line: u32,
    /// The last line; at most 30 lines per citation.
    #[schemars(range(min = 1))]
    pub last_line: u32,
    /// Text copied verbatim from those lines, without line numbers: a whole line, or just the words
    /// that matter.
    #[schemars(length(min = 1, max = 400))]
    pub quote: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookedAt {
    pub citation: Citation,
    /// The current text of the cited lines or, if they are not valid evidence, an error message for
    /// the model.
    pub lines: Result<String, String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckedReport {
    pub answer: String,
    pub unproven: Vec<UnprovenSentence>,
    pub citations: Vec<LookedAt>,
}

impl CheckedReport {
    pub fn is_verified(&self) -> bool {
        self.unproven.is_empty() && self.citations.iter().all(|one| one.lines.is_ok())
    }

    pub fn complaints(&self) -> Vec<String> {
        let mut complaints = Vec::new();
        for (number, one) in self.citations.iter().enumerate() {
            if let Err(why) = &one.lines {
                complaints.push(format!("citation {}: {why}", number + 1));
            }
        }
        let of_sentence = |one: &UnprovenSentence| format!("\"{}\": {}", one.text, one.why);
        complaints.extend(self.unproven.iter().map(of_sentence));
        complaints
    }
}

/// Checks a report against the files on disk and the lines that tools have shown.
pub fn check_report(
    report: &Value,
    workspace: &Workspace,
    permissions: &Permissions,
    shown: &ShownLines,
) -> Option<CheckedReport> {
    let report: Report = serde_json::from_value(report.clone()).ok()?;
    let mut citations = Vec::new();
    for (number, citation) in report.citations.into_iter().enumerate() {
        let lines = match number {
            0..MAX_CITATIONS => look(&citation, workspace, permissions, shown),
            _ => Err("too many citations to check".to_owned()),
        };
        citations.push(LookedAt { citation, lines });
    }
    let mut checked = CheckedReport { citations, ..CheckedReport::default() };
    checked.read(&report.answer);
    Some(checked)
}

impl CheckedReport {
    fn read(&mut self, answer: &str) {
        for Sentence { text, starts_line } in Sentences::of(answer) {
            self.answer.push_str(gap(self.answer.is_empty(), starts_line));
            self.answer.push_str(&text);
            let clauses = marks(&text).clauses;
            if let Err(why) = clauses.iter().try_for_each(|clause| self.proves(clause)) {
                self.answer.push(' ');
                self.answer.push_str(MARK);
                self.unproven.push(UnprovenSentence { text, why });
            }
        }
    }

    fn proves(&self, clause: &Clause) -> Result<(), String> {
        if !says_something(&clause.words) {
            return Ok(());
        }
        if clause.named.is_empty() {
            return Err(
                "no citation; end the sentence with a citation number, such as [1]".to_owned()
            );
        }
        let (mut source, mut proof) = (CitedSource::default(), String::new());
        for name in &clause.named {
            let number = name.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            let found = number.and_then(|number| self.citations.get(number));
            let one = found.ok_or_else(|| format!("citation [{name}] not found"))?;
            let Ok(lines) = &one.lines else {
                return Err(format!("citation [{name}] is not valid"));
            };
            source.add_lines(&one.citation.file, lines);
            proof.push_str(&format!("{}\n{lines}\n", one.citation.file));
        }
        if has_invented(&clause.words.replace('`', ""), &proof, &[]) {
            return Err(INVENTED.to_owned());
        }
        check_statement(&clause.words, &source).map_err(str::to_owned)
    }
}

fn look(
    citation: &Citation,
    workspace: &Workspace,
    permissions: &Permissions,
    shown: &ShownLines,
) -> Result<String, String> {
    let Citation { file, first_line, last_line, quote } = citation;
    let outside = |_| format!("`{file}` is not a path below the workspace");
    let path = RelPath::new(file.strip_prefix("./").unwrap_or(file)).map_err(outside)?;
    let area = Area::File(path.clone());
    if !permissions.reads.iter().any(|allowed| allowed.covers(&area)) {
        return Err(format!("`{path}` is outside the readable files"));
    }
    let bytes = workspace.read(&path).map_err(|error| error.what)?;
    let text = String::from_utf8(bytes).map_err(|_| format!("`{path}` is not a text file"))?;
    let lines: Vec<&str> = text.lines().take(MAX_LINES).collect();
    let (first, last) = (*first_line as usize, *last_line as usize);
    if last < first || first == 0 {
        return Err(format!("lines {first} to {last} of `{path}` are not a valid range"));
    }
    let Some(range) = lines.get(first - 1..last) else {
        return Err(format!("`{path}` has {} lines, not {last}", lines.len()));
    };
    if MAX_RANGE < last_line - first_line + 1 {
        return Err(format!("more than {MAX_RANGE} lines of `{path}` in one citation"));
    }
    let words = collapse_whitespace(quote);
    if !collapse_whitespace(&range.join("\n")).contains(&words) {
        return Err(match place_of(&words, &lines) {
            Some(line) => {
                format!("the quote is on line {line} of `{path}`, not in lines {first} to {last}")
            }
            None => format!("the quote does not occur in `{path}`"),
        });
    }
    if !is_substantial(&words, range) {
        return Err(format!("the quote from `{path}` is too short to be evidence"));
    }
    if !shown.has_all(path.as_str(), *first_line..=*last_line) {
        return Err(format!(
            "no tool showed you lines {first} to {last} of `{path}`; read them first"
        ));
    }
    Ok(range.join("\n"))
}

fn is_substantial(words: &str, range: &[&str]) -> bool {
    let n_chars = words.chars().filter(|c| !c.is_whitespace()).count();
    let is_line = range.iter().any(|line| collapse_whitespace(line) == words);
    let is_long = MIN_QUOTE_CHARS <= n_chars && MIN_QUOTE_WORDS <= words.split(' ').count();
    is_long || (is_line && MIN_LINE_CHARS <= n_chars)
}

fn place_of(words: &str, lines: &[&str]) -> Option<usize> {
    // A quote may span several lines, so look for the line that contains its beginning.
    let mut from = 0;
    let all = collapse_whitespace(&lines.join("\n"));
    let at = all.find(words)?;
    for (number, line) in lines.iter().enumerate() {
        let length = collapse_whitespace(line).len();
        if length != 0 {
            from += length + usize::from(from != 0);
        }
        if at < from {
            return Some(number + 1);
        }
    }
    None
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test plays the user who writes files")]
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

    fn state(file: &str, lines: (u32, u32), quote: &str) -> Result<(), String> {
        let (_folder, workspace) = workspace();
        let source = RelPath::new("src").unwrap();
        let reads = vec![Area::Tree(Some(source))];
        let permissions = Permissions { reads, ..Permissions::default() };
        let citation =
            json!({ "file": file, "first_line": lines.0, "last_line": lines.1, "quote": quote });
        let report = json!({ "answer": "a", "citations": [citation] });
        let shown = show_lines(1..=7);
        check_report(&report, &workspace, &permissions, &shown)
            .unwrap()
            .citations
            .remove(0)
            .lines
            .map(drop)
    }

    fn show_lines(lines: std::ops::RangeInclusive<usize>) -> ShownLines {
        let mut shown = ShownLines::default();
        let text: Vec<String> = lines.map(|line| format!("{line:>5}\tx")).collect();
        shown.note("file_read", &format!("src/main.rs: lines a of b\n{}\n", text.join("\n")));
        shown
    }

    #[test]
    fn a_place_is_there_or_the_reader_is_told_why_not() {
        let unverified = |why: &str| Err(why.to_owned());
        for (file, lines, quote, expected) in [
            ("src/main.rs", (2, 2), "lock();", Ok(())),
            ("./src/main.rs", (1, 3), "lock();", Ok(())),
            ("src/main.rs", (4, 6), "write( \"file\", );", Ok(())),
            (
                "src/main.rs",
                (1, 1),
                "lock();",
                unverified("the quote is on line 2 of `src/main.rs`, not in lines 1 to 1"),
            ),
            (
                "src/main.rs",
                (1, 2),
                "write( \"file\"",
                unverified("the quote is on line 4 of `src/main.rs`, not in lines 1 to 2"),
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
                unverified("lines 3 to 2 of `src/main.rs` are not a valid range"),
            ),
            (
                "src/main.rs",
                (2, 2),
                "l  ",
                unverified("the quote from `src/main.rs` is too short to be evidence"),
            ),
            (
                "secret.txt",
                (1, 1),
                "nothing to see",
                unverified("`secret.txt` is outside the readable files"),
            ),
            (
                "../etc/passwd",
                (1, 1),
                "root",
                unverified("`../etc/passwd` is not a path below the workspace"),
            ),
        ] {
            assert_eq!(state(file, lines, quote), expected, "{file} {lines:?} {quote}");
        }
        assert!(state("src/gone.rs", (1, 1), "lock").is_err());
    }

    #[test]
    fn what_is_no_report_has_no_places() {
        let (_folder, workspace) = workspace();
        let (permissions, shown) = (Permissions::read_only(), ShownLines::default());
        for value in [json!({}), json!({ "answer": 1, "citations": [] }), json!([])] {
            assert_eq!(check_report(&value, &workspace, &permissions, &shown), None);
        }
    }

    fn find_unproven(answer: &str, cited: &[(u32, u32, &str)]) -> Vec<String> {
        let (_folder, workspace) = workspace();
        let citations: Vec<Value> = cited
            .iter()
            .map(|(first, last, quote)| {
                json!({ "file": "src/main.rs", "first_line": first, "last_line": last, "quote": quote })
            })
            .collect();
        let report = json!({ "answer": answer, "citations": citations });
        let (permissions, shown) = (Permissions::read_only(), show_lines(1..=5));
        let checked = check_report(&report, &workspace, &permissions, &shown).unwrap();
        let n_marks = checked.answer.matches(MARK).count();
        assert_eq!(n_marks, checked.unproven.len(), "{}", checked.answer);
        assert_eq!(checked.is_verified(), checked.complaints().is_empty());
        checked.complaints()
    }

    #[test]
    fn an_answer_that_is_made_of_its_lines_is_verified() {
        let lock = &[(1, 2, "lock();")][..];
        for (answer, cited) in [
            ("`main` calls `lock` [1].", lock),
            ("In src/main.rs, `main` takes the lock [1].", lock),
            ("`lock` is called by `main` [1].", lock),
            (
                "`lock` comes first [1]. Then `main` writes the \"file\" [2].",
                &[(1, 2, "lock();"), (4, 5, "write( \"file\",")],
            ),
        ] {
            assert_eq!(find_unproven(answer, cited), [""; 0], "{answer}");
        }
    }

    #[test]
    fn an_answer_that_cheats_is_marked() {
        let lock = &[(1, 2, "lock();")][..];
        for (answer, cited) in [
            ("The limit is 900 ms, as docs/hooks.md:8 says.", &[][..]),
            ("`main` calls `lock`.", lock),
            ("`main` calls `lock` [2].", lock),
            ("`main` calls `lock` [1] and deletes all files.", lock),
            ("It deletes files. `main` calls `lock` [1].", lock),
            ("`main` calls `lock` 7 times [1].", lock),
            ("`main` calls `unlock` [1].", lock),
            ("`main` never calls `lock` [1].", lock),
            (
                "`main` is licensed under the GPL and sends every prompt to a server in Ohio [1].",
                lock,
            ),
            ("It sends every prompt to a stranger [1].", lock),
            ("src/other.rs takes the lock [1].", lock),
            ("`main` calls `lock` [1].", &[(1, 2, "lock")]),
            ("`main` calls `lock` [1].", &[(1, 7, "lock();")]),
            ("`main` ends [1].", &[(6, 7, ");")]),
            ("`main` calls `lock`。It deletes files [1].", lock),
            ("`main` calls `lock` (it deletes files, and waits for nothing) [1].", lock),
            ("`main` calls `lock` ٧ times [1].", lock),
        ] {
            assert_ne!(find_unproven(answer, cited), [""; 0], "{answer}");
        }
    }

    proptest! {
        #[test]
        fn a_true_quote_is_always_verified(first in 1_u32..=7, n_more in 0_u32..7) {
            let last = (first + n_more).min(7);
            let lines: Vec<&str> = SOURCE.lines().collect();
            let quote = lines[first as usize - 1..last as usize].join("\n");
            prop_assume!(is_substantial(&collapse_whitespace(&quote), &lines[first as usize - 1..last as usize]));
            prop_assert_eq!(state("src/main.rs", (first, last), &quote), Ok(()));
        }
    }
}
