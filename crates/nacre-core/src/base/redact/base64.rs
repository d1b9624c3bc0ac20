//! Base64 that hides a secret of a known shape.
//!
//! Every prefix of the table that is long enough is also looked for as base64 writes it, once for each of the three
//! places of a group where it can begin. What stands around a hit is decoded, bounded, and scanned.

use super::codec::{decode, encode_group, is_text_byte};
use super::finding::{FoundSecret, Weight};
use super::rules;
use super::text::{Set, Text};
use super::wrap;

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
    let tokens = rules::RULES.iter().flat_map(|rule| rule.anchors.split(' '));
    let mut list = Vec::new();
    let words = WORDS.iter().copied();
    for plain in tokens.filter(|anchor| is_distinctive(anchor)).chain(ARMOR).chain(words) {
        for shift in 0..3 {
            list.extend(encoded(plain, shift));
        }
    }
    list.sort();
    list.dedup();
    list
}

/// Addresses and parameters are no prefixes of tokens, and hashes of passwords are looked for as they are.
fn is_distinctive(anchor: &str) -> bool {
    !anchor.contains(['/', '=', '$', '{']) && anchor.len() >= 3
}

/// Returns the characters of base64 that `plain` decides alone when it begins `shift` bytes into a group.
fn encoded(plain: &str, shift: usize) -> Option<(String, usize)> {
    let mut bytes = vec![0; shift];
    bytes.extend(plain.as_bytes());
    let n_sure = bytes.len() * 8 / 6;
    bytes.extend([0; 3]);
    let skip = (shift * 8).div_ceil(6);
    let text: String = bytes.chunks_exact(3).flat_map(encode_group).collect();
    let sure = text.get(skip..n_sure.min(skip + MAX_ANCHOR))?;
    let is_of_uuid = sure.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-'));
    (sure.len() >= MIN_ANCHOR && !is_of_uuid).then(|| (sure.to_owned(), skip))
}

/// What stands around an anchor, decoded.
pub(super) struct Blob {
    pub(super) decoded: String,
    /// Where the group of the anchor begins.
    first: usize,
    /// Where the decoded groups begin.
    from: usize,
    run_end: usize,
}

/// Decodes what stands around the anchor at `start`, unless that was done.
pub(super) fn read(text: &mut Text<'_>, start: usize, skip: usize) -> Option<Blob> {
    let first = start.checked_sub(skip)?;
    let known = text.decoded[first % 4];
    if text.depth >= MAX_DEPTH || (known.0 <= first && first < known.1) {
        return None;
    }
    let run_start = text.run_start(Set::Base64, start, N_CHARS_BEFORE + skip);
    if first < run_start {
        return None;
    }
    let run_end = text.run_end(Set::Base64, start);
    // What stands before an equals sign is no part of the blob.
    let head = text.slice(run_start, first);
    let n_head = head.iter().rev().take_while(|byte| **byte != b'=').count();
    let from = first - n_head / 4 * 4;
    let mut chars = text.slice(from, run_end.min(from + N_CHARS)).to_vec();
    if chars.len() < N_CHARS {
        let n_lines = (N_CHARS - chars.len()).div_ceil(wrap::MIN_WIDTH);
        for line in wrap::wrapped(text, run_end, n_lines) {
            chars.extend(text.slice(line.start, line.end));
        }
    }
    Some(Blob { decoded: decode(&chars), first, from, run_end })
}

/// Returns all of `blob` as a finding, if one of the findings `inside` counts.
pub(super) fn cover(
    text: &mut Text<'_>,
    blob: &Blob,
    inside: &[FoundSecret],
) -> Option<FoundSecret> {
    let Blob { first, from, run_end, .. } = *blob;
    let Some(secret) = secret_of(&blob.decoded, inside) else {
        // A secret that begins in the first half would have been seen.
        text.decoded[first % 4] = (from, run_end.min(from + N_CHARS / 2));
        return None;
    };
    let start = blob_start(text, first);
    let end = blob_end(text, first, run_end);
    let end = wrap::wrapped(text, end, usize::MAX).last().map_or(end, |line| line.end);
    text.decoded = [(start, end); 4];
    Some(FoundSecret { start, end, ..secret })
}

/// Returns the first secret of `decoded`: one known by its shape, or any if all of it is text.
fn secret_of(decoded: &str, found: &[FoundSecret]) -> Option<FoundSecret> {
    let is_text =
        || decoded.bytes().all(|byte| !byte.is_ascii_control() || byte.is_ascii_whitespace());
    let shape = found.iter().find(|one| one.weight == Weight::Shape);
    shape.or_else(|| found.first().filter(|_| is_text())).copied()
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
    decoded.len() == 3 && decoded.bytes().all(is_text_byte)
}

/// Returns where the blob ends: behind its padding, or with its run.
fn blob_end(text: &Text<'_>, from: usize, run_end: usize) -> usize {
    let run = text.slice(from, run_end);
    let Some(padding) = memchr::memchr(b'=', run) else { return run_end };
    from + padding + run[padding..].iter().take(2).take_while(|byte| **byte == b'=').count()
}
