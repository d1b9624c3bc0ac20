//! Formats matches as text: a heading for each file and symbol, followed by the numbered matching
//! lines.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use nacre_base::redact::redact;
use nacre_types::{CodeSearchMode, MatchedCode, MatchedFile};

use super::query::CodeQuery;

/// Maximum length of a displayed line, and of the text shown before a match.
const MAX_SHOWN_BYTES: usize = 240;
const BEFORE_BYTES: usize = 60;

const MAX_SIGNATURE_BYTES: usize = 160;

const SECRET_LINE: &str = "[part of a secret]";

/// Formats a line. If the file contains secrets, `clean` contains its redacted lines.
pub(super) fn line_text(line: &[u8], query: &CodeQuery, clean: Option<&BTreeSet<&str>>) -> String {
    let text = String::from_utf8_lossy(line);
    if clean.is_some_and(|clean| !clean.contains(text.as_ref())) {
        let redacted = redact(&text);
        return if redacted == text { SECRET_LINE.to_owned() } else { cut(&redacted, 0) };
    }
    let found = query.pattern.as_ref().and_then(|pattern| pattern.regex.find(line));
    // If a line is not valid UTF-8, byte offsets in the line and in its lossy text differ.
    let start = found.filter(|_| text.len() == line.len()).map_or(0, |found| found.start());
    cut(&text, start)
}

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

/// `more` tells the reader how to see more matches.
pub fn matches_text(matches: &MatchedCode, more: &str) -> String {
    let mut text = String::new();
    if matches.total_files == 0 {
        text.push_str("no matches\n");
    }
    for file in &matches.files {
        write_file(&mut text, file);
    }
    if 0 < matches.more_matches || 0 < matches.more_files {
        let _ = writeln!(text, "… {}; {more}", count_more(matches));
    }
    if 0 < matches.unsearched_files {
        let _ = writeln!(text, "not searched {} files", matches.unsearched_files);
    }
    text
}

fn count_more(matches: &MatchedCode) -> String {
    let MatchedCode { more_matches, more_files, .. } = matches;
    let files = if *more_files == 1 { "file" } else { "files" };
    match (matches.mode, more_matches) {
        (CodeSearchMode::Words, 0) => format!("{more_files} more {files} with some of the words"),
        (CodeSearchMode::Words, _) => {
            format!("{more_matches} more lines, {more_files} more {files} with some of the words")
        }
        (CodeSearchMode::Fixed | CodeSearchMode::Regex, 1) => {
            format!("1 more match in {more_files} {files}")
        }
        (CodeSearchMode::Fixed | CodeSearchMode::Regex, _) => {
            format!("{more_matches} more matches in {more_files} {files}")
        }
    }
}

fn write_file(text: &mut String, file: &MatchedFile) {
    let count = match file.matches {
        0 => String::new(),
        1 => "  1 match".to_owned(),
        count => format!("  {count} matches"),
    };
    let _ = writeln!(text, "{}{count}", file.path);
    for group in &file.groups {
        if let Some(symbol) = &group.symbol {
            let (first, last) = (symbol.first_line, symbol.last_line);
            let is_shown = group.lines.iter().any(|line| line.line == first);
            // The signature is omitted if the line that defines the symbol is shown anyway.
            let signature = match is_shown || symbol.signature.is_empty() {
                true => format!("{} {}", symbol.kind.as_str(), symbol.name),
                false => symbol.signature.lines().next().unwrap_or_default().to_owned(),
            };
            let end = signature.floor_char_boundary(MAX_SIGNATURE_BYTES);
            let _ = writeln!(text, "  {first}-{last} {}", &signature[..end]);
        }
        for line in &group.lines {
            let mark = if line.is_context { '-' } else { ':' };
            let space = if line.text.is_empty() { "" } else { " " };
            let _ = writeln!(text, "    {}{mark}{space}{}", line.line, line.text);
        }
    }
}
