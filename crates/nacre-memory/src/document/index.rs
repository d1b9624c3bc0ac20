//! Finds the fences and the top-level entries in one pass over the frontmatter.
//!
//! An entry consists of its key line and its value's lines: indented lines, unindented list items,
//! and the blank lines and comments between them. Blank lines and comments between two entries
//! belong to neither, so they remain when an entry is removed.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr_iter, memmem};

use super::fault::{Broken, Fault};
use super::{MAX_ENTRIES, MAX_FILE_BYTES, MAX_FRONTMATTER_BYTES, scalar};

const BOM: char = '\u{feff}';
/// Maximum length of a key. YAML allows 1,024 characters, but real keys are far shorter.
const MAX_KEY_BYTES: usize = 256;

#[derive(Debug, Clone)]
pub(super) struct Index {
    pub(super) entries: Vec<KeyEntry>,
    open: usize,
    pub(super) close: usize,
    pub(super) body: usize,
}

/// One top-level key and its value. All offsets are byte offsets into the document.
#[derive(Debug, Clone)]
pub(super) struct KeyEntry {
    pub(super) name: Name,
    pub(super) line: usize,
    pub(super) start: usize,
    pub(super) value: usize,
    pub(super) head_end: usize,
    /// Where the entry's last line ends, including its line break.
    pub(super) end: usize,
    pub(super) tail: Tail,
}

/// A key as a range of the text, or as an owned string if it contains escapes.
#[derive(Debug, Clone)]
pub(super) enum Name {
    Written(Range<usize>),
    Decoded(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tail {
    None,
    /// Only comments may follow. The value is entirely on the key line, unless it is an unfinished
    /// quoted string.
    Comments,
    Content,
}

impl Index {
    pub(super) fn blank() -> Self {
        Self { entries: Vec::new(), open: 4, close: 4, body: 8 }
    }

    pub(super) fn frontmatter<'a>(&self, text: &'a str) -> &'a str {
        &text[self.open..self.close]
    }
}

impl KeyEntry {
    pub(super) fn key<'a>(&'a self, text: &'a str) -> &'a str {
        match &self.name {
            Name::Written(place) => &text[place.clone()],
            Name::Decoded(key) => key,
        }
    }

    pub(super) fn raw<'a>(&self, text: &'a str) -> &'a str {
        &text[self.start..self.end]
    }

    pub(super) fn head<'a>(&self, text: &'a str) -> &'a str {
        without_break(&text[self.value..self.head_end])
    }

    fn has_empty_head(&self, text: &str) -> bool {
        let head = self.head(text).trim_start_matches([' ', '\t']);
        head.is_empty() || head.starts_with('#')
    }

    fn block_header<'a>(&self, text: &'a str) -> Option<&'a str> {
        let header = self.head(text).split_ascii_whitespace().next()?;
        header.starts_with(['|', '>']).then_some(header)
    }

    /// Returns whether a blank line below the entry is part of its value. For `|+`, it always is.
    /// In other block scalars, only a blank line that contains spaces is.
    pub(super) fn owns_blank_line(&self, line: &str, text: &str) -> bool {
        let header = self.block_header(text);
        header.is_some_and(|header| !line.is_empty() || header.contains('+'))
    }
}

pub(super) fn scan(text: &str) -> Result<Index, Broken> {
    let bytes = text.as_bytes();
    check_length(bytes)?;
    if let Some(at) = memchr(0, bytes) {
        return Err(Fault::Nul.on_line(line_after(&bytes[..at])));
    }
    let open = after_opening_fence(text)?;
    let (close, body) = closing_fence(text, open)?;
    check_characters(&text[open..close])?;
    let mut scan = Scan { text, entries: Vec::with_capacity(16), is_adjacent: false };
    let mut start = open;
    let mut line = 2;
    while start < close {
        let end = memchr(b'\n', &bytes[start..close]).map_or(close, |at| start + at + 1);
        scan.line(start, end, line).map_err(|fault| fault.on_line(line))?;
        start = end;
        line += 1;
    }
    check_conflicts(&text[body..], line + 1)?;
    Ok(Index { entries: scan.entries, open, close, body })
}

pub(super) fn check_length(bytes: &[u8]) -> Result<(), Broken> {
    match bytes.get(..MAX_FILE_BYTES) {
        Some(allowed) if allowed.len() < bytes.len() => {
            Err(Fault::FileTooLong.on_line(line_after(allowed)))
        }
        Some(_) | None => Ok(()),
    }
}

pub(super) fn line_after(before: &[u8]) -> usize {
    1 + memchr_iter(b'\n', before).count()
}

pub(super) fn without_break(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

pub(super) fn is_blank(line: &str) -> bool {
    line.bytes().all(|byte| matches!(byte, b' ' | b'\t'))
}

fn is_fence(line: &str) -> bool {
    line.strip_prefix("---").is_some_and(|rest| rest.bytes().all(|byte| byte == b' '))
}

fn after_opening_fence(text: &str) -> Result<usize, Broken> {
    let start = if text.starts_with(BOM) { BOM.len_utf8() } else { 0 };
    if start == text.len() {
        return Err(Fault::Empty.on_line(1));
    }
    let end = memchr(b'\n', &text.as_bytes()[start..]).map(|at| start + at + 1);
    let line = without_break(&text[start..end.unwrap_or(text.len())]);
    if is_conflict_marker(line) {
        return Err(Fault::ConflictMarker.on_line(1));
    }
    if !is_fence(line) {
        return Err(Fault::NoOpeningFence.on_line(1));
    }
    end.ok_or_else(|| Fault::NoClosingFence.on_line(1))
}

fn closing_fence(text: &str, open: usize) -> Result<(usize, usize), Broken> {
    let bytes = text.as_bytes();
    for at in memmem::find_iter(&bytes[open - 1..], b"\n---") {
        let close = open + at;
        let end = memchr(b'\n', &bytes[close..]).map_or(text.len(), |at| close + at + 1);
        if !is_fence(without_break(&text[close..end])) {
            continue;
        }
        if MAX_FRONTMATTER_BYTES < close - open {
            let line = line_after(&bytes[..open + MAX_FRONTMATTER_BYTES]);
            return Err(Fault::FrontmatterTooLong.on_line(line));
        }
        return Ok((close, end));
    }
    Err(Fault::NoClosingFence.on_line(1))
}

fn check_characters(frontmatter: &str) -> Result<(), Broken> {
    let bytes = frontmatter.as_bytes();
    let suspicious = |byte: u8| byte < 0x20 && byte != b'\n' && byte != b'\t' || 0x7f <= byte;
    if !bytes.iter().fold(false, |found, byte| found | suspicious(*byte)) {
        return Ok(());
    }
    let forbidden = |at: usize, character: char| match character {
        '\n' | '\t' | '\u{85}' => false,
        '\r' => bytes.get(at + 1) != Some(&b'\n'),
        '\u{fffe}' | '\u{ffff}' => true,
        other => other.is_control(),
    };
    match frontmatter.char_indices().find(|(at, character)| forbidden(*at, *character)) {
        None => Ok(()),
        Some((at, character)) => {
            Err(Fault::Unprintable(character).on_line(1 + line_after(&bytes[..at])))
        }
    }
}

struct Scan<'a> {
    text: &'a str,
    entries: Vec<KeyEntry>,
    /// Whether only blank lines separate the last entry from the current line.
    is_adjacent: bool,
}

impl Scan<'_> {
    fn line(&mut self, start: usize, end: usize, number: usize) -> Result<(), Fault> {
        let text = self.text;
        let line = without_break(&text[start..end]);
        if is_blank(line) {
            self.blank_line(line, end);
            return Ok(());
        }
        self.is_adjacent = line.as_bytes()[0] != b'#';
        match line.as_bytes()[0] {
            b'#' => Ok(()),
            b' ' => self.scan_indented_line(line, end),
            b'\t' => Err(Fault::TabIndent),
            b'<' | b'=' | b'>' | b'|' if is_conflict_marker(line) => Err(Fault::ConflictMarker),
            b'-' if line.len() == 1 || line.starts_with("- ") || line.starts_with("-\t") => {
                self.continue_if(end, |entry| entry.has_empty_head(text))
            }
            // An unindented closing bracket is not strict YAML, but it is common and most parsers
            // accept it.
            b']' => self.continue_if(end, |entry| entry.head(text).trim_start().starts_with('[')),
            b'}' => self.continue_if(end, |entry| entry.head(text).trim_start().starts_with('{')),
            _ => {
                let (name, colon) = read_name(line)?;
                let name = match name {
                    Name::Written(place) => Name::Written(start + place.start..start + place.end),
                    decoded @ Name::Decoded(_) => decoded,
                };
                let entry = KeyEntry {
                    name,
                    line: number,
                    start,
                    value: start + colon + 1,
                    head_end: end,
                    end,
                    tail: Tail::None,
                };
                let key = entry.key(self.text);
                if let Some(first) = self.entries.iter().find(|other| other.key(self.text) == key) {
                    return Err(Fault::DuplicateKey {
                        key: key.to_owned(),
                        first_line: first.line,
                    });
                }
                if self.entries.len() == MAX_ENTRIES {
                    return Err(Fault::TooManyEntries);
                }
                property_of(entry.head(self.text).trim_start_matches([' ', '\t']))?;
                self.entries.push(entry);
                Ok(())
            }
        }
    }

    fn blank_line(&mut self, line: &str, end: usize) {
        if let Some(entry) = self.entries.last_mut()
            && self.is_adjacent
            && entry.owns_blank_line(line, self.text)
        {
            entry.end = end;
            entry.tail = Tail::Content;
        }
    }

    fn scan_indented_line(&mut self, line: &str, end: usize) -> Result<(), Fault> {
        let is_comment = line.trim_start_matches([' ', '\t']).starts_with('#');
        let Some(entry) = self.entries.last_mut() else {
            return if is_comment { Ok(()) } else { Err(Fault::NotAnEntry) };
        };
        entry.end = end;
        if !is_comment || entry.block_header(self.text).is_some() {
            entry.tail = Tail::Content;
        } else if entry.tail == Tail::None {
            entry.tail = Tail::Comments;
        }
        Ok(())
    }

    fn continue_if(&mut self, end: usize, fits: impl Fn(&KeyEntry) -> bool) -> Result<(), Fault> {
        match self.entries.last_mut() {
            Some(entry) if fits(entry) => {
                entry.end = end;
                entry.tail = Tail::Content;
                Ok(())
            }
            Some(_) | None => Err(Fault::NotAnEntry),
        }
    }
}

fn property_of(node: &str) -> Result<(), Fault> {
    match node.as_bytes().first() {
        Some(b'&') => Err(Fault::Anchor),
        Some(b'*') => Err(Fault::Alias),
        Some(b'!') => Err(Fault::Tag),
        Some(_) | None => Ok(()),
    }
}

fn read_name(line: &str) -> Result<(Name, usize), Fault> {
    property_of(line)?;
    let quoted = match line.as_bytes()[0] {
        b'"' => scalar::double_quoted(line),
        b'\'' => scalar::single_quoted(line),
        _ => return read_plain_name(line),
    };
    let (key, length) = quoted.ok_or(Fault::NotAnEntry)?;
    let rest = line[length..].trim_start_matches(' ');
    let colon = line.len() - rest.len();
    if !is_colon(line.as_bytes(), colon) {
        return Err(Fault::NotAnEntry);
    }
    let name = match key {
        Cow::Borrowed(_) => Name::Written(1..length - 1),
        Cow::Owned(key) => Name::Decoded(key),
    };
    Ok((name, colon))
}

fn read_plain_name(line: &str) -> Result<(Name, usize), Fault> {
    let bytes = line.as_bytes();
    let colon = memchr_iter(b':', bytes).find(|at| is_colon(bytes, *at));
    let colon = colon.ok_or(Fault::NotAnEntry)?;
    let key = line[..colon].trim_end_matches(' ');
    if key == "<<" {
        return Err(Fault::MergeKey);
    }
    let is_plain = !key
        .starts_with(['-', '?', ':', ',', '[', ']', '{', '}', '|', '>', '%', '@', '`'])
        && !key.starts_with("...")
        && !key.is_empty()
        && !key.contains([BOM, '\t'])
        && !key.contains(" #")
        && key.len() <= MAX_KEY_BYTES;
    if is_plain { Ok((Name::Written(0..key.len()), colon)) } else { Err(Fault::NotAnEntry) }
}

fn is_colon(line: &[u8], at: usize) -> bool {
    line.get(at) == Some(&b':') && matches!(line.get(at + 1), None | Some(b' ' | b'\t'))
}

fn is_conflict_marker(line: &str) -> bool {
    ["<<<<<<< ", "||||||| ", "=======", ">>>>>>> "].iter().any(|marker| line.starts_with(marker))
}

/// Rejects a body that contains an unresolved merge conflict.
///
/// A memory may quote a conflict marker or underline a heading with `=======`. A conflict is
/// therefore reported only if all three markers occur in order outside code blocks.
fn check_conflicts(body: &str, first_line: usize) -> Result<(), Broken> {
    if memmem::find(body.as_bytes(), b"<<<<<<< ").is_none() {
        return Ok(());
    }
    let mut code = None;
    let mut ours = None;
    let mut theirs = None;
    for (line_idx, line) in body.lines().enumerate() {
        code = match (code, code_fence(line)) {
            (None, fence) => fence,
            (Some(open), Some(fence)) if fence.closes(open) => None,
            (open @ Some(_), _) => open,
        };
        if code.is_some() {
            continue;
        }
        if line.starts_with("<<<<<<< ") {
            ours = ours.or(Some(first_line + line_idx));
        } else if line.trim_end() == "=======" {
            theirs = ours;
        } else if let Some(line_of_conflict) = theirs
            && line.starts_with(">>>>>>> ")
        {
            return Err(Fault::ConflictMarker.on_line(line_of_conflict));
        }
    }
    Ok(())
}

#[derive(Clone, Copy)]
struct CodeFence {
    mark: char,
    length: usize,
    /// Whether the fence has no language after it. Only such a fence can close a block.
    is_bare: bool,
}

impl CodeFence {
    fn closes(self, open: Self) -> bool {
        self.is_bare && self.mark == open.mark && open.length <= self.length
    }
}

fn code_fence(line: &str) -> Option<CodeFence> {
    let text = line.trim_start_matches(' ');
    let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let rest = text.trim_start_matches(mark);
    let length = text.len() - rest.len();
    let is_inline_code = mark == '`' && rest.contains('`');
    let is_fence = 3 <= length && line.len() - text.len() <= 3 && !is_inline_code;
    is_fence.then_some(CodeFence { mark, length, is_bare: rest.trim().is_empty() })
}
