//! Finds HTTP credentials: `Authorization` headers, `Bearer` tokens, cookies, and passwords in
//! URLs.

use std::ops::Range;

use super::text::{Edge, PLACEHOLDER, Pattern, Set, Text};
use super::{judge, value};

const MAX_SAMPLE: usize = 1024;

/// Browsers do not store cookies that are longer than this.
const MAX_COOKIE: usize = 4096;

const MAX_USER_PART: usize = 512;

static LINK: Pattern = Pattern::new(r"\A<q>?[ \]]{0,8}[:=,]>? {0,8}(?:[fbru]?<q>)?");

static SCHEME: Pattern = Pattern::new(r"\A[0-9A-Za-z-]{1,24} +");

pub(super) fn authorization(text: &mut Text<'_>, start: usize, end: usize) -> Option<Range<usize>> {
    let is_name = text.is_edge(Edge::Word, start);
    let pos = is_name.then(|| header_value(text, end)).flatten()?;
    let n_scheme = SCHEME.len(text.ahead(pos, 64)).unwrap_or(0);
    let has_scheme = n_scheme > 0;
    let start = pos + n_scheme;
    let end = credentials_end(text, start);
    let credentials = sample(text, start, end);
    let first_word = credentials.split(|byte| *byte == b',').next().unwrap_or_default();
    let is_chosen = || {
        judge::is_password(credentials)
            || (credentials.len() >= 16 && judge::is_generated(credentials))
            || (credentials.contains(&b',') && judge::Stats::of(credentials).n_jumps >= 4)
    };
    let is_secret =
        is_credential(credentials) && (judge::is_random(first_word) || (has_scheme && is_chosen()));
    is_secret.then_some(start..end)
}

pub(super) fn bearer(text: &mut Text<'_>, start: usize, end: usize) -> Option<Range<usize>> {
    if !text.is_edge(Edge::Word, start) {
        return None;
    }
    let token_end = text.run_end(Set::Credential, end);
    let token = sample(text, end, token_end);
    let is_secret = is_credential(token) && judge::is_random(token);
    is_secret.then_some(end..token_end)
}

pub(super) fn cookie(text: &mut Text<'_>, start: usize, end: usize) -> Option<Range<usize>> {
    let is_flag = text.behind(start, 2) == b"--" && text.at(end) == Some(b' ');
    let pos = if is_flag {
        value::quote_at(text, end + 1).map_or(end + 1, |quote| quote.end)
    } else if text.before(start) != Some(b'-') && text.is_edge(Edge::Word, start) {
        header_value(text, end)?
    } else {
        return None;
    };
    let end = text.run_end(Set::Line, pos);
    cookies(text, pos, end)
}

pub(super) fn set_cookie(text: &mut Text<'_>, _start: usize, end: usize) -> Option<Range<usize>> {
    let pos = header_value(text, end)?;
    let end = text.run_end(Set::Line, pos);
    let line = text.slice(pos, end.min(pos + MAX_COOKIE));
    let end = memchr::memchr(b';', line).map_or(end, |at| pos + at);
    cookies(text, pos, end)
}

fn cookies(text: &Text<'_>, pos: usize, end: usize) -> Option<Range<usize>> {
    let line = sample(text, pos, end);
    let equals = memchr::memchr(b'=', line)?;
    let name = &line[..equals];
    let is_name = !name.is_empty()
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-.$".contains(byte));
    let values = &line[equals + 1..];
    let has_secret = || {
        values.split(|byte| *byte == b';').any(|pair| {
            let value = memchr::memchr(b'=', pair).map_or(pair, |at| &pair[at + 1..]);
            judge::is_random(value) || (value.len() < 24 && judge::is_mixed(value))
        })
    };
    (is_name && has_secret() && is_credential(values)).then_some(pos + equals + 1..end)
}

fn header_value(text: &Text<'_>, end: usize) -> Option<usize> {
    let at = end + LINK.len(text.ahead(end, 64))?;
    // A separator after the closing quote means that the quote belongs to the name.
    let has_quote = matches!(text.before(at), Some(b'"' | b'\'' | b'`'));
    let is_value = !has_quote || !matches!(text.at(at)?, b',' | b':' | b'}' | b']');
    is_value.then_some(at)
}

fn credentials_end(text: &mut Text<'_>, pos: usize) -> usize {
    let end = text.run_end(Set::Credential, pos);
    let is_list = text.at(end) == Some(b',') && text.slice(pos, end.min(pos + 64)).contains(&b'=');
    if is_list { text.run_end(Set::Line, pos) } else { end }
}

fn sample<'t>(text: &Text<'t>, start: usize, end: usize) -> &'t [u8] {
    text.slice(start, end.min(start + MAX_SAMPLE))
}

fn is_credential(credentials: &[u8]) -> bool {
    let credentials = &credentials[..credentials.len().min(judge::SAMPLE)];
    credentials.len() >= 8
        && !credentials.contains(&b'(')
        && !judge::is_reference(credentials)
        && !judge::has_placeholder(credentials)
}

/// Returns the password in the URL whose `://` ends at `pos`, or the user name if it is a token.
pub(super) fn url_password(text: &mut Text<'_>, _start: usize, pos: usize) -> Option<Range<usize>> {
    let rest = text.ahead(pos, MAX_USER_PART);
    let ends = |byte: &u8| !byte.is_ascii_graphic() || b"/\"'`\\<>,|".contains(byte);
    let authority = &rest[..rest.iter().position(ends).unwrap_or(rest.len())];
    let at = memchr::memrchr(b'@', authority)?;
    let colon = memchr::memchr(b':', &authority[..at]);
    let n_user = colon.map_or(0, |colon| colon + 1);
    let password = &authority[n_user..at];
    let has_host = authority.get(at + 1).is_some_and(u8::is_ascii_alphanumeric)
        || rest.get(at + 1) == Some(&b'[');
    // A user name without a password is a token if it looks generated. Sentry's keys are excluded
    // because they are public.
    let is_token = || {
        password.len() >= 16
            && judge::is_random(password)
            && memchr::memmem::find(authority, b"sentry").is_none()
    };
    let is_secret = has_host
        && password.len() >= 6
        && memchr::memmem::find(authority, PLACEHOLDER.as_bytes()).is_none()
        && !is_stand_in(password)
        && (colon.is_some() || is_token());
    is_secret.then_some(pos + n_user..pos + at)
}

fn is_stand_in(password: &[u8]) -> bool {
    judge::is_stand_in(password)
        || judge::is_reference(password)
        || judge::has_placeholder(password)
        || password.iter().any(|byte| b"{}()".contains(byte))
}
