//! Passwords and tokens in the user part of an address: `postgres://user:password@host`, `https://token@host`.

use std::ops::Range;

use super::finding::PLACEHOLDER;
use super::judge;
use super::text::Text;

const MAX_USER_PART: usize = 512;

/// Returns the password of the address whose `://` ends at `pos`.
pub(super) fn find(text: &mut Text<'_>, _start: usize, pos: usize) -> Option<Range<usize>> {
    let rest = text.rest(pos);
    let rest = &rest[..rest.len().min(MAX_USER_PART)];
    let n_authority = rest.iter().position(|byte| ends_authority(*byte)).unwrap_or(rest.len());
    let authority = &rest[..n_authority];
    if memchr::memmem::find(authority, PLACEHOLDER.as_bytes()).is_some() {
        return None;
    }
    let at = memchr::memrchr(b'@', authority)?;
    let colon = memchr::memchr(b':', &authority[..at]);
    let n_user = colon.map_or(0, |colon| colon + 1);
    let password = authority.get(n_user..at)?;
    let has_host = authority.get(at + 1).is_some_and(u8::is_ascii_alphanumeric)
        || rest.get(at + 1) == Some(&b'[');
    // A user alone is a token if nobody would choose it.
    let is_password = colon.is_some() || is_token(password, &authority[at..]);
    if !has_host || password.len() < 6 || is_stand_in(password) || !is_password {
        return None;
    }
    Some(pos + n_user..pos + at)
}

/// Says whether what stands alone before `host` is generated. The keys of Sentry's addresses are for everybody.
fn is_token(user: &[u8], host: &[u8]) -> bool {
    let is_sentry = memchr::memmem::find(host, b"sentry").is_some();
    user.len() >= 16 && judge::is_random(user) && !is_sentry
}

fn ends_authority(byte: u8) -> bool {
    !byte.is_ascii_graphic()
        || matches!(byte, b'/' | b'"' | b'\'' | b'`' | b'\\' | b'<' | b'>' | b',' | b'|')
}

fn is_stand_in(password: &[u8]) -> bool {
    judge::is_stand_in(password)
        || judge::is_reference(password)
        || judge::has_placeholder(password)
        || password.iter().any(|byte| matches!(byte, b'{' | b'}' | b'(' | b')'))
}
