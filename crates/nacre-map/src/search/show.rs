//! Matches as text: a line a file, a line a symbol, and the lines that match with their numbers.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use nacre_core::base::redact::redact;

use super::matched::{CodeMatches, MatchGroup, MatchedFile};
use super::query::{CodeQuery, SearchMode};

/// So much of a line is shown, and so much of it before its match.
const MAX_SHOWN_BYTES: usize = 240;
const BEFORE_BYTES: usize = 60;

/// So much of a signature is shown above lines.
const MAX_SIGNATURE_BYTES: usize = 160;

/// Stands for a line that is part of a secret.
const SECRET_LINE: &str = "[part of a secret]";

/// A line as it is shown.
pub(super) struct LineText(pub(super) String);

impl LineText {
    /// `clean` are the lines of the text without its secrets, where it has any.
    pub(super) fn new(line: &[u8], query: &CodeQuery, clean: Option<&BTreeSet<&str>>) -> Self {
        let text = String::from_utf8_lossy(line);
        let is_clean = clean.is_none_or(|clean| clean.contains(text.as_ref()));
        if !is_clean {
            let redacted = redact(&text);
            let is_found = redacted != text;
            return Self(if is_found { cut(&redacted, 0) } else { SECRET_LINE.to_owned() });
        }
        let found = query.pattern.as_ref().and_then(|pattern| pattern.regex.find(line));
        // A line that is not valid UTF-8 has other places than its text.
        let start = found.filter(|_| text.len() == line.len()).map_or(0, |found| found.start());
        Self(cut(&text, start))
    }
}

/// A line as far as it is shown, with the place where its match begins.
fn cut(text: &str, start: usize) -> String {
    let text = text.trim_end();
    if text.len() <= MAX_SHOWN_BYTES {
        return text.to_owned();
    }
    let is_early = start + BEFORE_BYTES < MAX_SHOWN_BYTES;
    let from = if is_early { 0 } else { text.floor_char_boundary(start - BEFORE_BYTES) };
    let to = text.floor_char_boundary(from + MAX_SHOWN_BYTES);
    let before = if from == 0 { "" } else { "…" };
    let behind = if to == text.len() { "" } else { "…" };
    format!("{before}{}{behind}", &text[from..to])
}

impl CodeMatches {
    /// The matches as lines. `more` says how to see more of them.
    pub fn to_text(&self, more: &str) -> String {
        let mut text = String::new();
        if self.n_files == 0 {
            text.push_str("no matches\n");
        }
        for file in &self.files {
            file.write(&mut text);
        }
        if 0 < self.more_matches || 0 < self.more_files {
            let _ = writeln!(text, "… {}; {more}", self.more());
        }
        if 0 < self.n_unsearched {
            let _ = writeln!(text, "not searched {} files", self.n_unsearched);
        }
        text
    }

    fn more(&self) -> String {
        let Self { more_matches, more_files, .. } = self;
        let files = if *more_files == 1 { "file" } else { "files" };
        match (self.mode, more_matches) {
            (SearchMode::Words, 0) => format!("{more_files} more {files} with some of the words"),
            (SearchMode::Words, _) => {
                format!(
                    "{more_matches} more lines, {more_files} more {files} with some of the words"
                )
            }
            (SearchMode::Fixed | SearchMode::Regex, 1) => {
                format!("1 more match in {more_files} {files}")
            }
            (SearchMode::Fixed | SearchMode::Regex, _) => {
                format!("{more_matches} more matches in {more_files} {files}")
            }
        }
    }
}

impl MatchedFile {
    fn write(&self, text: &mut String) {
        let count = match self.n_matches {
            0 => String::new(),
            1 => "  1 match".to_owned(),
            count => format!("  {count} matches"),
        };
        let _ = writeln!(text, "{}{count}", self.path);
        for group in &self.groups {
            group.write(text);
        }
    }
}

impl MatchGroup {
    fn write(&self, text: &mut String) {
        if let Some(symbol) = &self.symbol {
            let (first, last) = (symbol.first_line, symbol.last_line);
            let is_shown = self.lines.iter().any(|line| line.number == first);
            // The line that defines it says the same.
            let signature = match is_shown || symbol.signature.is_empty() {
                true => format!("{} {}", symbol.kind.as_str(), symbol.name),
                false => symbol.signature.lines().next().unwrap_or_default().to_owned(),
            };
            let end = signature.floor_char_boundary(MAX_SIGNATURE_BYTES);
            let _ = writeln!(text, "  {first}-{last} {}", &signature[..end]);
        }
        for line in &self.lines {
            let mark = if line.is_match { ':' } else { '-' };
            let space = if line.text.is_empty() { "" } else { " " };
            let _ = writeln!(text, "    {}{mark}{space}{}", line.number, line.text);
        }
    }
}
