//! A file of any size in pieces of whole lines, so that none has to fit into memory.

use std::io::{self, Read as _};

use nacre_core::safefs::OpenFile;

use super::super::super::tool::ToolError;
use crate::record::Fault;

/// What is held at once. A longer line comes in parts.
const PIECE_BYTES: usize = 4 << 20;

/// What one call reads; the rest of a larger file is not looked at.
const MAX_READ_BYTES: u64 = 1 << 30;

/// Reads a file from its beginning.
pub(super) struct Pieces {
    file: OpenFile,
    rest: Vec<u8>,
    n_read: u64,
    n_lines: usize,
    is_at_end: bool,
}

/// Some lines of a file.
pub(super) struct Piece {
    /// How many lines there are before it.
    pub(super) n_before: usize,
    pub(super) bytes: Vec<u8>,
}

impl Pieces {
    pub(super) fn new(file: OpenFile) -> Self {
        Self { file, rest: Vec::new(), n_read: 0, n_lines: 0, is_at_end: false }
    }

    /// Whether there is more than one call reads.
    pub(super) fn is_cut(&self) -> bool {
        MAX_READ_BYTES <= self.n_read
    }

    /// The next lines; `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Piece>> {
        let mut bytes = std::mem::take(&mut self.rest);
        if !self.is_at_end && bytes.len() < PIECE_BYTES {
            let wanted = (PIECE_BYTES - bytes.len()) as u64;
            let n_new = self.file.by_ref().take(wanted).read_to_end(&mut bytes)? as u64;
            self.n_read += n_new;
            self.is_at_end = n_new < wanted || self.is_cut();
        }
        if bytes.is_empty() {
            return Ok(None);
        }
        let last = memchr::memrchr(b'\n', &bytes);
        if let Some(last) = last.filter(|_| !self.is_at_end) {
            self.rest = bytes.split_off(last + 1);
        }
        let n_before = self.n_lines;
        self.n_lines += memchr::memchr_iter(b'\n', &bytes).count();
        Ok(Some(Piece { n_before, bytes }))
    }
}

/// A file that could not be read to its end.
pub(super) fn unread(path: &str, error: &io::Error) -> ToolError {
    let what = format!("Cannot read `{path}`: {}", error.kind());
    ToolError::new(Fault::Io, what, "Try again.")
}
