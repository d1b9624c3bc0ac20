//! Drives a line format over a trace: opens, resumes, mends and reports.
//!
//! A line without its `\n` is taken only when it is a whole JSON object, which no beginning of one
//! can be; otherwise it is left for the next read. So a finished trace loses nothing and a growing
//! one gives every record exactly once.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use memchr::memmem;

use super::adapter::{Began, ReadOutcome, Watermark};
use super::budget;
use super::emit::Emitter;
use super::error::{Error, Result};
use super::event::Place;
use super::facts::SessionFacts;
use super::json::{Cursor, Malformed, Parsed};
use super::lines::{Line, LineBody, LineEnd, LineReader, open_regular};
use super::sink::Sink;
use crate::platform::ext::FileExt as _;

/// How much before the watermark is hashed to notice a rewritten trace.
const HASHED: u64 = 4096;
/// How many places of a broken line are tried for a record.
const MAX_RESYNCS: usize = 64;
/// The most that is unpacked from a compressed trace: in all, for each of its bytes, and from a small one. Agents' traces become
/// five to twenty times as long.
const MAX_UNPACKED: u64 = 512 * 1024 * 1024;
const UNPACKED_PER_BYTE: u64 = 64;
const MIN_UNPACKED: u64 = 16 * 1024 * 1024;
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];
const BYTE_ORDER_MARK: &[u8] = &[0xEF, 0xBB, 0xBF];

/// A trace format made of one JSON record a line.
pub(super) trait LineFormat {
    /// Reads one record at the cursor. Must emit nothing when it returns an error, for the line is
    /// then searched for other records.
    fn record(
        &mut self,
        cursor: &mut Cursor<'_>,
        place: &Place,
        out: &mut Emitter<'_>,
    ) -> Parsed<()>;

    /// Takes the beginning of a line that is too long to be kept.
    fn cut_record(&mut self, head: &str, place: &Place, out: &mut Emitter<'_>);

    /// Settles what only the end of the trace can tell.
    fn finish(&mut self, out: &mut Emitter<'_>);

    /// What must be known to go on after the last line.
    fn carry(&self) -> String;
}

/// Where a read starts and what it starts from.
pub(super) struct Start<F> {
    pub(super) version: u32,
    pub(super) facts: SessionFacts,
    /// Makes the format from the carry of a watermark, or afresh.
    pub(super) format: fn(Option<&str>) -> F,
}

/// Reads a trace of lines, from the watermark where it still fits.
pub(super) fn read_stream<F: LineFormat>(
    path: &Path,
    start: Start<F>,
    from: Option<&Watermark>,
    sink: Sink<'_>,
) -> Result<ReadOutcome> {
    let file = open_regular(path)?;
    let read_error = |source| Error::Read { path: path.to_owned(), source };
    let size = file.metadata().map_err(read_error)?.len();
    if is_compressed(&file).map_err(read_error)? {
        return read_packed(path, &file, start, sink);
    }
    let fitting = from.filter(|mark| fits(mark, start.version, &file, size));
    let began = match (from, fitting) {
        (_, Some(_)) => Began::AtWatermark,
        (Some(_), None) => Began::Restarted,
        (None, None) => Began::FromStart,
    };
    let (offset, mut line) = fitting.map_or((0, 0), |mark| (mark.offset, mark.line));
    if 0 < offset && byte_before(&file, offset).map_err(read_error)? != b'\n' {
        // The last record had no newline yet: what follows still is the same line.
        line = line.saturating_sub(1);
    }
    let mut format = (start.format)(fitting.map(|mark| mark.carry.as_str()));
    let mut emitter = match fitting {
        Some(mark) => Emitter::new(mark.facts.clone(), mark.next_sequence, sink),
        None => Emitter::new(start.facts, 0, sink),
    };
    let stream = FileRange { file: &file, at: offset, end: size };
    let mut reader = LineReader::new(stream, offset, line);
    let end = drive(&mut reader, &mut format, &mut emitter).map_err(read_error)?;
    format.finish(&mut emitter);
    let watermark = Watermark {
        version: start.version,
        offset: end.offset,
        line: end.line,
        next_sequence: emitter.next_sequence(),
        before_hash: hash_before(&file, end.offset).map_err(read_error)?,
        facts: emitter.facts.clone(),
        carry: format.carry(),
    };
    let (facts, report) = (emitter.facts, emitter.report);
    Ok(ReadOutcome { facts, report, began, watermark: Some(watermark) })
}

/// Reads a compressed trace whole: it is a finished one, and has no place to go on from. One that becomes longer than any
/// agent's is refused.
fn read_packed<F: LineFormat>(
    path: &Path,
    file: &File,
    start: Start<F>,
    sink: Sink<'_>,
) -> Result<ReadOutcome> {
    let read_error = |source| Error::Read { path: path.to_owned(), source };
    let n_packed = file.metadata().map_err(read_error)?.len();
    budget::begin_unpacking(n_packed)
        .map_err(|budget::SyncIsSpent| Error::LeftOut { path: path.to_owned() })?;
    let limit = most_unpacked(n_packed);
    let mut format = (start.format)(None);
    let mut emitter = Emitter::new(start.facts, 0, sink);
    // One byte more tells that there is more.
    let mut unpacked = super::unpack::Unpacked::new(file).map_err(read_error)?.take(limit + 1);
    let mut reader = LineReader::new(&mut unpacked, 0, 0);
    drive(&mut reader, &mut format, &mut emitter).map_err(read_error)?;
    drop(reader);
    let n_left = unpacked.limit();
    budget::charge_unpacked(limit + 1 - n_left);
    if n_left == 0 {
        return Err(Error::TooLarge { path: path.to_owned(), limit });
    }
    format.finish(&mut emitter);
    let (facts, report) = (emitter.facts, emitter.report);
    Ok(ReadOutcome { facts, report, began: Began::FromStart, watermark: None })
}

fn most_unpacked(n_packed: u64) -> u64 {
    n_packed.saturating_mul(UNPACKED_PER_BYTE).clamp(MIN_UNPACKED, MAX_UNPACKED)
}

/// Where the consumed part of a trace ends.
struct End {
    offset: u64,
    line: u64,
}

fn drive<R: Read, F: LineFormat>(
    reader: &mut LineReader<R>,
    format: &mut F,
    out: &mut Emitter<'_>,
) -> io::Result<End> {
    let mut end = End { offset: reader.offset(), line: reader.line() };
    while let Some(line) = reader.next_line()? {
        if line.end == LineEnd::Torn && !is_whole_record(line.bytes) {
            if !trim(line.bytes).is_empty() || line.bytes.contains(&0) {
                out.report.torn_tail = Some(line.offset);
            }
            break;
        }
        read_line(&line, format, out);
        end = End { offset: line.next_offset, line: line.number };
        if out.is_enough() {
            break;
        }
    }
    Ok(end)
}

fn read_line<F: LineFormat>(line: &Line<'_>, format: &mut F, out: &mut Emitter<'_>) {
    out.report.lines += 1;
    let place = Place::Line { line: line.number, offset: line.offset };
    let bytes = if line.offset == 0 {
        line.bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line.bytes)
    } else {
        line.bytes
    };
    let trimmed = trim(bytes);
    if trimmed.is_empty() {
        out.report.bad_lines += u64::from(bytes.contains(&0));
        return;
    }
    let text = match simdutf8::basic::from_utf8(trimmed) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => {
            // A cut line may end inside a character; that is our doing, not the writer's.
            out.report.invalid_utf8 += u64::from(line.body != LineBody::Cut);
            String::from_utf8_lossy(trimmed)
        }
    };
    out.squeezed = line.body == LineBody::Squeezed;
    out.report.long_lines += u64::from(line.body != LineBody::Whole);
    match line.body {
        LineBody::Cut => format.cut_record(&text, &place, out),
        LineBody::Whole | LineBody::Squeezed => read_records(&text, &place, format, out),
    }
}

/// Reads all records of a line: one, as a rule; more where a newline is missing.
fn read_records<F: LineFormat>(text: &str, place: &Place, format: &mut F, out: &mut Emitter<'_>) {
    let mut rest = text;
    let mut n_records = 0_u64;
    let mut is_mended = false;
    while !rest.is_empty() {
        let mut cursor = Cursor::new(rest);
        match format.record(&mut cursor, place, out) {
            Ok(()) => {
                n_records += 1;
                rest = cursor.rest();
                is_mended |= !rest.is_empty();
            }
            Err(Malformed) => {
                is_mended = true;
                rest = resync(rest);
            }
        }
    }
    if n_records == 0 {
        out.report.bad_lines += 1;
    } else if is_mended {
        out.report.mended_lines += 1;
    }
}

/// The part of a broken line from which on it is whole records to its end; empty when there is none.
fn resync(text: &str) -> &str {
    let starts = memmem::find_iter(text.as_bytes(), b"{\"").filter(|at| 0 < *at);
    let mut found = starts.take(MAX_RESYNCS).map(|at| &text[at..]);
    found.find(|rest| holds_only_records(rest)).unwrap_or_default()
}

fn holds_only_records(text: &str) -> bool {
    let mut cursor = Cursor::new(text);
    loop {
        let mut is_record = false;
        let parsed = cursor.object(|key, _| {
            is_record |= matches!(key, "type" | "record_type" | "timestamp");
            Ok(())
        });
        if parsed.is_err() || !is_record {
            return false;
        }
        if cursor.rest().is_empty() {
            return true;
        }
    }
}

fn is_whole_record(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(trim(bytes));
    let mut cursor = Cursor::new(&text);
    text.starts_with('{') && cursor.skip().is_ok() && cursor.rest().is_empty()
}

/// Without white space around it, nor the NUL bytes that a power loss leaves.
fn trim(bytes: &[u8]) -> &[u8] {
    let is_blank = |byte: &u8| *byte == 0 || byte.is_ascii_whitespace();
    let start = bytes.iter().position(|byte| !is_blank(byte)).unwrap_or(bytes.len());
    let end = bytes.iter().rposition(|byte| !is_blank(byte)).map_or(start, |last| last + 1);
    &bytes[start..end]
}

fn is_compressed(file: &File) -> io::Result<bool> {
    let mut magic = [0; 4];
    let n_read = file.read_at(&mut magic, 0)?;
    Ok(n_read == magic.len() && magic == ZSTD_MAGIC)
}

fn fits(mark: &Watermark, version: u32, file: &File, size: u64) -> bool {
    mark.version == version
        && mark.offset <= size
        && hash_before(file, mark.offset).is_ok_and(|hash| hash == mark.before_hash)
}

fn byte_before(file: &File, offset: u64) -> io::Result<u8> {
    let mut byte = [0];
    file.read_exact_at(&mut byte, offset - 1)?;
    Ok(byte[0])
}

fn hash_before(file: &File, offset: u64) -> io::Result<String> {
    let start = offset.saturating_sub(HASHED);
    let mut range = FileRange { file, at: start, end: offset };
    let mut bytes = Vec::new();
    range.read_to_end(&mut bytes)?;
    Ok(blake3::hash(&bytes).to_hex()[..32].to_owned())
}

/// A part of a file, fixed when it was opened: what is appended meanwhile waits for the next read.
struct FileRange<'a> {
    file: &'a File,
    at: u64,
    end: u64,
}

impl Read for FileRange<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
        let wanted = buffer.len().min(left);
        let n_read = self.file.read_at(&mut buffer[..wanted], self.at)?;
        self.at += n_read as u64;
        Ok(n_read)
    }
}

#[cfg(test)]
mod tests;
