//! Lines of a trace in constant memory: whole, mended or cut, each with its number and offset.
//!
//! A line that outgrows the buffer is not dropped: its long strings lose their middles while it
//! streams past, so that a fifty-megabyte picture costs nothing and the words beside it are kept.
//! Only `\n` ends a line; other separators are data.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use memchr::memchr;

use super::error::{Error, Result};
use super::squeeze::squeeze;

/// No line takes more memory than this.
pub(super) const LINE_CAP: usize = 8 * 1024 * 1024;
/// What the buffer starts with; most lines are far shorter.
const FIRST_BUFFER: usize = 128 * 1024;
/// Kept of a line that cannot be squeezed under the cap.
const CUT_HEAD: usize = 256 * 1024;
/// How hard long strings of an overlong line are cut, gentlest first.
const STRING_LIMITS: [usize; 2] = [256 * 1024, 4 * 1024];

/// The most of a trace that may be a hole in its file. Losing power can leave a few megabytes of it; a file that claims far more
/// than lies on the disk has it from a stranger, and would be read for minutes.
const MAX_HOLES: u64 = 8 * 1024 * 1024;

/// Opens a trace for reading; never blocks on a pipe or a device, and refuses a file that is mostly a hole.
pub(super) fn open_regular(path: &Path) -> Result<File> {
    let file = open_with_holes(path)?;
    if MAX_HOLES < crate::platform::size_of_holes(&file, MAX_HOLES) {
        let reason = "most of it is a hole, which no agent writes";
        return Err(Error::Unreadable { path: path.to_owned(), reason });
    }
    Ok(file)
}

/// Opens a file for reading that may have holes; never blocks on a pipe or a device.
pub(super) fn open_with_holes(path: &Path) -> Result<File> {
    use crate::platform::fs::{Mode, OFlags, open};

    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = open(path, flags, Mode::empty())
        .map(File::from)
        .map_err(|errno| Error::Open { path: path.to_owned(), source: errno.into() })?;
    let metadata =
        file.metadata().map_err(|source| Error::Open { path: path.to_owned(), source })?;
    if !metadata.is_file() {
        return Err(Error::NotAFile { path: path.to_owned() });
    }
    Ok(file)
}

/// How a line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineEnd {
    Newline,
    /// The trace ends here; the writer may not be done with the line.
    Torn,
}

/// What is left of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineBody {
    Whole,
    /// Long strings lost their middles; still one JSON text.
    Squeezed,
    /// Only the beginning was kept.
    Cut,
}

/// One line, without its `\n`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    /// Counts from 1.
    pub(super) number: u64,
    pub(super) offset: u64,
    pub(super) bytes: &'a [u8],
    pub(super) body: LineBody,
    pub(super) end: LineEnd,
    /// The offset after this line.
    pub(super) next_offset: u64,
}

/// Reads lines from any stream.
pub(super) struct LineReader<R> {
    stream: R,
    buffer: Vec<u8>,
    /// The unread part of the buffer is `start..end`.
    start: usize,
    end: usize,
    /// Bytes of `start..end` known to hold no newline.
    searched: usize,
    /// The stream's offset at `end`; holds whatever was cut out of the buffer.
    read_to: u64,
    /// Where the current line starts in the stream.
    line_offset: u64,
    /// Whole lines before the current one.
    line: u64,
    body: LineBody,
    ended: bool,
}

impl<R: Read> LineReader<R> {
    /// Reads from `stream`, whose first byte is at `offset` and follows `line` whole lines.
    pub(super) fn new(stream: R, offset: u64, line: u64) -> Self {
        Self {
            stream,
            buffer: vec![0; FIRST_BUFFER],
            start: 0,
            end: 0,
            searched: 0,
            read_to: offset,
            line_offset: offset,
            line,
            body: LineBody::Whole,
            ended: false,
        }
    }

    /// Where the next line starts.
    pub(super) fn offset(&self) -> u64 {
        self.line_offset
    }

    /// Whole lines before the next one.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// The next line; `None` at the end of the stream.
    pub(super) fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        loop {
            let unread = &self.buffer[self.start..self.end];
            if let Some(found) = memchr(b'\n', &unread[self.searched..]) {
                return Ok(Some(self.take(self.searched + found, LineEnd::Newline)));
            }
            self.searched = unread.len();
            if self.ended {
                let length = self.searched;
                return Ok((0 < length).then(|| self.take(length, LineEnd::Torn)));
            }
            if self.end == self.buffer.len() {
                self.make_room();
            }
            let n_read = read_some(&mut self.stream, &mut self.buffer[self.end..])?;
            self.end += n_read;
            self.read_to += n_read as u64;
            self.ended = n_read == 0;
        }
    }

    /// Hands out the next `length` bytes as a line and moves on to what follows it.
    fn take(&mut self, length: usize, end: LineEnd) -> Line<'_> {
        let first = self.start;
        let offset = self.line_offset;
        self.start += match end {
            LineEnd::Newline => length + 1,
            LineEnd::Torn => length,
        };
        self.searched = 0;
        self.line += 1;
        self.line_offset = self.read_to - (self.end - self.start) as u64;
        let body = std::mem::replace(&mut self.body, LineBody::Whole);
        let kept = match body {
            LineBody::Whole | LineBody::Squeezed => length,
            LineBody::Cut => length.min(CUT_HEAD),
        };
        Line {
            number: self.line,
            offset,
            bytes: &self.buffer[first..first + kept],
            body,
            end,
            next_offset: self.line_offset,
        }
    }

    /// Frees space in a full buffer: by moving, by growing, and at the cap by forgetting.
    fn make_room(&mut self) {
        if 0 < self.start {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        } else if self.buffer.len() < LINE_CAP {
            self.buffer.resize((self.buffer.len() * 2).min(LINE_CAP), 0);
        } else {
            self.forget_middle();
            self.searched = self.end;
        }
    }

    fn forget_middle(&mut self) {
        if self.body != LineBody::Cut {
            self.body = LineBody::Squeezed;
            for limit in STRING_LIMITS {
                self.end = squeeze(&mut self.buffer[..self.end], limit);
                if self.end <= self.buffer.len() / 2 {
                    return;
                }
            }
        }
        self.body = LineBody::Cut;
        self.end = CUT_HEAD;
    }
}

fn read_some(stream: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match stream.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

#[cfg(test)]
mod tests;
