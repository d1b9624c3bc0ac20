//! Nacre's own block in an instruction file: found, written and taken out by its marks.
//!
//! Every byte outside the block stays. The first mark carries the hash of the text below it, so that a person's edit is
//! noticed, and what was added around it, so that taking the block out gives the same bytes as before.

use std::ops::Range;

use crate::base::ContentHash;

/// How the first mark begins, and the whole of the last one. Both stand at the start of a line.
pub const BEGIN: &str = "<!-- nacre:begin";
pub const END: &str = "<!-- nacre:end -->";

/// What a person who opens the file should know.
const NOTE: &str = "Written by `nacre export --agents-md`; change the memories, not this text.";

/// The block of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// From the first byte of the first mark to the last byte of the last mark.
    range: Range<usize>,
    /// What the mark says and what the text is.
    marked_hash: String,
    hash: String,
    /// Line breaks that were put before the block.
    n_breaks: usize,
    /// Whether the file was made for the block.
    made_file: bool,
    line_break: LineBreak,
}

/// Why the block of a file cannot be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlockFault {
    #[error("Line {line}: the block of Nacre has no `<!-- nacre:end -->`")]
    Open { line: usize },
    #[error("Line {line}: a second block of Nacre begins here")]
    Twice { line: usize },
    #[error("Line {line}: this mark is not as Nacre writes it")]
    BadMark { line: usize },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineBreak {
    Lf,
    CrLf,
}

impl LineBreak {
    fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
        }
    }

    /// As the file has it. A lone carriage return at its end must not become part of ours.
    fn of(file: &[u8]) -> Self {
        let first = file.iter().position(|byte| *byte == b'\n');
        let is_crlf = first.is_some_and(|at| file[..at].ends_with(b"\r"));
        if is_crlf || file.ends_with(b"\r") { Self::CrLf } else { Self::Lf }
    }
}

impl Block {
    /// Whether somebody changed the text between the marks.
    pub fn is_edited(&self) -> bool {
        self.marked_hash != self.hash
    }
}

/// The block of a file; `None` where it has none.
pub fn find(file: &[u8]) -> Result<Option<Block>, BlockFault> {
    let Some(start) = at_line_start(file, BEGIN, 0) else { return Ok(None) };
    let line = |at: usize| 1 + file[..at].iter().filter(|byte| **byte == b'\n').count();
    let bad = BlockFault::BadMark { line: line(start) };
    let mark_end = find_bytes(file, b"\n", start).ok_or(BlockFault::Open { line: line(start) })?;
    let text_start = mark_end + 1;
    let end = at_line_start(file, END, text_start).ok_or(BlockFault::Open { line: line(start) })?;
    if let Some(second) = at_line_start(file, BEGIN, text_start) {
        return Err(BlockFault::Twice { line: line(second) });
    }
    let mark = file[start..mark_end].strip_suffix(b"\r");
    let line_break = if mark.is_some() { LineBreak::CrLf } else { LineBreak::Lf };
    let mark = std::str::from_utf8(mark.unwrap_or(&file[start..mark_end])).map_err(|_| bad)?;
    let (marked_hash, n_breaks, made_file) = attributes(mark).ok_or(bad)?;
    Ok(Some(Block {
        range: start..end + END.len(),
        marked_hash,
        hash: hash_of(&file[text_start..end]),
        n_breaks,
        made_file,
        line_break,
    }))
}

/// The file with `text` in its block, which comes at the end where there is none yet. Without a file, one with the block alone.
pub fn put(file: Option<&[u8]>, text: &str) -> Result<Vec<u8>, BlockFault> {
    let before = file.unwrap_or_default();
    if let Some(block) = find(before)? {
        let Block { range, n_breaks, made_file, line_break, .. } = block;
        let rendered = render(text, n_breaks, made_file, line_break);
        return Ok([&before[..range.start], rendered.as_bytes(), &before[range.end..]].concat());
    }
    let line_break = LineBreak::of(before);
    let n_breaks = match before {
        b"" => 0,
        _ if before.ends_with(b"\n\n") || before.ends_with(b"\n\r\n") => 0,
        _ if before.ends_with(b"\n") => 1,
        _ => 2,
    };
    let lead = line_break.as_str().repeat(n_breaks);
    let rendered = render(text, n_breaks, file.is_none(), line_break);
    let end = line_break.as_str();
    Ok([before, lead.as_bytes(), rendered.as_bytes(), end.as_bytes()].concat())
}

/// The file as it was before the block came; `None` where the file was made for the block and holds nothing else.
pub fn take_out(file: &[u8]) -> Result<Option<Vec<u8>>, BlockFault> {
    let Some(block) = find(file)? else { return Ok(Some(file.to_vec())) };
    let mut head = &file[..block.range.start];
    for _ in 0..block.n_breaks {
        head = without_break(head);
    }
    let tail = &file[block.range.end..];
    let tail = tail.strip_prefix(b"\r\n").or_else(|| tail.strip_prefix(b"\n")).unwrap_or(tail);
    let rest = [head, tail].concat();
    Ok((!rest.is_empty() || !block.made_file).then_some(rest))
}

/// A text with every block of Nacre's replaced by as many empty lines, and the lines where they began, counted from 1. A
/// block that does not end reaches to the end of the text.
pub fn blank_out(text: &str) -> (String, Vec<usize>) {
    let mut clean = String::with_capacity(text.len());
    let (mut rest, mut lines) = (text, Vec::new());
    while let Some(start) = at_line_start(rest.as_bytes(), BEGIN, 0) {
        let end =
            at_line_start(rest.as_bytes(), END, start).map_or(rest.len(), |at| at + END.len());
        clean.push_str(&rest[..start]);
        lines.push(1 + clean.matches('\n').count());
        clean.extend(rest[start..end].matches('\n'));
        rest = &rest[end..];
    }
    (clean + rest, lines)
}

fn render(text: &str, n_breaks: usize, made_file: bool, line_break: LineBreak) -> String {
    let text = format!("{}\n", harmless(text).trim_matches('\n'));
    let hash = hash_of(text.as_bytes());
    let made = if made_file { " made-file" } else { "" };
    let block = format!("{BEGIN} {hash} breaks={n_breaks}{made} | {NOTE} -->\n{text}{END}");
    match line_break {
        LineBreak::Lf => block,
        LineBreak::CrLf => block.replace('\n', "\r\n"),
    }
}

/// A text that cannot end the block, begin another one, or mix line breaks.
fn harmless(text: &str) -> String {
    text.replace('\r', "").replace("<!-- nacre:", "‹!-- nacre:")
}

/// What a first mark says: the hash, the line breaks before it, and whether the file was made for it.
fn attributes(mark: &str) -> Option<(String, usize, bool)> {
    let inside = mark.strip_prefix(BEGIN)?.strip_suffix("-->")?;
    let (words, _) = inside.split_once('|')?;
    let mut words = words.split_whitespace();
    let hash = words.next()?.to_owned();
    let n_breaks = words.next()?.strip_prefix("breaks=")?.parse().ok()?;
    let made_file = match words.next() {
        None => false,
        Some("made-file") => true,
        Some(_) => return None,
    };
    // More than two were never put there.
    (n_breaks <= 2 && words.next().is_none()).then_some((hash, n_breaks, made_file))
}

/// The hash of a text, whatever its line breaks: git and editors change them.
fn hash_of(text: &[u8]) -> String {
    let mut plain = Vec::with_capacity(text.len());
    for (at, byte) in text.iter().enumerate() {
        if *byte != b'\r' || text.get(at + 1) != Some(&b'\n') {
            plain.push(*byte);
        }
    }
    ContentHash::of(&plain).short()
}

fn without_break(text: &[u8]) -> &[u8] {
    let shorter = text.strip_suffix(b"\n");
    shorter.map_or(text, |shorter| shorter.strip_suffix(b"\r").unwrap_or(shorter))
}

/// Where `mark` stands at the start of a line, at or after `from`.
fn at_line_start(file: &[u8], mark: &str, from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let found = find_bytes(file, mark.as_bytes(), at)?;
        if found == 0 || file[found - 1] == b'\n' {
            return Some(found);
        }
        at = found + 1;
    }
}

fn find_bytes(file: &[u8], wanted: &[u8], from: usize) -> Option<usize> {
    Some(from + memchr::memmem::find(file.get(from..)?, wanted)?)
}
