//! Finds the fences and the top-level entries in one pass over the lines of the frontmatter.
//!
//! An entry owns its key line and everything below it that YAML would count to its value:
//! indented lines, unindented list items, and the blank and comment lines between those. What
//! stands between two entries belongs to neither, so removing an entry leaves it alone.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr_iter, memmem};

use super::fault::{Broken, Fault};
use super::{MAX_ENTRIES, MAX_FILE_BYTES, MAX_FRONTMATTER_BYTES, conflict, scalar};

const BOM: char = '\u{feff}';
/// YAML itself reads no key longer than 1,024 characters.
const MAX_KEY_BYTES: usize = 256;

/// Where the parts of a document stand in its text.
#[derive(Debug, Clone)]
pub(super) struct Index {
    pub(super) entries: Vec<Entry>,
    /// The first byte of the frontmatter, after the line of the opening fence.
    open: usize,
    /// The first byte of the line of the closing fence.
    pub(super) close: usize,
    /// The first byte of the body.
    pub(super) body: usize,
}

/// One top-level key with its value; all places are byte offsets into the text of the document.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) name: Name,
    pub(super) line: usize,
    pub(super) start: usize,
    /// Right after the colon.
    pub(super) value: usize,
    /// The end of the key line, its line break included.
    pub(super) head_end: usize,
    /// The end of the last line of the entry, its line break included.
    pub(super) end: usize,
    pub(super) tail: Tail,
}

/// A key, as a place in the text unless it was written with escapes.
#[derive(Debug, Clone)]
pub(super) enum Name {
    Written(Range<usize>),
    Decoded(String),
}

/// What an entry has below its key line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tail {
    None,
    /// Only comments, so the key line holds the whole value, unless it opens a quote.
    Comments,
    Content,
}

impl Index {
    /// The index of `---\n---\n`.
    pub(super) fn blank() -> Self {
        Self { entries: Vec::new(), open: 4, close: 4, body: 8 }
    }

    pub(super) fn frontmatter<'a>(&self, text: &'a str) -> &'a str {
        &text[self.open..self.close]
    }
}

impl Entry {
    pub(super) fn key<'a>(&'a self, text: &'a str) -> &'a str {
        match &self.name {
            Name::Written(place) => &text[place.clone()],
            Name::Decoded(key) => key,
        }
    }

    /// All lines of the entry.
    pub(super) fn raw<'a>(&self, text: &'a str) -> &'a str {
        &text[self.start..self.end]
    }

    /// The rest of the key line after the colon, without its line break.
    pub(super) fn head<'a>(&self, text: &'a str) -> &'a str {
        without_break(&text[self.value..self.head_end])
    }

    fn has_empty_head(&self, text: &str) -> bool {
        let head = self.head(text).trim_start_matches([' ', '\t']);
        head.is_empty() || head.starts_with('#')
    }

    /// The `|`, `>` and what belongs to it, when the value is a block scalar.
    fn block_header<'a>(&self, text: &'a str) -> Option<&'a str> {
        let header = self.head(text).split_ascii_whitespace().next()?;
        header.starts_with(['|', '>']).then_some(header)
    }

    /// Whether a blank line below is part of the value: always after `|+`, and in every block
    /// scalar when there is something on it, be it only spaces.
    pub(super) fn owns_blank_line(&self, line: &str, text: &str) -> bool {
        let header = self.block_header(text);
        header.is_some_and(|header| !line.is_empty() || header.contains('+'))
    }
}

/// Indexes a whole file.
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
    conflict::check(&text[body..], line + 1)?;
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

/// The number of the line on which the text after `before` goes on.
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
    if conflict::is_marker(line) {
        return Err(Fault::ConflictMarker.on_line(1));
    }
    if !is_fence(line) {
        return Err(Fault::NoOpeningFence.on_line(1));
    }
    end.ok_or_else(|| Fault::NoClosingFence.on_line(1))
}

/// Returns where the line of the closing fence starts, and where the body does.
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

/// Refuses the characters that YAML forbids, among them a carriage return inside a line.
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
    entries: Vec<Entry>,
    /// Whether nothing but blank lines stands between the last entry and the current line.
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
            b' ' => self.indented_line(line, end),
            b'\t' => Err(Fault::TabIndent),
            b'<' | b'=' | b'>' | b'|' if conflict::is_marker(line) => Err(Fault::ConflictMarker),
            b'-' if line.len() == 1 || line.starts_with("- ") || line.starts_with("-\t") => {
                self.continue_if(end, |entry| entry.has_empty_head(text))
            }
            // A closing bracket at the margin is not strict YAML, yet common and read by most.
            b']' => self.continue_if(end, |entry| entry.head(text).trim_start().starts_with('[')),
            b'}' => self.continue_if(end, |entry| entry.head(text).trim_start().starts_with('{')),
            _ => self.key_line(line, start, end, number),
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

    fn indented_line(&mut self, line: &str, end: usize) -> Result<(), Fault> {
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

    fn continue_if(&mut self, end: usize, fits: impl Fn(&Entry) -> bool) -> Result<(), Fault> {
        match self.entries.last_mut() {
            Some(entry) if fits(entry) => {
                entry.end = end;
                entry.tail = Tail::Content;
                Ok(())
            }
            Some(_) | None => Err(Fault::NotAnEntry),
        }
    }

    fn key_line(
        &mut self,
        line: &str,
        start: usize,
        end: usize,
        number: usize,
    ) -> Result<(), Fault> {
        let (name, colon) = read_name(line)?;
        let name = match name {
            Name::Written(place) => Name::Written(start + place.start..start + place.end),
            decoded @ Name::Decoded(_) => decoded,
        };
        let entry = Entry {
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
            return Err(Fault::DuplicateKey { key: key.to_owned(), first_line: first.line });
        }
        if self.entries.len() == MAX_ENTRIES {
            return Err(Fault::TooManyEntries);
        }
        property_of(entry.head(self.text).trim_start_matches([' ', '\t']))?;
        self.entries.push(entry);
        Ok(())
    }
}

/// Refuses a node that starts with an anchor, an alias or a tag.
fn property_of(node: &str) -> Result<(), Fault> {
    match node.as_bytes().first() {
        Some(b'&') => Err(Fault::Anchor),
        Some(b'*') => Err(Fault::Alias),
        Some(b'!') => Err(Fault::Tag),
        Some(_) | None => Ok(()),
    }
}

/// Returns the key of a line and the place of its colon, both within the line.
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

/// Whether the byte at `at` is the colon between a key and its value.
fn is_colon(line: &[u8], at: usize) -> bool {
    line.get(at) == Some(&b':') && matches!(line.get(at + 1), None | Some(b' ' | b'\t'))
}
