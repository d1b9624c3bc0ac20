//! Base64 that hides a secret of a known shape.
//!
//! Every prefix of the table that is long enough is also looked for as base64 writes it, once for each of the three
//! places of a group where it can begin. What stands around a hit is decoded, bounded, and scanned.

use super::lines;
use super::rules;
use super::scan::{self, Found, Weight};
use super::text::{Set, Text};

/// Decoded before a hit, so that its edge can be judged: whole groups.
const N_CHARS_BEFORE: usize = 48;

/// Decoded from there on. A shape is known by fewer bytes than this.
const N_CHARS: usize = 640;

/// The longest way back to the beginning of a blob.
const MAX_BEFORE: usize = 8192;

/// Fewer characters of an anchor are found everywhere by chance.
const MIN_ANCHOR: usize = 4;

/// More characters of an anchor only make the table of anchors larger: what is found is decoded anyway.
const MAX_ANCHOR: usize = 4;

/// Base64 inside base64 is followed this far.
pub(super) const MAX_DEPTH: u8 = 2;

/// Armor that opens a key, as itself and as base64 writes it: a config file in base64 holds keys in base64.
const ARMOR: [&str; 2] = ["-----BEGIN ", "LS0tLS1CRUdJTi"];

/// Words of names that promise a secret, as far as they are looked for in base64.
const WORDS: &[&str] = &[
    "passw", "Passw", "PASSW", "secret", "Secret", "SECRET", "token", "Token", "TOKEN", "api_key",
    "API_KEY", "apiKey",
];

/// Returns every prefix as base64 writes it, with the number of characters of its first group that stand before it.
pub(super) fn anchors() -> Vec<(String, usize)> {
    let tokens = rules::RULES.iter().flat_map(|rule| rule.anchors).copied();
    let mut list = Vec::new();
    let words = WORDS.iter().copied();
    for plain in tokens.filter(|anchor| is_distinctive(anchor)).chain(ARMOR).chain(words) {
        for shift in 0..3 {
            list.extend(encoded(plain, shift));
        }
    }
    // Text of two bytes a character has such a group at every third character.
    let wide = (b'0'..=b'z').filter(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    list.extend(wide.map(|byte| (String::from_iter(group(&[0, byte, 0])), 0)));
    list.sort();
    list.dedup();
    list
}

/// Addresses and parameters are no prefixes of tokens.
fn is_distinctive(anchor: &str) -> bool {
    !anchor.contains(['/', '=']) && anchor.len() >= 3
}

/// Returns the characters of base64 that `plain` decides alone when it begins `shift` bytes into a group.
fn encoded(plain: &str, shift: usize) -> Option<(String, usize)> {
    let mut bytes = vec![0; shift];
    bytes.extend(plain.as_bytes());
    let n_sure = bytes.len() * 8 / 6;
    bytes.extend([0; 3]);
    let skip = (shift * 8).div_ceil(6);
    let text: String = bytes.chunks_exact(3).flat_map(group).collect();
    let sure = text.get(skip..n_sure.min(skip + MAX_ANCHOR))?;
    let is_of_uuid = sure.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-'));
    (sure.len() >= MIN_ANCHOR && !is_of_uuid).then(|| (sure.to_owned(), skip))
}

fn group(bytes: &[u8]) -> [char; 4] {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits = bytes.iter().fold(0, |bits, byte| bits << 8 | usize::from(*byte));
    [18, 12, 6, 0].map(|shift| char::from(ALPHABET[bits >> shift & 63]))
}

/// Appends the blob around the anchor at `start`, if it decodes to a text with a secret.
pub(super) fn find(text: &mut Text<'_>, start: usize, skip: usize, found: &mut Vec<Found>) {
    let Some(first) = start.checked_sub(skip) else { return };
    let known = text.decoded[first % 4];
    if text.depth >= MAX_DEPTH || (known.0 <= first && first < known.1) {
        return;
    }
    let run_start = text.run_start(Set::Base64, start, N_CHARS_BEFORE + skip);
    if first < run_start {
        return;
    }
    let run_end = text.run_end(Set::Base64, start);
    // What stands before an equals sign is no part of the blob.
    let head = text.slice(run_start, first);
    let n_head = head.iter().rev().take_while(|byte| **byte != b'=').count();
    let from = first - n_head / 4 * 4;
    let mut chars = text.slice(from, run_end.min(from + N_CHARS)).to_vec();
    if chars.len() < N_CHARS {
        let n_lines = (N_CHARS - chars.len()).div_ceil(lines::MIN_NARROW);
        for line in lines::wrapped(text, from, run_end, n_lines) {
            chars.extend(text.slice(line.start, line.end));
        }
    }
    let decoded = narrow(decode(&chars));
    let Some(secret) = secret_of(&decoded, text.depth + 1) else {
        // A secret that begins in the first half would have been seen.
        text.decoded[first % 4] = (from, run_end.min(from + N_CHARS / 2));
        return;
    };
    let start = blob_start(text, first);
    let end = blob_end(text, first, run_end);
    let end = lines::wrapped(text, from, end, usize::MAX).last().map_or(end, |line| line.end);
    text.decoded = [(start, end); 4];
    found.push(Found { start, end, ..secret });
}

/// Returns the first secret of `decoded`: one known by its shape, or any if all of it is text.
fn secret_of(decoded: &str, depth: u8) -> Option<Found> {
    let found = scan::scan_decoded(decoded, depth);
    let is_text =
        || decoded.bytes().all(|byte| !byte.is_ascii_control() || byte.is_ascii_whitespace());
    let shape = found.iter().find(|one| one.weight == Weight::Shape);
    shape.or_else(|| found.first().filter(|_| is_text())).copied()
}

/// Returns a text of two bytes a character as one of ASCII.
fn narrow(decoded: String) -> String {
    let n_zeros = decoded.bytes().filter(|byte| *byte == 0).count();
    if n_zeros * 3 > decoded.len() { decoded.replace('\0', "") } else { decoded }
}

/// Says whether `chars` decode to text, to the last character.
pub(super) fn is_text(chars: &[u8]) -> bool {
    let decoded = decode(chars);
    let n_encoded = chars.iter().filter(|byte| **byte != b'=').count();
    decoded.len() == n_encoded * 3 / 4 && decoded.bytes().all(is_text_byte)
}

fn is_text_byte(byte: u8) -> bool {
    byte.is_ascii_graphic() || b" \n\r\t".contains(&byte)
}

/// Decodes whole groups up to the first character that is no base64. Bytes that are not ASCII become blanks, so that
/// every byte has its place.
pub(super) fn decode(chars: &[u8]) -> String {
    let mut decoded = String::with_capacity(chars.len() / 4 * 3 + 3);
    for group in chars.chunks(4) {
        let n_chars = group.iter().take_while(|byte| value(**byte).is_some()).count();
        let bits =
            group[..n_chars].iter().fold(0, |bits, byte| bits << 6 | value(*byte).unwrap_or(0));
        let bits = bits << (6 * (4 - n_chars));
        for shift in [16, 8, 0].into_iter().take((n_chars * 6) / 8) {
            let byte = (bits >> shift & 255) as u8;
            decoded.push(if byte.is_ascii() { char::from(byte) } else { ' ' });
        }
        if n_chars < 4 {
            break;
        }
    }
    decoded
}

fn value(byte: u8) -> Option<u32> {
    let value = match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}

/// Returns where the blob begins whose group begins at `first`: as far back as groups decode to text.
fn blob_start(text: &Text<'_>, first: usize) -> usize {
    let floor = text.run_start(Set::Base64, first, MAX_BEFORE);
    let mut start = first;
    while start >= floor + 4 && is_group(&decode(text.slice(start - 4, start))) {
        start -= 4;
    }
    start
}

fn is_group(decoded: &str) -> bool {
    decoded.len() == 3 && decoded.bytes().all(|byte| is_text_byte(byte) || byte == 0)
}

/// Returns where the blob ends: behind its padding, or with its run.
fn blob_end(text: &Text<'_>, from: usize, run_end: usize) -> usize {
    let run = text.slice(from, run_end);
    let Some(padding) = memchr::memchr(b'=', run) else { return run_end };
    from + padding + run[padding..].iter().take(2).take_while(|byte| **byte == b'=').count()
}

/// Says whether `value` is base64 of `user:password`, as registries keep it.
pub(super) fn is_login(value: &[u8]) -> bool {
    let decoded = decode(&value[..value.len().min(N_CHARS)]);
    let n_encoded = value.iter().filter(|byte| **byte != b'=').count();
    let is_whole = decoded.len() == n_encoded.min(N_CHARS) * 3 / 4;
    let is_graphic = decoded.bytes().all(|byte| byte.is_ascii_graphic());
    let parts = decoded.split_once(':');
    is_whole
        && is_graphic
        && parts.is_some_and(|(user, password)| !user.is_empty() && password.len() >= 4)
}
