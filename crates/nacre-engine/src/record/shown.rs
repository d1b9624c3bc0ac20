//! The lines of files that the tools of a run really showed.
//!
//! They are read from the results as the model reads them: after secrets were taken out and long outputs cut.

use std::collections::{BTreeMap, BTreeSet};

/// More text than this is not kept for later questions.
const MAX_SAID_BYTES: usize = 4 << 20;

/// The number of a line that ends a column of its own: `   12\t`.
const COLUMN: char = '\t';

/// What was shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownLines {
    lines: BTreeMap<String, BTreeSet<u32>>,
    /// All results, one after the other.
    said: String,
}

impl ShownLines {
    /// Notes the result of a call that worked.
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

    /// Whether all these lines of a file were shown.
    pub fn has_all(&self, path: &str, lines: std::ops::RangeInclusive<u32>) -> bool {
        let shown = self.lines.get(path);
        shown.is_some_and(|shown| lines.into_iter().all(|line| shown.contains(&line)))
    }

    /// Whether some result had this text in it.
    pub fn mentions(&self, text: &str) -> bool {
        self.said.contains(text)
    }

    /// The one file that was shown under a path with this ending.
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

    /// `PATH: lines 1-9 of 9, version V`, then numbered lines.
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

    /// `PATH:9: text`, `PATH-8- text`, or the path alone and `  9: text` below it.
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

    /// `PATH:9: text` or `PATH:9 in name: text`; what is indented below is the next lines.
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

    /// `PATH: 3 symbols in …`, then `    1-9     signature`, of which the first line is shown.
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

/// The number that a text begins with, if one of these marks follows it.
fn number_before(text: &str, marks: &[&str]) -> Option<u32> {
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    let is_marked = marks.iter().any(|mark| text[end..].starts_with(mark));
    text[..end].parse().ok().filter(|_| is_marked)
}

/// The place that a line begins with. A number inside of a path is none: no blank follows it.
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
