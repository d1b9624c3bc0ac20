//! Tokens under a prefix that no table names: one to three words, a separator, and a long generated rest.

use std::ops::Range;

use super::finding::{FoundSecret, Weight};
use super::judge;
use super::text::{Edge, Set, Text};

/// A shorter rest is too often a part of a name or of an address.
const MIN_BODY: usize = 24;

/// The longest prefix: three words of 16 and their separators.
const MAX_PREFIX: usize = 51;

/// Prefixes of public ids and hashes, by their first word.
const IDS: &str = " toolu msg call resp req run thread asst file item fc rs ws ctc ctco step evt chatcmpl cmpl sha1 \
    sha256 sha384 sha512 md5 blake3 chunk img image commit rev build job trace span sess session task request user \
    agent conv id uuid node block hash etag digest layer snapshot cache tmp temp cus sub price prod pi ch cs seti pm \
    card acct in ig mcp gen batch vs ftjob org proj index main vendor style asset srvtoolu part prt ses ";

/// Words that make even hexadecimal a secret.
const SECRET_WORDS: &str =
    " key token secret sk pat api live test prod private auth access tkn pw rw ";

/// Appends the tokens whose long rest is in one of `parts`.
pub(super) fn find(text: &mut Text<'_>, parts: &[Range<usize>], found: &mut Vec<FoundSecret>) {
    for part in parts {
        // A run of `MIN_BODY` covers one of the bytes that are looked at; most others are skipped.
        let mut pos = part.start + MIN_BODY - 1;
        while pos < part.end.min(text.bytes.len()) {
            let from = pos + 1 - MIN_BODY;
            let head = text.slice(from, pos + 1);
            pos = match head.iter().rposition(|byte| !byte.is_ascii_alphanumeric()) {
                Some(at) => from + at + MIN_BODY,
                None => {
                    found.extend(token_at(text, from));
                    text.run_end(Set::Alnum, from) + MIN_BODY
                }
            };
        }
    }
}

/// Returns the token whose generated rest begins at `body`.
fn token_at(text: &mut Text<'_>, body: usize) -> Option<FoundSecret> {
    if !matches!(text.before(body)?, b'_' | b'-') {
        return None;
    }
    let start = text.run_start(Set::Url, body, MAX_PREFIX + 1);
    let words = str::from_utf8(text.slice(start, body - 1)).ok()?;
    let is_listed = |list: &str, word: &str| list.split(' ').any(|one| one == word);
    let is_prefix = words.split(['_', '-']).count() <= 3 && words.split(['_', '-']).all(is_word);
    if !is_prefix
        || !text.is_edge(Edge::Blob, start)
        || is_listed(IDS, words.split(['_', '-']).next()?)
    {
        return None;
    }
    let run_end = text.run_end(Set::Alnum, body);
    let rest = text.slice(body, run_end);
    // Ids of messages, tools and sessions of Claude.
    let is_id = rest.len() == 24 && rest.starts_with(b"01");
    let is_hex = rest.iter().all(u8::is_ascii_hexdigit);
    let is_secret = words.split(['_', '-']).any(|word| is_listed(SECRET_WORDS, word));
    let is_generated =
        if is_hex { is_secret && judge::is_random(rest) } else { judge::is_certain(rest) };
    let end = text.run_end(Set::Url, body);
    // A file whose name ends with the hash of its content.
    let is_file = text.at(end) == Some(b'.')
        && text.at(end + 1).is_some_and(|byte| byte.is_ascii_alphanumeric());
    (is_generated && !is_id && !is_file && judge::is_plausible(rest)).then_some(FoundSecret::new(
        start..end,
        "token",
        Weight::Place,
    ))
}

/// Says whether a word may be one of a prefix: lower case with digits, or short and upper case.
fn is_word(word: &str) -> bool {
    let is_lower = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let has_letter = word.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_short = word.len() <= 8 && word.bytes().all(|byte| byte.is_ascii_uppercase());
    has_letter && (2..=16).contains(&word.len()) && (is_short || word.bytes().all(is_lower))
}
