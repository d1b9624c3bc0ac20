//! Reads an SQLite database's pages without SQLite, from the main file and the committed pages of
//! its write-ahead log. Each file is opened once, read-only, without locks and without following
//! links or blocking on pipes. Since no lock is held, the caller must compare file metadata before
//! and after reading. The format is documented at <https://www.sqlite.org/fileformat2.html>.

use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

use super::beside;
use crate::transcript::toolkit::*;
use nacre_base::platform::ext::FileExt as _;

const HEADER: usize = 100;
const MAGIC: &[u8] = b"SQLite format 3\0";
const LOG_HEADER: usize = 32;
const FRAME_HEADER: usize = 24;
/// Length of a rollback journal's header. If SQLite keeps the journal file after a transaction, it
/// fills the header with zeros.
const JOURNAL_HEADER: usize = 28;
/// Maximum length of a write-ahead log. SQLite normally runs a checkpoint after a few megabytes,
/// unless a long-running reader prevents it.
const MAX_LOG: u64 = 512 << 20;

/// The content that the database would have after a checkpoint.
#[derive(Debug)]
pub(crate) struct Image {
    main: File,
    header: [u8; HEADER],
    log: Option<Log>,
    pub(crate) size: u64,
    /// Size on disk; the nominal size of a sparse file may be much larger.
    pub(crate) size_on_disk: u64,
}

#[derive(Debug)]
struct Log {
    file: File,
    page_size: u64,
    header: [u8; LOG_HEADER],
    /// Offset of the newest committed copy of each page.
    frames: HashMap<u32, u64>,
    n_pages: Option<u32>,
}

impl Image {
    /// Opens the image, and returns it with the metadata of the main file and the write-ahead log.
    pub(crate) fn open(path: &Path) -> Result<(Self, Metadata, Option<Metadata>)> {
        let read_error = |source| Error::Read { path: path.to_owned(), source };
        let file = open_with_holes(path)?;
        let main = file.metadata().map_err(read_error)?;
        let mut header = [0; HEADER];
        read_at_most(&file, &mut header, 0).map_err(read_error)?;
        let log_file = open_beside(path, "-wal", MAX_LOG)?;
        let log_metadata = log_file.as_ref().map(File::metadata).transpose().map_err(read_error)?;
        let log = match (log_file, page_size(&header)) {
            (Some(file), Some(page_size)) => Log::read(file, page_size).map_err(read_error)?,
            // A file without a valid header is not a database, so its log is ignored.
            (Some(_), None) | (None, _) => None,
        };
        let size = log.as_ref().map_or(main.len(), |log| log.size_of_database(main.len()));
        let of_log = log_metadata.as_ref().map_or(0, size_on_disk);
        let size_on_disk = size.min(size_on_disk(&main).saturating_add(of_log));
        let image = Self { main: file, header, log, size, size_on_disk };
        Ok((image, main, log_metadata))
    }

    /// Returns `None` if the file is not a database.
    pub(crate) fn page_size(&self) -> Option<usize> {
        page_size(&self.header)
    }

    /// Returns `false` if the log was restarted or the main file's header has changed since the
    /// image was opened.
    pub(crate) fn is_current(&self) -> bool {
        let is_log_current = self.log.as_ref().is_none_or(|log| {
            let mut header = [0; LOG_HEADER];
            read_at_most(&log.file, &mut header, 0).is_ok() && header == log.header
        });
        let mut header = [0; HEADER];
        is_log_current && read_at_most(&self.main, &mut header, 0).is_ok() && header == self.header
    }

    pub(crate) fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let there = self.size.saturating_sub(offset).min(buffer.len() as u64);
        let wanted = &mut buffer[..usize::try_from(there).unwrap_or(0)];
        let Some(log) = &self.log else { return read_at_most(&self.main, wanted, offset) };
        let mut n_read = 0;
        while n_read < wanted.len() {
            let at = offset + n_read as u64;
            let (page, within) = (at / log.page_size, at % log.page_size);
            let n_bytes = (log.page_size - within).min((wanted.len() - n_read) as u64);
            let end = n_read + usize::try_from(n_bytes).unwrap_or(0);
            let part = &mut wanted[n_read..end];
            // A page that neither file contains reads as zeros.
            part.fill(0);
            let number = u32::try_from(page + 1).unwrap_or(u32::MAX);
            match log.frames.get(&number) {
                Some(frame) => read_at_most(&log.file, part, frame + within)?,
                None => read_at_most(&self.main, part, at)?,
            };
            n_read = end;
        }
        Ok(n_read)
    }
}

/// Returns `true` if a transaction with a rollback journal is in progress or was interrupted.
pub(crate) fn has_open_journal(path: &Path) -> Result<bool> {
    let Some(journal) = open_beside(path, "-journal", u64::MAX)? else { return Ok(false) };
    let mut header = [0; JOURNAL_HEADER];
    read_at_most(&journal, &mut header, 0)
        .map_err(|source| Error::Read { path: path.to_owned(), source })?;
    Ok(header != [0; JOURNAL_HEADER])
}

/// Opens a file next to a database if it exists. Links and pipes are rejected: agents do not create
/// them, but an unpacked archive may contain them.
fn open_beside(path: &Path, suffix: &str, limit: u64) -> Result<Option<File>> {
    use nacre_base::platform::fs::{Mode, OFlags, open};
    use nacre_base::platform::io::Errno;

    let beside = beside(path, suffix);
    let odd = || {
        let reason = "a file next to the database is not a regular file";
        Error::Unreadable { path: path.to_owned(), reason }
    };
    let flags =
        OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let file = match open(&beside, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT) => return Ok(None),
        Err(Errno::LOOP | Errno::NXIO) => return Err(odd()),
        Err(errno) => return Err(Error::Open { path: beside, source: errno.into() }),
    };
    let metadata = match file.metadata() {
        Ok(metadata) => metadata,
        Err(source) => return Err(Error::Open { path: beside, source }),
    };
    if !metadata.is_file() {
        return Err(odd());
    }
    if limit < metadata.len() {
        return Err(Error::TooLarge { path: beside, limit });
    }
    Ok(Some(file))
}

fn page_size(header: &[u8; HEADER]) -> Option<usize> {
    let size = match u16::from_be_bytes([header[16], header[17]]) {
        1 => 65_536,
        size => usize::from(size),
    };
    (header.starts_with(MAGIC) && size.is_power_of_two() && 512 <= size).then_some(size)
}

impl Log {
    /// Reads a log up to its last commit. Returns `None` if the log has no valid frames for this
    /// database.
    fn read(file: File, page_size: usize) -> io::Result<Option<Self>> {
        let mut header = [0; LOG_HEADER];
        if read_at_most(&file, &mut header, 0)? < LOG_HEADER {
            return Ok(None);
        }
        let order: WordOrder = match word(&header, 0) {
            0x377f_0682 => u32::from_le_bytes,
            0x377f_0683 => u32::from_be_bytes,
            _ => return Ok(None),
        };
        let mut sum = checksum(order, (0, 0), &header[..24]);
        if word(&header, 8) as usize != page_size || sum != (word(&header, 24), word(&header, 28)) {
            return Ok(None);
        }
        let mut frame = vec![0; FRAME_HEADER + page_size];
        let mut offset = LOG_HEADER as u64;
        let page_size = page_size as u64;
        let mut log = Self { file, page_size, header, frames: HashMap::new(), n_pages: None };
        let mut pending = Vec::new();
        while offset < MAX_LOG && read_at_most(&log.file, &mut frame, offset)? == frame.len() {
            sum = checksum(order, sum, &frame[..8]);
            sum = checksum(order, sum, &frame[FRAME_HEADER..]);
            let is_whole = frame[8..16] == header[16..24]
                && sum == (word(&frame, 16), word(&frame, 20))
                && word(&frame, 0) != 0;
            if !is_whole {
                break;
            }
            pending.push((word(&frame, 0), offset + FRAME_HEADER as u64));
            let n_pages = word(&frame, 4);
            if n_pages != 0 {
                log.frames.extend(pending.drain(..));
                log.n_pages = Some(n_pages);
            }
            offset += frame.len() as u64;
        }
        Ok(Some(log))
    }

    fn size_of_database(&self, in_main: u64) -> u64 {
        let Some(n_pages) = self.n_pages else { return in_main };
        // A commit's page count is untrusted, so it is limited to the number of pages in the files.
        let most = in_main.div_ceil(self.page_size) + self.frames.len() as u64;
        self.page_size * u64::from(n_pages).min(most)
    }
}

/// Converts four bytes to a word, in the byte order that the checksums use.
type WordOrder = fn([u8; 4]) -> u32;

fn checksum(order: WordOrder, start: (u32, u32), bytes: &[u8]) -> (u32, u32) {
    let (pairs, _) = bytes.as_chunks::<8>();
    pairs.iter().fold(start, |(first, second), [a, b, c, d, e, f, g, h]| {
        let first = first.wrapping_add(order([*a, *b, *c, *d])).wrapping_add(second);
        (first, second.wrapping_add(order([*e, *f, *g, *h])).wrapping_add(first))
    })
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes[at..].first_chunk().map_or(0, |word| u32::from_be_bytes(*word))
}

fn read_at_most(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut n_read = 0;
    while n_read < buffer.len() {
        match file.read_at(&mut buffer[n_read..], offset + n_read as u64) {
            Ok(0) => break,
            Ok(n) => n_read += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(n_read)
}
