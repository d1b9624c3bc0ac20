//! The values of a Kubernetes `Secret`, which stand as base64 under names of their own choice.

use std::ops::Range;

use super::breaks;
use super::codec;
use super::finding::{FoundSecret, Weight};
use super::judge;
use super::text::{Set, Text};
use super::value;

/// How a manifest says that it is a `Secret`: in YAML, in JSON, and in JSON inside a string.
pub(super) const ANCHORS: &str =
    "kind: Secret|kind\":\"Secret|kind\": \"Secret|kind\\\":\\\"Secret|kind\\\": \\\"Secret";

/// How far from its kind the values of a manifest are looked for.
const MAX_AWAY: usize = 4096;

/// The longest name of a value.
const MAX_KEY: usize = 96;

/// Room for a line break and indentation.
const MAX_GAP: usize = 48;

/// A shorter value is no secret.
const MIN_VALUE: usize = 8;

/// Appends the values of the manifest whose kind stands at `start..end`.
pub(super) fn find(text: &mut Text<'_>, start: usize, end: usize, found: &mut Vec<FoundSecret>) {
    if text.at(end).is_some_and(|byte| byte.is_ascii_alphanumeric()) {
        return;
    }
    let region = manifest(text, start, end);
    text.manifest = text.manifest.max(region.end);
    let mut pos = region.start;
    while let Some(at) = memchr::memmem::find(text.slice(pos, region.end), b"ata") {
        let word_end = pos + at + 3;
        pos = word_end;
        let Some(block) = block_at(text, word_end) else { continue };
        pos = take_entries(text, &block, region.end, found).max(word_end);
    }
}

/// Returns what of the text around `start..end` is the same manifest and was not looked at yet.
fn manifest(text: &Text<'_>, start: usize, end: usize) -> Range<usize> {
    let floor = start.saturating_sub(MAX_AWAY).max(text.manifest).min(start);
    let head = text.slice(floor, start);
    let limit = text.bytes.len().min(end + MAX_AWAY);
    let tail = text.slice(end, limit);
    let from = memchr::memmem::rfind(head, b"\n---\n").map_or(floor, |at| floor + at);
    let to = memchr::memmem::find(tail, b"\n---\n").map_or(limit, |at| end + at);
    from.max(text.manifest)..to
}

/// Where the values of a manifest stand.
struct Block {
    /// Where the first of them may begin.
    start: usize,
    /// How far the word `data` is indented.
    indent: usize,
    is_json: bool,
    /// Whether the values are written as they are.
    is_plain: bool,
}

/// Returns the block of values that a `data` or `stringData` ending at `pos` opens.
fn block_at(text: &Text<'_>, pos: usize) -> Option<Block> {
    let is_plain = text.slice(pos.saturating_sub(10), pos) == b"stringData";
    let start = pos.checked_sub(if is_plain { 10 } else { 4 })?;
    let is_word = is_plain || text.slice(start, pos) == b"data";
    let is_edge = text.is_edge(super::text::Edge::Word, start) && text.before(start) != Some(b'-');
    if !is_word || !is_edge {
        return None;
    }
    let at = value::quote_at(text, pos).map_or(pos, |quote| quote.end);
    let colon = breaks::skip_blanks(text, at);
    let after = (text.at(colon) == Some(b':')).then(|| breaks::skip_blanks(text, colon + 1))?;
    let is_json = text.at(after) == Some(b'{');
    let first = if is_json { after + 1 } else { breaks::break_end(text, after)? };
    let head = text.slice(start.saturating_sub(MAX_GAP), start);
    let indent = head.iter().rev().take_while(|byte| **byte == b' ').count();
    Some(Block { start: first, indent, is_json, is_plain })
}

/// Appends the values of `block`, and returns where it ends.
fn take_entries(
    text: &mut Text<'_>,
    block: &Block,
    limit: usize,
    found: &mut Vec<FoundSecret>,
) -> usize {
    let mut pos = block.start;
    while pos < limit {
        let Some(key) = entry_start(text, block, pos) else { break };
        let Some(at) = key_end(text, key) else { break };
        let Some(value) = value::read(text, at) else { break };
        let bytes = text.slice(value.start, value.end);
        if is_secret(bytes, block.is_plain) {
            let (start, end) = (value.start, value.end);
            found.push(FoundSecret::new(start..end, "secret", Weight::Place));
        }
        let end = value::quote_at(text, value.end).map_or(value.end, |quote| quote.end);
        pos = end + usize::from(block.is_json && text.at(end) == Some(b','));
        if !block.is_json {
            let Some(next) = breaks::break_end(text, breaks::skip_blanks(text, pos)) else { break };
            pos = next;
        }
    }
    pos
}

/// Returns where the name of the entry at `pos` begins.
fn entry_start(text: &Text<'_>, block: &Block, pos: usize) -> Option<usize> {
    let mut start = breaks::skip_blanks(text, pos);
    if !block.is_json {
        return (start - pos > block.indent).then_some(start);
    }
    while let Some(next) = breaks::break_end(text, start).filter(|next| next - pos < MAX_GAP) {
        start = breaks::skip_blanks(text, next);
    }
    value::quote_at(text, start).map(|_| start)
}

/// Returns where the value of the name at `pos` begins.
fn key_end(text: &Text<'_>, pos: usize) -> Option<usize> {
    let start = value::quote_at(text, pos).map_or(pos, |quote| quote.end);
    let is_key = |byte: &&u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
    let n_key = text.rest(start).iter().take(MAX_KEY).take_while(is_key).count();
    let end = start + n_key;
    let end = value::quote_at(text, end).map_or(end, |quote| quote.end);
    (n_key > 0 && text.at(end) == Some(b':')).then(|| breaks::skip_blanks(text, end + 1))
}

fn is_secret(bytes: &[u8], is_plain: bool) -> bool {
    let sample = &bytes[..bytes.len().min(judge::SAMPLE)];
    let is_hidden =
        bytes.len() >= MIN_VALUE && !judge::is_reference(sample) && !judge::has_placeholder(sample);
    let is_base64 =
        || bytes.len().is_multiple_of(4) && bytes.iter().all(|byte| Set::Base64.has(*byte));
    is_hidden
        && if is_plain {
            judge::is_password(sample)
        } else {
            is_base64() && (codec::is_text(sample) || judge::is_random(sample))
        }
}
