//! Reads line-based transcripts: opens the file, resumes at the watermark, repairs broken lines and
//! reports problems. A last line without `\n` is processed only if it is a complete JSON object;
//! otherwise, it is left for the next read. This ensures that no record in a finished transcript is
//! lost and that each record in a growing one is emitted exactly once.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::ops::Deref;
use std::path::Path;

use memchr::memmem;
use nacre_base::platform::ext::FileExt as _;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::budget;
use crate::transcript::toolkit::*;

/// Number of bytes before the watermark whose hash shows whether a transcript was rewritten.
const HASHED: u64 = 4096;
/// Maximum number of positions in a broken line to try as the start of a record.
const MAX_RESYNCS: usize = 64;
/// Limits for decompressed transcripts: the maximum size, the maximum size per compressed byte, and
/// the size that is always allowed. Agents' transcripts typically compress to between a fifth and a
/// twentieth of their size.
const MAX_UNPACKED: u64 = 512 * 1024 * 1024;
const UNPACKED_PER_BYTE: u64 = 64;
const MIN_UNPACKED: u64 = 16 * 1024 * 1024;
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];
const BYTE_ORDER_MARK: &[u8] = &[0xEF, 0xBB, 0xBF];

pub(crate) struct Record<'a> {
    pub(crate) text: &'a str,
    pub(crate) fields: Fields<'a>,
    pub(crate) place: &'a Position,
}

impl<'a> Deref for Record<'a> {
    type Target = Fields<'a>;

    fn deref(&self) -> &Self::Target {
        &self.fields
    }
}

/// A transcript format with one JSON object per line.
pub(crate) trait LineFormat {
    fn new(carry: Option<&str>) -> Self;

    fn record(&mut self, record: &Record, out: &mut Emitter);

    fn cut_record(&mut self, head: &str, place: &Position, out: &mut Emitter) {
        let draft = Draft::new(EventKind::Meta, TextOrigin::Host, head, place.clone());
        out.push(Draft { is_error: true, ..draft });
    }

    /// Emits events that were held back until the end of the transcript.
    fn finish(&mut self, _out: &mut Emitter) {}

    fn ending(&self) -> Ending {
        Ending::Unknown
    }

    fn carry(&self) -> String {
        String::new()
    }
}

/// Restores the state in a watermark, or returns the default if the state is missing or unreadable.
pub(crate) fn from_carry<T: Default + DeserializeOwned>(carry: Option<&str>) -> T {
    carry.and_then(|carry| serde_json::from_str(carry).ok()).unwrap_or_default()
}

pub(crate) fn to_carry(carry: &impl Serialize) -> String {
    serde_json::to_string(carry).unwrap_or_default()
}

/// Reads a line-based transcript, resuming at the watermark if it still matches.
pub(crate) fn read_lines<F: LineFormat>(
    trace: &Trace,
    version: u32,
    facts: SessionFacts,
    from: Option<&Watermark>,
    sink: Sink,
) -> Result<ReadOutcome> {
    let path = &trace.source.path;
    let file = open_regular(path)?;
    let read_error = |source| Error::Read { path: path.to_owned(), source };
    let size = file.metadata().map_err(read_error)?.len();
    if is_compressed(&file).map_err(read_error)? {
        return read_packed::<F>(path, &file, facts, sink);
    }
    let fitting = from.filter(|mark| fits(mark, version, &file, size));
    let began = match (from, fitting) {
        (_, Some(_)) => Began::AtWatermark,
        (Some(_), None) => Began::Restarted,
        (None, None) => Began::FromStart,
    };
    let (offset, mut line) = fitting.map_or((0, 0), |mark| (mark.offset, mark.line));
    if 0 < offset && byte_before(&file, offset).map_err(read_error)? != b'\n' {
        // The last record that was read had no newline yet, so the next byte belongs to the same
        // line.
        line = line.saturating_sub(1);
    }
    let mut format = F::new(fitting.map(|mark| mark.carry.as_str()));
    let mut emitter = match fitting {
        Some(mark) => Emitter::new(mark.facts.clone(), mark.next_sequence, sink),
        None => Emitter::new(facts, 0, sink),
    };
    let stream = FileRange { file: &file, at: offset, end: size };
    let mut reader = LineReader::new(stream, offset, line);
    let (offset, line) = drive(&mut reader, &mut format, &mut emitter).map_err(read_error)?;
    format.finish(&mut emitter);
    emitter.facts.ending = format.ending();
    let watermark = Watermark {
        version,
        offset,
        line,
        next_sequence: emitter.next_sequence(),
        before_hash: hash_before(&file, offset).map_err(read_error)?,
        facts: emitter.facts.clone(),
        carry: format.carry(),
    };
    let (facts, report) = (emitter.facts, emitter.report);
    Ok(ReadOutcome { facts, report, began, watermark: Some(watermark) })
}

/// Reads a compressed transcript from start to end, because it is finished and does not support
/// seeking. A transcript that exceeds the limits is rejected.
fn read_packed<F: LineFormat>(
    path: &Path,
    file: &File,
    facts: SessionFacts,
    sink: Sink,
) -> Result<ReadOutcome> {
    let read_error = |source| Error::Read { path: path.to_owned(), source };
    let n_packed = file.metadata().map_err(read_error)?.len();
    budget::begin_unpacking(n_packed)
        .map_err(|budget::SyncIsSpent| Error::LeftOut { path: path.to_owned() })?;
    let limit = most_unpacked(n_packed);
    let mut format = F::new(None);
    let mut emitter = Emitter::new(facts, 0, sink);
    // Try to read one byte past the limit to detect whether there is more data.
    let mut unpacked = Unpacked::new(file).map_err(read_error)?.take(limit + 1);
    let mut reader = LineReader::new(&mut unpacked, 0, 0);
    drive(&mut reader, &mut format, &mut emitter).map_err(read_error)?;
    drop(reader);
    let n_left = unpacked.limit();
    budget::charge_unpacked(limit + 1 - n_left);
    if n_left == 0 {
        return Err(Error::TooLarge { path: path.to_owned(), limit });
    }
    format.finish(&mut emitter);
    emitter.facts.ending = format.ending();
    Ok(emitter.finish())
}

fn most_unpacked(n_packed: u64) -> u64 {
    n_packed.saturating_mul(UNPACKED_PER_BYTE).clamp(MIN_UNPACKED, MAX_UNPACKED)
}

/// Reads lines until the stream ends or the sink needs no more events. Returns the final offset and
/// the number of lines processed.
fn drive<R: Read, F: LineFormat>(
    reader: &mut LineReader<R>,
    format: &mut F,
    out: &mut Emitter,
) -> io::Result<(u64, u64)> {
    let mut end = (reader.line_offset, reader.line);
    while let Some(line) = reader.next_line()? {
        if line.is_torn && !is_whole_record(line.bytes) {
            if !trim(line.bytes).is_empty() || line.bytes.contains(&0) {
                out.report.torn_tail = Some(line.offset);
            }
            break;
        }
        read_line(&line, format, out);
        end = (line.next_offset, line.number);
        if out.is_enough() {
            break;
        }
    }
    Ok(end)
}

fn read_line<F: LineFormat>(line: &TraceLine, format: &mut F, out: &mut Emitter) {
    out.report.lines += 1;
    let place = Position::Line { line: line.number, offset: line.offset };
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
            // Truncation may split a character, so a truncated line's invalid UTF-8 is not counted.
            out.report.invalid_utf8 += u64::from(!line.is_cut);
            String::from_utf8_lossy(trimmed)
        }
    };
    out.report.long_lines += u64::from(line.is_cut);
    if line.is_cut {
        format.cut_record(&text, &place, out);
    } else {
        read_records(&text, &place, format, out);
    }
}

/// A line contains several records if a newline is missing.
fn read_records<F: LineFormat>(text: &str, place: &Position, format: &mut F, out: &mut Emitter) {
    let mut rest = text;
    let mut n_records = 0_u64;
    let mut is_mended = false;
    while !rest.is_empty() {
        let mut cursor = JsonCursor::new(rest);
        match Fields::parse(&mut cursor) {
            Ok(fields) => {
                let text = rest[..rest.len() - cursor.rest().len()].trim_end();
                format.record(&Record { text, fields, place }, out);
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

/// Returns the longest suffix of a broken line that consists of complete records. It may be empty.
fn resync(text: &str) -> &str {
    let starts = memmem::find_iter(text.as_bytes(), b"{\"").filter(|at| 0 < *at);
    let mut found = starts.take(MAX_RESYNCS).map(|at| &text[at..]);
    found.find(|rest| holds_only_records(rest)).unwrap_or_default()
}

fn holds_only_records(text: &str) -> bool {
    let mut cursor = JsonCursor::new(text);
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
    let mut cursor = JsonCursor::new(&text);
    text.starts_with('{') && cursor.skip().is_ok() && cursor.rest().is_empty()
}

/// Trims whitespace, as well as NUL bytes that a power loss may leave behind.
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

/// Decompresses a transcript. A damaged or truncated frame ends the stream without an error,
/// because the data before it is valid.
struct Unpacked<'a> {
    decoder: StreamingDecoder<BufReader<&'a File>, FrameDecoder>,
}

impl<'a> Unpacked<'a> {
    fn new(file: &'a File) -> io::Result<Self> {
        let decoder = StreamingDecoder::new(BufReader::new(file))
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?;
        Ok(Self { decoder })
    }
}

impl Read for Unpacked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(self.decoder.read(buffer).unwrap_or(0))
    }
}

/// The part of a file that already existed when the file was opened. Data that is appended
/// afterwards is left for the next read.
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
mod tests {
    use super::*;

    #[test]
    fn what_may_be_unpacked_grows_with_the_trace() {
        assert_eq!(most_unpacked(10), MIN_UNPACKED);
        assert_eq!(most_unpacked(1 << 20), 64 << 20);
        assert_eq!(most_unpacked(u64::MAX), MAX_UNPACKED);
    }
}
