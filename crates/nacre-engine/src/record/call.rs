//! Facts about a tool call for statistics and reports: its category, file changes, faults, and the
//! lines that it displayed.

use std::collections::{BTreeMap, BTreeSet};

use nacre_base::fs::RelPath;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    Read,
    Search,
    Write,
    Execute,
    Network,
    Meta,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    Created,
    Edited,
    Deleted,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    pub path: String,
    pub kind: ChangeKind,
}

impl FileChange {
    pub fn new(path: &RelPath, kind: ChangeKind) -> Self {
        Self { path: path.as_str().to_owned(), kind }
    }
}

nacre_base::words! {
    /// Why a call failed. Set where the call fails; never derived from the error text.
    Fault {
        Arguments = "arguments",
        UnknownTool = "unknown_tool",
        Denied = "denied",
        BudgetSpent = "budget_spent",
        NotFound = "not_found",
        WrongKind = "wrong_kind",
        TooLarge = "too_large",
        TimedOut = "timed_out",
        Cancelled = "cancelled",
        NoMatch = "no_match",
        ManyMatches = "many_matches",
        Overlap = "overlap",
        Stale = "stale",
        Unsupported = "unsupported",
        Exec = "exec",
        /// The call needs a sandbox that is not available on this system.
        Unconfined = "unconfined",
        Blocked = "blocked",
        Network = "network",
        Io = "io",
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunEffects {
    pub changed: Vec<FileChange>,
    pub tool_calls: u32,
    pub failed_calls: u32,
    pub denied_calls: u32,
    pub memory_changes: u32,
    pub shown: super::ShownLines,
}

const MAX_SAID_BYTES: usize = 4 << 20;

/// Character after a line number in a column, as in `   12\t`.
const COLUMN: char = '\t';

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownLines {
    lines: BTreeMap<String, BTreeSet<u32>>,
    said: String,
}

impl ShownLines {
    pub fn note(&mut self, tool: &str, text: &str) {
        match tool {
            "file_read" => self.note_read(text),
            "file_search" => self.note_search(text),
            "code_search" | "code_symbols" | "code_references" => self.note_code(text),
            "code_outline" => self.note_outline(text),
            _ => {}
        }
        if self.said.len() + text.len() <= MAX_SAID_BYTES {
            self.said.push_str(text);
            self.said.push('\n');
        }
    }

    pub fn has_all(&self, path: &str, lines: std::ops::RangeInclusive<u32>) -> bool {
        let shown = self.lines.get(path);
        shown.is_some_and(|shown| lines.into_iter().all(|line| shown.contains(&line)))
    }

    pub fn mentions(&self, text: &str) -> bool {
        self.said.contains(text)
    }

    pub fn path_ending_with(&self, name: &str) -> Option<&str> {
        let is_it = |path: &&String| {
            path.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with('/'))
        };
        let mut found = self.lines.keys().filter(is_it);
        found.next().filter(|_| found.next().is_none()).map(String::as_str)
    }

    fn add(&mut self, path: &str, line: u32) {
        self.lines.entry(path.to_owned()).or_default().insert(line);
    }

    /// Parses `PATH: lines 1-9 of 9, version V`, followed by numbered lines.
    fn note_read(&mut self, text: &str) {
        let mut lines = text.lines();
        let Some((path, _)) = lines.next().and_then(|first| first.rsplit_once(": lines ")) else {
            return;
        };
        for line in lines {
            let number = line.split_once(COLUMN).and_then(|(number, _)| number.trim().parse().ok());
            if let Some(number) = number {
                self.add(path, number);
            }
        }
    }

    /// Parses `PATH:9: text`, `PATH-8- text`, or a line with only the path, followed by `  9:
    /// text`.
    fn note_search(&mut self, text: &str) {
        let mut group = None;
        for line in text.lines() {
            if let Some(inside) = line.strip_prefix("  ") {
                let number = number_before(inside, &[": ", "- "]);
                if let Some((path, number)) = group.zip(number) {
                    self.add(path, number);
                }
            } else if let Some((path, number)) = place_in(line) {
                self.add(path, number);
            } else {
                group = Some(line);
            }
        }
    }

    /// Parses `PATH:9: text` or `PATH:9 in name: text`. The indented lines that follow continue the
    /// file from there.
    fn note_code(&mut self, text: &str) {
        let mut last: Option<(&str, u32)> = None;
        for line in text.lines() {
            let line = line.strip_prefix("declared ").unwrap_or(line);
            last = match (line.strip_prefix("    "), last) {
                (Some(_), Some((path, number))) => Some((path, number.saturating_add(1))),
                (Some(_), None) => None,
                (None, _) => place_in(line),
            };
            if let Some((path, number)) = last {
                self.add(path, number);
            }
        }
    }

    /// Parses `PATH: 3 symbols in …`, followed by `    1-9     signature`. For each symbol, only
    /// the first line counts as shown.
    fn note_outline(&mut self, text: &str) {
        let mut lines = text.lines();
        let Some((path, _)) = lines.next().and_then(|first| first.rsplit_once(": ")) else {
            return;
        };
        for line in lines {
            if let Some(number) = number_before(line.trim_start(), &["-"]) {
                self.add(path, number);
            }
        }
    }
}

fn number_before(text: &str, marks: &[&str]) -> Option<u32> {
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    let is_marked = marks.iter().any(|mark| text[end..].starts_with(mark));
    text[..end].parse().ok().filter(|_| is_marked)
}

/// Returns the path and line number at the start of a line. A number inside a path does not count,
/// because it is not followed by a space.
fn place_in(line: &str) -> Option<(&str, u32)> {
    line.match_indices([':', '-']).find_map(|(at, mark)| {
        let ends = if mark == ":" { &[": ", " in "][..] } else { &["- "] };
        let number = number_before(&line[at + 1..], ends)?;
        (at > 0).then_some((&line[..at], number))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tools_show_is_known_by_its_lines() {
        let mut shown = ShownLines::default();
        shown
            .note("file_read", "a.rs: lines 2-3 of 9, version x\n    2\tone\n    3\tb.rs:7: two\n");
        shown.note(
            "file_search",
            "b-1-c.rs:5: text\nb-1-c.rs-6- more\nd.rs\n  8: text\n  9- more\n",
        );
        shown.note("code_search", "e.rs:3: (in fn f) f(\n    a,\n    b)\n");
        shown.note("code_references", "declared f.rs:4: fn g()\nf.rs:9 in main: g()\n");
        shown.note("code_outline", "g.rs: 1 symbols in 9 lines of Rust\n    2-9     fn h()\n");
        shown.note("shell_run", "h.rs:1: no\n");
        for (path, lines, expected) in [
            ("a.rs", 2..=3, true),
            ("a.rs", 1..=3, false),
            ("b.rs", 7..=7, false),
            ("b-1-c.rs", 5..=6, true),
            ("b", 1..=1, false),
            ("d.rs", 8..=9, true),
            ("e.rs", 3..=5, true),
            ("f.rs", 4..=4, true),
            ("f.rs", 9..=9, true),
            ("g.rs", 2..=2, true),
            ("g.rs", 3..=3, false),
            ("h.rs", 1..=1, false),
        ] {
            assert_eq!(shown.has_all(path, lines.clone()), expected, "{path} {lines:?}");
        }
        assert!(shown.mentions("h.rs:1") && !shown.mentions("i.rs"));
    }
}
