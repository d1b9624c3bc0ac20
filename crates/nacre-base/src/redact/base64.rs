//! Finds secrets inside base64.
//!
//! Every sufficiently long token prefix is also searched for in its base64 form, at each of the
//! three alignments. The text around a match is decoded up to a limit and scanned.

use std::ops::Range;

use ::base64::Engine;
use ::base64::alphabet::STANDARD;
use ::base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::text::{FoundSecret, Set, Text, Weight};
use super::value::{break_end, skip_blanks};
use super::{judge, rules};

/// How many characters to decode before a match, to determine where the secret starts. The number
/// is a multiple of four, because base64 encodes in groups of four characters.
const N_CHARS_BEFORE: usize = 48;

/// How many characters to decode from the start of a match. Secrets of every kind are recognizable
/// within this length.
const N_CHARS: usize = 640;

const MAX_BEFORE: usize = 8192;

/// Shorter anchors often match by chance.
const MIN_ANCHOR: usize = 4;

/// Longer anchors would only enlarge the automaton, because every match is decoded and verified
/// anyway.
const MAX_ANCHOR: usize = 4;

pub(super) const MAX_DEPTH: u8 = 2;

/// Headers of PEM keys, plain and in base64. The base64 form is needed because an encoded config
/// file may contain encoded keys.
const ARMOR: [&str; 2] = ["-----BEGIN ", "LS0tLS1CRUdJTi"];

const WORDS: &[&str] = &[
    "passw", "Passw", "PASSW", "secret", "Secret", "SECRET", "token", "Token", "TOKEN", "api_key",
    "API_KEY", "apiKey",
];

/// Encodes all prefixes in base64. Each result includes the number of base64 characters that
/// precede the anchor in its first group.
pub(super) fn anchors() -> Vec<(String, usize)> {
    let tokens = rules::RULES.iter().flat_map(|rule| rule.anchors.split(' '));
    let mut list = Vec::new();
    let words = WORDS.iter().copied();
    for plain in tokens.filter(|anchor| is_distinctive(anchor)).chain(ARMOR).chain(words) {
        for shift in 0..3 {
            list.extend(encode_shifted(plain, shift));
        }
    }
    list.sort();
    list.dedup();
    list
}

/// Returns whether an anchor is a token prefix that may occur in base64, unlike the anchors for
/// addresses, parameters and password hashes.
fn is_distinctive(anchor: &str) -> bool {
    !anchor.contains(['/', '=', '$', '{']) && anchor.len() >= 3
}

/// Returns the base64 characters that are determined by `plain` alone if it starts `shift` bytes
/// into a group.
fn encode_shifted(plain: &str, shift: usize) -> Option<(String, usize)> {
    let mut bytes = vec![0; shift];
    bytes.extend(plain.as_bytes());
    let n_sure = bytes.len() * 8 / 6;
    bytes.extend([0; 3]);
    let skip = (shift * 8).div_ceil(6);
    let text = ENGINE.encode(bytes);
    let sure = text.get(skip..n_sure.min(skip + MAX_ANCHOR))?;
    let is_of_uuid = sure.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-'));
    (sure.len() >= MIN_ANCHOR && !is_of_uuid).then(|| (sure.to_owned(), skip))
}

pub(super) struct Blob {
    pub(super) decoded: String,
    first: usize,
    from: usize,
    run_end: usize,
}

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
    // An equals sign is padding or part of an assignment, so the blob starts after it.
    let head = text.slice(run_start, first);
    let n_head = head.iter().rev().take_while(|byte| **byte != b'=').count();
    let from = first - n_head / 4 * 4;
    let mut chars = text.slice(from, run_end.min(from + N_CHARS)).to_vec();
    if chars.len() < N_CHARS {
        let n_lines = (N_CHARS - chars.len()).div_ceil(MIN_WIDTH);
        for line in find_wrapped_lines(text, run_end, n_lines) {
            chars.extend(text.slice(line.start, line.end));
        }
    }
    Some(Blob { decoded: decode(&chars), first, from, run_end })
}

pub(super) fn cover(
    text: &mut Text<'_>,
    blob: &Blob,
    inside: &[FoundSecret],
) -> Option<FoundSecret> {
    let Blob { first, from, run_end, .. } = *blob;
    let Some(secret) = secret_of(&blob.decoded, inside) else {
        text.decoded[first % 4] = (from, run_end.min(from + N_CHARS / 2));
        return None;
    };
    let start = blob_start(text, first);
    let end = blob_end(text, first, run_end);
    let end = find_wrapped_lines(text, end, usize::MAX).last().map_or(end, |line| line.end);
    text.decoded = [(start, end); 4];
    Some(FoundSecret { start, end, ..secret })
}

/// Returns the first secret in `decoded` that is recognized by its format, or any secret if all of
/// the decoded text is readable.
fn secret_of(decoded: &str, found: &[FoundSecret]) -> Option<FoundSecret> {
    let is_text =
        || decoded.bytes().all(|byte| !byte.is_ascii_control() || byte.is_ascii_whitespace());
    let shape = found.iter().find(|one| one.weight == Weight::Shape);
    shape.or_else(|| found.first().filter(|_| is_text())).copied()
}

/// Finds the start of the blob by going back from the group at `first` while the groups decode to
/// text.
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

fn blob_end(text: &Text<'_>, from: usize, run_end: usize) -> usize {
    let run = text.slice(from, run_end);
    let Some(padding) = memchr::memchr(b'=', run) else { return run_end };
    from + padding + run[padding..].iter().take(2).take_while(|byte| **byte == b'=').count()
}

/// Standard base64 alphabet with optional padding, because logs may truncate blobs at any position.
const ENGINE: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Decodes up to the first character that is in neither base64 alphabet. Non-ASCII bytes become
/// spaces to preserve offsets.
fn decode(chars: &[u8]) -> String {
    let to_standard = |byte: &u8| match byte {
        b'-' => Some(b'+'),
        b'_' => Some(b'/'),
        byte if byte.is_ascii_alphanumeric() || b"+/".contains(byte) => Some(*byte),
        _ => None,
    };
    let mut chars: Vec<u8> = chars.iter().map_while(to_standard).collect();
    // A single trailing character does not encode a byte.
    chars.truncate(chars.len() - usize::from(chars.len() % 4 == 1));
    let decoded = ENGINE.decode(chars).unwrap_or_default();
    decoded.into_iter().map(|byte| if byte.is_ascii() { char::from(byte) } else { ' ' }).collect()
}

const MAX_LOGIN: usize = 640;

pub(super) fn is_text(chars: &[u8]) -> bool {
    let decoded = decode(chars);
    let n_encoded = chars.iter().filter(|byte| **byte != b'=').count();
    decoded.len() == n_encoded * 3 / 4 && decoded.bytes().all(is_text_byte)
}

fn is_text_byte(byte: u8) -> bool {
    byte.is_ascii_graphic() || b" \n\r\t".contains(&byte)
}

/// Returns whether `value` is base64 of `user:password`, the format of registry credentials.
pub(super) fn is_login(value: &[u8]) -> bool {
    let decoded = decode(&value[..value.len().min(MAX_LOGIN)]);
    let n_encoded = value.iter().filter(|byte| **byte != b'=').count();
    let is_whole = decoded.len() == n_encoded.min(MAX_LOGIN) * 3 / 4;
    let is_graphic = decoded.bytes().all(|byte| byte.is_ascii_graphic());
    let parts = decoded.split_once(':');
    is_whole
        && is_graphic
        && parts.is_some_and(|(user, password)| !user.is_empty() && password.len() >= 4)
}

const MIN_WIDTH: usize = 56;

const MAX_LINE: usize = 512;

fn find_wrapped_lines(text: &mut Text<'_>, mut end: usize, max_lines: usize) -> Vec<Range<usize>> {
    // Padding marks the end of the encoded data.
    let max_lines = if text.before(end) == Some(b'=') { 0 } else { max_lines };
    let mut lines: Vec<Range<usize>> = Vec::new();
    while let Some(next) = break_end(text, end).filter(|_| lines.len() < max_lines) {
        let start = skip_blanks(text, next);
        end = text.run_end(Set::Base64, start);
        let run = text.slice(start, end);
        let ends_line =
            text.at(end).is_none_or(|byte| matches!(byte, b'\n' | b'\r' | b'\\' | b'"' | b'\''));
        let is_full =
            lines.first().map_or(run.len() >= MIN_WIDTH, |first| run.len() == first.len());
        let is_last = match lines.first() {
            None => judge::is_random(run) && run.len().is_multiple_of(4),
            Some(first) => run.len() < first.len() && is_rest(run),
        };
        if !ends_line || run.len() > MAX_LINE || !(is_full || is_last) {
            break;
        }
        lines.push(start..end);
        if !is_full || run.ends_with(b"=") {
            break;
        }
    }
    lines
}

fn is_rest(run: &[u8]) -> bool {
    run.ends_with(b"=") || judge::Stats::of(run).n_jumps > 0
}
