//! Whether the places that an answer cites are really there, and whether its sentences are made of them.
//!
//! A model that makes up a line number makes it up convincingly. So each place is read again: the file is in scope, a tool
//! of this run showed its lines, and the quoted words stand in them. Each sentence names its citations by their numbers
//! and is held against those lines. What does not hold is said to the model while it can mend it, and marked for the reader
//! when it could not.

use nacre_core::safefs::RelPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::proof::{
    Clause, Flaw, Sentence, Sentences, Source, SourceKind, check_statement, has_invented, marks,
    says_something,
};
use crate::record::ShownLines;
use crate::tools::Area;
use crate::tools::Permissions;
use crate::tools::Workspace;

/// More places than this are not looked at, and count as not found.
const MAX_CITATIONS: usize = 50;

/// A shorter quote stands in every file, unless it is a whole line.
const MIN_QUOTE_CHARS: usize = 8;
const MIN_QUOTE_WORDS: usize = 2;

/// What has no letters to speak of is no quote, also as a whole line.
const MIN_LINE_CHARS: usize = 4;

/// More lines prove anything.
const MAX_RANGE: u32 = 30;

/// What stands behind a sentence that is not proven.
const MARK: &str = "[not verified]";

/// How far from the cited lines a quote is looked for, to tell the model where it is.
const MAX_LINES: usize = 200_000;

/// What an explorer hands in.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// The answer, in a few sentences. Each ends with the numbers of the citations that prove it: [1] or [1][3].
    pub answer: String,
    /// The places that prove it, counted from 1; every statement about the code needs one.
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
    /// The last line, at most 30 lines on.
    #[schemars(range(min = 1))]
    pub last_line: u32,
    /// Words copied letter for letter from those lines, without line numbers: a whole line, or the words that matter.
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

/// A citation that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookedAt {
    pub citation: Citation,
    pub state: CitationState,
    /// The cited lines as they are now; empty where they could not be read.
    pub lines: String,
}

/// A sentence that is not proven.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unproven {
    pub text: String,
    pub why: String,
}

/// A report after everything in it was looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckedReport {
    /// The answer, with a mark behind every sentence that is not proven.
    pub answer: String,
    pub unproven: Vec<Unproven>,
    pub citations: Vec<LookedAt>,
}

impl CheckedReport {
    /// Whether every sentence is proven, and every citation holds.
    pub fn is_verified(&self) -> bool {
        let holds = |one: &LookedAt| one.state == CitationState::Verified;
        self.unproven.is_empty() && self.citations.iter().all(holds)
    }

    /// What is wrong, in words that a model can act on.
    pub fn complaints(&self) -> Vec<String> {
        let mut complaints = Vec::new();
        for (number, one) in self.citations.iter().enumerate() {
            if let CitationState::Unverified(why) = &one.state {
                complaints.push(format!("citation {}: {why}", number + 1));
            }
        }
        let of_sentence = |one: &Unproven| format!("\"{}\": {}", one.text, one.why);
        complaints.extend(self.unproven.iter().map(of_sentence));
        complaints
    }
}

/// Where citations are looked up, and what the model has seen of it.
#[derive(Clone, Copy, Debug)]
pub struct CitedFiles<'a> {
    pub workspace: &'a Workspace,
    pub permissions: &'a Permissions,
    /// The lines that tools of this run showed.
    pub shown: &'a ShownLines,
}

/// Looks at every place that a report cites, and at every sentence of it. `None` where the value is no report.
pub fn check_report(report: &Value, files: &CitedFiles<'_>) -> Option<CheckedReport> {
    let report: Report = serde_json::from_value(report.clone()).ok()?;
    let mut citations = Vec::new();
    for (number, citation) in report.citations.into_iter().enumerate() {
        let looked = match number {
            0..MAX_CITATIONS => files.look(&citation),
            _ => Err("there are too many citations to look at them all".to_owned()),
        };
        let (state, lines) = match looked {
            Ok(lines) => (CitationState::Verified, lines),
            Err(why) => (CitationState::Unverified(why), String::new()),
        };
        citations.push(LookedAt { citation, state, lines });
    }
    let mut checked = CheckedReport { citations, ..CheckedReport::default() };
    checked.read(&report.answer);
    Some(checked)
}

impl CheckedReport {
    /// Holds each sentence of the answer against what it cites.
    fn read(&mut self, answer: &str) {
        let mut sentences = Sentences::default();
        let mut whole = sentences.take(answer);
        whole.extend(sentences.finish());
        for Sentence { text, starts_line } in whole {
            let gap = match (self.answer.is_empty(), starts_line) {
                (true, _) => "",
                (false, true) => "\n",
                (false, false) => " ",
            };
            self.answer.push_str(gap);
            self.answer.push_str(&text);
            let clauses = marks(&text).clauses;
            if let Err(why) = clauses.iter().try_for_each(|clause| self.proves(clause)) {
                self.answer.push(' ');
                self.answer.push_str(MARK);
                self.unproven.push(Unproven { text, why });
            }
        }
    }

    fn proves(&self, clause: &Clause) -> Result<(), String> {
        if !says_something(&clause.words) {
            return Ok(());
        }
        if clause.named.is_empty() {
            return Err("it names no citation; end it with the number of one, as in [1]".to_owned());
        }
        let (mut source, mut proof) = (Source::default(), String::new());
        for name in &clause.named {
            let number = name.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            let found = number.and_then(|number| self.citations.get(number));
            let one = found.ok_or_else(|| format!("there is no citation [{name}]"))?;
            if one.state != CitationState::Verified {
                return Err(format!("citation [{name}] does not hold"));
            }
            source.add_lines(&one.citation.file, &one.lines);
            proof.push_str(&format!("{}\n{}\n", one.citation.file, one.lines));
        }
        if has_invented(&clause.words.replace('`', ""), &proof, &[]) {
            return Err(told(Flaw::Invented));
        }
        check_statement(&clause.words, &source, SourceKind::Code).map_err(told)
    }
}

fn told(flaw: Flaw) -> String {
    match flaw {
        Flaw::Invented => "a name, number or path of it does not stand in the lines that it cites",
        Flaw::Negated => "it denies something, and the lines that it cites deny nothing",
        Flaw::Exchanged => {
            "its names stand the other way round in the lines that it cites; name first what stands first there, or cite other lines"
        }
        Flaw::Unsupported => "most of its words do not stand in the lines that it cites",
    }
    .to_owned()
}

impl CitedFiles<'_> {
    /// The cited lines, if they hold.
    fn look(&self, citation: &Citation) -> Result<String, String> {
        let Citation { file, first_line, last_line, quote } = citation;
        let outside = |_| format!("`{file}` is no path below the workspace");
        let path = RelPath::new(file.strip_prefix("./").unwrap_or(file)).map_err(outside)?;
        let area = Area::File(path.clone());
        if !self.permissions.reads.iter().any(|allowed| allowed.covers(&area)) {
            return Err(format!("`{path}` is outside of what may be read"));
        }
        let bytes = self.workspace.read(&path).map_err(|error| error.what)?;
        let text = String::from_utf8(bytes).map_err(|_| format!("`{path}` is no text"))?;
        let lines: Vec<&str> = text.lines().take(MAX_LINES).collect();
        let (first, last) = (*first_line as usize, *last_line as usize);
        if last < first || first == 0 {
            return Err(format!("lines {first} to {last} of `{path}` are no range"));
        }
        let Some(range) = lines.get(first - 1..last) else {
            return Err(format!("`{path}` has {} lines, not {last}", lines.len()));
        };
        if MAX_RANGE < last_line - first_line + 1 {
            return Err(format!("more than {MAX_RANGE} lines of `{path}` are cited at once"));
        }
        let words = folded(quote);
        if !folded(&range.join("\n")).contains(&words) {
            return Err(match place_of(&words, &lines) {
                Some(line) => {
                    format!("the quote stands in line {line} of `{path}`, not in {first} to {last}")
                }
                None => format!("the quote does not occur in `{path}`"),
            });
        }
        if !is_substantial(&words, range) {
            return Err(format!("the quote from `{path}` is too short to prove anything"));
        }
        if !self.shown.has_all(path.as_str(), *first_line..=*last_line) {
            return Err(format!(
                "no tool showed you lines {first} to {last} of `{path}`; read them first"
            ));
        }
        Ok(range.join("\n"))
    }
}

/// Whether a quote is a whole line, or long enough not to stand in every file.
fn is_substantial(words: &str, range: &[&str]) -> bool {
    let n_chars = words.chars().filter(|c| !c.is_whitespace()).count();
    let is_line = range.iter().any(|line| folded(line) == words);
    let is_long = MIN_QUOTE_CHARS <= n_chars && MIN_QUOTE_WORDS <= words.split(' ').count();
    is_long || (is_line && MIN_LINE_CHARS <= n_chars)
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
        let shown = shown(1..=7);
        let files = CitedFiles { workspace: &workspace, permissions: &permissions, shown: &shown };
        check_report(&report, &files).unwrap().citations.remove(0).state
    }

    /// Lines of the source as a tool shows them.
    fn shown(lines: std::ops::RangeInclusive<usize>) -> ShownLines {
        let mut shown = ShownLines::default();
        let text: Vec<String> = lines.map(|line| format!("{line:>5}\tx")).collect();
        shown.note("file_read", &format!("src/main.rs: lines a of b\n{}\n", text.join("\n")));
        shown
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
                unverified("the quote from `src/main.rs` is too short to prove anything"),
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
        let (permissions, shown) = (Permissions::read_only(), ShownLines::default());
        let files = CitedFiles { workspace: &workspace, permissions: &permissions, shown: &shown };
        for value in [json!({}), json!({ "answer": 1, "citations": [] }), json!([])] {
            assert_eq!(check_report(&value, &files), None);
        }
    }

    /// An answer about the source, of which lines 1 to 5 were shown, and what is marked in it.
    fn unproven(answer: &str, cited: &[(u32, u32, &str)]) -> Vec<String> {
        let (_folder, workspace) = workspace();
        let citations: Vec<Value> = cited
            .iter()
            .map(|(first, last, quote)| {
                json!({ "file": "src/main.rs", "first_line": first, "last_line": last, "quote": quote })
            })
            .collect();
        let report = json!({ "answer": answer, "citations": citations });
        let (permissions, shown) = (Permissions::read_only(), shown(1..=5));
        let files = CitedFiles { workspace: &workspace, permissions: &permissions, shown: &shown };
        let checked = check_report(&report, &files).unwrap();
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
            assert_eq!(unproven(answer, cited), [""; 0], "{answer}");
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
            ("`lock` calls `main` [1].", lock),
            ("`main` is called by `lock` [1].", lock),
        ] {
            assert_ne!(unproven(answer, cited), [""; 0], "{answer}");
        }
    }

    proptest! {
        /// Whatever is quoted out of a file is found where it stands.
        #[test]
        fn a_true_quote_is_always_verified(first in 1_u32..=7, n_more in 0_u32..7) {
            let last = (first + n_more).min(7);
            let lines: Vec<&str> = SOURCE.lines().collect();
            let quote = lines[first as usize - 1..last as usize].join("\n");
            prop_assume!(is_substantial(&folded(&quote), &lines[first as usize - 1..last as usize]));
            prop_assert_eq!(state("src/main.rs", (first, last), &quote), CitationState::Verified);
        }
    }
}
