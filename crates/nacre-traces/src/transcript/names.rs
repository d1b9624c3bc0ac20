//! Cleans and shortens names from transcripts: IDs, paths, branches and URLs.

use std::borrow::Cow;

use super::event::{clean_front, front};
use nacre_base::redact::redact;

/// Maximum length of an ID, path, branch or model name in bytes.
const MAX_NAME: usize = 4 * 1024;
/// Maximum length of session IDs inside databases. Agents use UUIDs or shorter IDs.
const MAX_SESSION_ID: usize = 200;

pub(crate) fn repository_address(url: &str) -> String {
    short_name(&without_credentials(url))
}

pub(crate) fn short_name(name: &str) -> String {
    if name.len() <= MAX_NAME && is_of_hex(name) {
        return name.to_owned();
    }
    let clean =
        if name.len() <= MAX_NAME { redact(name) } else { Cow::Owned(clean_front(name, MAX_NAME)) };
    if matches!(clean, Cow::Borrowed(_)) && !name.contains('/') {
        return clean.into_owned();
    }
    // Redact each path component on its own, because redaction can miss a token that follows other
    // text.
    let parts: Vec<Cow<'_, str>> = clean.split('/').map(redact).collect();
    front(&parts.join("/"), MAX_NAME).to_owned()
}

/// Session IDs are stored and displayed unchanged, because they are needed to find the session
/// again. Therefore, IDs that are too long or contain secrets are rejected.
pub(crate) fn is_session_id(id: &str) -> bool {
    !id.is_empty() && id.len() <= MAX_SESSION_ID && short_name(id) == id
}

/// A name made up entirely of characters that can appear in a lowercase UUID cannot contain a
/// secret.
fn is_of_hex(name: &str) -> bool {
    let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-');
    // `fold` has no early exit, so the compiler can vectorize the loop.
    name.bytes().fold(true, |all, byte| all & is_hex(byte))
}

/// Removes `user:token@` from `https://user:token@host/path`.
fn without_credentials(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let host_end = rest.find('/').unwrap_or(rest.len());
    match rest[..host_end].rfind('@') {
        Some(at) => format!("{scheme}://{}", &rest[at + 1..]),
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_no_agent_makes_names_no_session() {
        for id in ["0b0d7f0c-6f2d-4b0e-9f0a-1f2e3d4c5b6a", "ses_6f3a1c2d4ffeAbCdEfGhIjKlMn", "1"] {
            assert!(is_session_id(id), "{id}");
        }
        let token = format!("ghp_{}", "a1B2c3D4e5".repeat(4));
        let long = "x".repeat(MAX_SESSION_ID + 1);
        for id in ["", token.as_str(), &format!("ses_1 {token}"), &long] {
            assert!(!is_session_id(id), "{id}");
        }
    }

    #[test]
    fn ids_as_opencode_makes_them_are_no_secrets() {
        const LETTERS: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        for n in 0..2000_u32 {
            let hash = blake3::hash(&n.to_le_bytes());
            let letter = |byte: &u8| char::from(LETTERS[usize::from(*byte) % LETTERS.len()]);
            let random: String = hash.as_bytes().iter().take(14).map(letter).collect();
            let id = format!("ses_{}{random}", &hash.to_hex()[..12]);
            assert!(is_session_id(&id), "{id}");
        }
    }
}
