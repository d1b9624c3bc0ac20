//! A database in WAL mode as one private image: its pages, with the committed ones of the
//! write-ahead log in their place.
//!
//! SQLite itself cannot do this without making files beside the database. Nothing is locked, so
//! the caller compares the outside of the files before and after; the format is fixed and
//! documented at <https://www.sqlite.org/fileformat2.html>.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::super::error::{Error, Result};
use super::super::lines::open_regular;
use super::beside;

const HEADER: usize = 100;
const MAGIC: &[u8] = b"SQLite format 3\0";
/// Where the header says which journal readers and writers must use: 1 is a rollback journal, 2 a
/// write-ahead log.
const WRITE_VERSION: usize = 18;
const READ_VERSION: usize = 19;
const LOG_HEADER: usize = 32;
const FRAME_HEADER: usize = 24;

/// How a database keeps what is not yet in its main file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JournalMode {
    Wal,
    /// A rollback journal, or no database at all.
    Other,
}

pub(super) fn journal_mode(path: &Path) -> Result<JournalMode> {
    let file = open_regular(path)?;
    let mut header = [0; HEADER];
    let n_read = read_at_most(&file, &mut header, 0)
        .map_err(|source| Error::Read { path: path.to_owned(), source })?;
    let is_wal = n_read == HEADER
        && header.starts_with(MAGIC)
        && (header[WRITE_VERSION] == 2 || header[READ_VERSION] == 2);
    Ok(if is_wal { JournalMode::Wal } else { JournalMode::Other })
}

/// Reads as the database would be after a checkpoint.
pub(super) struct Image {
    main: File,
    log: Option<Log>,
    page_size: usize,
    n_pages: u32,
    page: Vec<u8>,
    next_page: u32,
    /// How much of `page` was handed out.
    given: usize,
}

struct Log {
    file: File,
    header: [u8; LOG_HEADER],
    /// Where the newest committed copy of a page starts.
    frames: HashMap<u32, u64>,
    /// The size of the database, in pages, after the last commit.
    n_pages: Option<u32>,
}

impl Image {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let read_error = |source| Error::Read { path: path.to_owned(), source };
        let main = open_regular(path)?;
        let mut header = [0; HEADER];
        read_at_most(&main, &mut header, 0).map_err(read_error)?;
        let page_size = match u16::from_be_bytes([header[16], header[17]]) {
            1 => 65_536,
            size => usize::from(size),
        };
        let size = main.metadata().map_err(read_error)?.len();
        if !page_size.is_power_of_two() || page_size < 512 {
            let reason = "its page size is not one that SQLite writes";
            return Err(Error::Unreadable { path: path.to_owned(), reason });
        }
        let log = match open_regular(&beside(path, "-wal")) {
            Ok(file) => Log::read(file, page_size).map_err(read_error)?,
            Err(_) => None,
        };
        let in_main = u32::try_from(size.div_ceil(page_size as u64)).unwrap_or(u32::MAX);
        let n_pages = match &log {
            // No commit can name more pages than there are bytes behind them.
            Some(Log { n_pages: Some(n_pages), frames, .. }) => {
                (*n_pages).min(in_main.saturating_add(u32::try_from(frames.len()).unwrap_or(0)))
            }
            Some(Log { n_pages: None, .. }) | None => in_main,
        };
        let (page, given) = (vec![0; page_size], page_size);
        Ok(Self { main, log, page_size, n_pages, page, next_page: 1, given })
    }

    pub(super) fn size(&self) -> usize {
        self.page_size * self.n_pages as usize
    }

    /// Whether the log was not started anew since it was read.
    pub(super) fn is_current(&self) -> bool {
        self.log.as_ref().is_none_or(|log| {
            let mut header = [0; LOG_HEADER];
            read_at_most(&log.file, &mut header, 0).is_ok() && header == log.header
        })
    }

    fn load_page(&mut self) -> io::Result<()> {
        let number = self.next_page;
        self.page.fill(0);
        let frame = self.log.as_ref().and_then(|log| Some((log, *log.frames.get(&number)?)));
        match frame {
            Some((log, offset)) => read_at_most(&log.file, &mut self.page, offset)?,
            None => {
                let offset = u64::from(number - 1) * self.page_size as u64;
                read_at_most(&self.main, &mut self.page, offset)?
            }
        };
        if number == 1 {
            // An image in memory has no log, so it must not say that it has one.
            self.page[WRITE_VERSION] = 1;
            self.page[READ_VERSION] = 1;
        }
        self.next_page += 1;
        self.given = 0;
        Ok(())
    }
}

impl Read for Image {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given == self.page.len() {
            if self.n_pages < self.next_page {
                return Ok(0);
            }
            self.load_page()?;
        }
        let n_bytes = buffer.len().min(self.page.len() - self.given);
        buffer[..n_bytes].copy_from_slice(&self.page[self.given..self.given + n_bytes]);
        self.given += n_bytes;
        Ok(n_bytes)
    }
}

impl Log {
    /// Reads a log up to its last commit; `None` where it holds nothing for this database.
    fn read(file: File, page_size: usize) -> io::Result<Option<Self>> {
        let mut header = [0; LOG_HEADER];
        if read_at_most(&file, &mut header, 0)? < LOG_HEADER {
            return Ok(None);
        }
        let order = match word(&header, 0) {
            0x377f_0682 => Order::Little,
            0x377f_0683 => Order::Big,
            _ => return Ok(None),
        };
        let mut sum = checksum(order, (0, 0), &header[..24]);
        if word(&header, 8) as usize != page_size || sum != (word(&header, 24), word(&header, 28)) {
            return Ok(None);
        }
        let mut frame = vec![0; FRAME_HEADER + page_size];
        let mut offset = LOG_HEADER as u64;
        let mut log = Self { file, header, frames: HashMap::new(), n_pages: None };
        let mut pending = Vec::new();
        while read_at_most(&log.file, &mut frame, offset)? == frame.len() {
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
}

/// The order of bytes in which the words of a checksum are taken.
#[derive(Clone, Copy)]
enum Order {
    Little,
    Big,
}

fn checksum(order: Order, start: (u32, u32), bytes: &[u8]) -> (u32, u32) {
    let (pairs, _) = bytes.as_chunks::<8>();
    pairs.iter().fold(start, |(first, second), [a, b, c, d, e, f, g, h]| {
        let (low, high) = ([*a, *b, *c, *d], [*e, *f, *g, *h]);
        let (low, high) = match order {
            Order::Little => (u32::from_le_bytes(low), u32::from_le_bytes(high)),
            Order::Big => (u32::from_be_bytes(low), u32::from_be_bytes(high)),
        };
        let first = first.wrapping_add(low).wrapping_add(second);
        (first, second.wrapping_add(high).wrapping_add(first))
    })
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes[at..].first_chunk().map_or(0, |word| u32::from_be_bytes(*word))
}

/// Fills as much of the buffer as the file has.
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
