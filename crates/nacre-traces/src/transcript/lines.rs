//! Reads the lines of a transcript, with their numbers and offsets, in bounded memory. Only `\n`
//! ends a line. If a line exceeds the buffer, only its beginning is kept.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use memchr::memchr;

use crate::transcript::toolkit::*;

/// Longer lines are truncated. Model APIs reject messages this long.
pub(crate) const LINE_CAP: usize = 48 * 1024 * 1024;
const FIRST_BUFFER: usize = 128 * 1024;
const CUT_HEAD: usize = 256 * 1024;
/// Maximum total size of a sparse file's holes. A power loss can leave holes of a few megabytes,
/// but a hostile file could claim a size that takes minutes to read.
const MAX_HOLES: u64 = 8 * 1024 * 1024;

/// Opens a transcript for reading without ever blocking on a pipe or device. Files with holes
/// larger than `MAX_HOLES` are rejected.
pub(crate) fn open_regular(path: &Path) -> Result<File> {
    let file = open_with_holes(path)?;
    if MAX_HOLES < nacre_base::platform::size_of_holes(&file, MAX_HOLES) {
        let reason = "most of the file is a hole, which no agent writes";
        return Err(Error::Unreadable { path: path.to_owned(), reason });
    }
    Ok(file)
}

/// Like `open_regular`, but accepts holes of any size.
pub(crate) fn open_with_holes(path: &Path) -> Result<File> {
    use nacre_base::platform::fs::{Mode, OFlags, open};

    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = open(path, flags, Mode::empty())
        .map(File::from)
        .map_err(|errno| Error::Open { path: path.to_owned(), source: errno.into() })?;
    let metadata =
        file.metadata().map_err(|source| Error::Open { path: path.to_owned(), source })?;
    if metadata.is_file() { Ok(file) } else { Err(Error::NotAFile { path: path.to_owned() }) }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct TraceLine<'a> {
    /// Counted from 1.
    pub(crate) number: u64,
    pub(crate) offset: u64,
    pub(crate) bytes: &'a [u8],
    pub(crate) is_cut: bool,
    /// Whether this is the last line and may be incomplete because it has no line break.
    pub(crate) is_torn: bool,
    pub(crate) next_offset: u64,
}

pub(crate) struct LineReader<R> {
    stream: R,
    buffer: Vec<u8>,
    /// The unread part of the buffer is `start..end`.
    start: usize,
    end: usize,
    /// Number of bytes at the start of `start..end` that are known to contain no newline.
    searched: usize,
    /// Offset of `end` in the stream, including bytes dropped from the buffer.
    read_to: u64,
    pub(crate) line_offset: u64,
    pub(crate) line: u64,
    is_cut: bool,
    ended: bool,
}

impl<R: Read> LineReader<R> {
    /// `offset` is the file position of the stream's first byte, and `line` is the number of lines
    /// before it.
    pub(crate) fn new(stream: R, offset: u64, line: u64) -> Self {
        Self {
            stream,
            buffer: vec![0; FIRST_BUFFER],
            start: 0,
            end: 0,
            searched: 0,
            read_to: offset,
            line_offset: offset,
            line,
            is_cut: false,
            ended: false,
        }
    }

    pub(crate) fn next_line(&mut self) -> io::Result<Option<TraceLine<'_>>> {
        loop {
            let unread = &self.buffer[self.start..self.end];
            if let Some(found) = memchr(b'\n', &unread[self.searched..]) {
                return Ok(Some(self.take(self.searched + found, false)));
            }
            self.searched = unread.len();
            if self.ended {
                let length = self.searched;
                return Ok((0 < length).then(|| self.take(length, true)));
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

    fn take(&mut self, length: usize, is_torn: bool) -> TraceLine<'_> {
        let first = self.start;
        let offset = self.line_offset;
        self.start += length + usize::from(!is_torn);
        self.searched = 0;
        self.line += 1;
        self.line_offset = self.read_to - (self.end - self.start) as u64;
        let is_cut = std::mem::take(&mut self.is_cut);
        let kept = if is_cut { length.min(CUT_HEAD) } else { length };
        TraceLine {
            number: self.line,
            offset,
            bytes: &self.buffer[first..first + kept],
            is_cut,
            is_torn,
            next_offset: self.line_offset,
        }
    }

    /// Makes room in a full buffer by moving its data, growing it or, at the maximum size,
    /// truncating the line.
    fn make_room(&mut self) {
        if 0 < self.start {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        } else if self.buffer.len() < LINE_CAP {
            self.buffer.resize((self.buffer.len() * 2).min(LINE_CAP), 0);
        } else {
            self.is_cut = true;
            self.end = CUT_HEAD;
            self.searched = self.end;
        }
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
