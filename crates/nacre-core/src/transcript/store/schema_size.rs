//! How large the schema of a database is, before SQLite reads it.
//!
//! SQLite parses the whole schema when a database is first asked for something, and neither a step, a limit nor an interrupt ends
//! that. So the table that holds it is walked here, and only the lengths of its rows are read: its root is the first page, and
//! the format is documented at <https://www.sqlite.org/fileformat2.html>.

use super::image::Image;

/// Agents have a few kilobytes.
const MAX_SCHEMA: u64 = 512 * 1024;
/// The most pages of the table. With rows of a usual length this many hold far more than the schema may have.
const MAX_PAGES: usize = 2048;
/// On the first page the file's own header comes first.
const FILE_HEADER: usize = 100;
const LEAF: u8 = 0x0d;
const INTERIOR: u8 = 0x05;

/// Whether a schema is too large to be parsed. What is not a database is left for SQLite to say.
pub(super) fn is_too_large(image: &Image) -> bool {
    let Some(page_size) = image.page_size() else { return false };
    let mut page = vec![0; page_size];
    let mut waiting = vec![1_u32];
    let (mut n_pages, mut n_bytes) = (0, 0_u64);
    while let Some(number) = waiting.pop() {
        n_pages += 1;
        let offset = u64::from(number.saturating_sub(1)).saturating_mul(page_size as u64);
        // A page that cannot be read is met by SQLite, too, and ends its reading.
        let Ok(n_read) = image.read_at(&mut page, offset) else { return false };
        page[n_read..].fill(0);
        let header = if number == 1 { FILE_HEADER } else { 0 };
        match page.get(header) {
            Some(&LEAF) => {
                let lengths = cells(&page, header, 8).map(|cell| length_at(&page, cell));
                n_bytes = lengths.fold(n_bytes, u64::saturating_add);
            }
            Some(&INTERIOR) => {
                waiting.extend(cells(&page, header, 12).map(|cell| word_at(&page, cell)));
                waiting.push(word_at(&page, header + 8));
            }
            Some(_) | None => {}
        }
        if MAX_SCHEMA < n_bytes || MAX_PAGES < n_pages + waiting.len() {
            return true;
        }
    }
    false
}

/// Where the cells of a page begin, by the list after its header of `n_header` bytes.
fn cells(page: &[u8], header: usize, n_header: usize) -> impl Iterator<Item = usize> + '_ {
    let half = move |at: usize| {
        let bytes = page.get(at..).and_then(<[u8]>::first_chunk::<2>);
        bytes.map_or(0, |bytes| usize::from(u16::from_be_bytes(*bytes)))
    };
    (0..half(header + 3)).map(move |idx| half(header + n_header + idx * 2))
}

fn word_at(page: &[u8], at: usize) -> u32 {
    let bytes = page.get(at..).and_then(<[u8]>::first_chunk::<4>);
    bytes.map_or(0, |bytes| u32::from_be_bytes(*bytes))
}

/// The length that a row begins with: groups of seven bits, the highest first, and eight in a ninth byte.
fn length_at(page: &[u8], at: usize) -> u64 {
    let mut length = 0_u64;
    for (idx, byte) in page.get(at..).unwrap_or_default().iter().take(9).enumerate() {
        if idx == 8 {
            return length << 8 | u64::from(*byte);
        }
        length = length << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return length;
        }
    }
    length
}
