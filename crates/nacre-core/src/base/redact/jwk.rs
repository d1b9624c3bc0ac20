//! The private parts of a JSON Web Key, whose names are single letters.

use std::ops::Range;

use super::finding::{FoundSecret, Weight};
use super::judge;
use super::pem;
use super::text::{Set, Text};
use super::value::{self, Writing};

/// The member that every key has.
pub(super) const ANCHOR: &str = "\"kty";

/// The members that only a private or a symmetric key has.
const PARTS: [&[u8]; 8] = [b"\"d", b"\"p", b"\"q", b"\"dp", b"\"dq", b"\"qi", b"\"k", b"\"r"];

/// How far from its type a part may stand.
const MAX_AWAY: usize = 8192;

/// A shorter part is no key.
const MIN_PART: usize = 22;

/// Appends the private parts of the key whose type begins at `start`.
pub(super) fn find(text: &mut Text<'_>, start: usize, _end: usize, found: &mut Vec<FoundSecret>) {
    if start < text.jwk {
        return;
    }
    let object = object_around(text, start);
    text.jwk = object.end;
    for name in PARTS {
        let mut pos = object.start;
        while let Some(at) = memchr::memmem::find(text.slice(pos, object.end), name) {
            let name_end = pos + at + name.len();
            pos = name_end;
            found.extend(part_at(text, name_end));
        }
    }
}

/// Returns what stands between the braces around `pos`.
fn object_around(text: &Text<'_>, pos: usize) -> Range<usize> {
    let floor = pos.saturating_sub(MAX_AWAY).max(text.jwk).min(pos);
    let from = memchr::memrchr(b'{', text.slice(floor, pos)).map_or(floor, |at| floor + at);
    let limit = text.bytes.len().min(pos + MAX_AWAY);
    let to = memchr::memchr(b'}', text.slice(pos, limit)).map_or(limit, |at| pos + at);
    from..to
}

/// Returns the value of the member whose name ends at `name_end`, before its quote.
fn part_at(text: &mut Text<'_>, name_end: usize) -> Option<FoundSecret> {
    let quote = value::quote_at(text, name_end)?;
    let blanks = |text: &Text<'_>, pos: usize| {
        pos + text.rest(pos).iter().take(8).take_while(|byte| **byte == b' ').count()
    };
    let colon = blanks(text, quote.end);
    let at = (text.at(colon) == Some(b':')).then(|| blanks(text, colon + 1))?;
    let value = value::read(text, at).filter(|value| value.writing == Writing::Quoted)?;
    let bytes = text.slice(value.start, value.end);
    let is_part = bytes.len() >= MIN_PART
        && bytes.iter().all(|byte| Set::Base64.has(*byte))
        && judge::is_generated(bytes)
        && judge::is_plausible(bytes);
    is_part.then_some(FoundSecret::new(value.start..value.end, pem::KIND, Weight::Place))
}
