//! Names that a trace gives: ids, paths, branches and addresses, cleaned and bounded.

use std::borrow::Cow;

use super::event::{clean_front, front};
use crate::base::redact::redact;

/// The longest id, path, branch or model name that is kept.
const MAX_NAME: usize = 4 * 1024;

/// A repository's address as it may be kept.
pub(crate) fn repository_address(url: &str) -> String {
    short_name(&without_credentials(url))
}

/// A name from a trace, redacted and kept to a sane length.
pub(super) fn short_name(name: &str) -> String {
    if name.len() <= MAX_NAME && is_of_hex(name) {
        return name.to_owned();
    }
    let clean =
        if name.len() <= MAX_NAME { redact(name) } else { Cow::Owned(clean_front(name, MAX_NAME)) };
    if matches!(clean, Cow::Borrowed(_)) && !name.contains('/') {
        return clean.into_owned();
    }
    // Inside a path what stands before a token may hide it; here every part is a name of its own.
    let parts: Vec<Cow<'_, str>> = clean.split('/').map(redact).collect();
    front(&parts.join("/"), MAX_NAME).to_owned()
}

/// Whether a name is made like a uuid in lower case, as nearly every record has one: no secret can be
/// told in it.
fn is_of_hex(name: &str) -> bool {
    let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-');
    // Not `all`: without a way out of the middle, many bytes are looked at in one step.
    name.bytes().fold(true, |all, byte| all & is_hex(byte))
}

/// `https://user:token@host/path` without `user:token@`.
fn without_credentials(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let host_end = rest.find('/').unwrap_or(rest.len());
    match rest[..host_end].rfind('@') {
        Some(at) => format!("{scheme}://{}", &rest[at + 1..]),
        None => url.to_owned(),
    }
}
