//! Shortens the long strings of a JSON text in place, so that an overlong line stays parseable.
//!
//! The text may end anywhere, even inside a string: the reader squeezes what it has, reads on and
//! squeezes again. A mark inside the string says how many bytes are gone.

use memchr::{memchr, memchr2, memmem};

use super::event::{is_in_token, looks_generated};

const MARK_OPEN: &[u8] = b"[... ";
const MARK_CLOSE: &[u8] = b" bytes cut ...]";
/// The longest mark: both parts and a 64-bit number.
const MARK_ROOM: usize = 48;
/// The longest word that is not cut in two.
const MAX_WORD: usize = 1024;

/// Cuts the middle out of every string longer than `limit` and returns the new length.
pub(super) fn squeeze(bytes: &mut [u8], limit: usize) -> usize {
    let mut read = 0;
    let mut write = 0;
    while let Some(found) = memchr(b'"', &bytes[read..]) {
        let start = read + found + 1;
        let end = string_end(bytes, start);
        bytes.copy_within(read..start, write);
        write += start - read;
        write += if limit + MARK_ROOM < end - start {
            shorten(bytes, start, end, write, limit)
        } else {
            bytes.copy_within(start..end, write);
            end - start
        };
        if end == bytes.len() {
            return write;
        }
        bytes[write] = b'"';
        write += 1;
        read = end + 1;
    }
    bytes.copy_within(read.., write);
    write + bytes.len() - read
}

/// Sums the bytes that marks in `text` speak of.
pub(super) fn marked_bytes(text: &[u8]) -> u64 {
    memmem::find_iter(text, MARK_OPEN).filter_map(|at| mark_at(&text[at..])).sum()
}

fn mark_at(text: &[u8]) -> Option<u64> {
    let rest = text.strip_prefix(MARK_OPEN)?;
    let digits = rest.iter().position(|byte| !byte.is_ascii_digit())?;
    if !rest[digits..].starts_with(MARK_CLOSE) {
        return None;
    }
    std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()
}

/// The index of the quote that closes the string whose content starts at `start`, or the length of
/// `bytes` when it does not close there.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        at += found;
        if bytes[at] == b'"' {
            return at;
        }
        at += 2;
    }
    bytes.len()
}

/// Moves the two ends of the string `start..end` to `write`, with a mark between; returns how much
/// was written.
fn shorten(bytes: &mut [u8], start: usize, end: usize, write: usize, limit: usize) -> usize {
    let head_end = boundary(bytes, start, start + limit * 3 / 4).min(end);
    let tail_start = boundary(bytes, head_end, end - limit / 4).min(end);
    let head_end = word_start(bytes, start, head_end);
    let tail_start = tail_start + word_end(&bytes[tail_start..end]);
    let gone = &bytes[head_end..tail_start];
    let marks: u64 = marked_bytes(gone);
    let mark = format!("{}{}{}", "[... ", gone.len() as u64 + marks, " bytes cut ...]");
    bytes.copy_within(start..head_end, write);
    let mark_start = write + head_end - start;
    bytes[mark_start..mark_start + mark.len()].copy_from_slice(mark.as_bytes());
    let tail_to = mark_start + mark.len();
    bytes.copy_within(tail_start..end, tail_to);
    tail_to + end - tail_start - write
}

/// Where the word starts that a cut at `end` would halve: half a secret would not be known as one. A
/// longer run is no secret but a picture.
fn word_start(bytes: &[u8], start: usize, end: usize) -> usize {
    let is_inside = |byte: &&u8| is_in_token(**byte);
    let n_word = bytes[start..end].iter().rev().take(MAX_WORD + 1).take_while(is_inside).count();
    // The letters of an escape are no word's.
    let word = boundary(bytes, start, end - n_word);
    if n_word <= MAX_WORD && looks_generated(&bytes[word..end]) { word } else { end }
}

/// Where the word ends that a cut at the start of `bytes` would halve.
fn word_end(bytes: &[u8]) -> usize {
    let end = bytes.iter().take(MAX_WORD + 1).take_while(|byte| is_in_token(**byte)).count();
    if end <= MAX_WORD && looks_generated(&bytes[..end]) { end } else { 0 }
}

/// The first place at or after `target` that splits neither an escape nor a character, counted from
/// a `start` that does not either.
fn boundary(bytes: &[u8], start: usize, target: usize) -> usize {
    let mut at = start;
    while at < target {
        match memchr(b'\\', &bytes[at..target]) {
            Some(found) => {
                at += found;
                at += if bytes.get(at + 1) == Some(&b'u') { 6 } else { 2 };
            }
            None => at = target,
        }
    }
    while at < bytes.len() && bytes[at] & 0b1100_0000 == 0b1000_0000 {
        at += 1;
    }
    at.min(bytes.len())
}

#[cfg(test)]
mod tests;
