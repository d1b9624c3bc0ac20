//! Finds, writes and removes Nacre's block in an instruction file. All other bytes are preserved.
//! The first marker contains a hash of the block's text, to detect edits, and the number of
//! inserted line breaks, so that removing the block restores the original bytes.

use std::ops::Range;

use nacre_base::ContentHash;

/// Both markers must be at the start of a line.
pub const BEGIN: &str = "<!-- nacre:begin";
pub const END: &str = "<!-- nacre:end -->";

const NOTE: &str = "Written by `nacre export --agents-md`; change the memories, not this text.";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionBlock {
    range: Range<usize>,
    /// The hash stored in the first marker; `hash` is computed from the current text.
    marked_hash: String,
    hash: String,
    n_breaks: usize,
    made_file: bool,
    line_break: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlockFault {
    #[error("Line {line}: the Nacre block has no `<!-- nacre:end -->` marker")]
    Open { line: usize },
    #[error("Line {line}: another Nacre block starts here")]
    Twice { line: usize },
    #[error("Line {line}: malformed Nacre marker")]
    BadMark { line: usize },
}

/// A file that ends with a lone carriage return counts as having `\r\n` line breaks, because an
/// inserted `\n` would merge with the carriage return.
fn line_break_of(file: &[u8]) -> &'static str {
    let first = file.iter().position(|byte| *byte == b'\n');
    let is_crlf = first.is_some_and(|at| file[..at].ends_with(b"\r"));
    if is_crlf || file.ends_with(b"\r") { "\r\n" } else { "\n" }
}

impl InstructionBlock {
    pub fn is_edited(&self) -> bool {
        self.marked_hash != self.hash
    }
}

pub fn find(file: &[u8]) -> Result<Option<InstructionBlock>, BlockFault> {
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
    let line_break = if mark.is_some() { "\r\n" } else { "\n" };
    let mark = std::str::from_utf8(mark.unwrap_or(&file[start..mark_end])).map_err(|_| bad)?;
    let (marked_hash, n_breaks, made_file) = attributes(mark).ok_or(bad)?;
    Ok(Some(InstructionBlock {
        range: start..end + END.len(),
        marked_hash,
        hash: hash_of(&file[text_start..end]),
        n_breaks,
        made_file,
        line_break,
    }))
}

/// Returns the file with `text` in Nacre's block, which is appended if there is none yet. If there
/// is no file, the block is the whole result.
pub fn put(file: Option<&[u8]>, text: &str) -> Result<Vec<u8>, BlockFault> {
    let before = file.unwrap_or_default();
    if let Some(block) = find(before)? {
        let InstructionBlock { range, n_breaks, made_file, line_break, .. } = block;
        let rendered = render(text, n_breaks, made_file, line_break);
        return Ok([&before[..range.start], rendered.as_bytes(), &before[range.end..]].concat());
    }
    let line_break = line_break_of(before);
    let n_breaks = match before {
        b"" => 0,
        _ if before.ends_with(b"\n\n") || before.ends_with(b"\n\r\n") => 0,
        _ if before.ends_with(b"\n") => 1,
        _ => 2,
    };
    let lead = line_break.repeat(n_breaks);
    let rendered = render(text, n_breaks, file.is_none(), line_break);
    Ok([before, lead.as_bytes(), rendered.as_bytes(), line_break.as_bytes()].concat())
}

/// Returns the file without the block, or `None` if the file was created for the block and nothing
/// else is left in it.
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

/// Replaces every Nacre block with empty lines. Also returns each block's first line, counted from
/// 1. A block without an end marker extends to the end of the text.
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

fn render(text: &str, n_breaks: usize, made_file: bool, line_break: &str) -> String {
    let text = format!("{}\n", harmless(text).trim_matches('\n'));
    let hash = hash_of(text.as_bytes());
    let made = if made_file { " made-file" } else { "" };
    let block = format!("{BEGIN} {hash} breaks={n_breaks}{made} | {NOTE} -->\n{text}{END}");
    block.replace('\n', line_break)
}

/// Escapes markers in the text and removes carriage returns.
fn harmless(text: &str) -> String {
    text.replace('\r', "").replace("<!-- nacre:", "‹!-- nacre:")
}

/// Parses the first marker's attributes: the hash, the number of inserted line breaks, and whether
/// the file was created for the block.
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
    // Nacre inserts at most two line breaks.
    (n_breaks <= 2 && words.next().is_none()).then_some((hash, n_breaks, made_file))
}

/// Ignores differences in line endings, because git and editors change them.
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
