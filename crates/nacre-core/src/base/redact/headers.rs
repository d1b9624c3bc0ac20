//! Credentials of HTTP headers: `Authorization` with any scheme, `Bearer` anywhere, cookies.

use std::ops::Range;

use super::judge;
use super::text::{Edge, Set, Text};
use super::value;

/// As much of a header is judged.
const MAX_SAMPLE: usize = 1024;

/// No browser keeps a longer cookie.
const MAX_COOKIE: usize = 4096;

/// Returns the credentials of the header whose name is at `start..end`.
pub(super) fn authorization(text: &mut Text<'_>, start: usize, end: usize) -> Option<Range<usize>> {
    let is_name = text.is_edge(Edge::Word, start);
    let pos = is_name.then(|| header_value(text, end)).flatten()?;
    let n_scheme = scheme_len(text.rest(pos));
    let after_scheme = text.rest(pos + n_scheme).iter().take_while(|byte| **byte == b' ').count();
    let has_scheme = n_scheme > 0 && after_scheme > 0;
    let start = if has_scheme { pos + n_scheme + after_scheme } else { pos };
    let end = credentials_end(text, start);
    let credentials = sample(text, start, end);
    let is_secret = is_credential(credentials)
        && (judge::is_random(first_word(credentials))
            || (has_scheme && judge::is_password(credentials))
            || (has_scheme && credentials.len() >= 16 && judge::is_generated(credentials))
            || (has_scheme && is_parameters(credentials)));
    is_secret.then_some(start..end)
}

/// Returns the token behind a `Bearer ` at `start..end`.
pub(super) fn bearer(text: &mut Text<'_>, start: usize, end: usize) -> Option<Range<usize>> {
    if !text.is_edge(Edge::Word, start) {
        return None;
    }
    let token_end = text.run_end(Set::Credential, end);
    let token = sample(text, end, token_end);
    let is_secret = is_credential(token) && judge::is_random(token);
    is_secret.then_some(end..token_end)
}

/// Returns the cookies of the header whose name stands at `start..end`.
pub(super) fn cookie(text: &mut Text<'_>, start: usize, end: usize) -> Option<Range<usize>> {
    let is_flag = text.slice(start.saturating_sub(2), start) == b"--" && text.at(end) == Some(b' ');
    let pos = match (is_flag, text.before(start)) {
        (true, _) => {
            let pos = end + 1;
            value::quote_at(text, pos).map_or(pos, |quote| quote.end)
        }
        (false, Some(b'-')) => return None,
        (false, Some(_)) if !text.is_edge(Edge::Word, start) => return None,
        (false, _) => header_value(text, end)?,
    };
    let end = text.run_end(Set::Line, pos);
    cookies(text, pos, end)
}

/// Returns the one cookie that a `Set-Cookie` ending at `end` sets; its attributes stay.
pub(super) fn set_cookie(text: &mut Text<'_>, _start: usize, end: usize) -> Option<Range<usize>> {
    let pos = header_value(text, end)?;
    let end = text.run_end(Set::Line, pos);
    let line = text.slice(pos, end.min(pos + MAX_COOKIE));
    let end = memchr::memchr(b';', line).map_or(end, |at| pos + at);
    cookies(text, pos, end)
}

/// Returns `pos..end` from the first value on, if it holds cookies worth hiding.
fn cookies(text: &Text<'_>, pos: usize, end: usize) -> Option<Range<usize>> {
    let line = sample(text, pos, end);
    let equals = memchr::memchr(b'=', line)?;
    let name = &line[..equals];
    let is_name = !name.is_empty()
        && name
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'$'));
    let values = &line[equals + 1..];
    let has_secret = || {
        values.split(|byte| *byte == b';').any(|pair| {
            let value =
                pair.iter().position(|byte| *byte == b'=').map_or(pair, |at| &pair[at + 1..]);
            judge::is_random(value) || (value.len() < 24 && judge::is_mixed(value))
        })
    };
    if !is_name || !has_secret() || !is_credential(values) {
        return None;
    }
    Some(pos + equals + 1..end)
}

/// Returns where the value of a header begins whose name ends at `end`.
fn header_value(text: &Text<'_>, end: usize) -> Option<usize> {
    let mut pos = value::quote_at(text, end).map_or(end, |quote| quote.end);
    pos += text.rest(pos).iter().take(8).take_while(|byte| matches!(**byte, b' ' | b']')).count();
    if !matches!(text.at(pos)?, b':' | b'=' | b',') {
        return None;
    }
    pos += 1 + usize::from(text.at(pos + 1) == Some(b'>'));
    pos += text.rest(pos).iter().take(8).take_while(|byte| **byte == b' ').count();
    let pos = match text.rest(pos) {
        [b'f' | b'b' | b'r' | b'u', b'"' | b'\'', ..] => pos + 1,
        _ => pos,
    };
    let Some(quote) = value::quote_at(text, pos) else { return Some(pos) };
    (!matches!(text.at(quote.end)?, b',' | b':' | b'}' | b']')).then_some(quote.end)
}

fn scheme_len(rest: &[u8]) -> usize {
    rest.iter().take(24).take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-').count()
}

/// Returns the end of a word, or of a list of `name=value` parameters that fills the header.
fn credentials_end(text: &mut Text<'_>, pos: usize) -> usize {
    let end = text.run_end(Set::Credential, pos);
    let is_list = text.at(end) == Some(b',') && text.slice(pos, end.min(pos + 64)).contains(&b'=');
    if is_list { text.run_end(Set::Line, pos) } else { end }
}

/// Returns enough of `start..end` to judge it.
fn sample<'t>(text: &Text<'t>, start: usize, end: usize) -> &'t [u8] {
    text.slice(start, end.min(start + MAX_SAMPLE))
}

fn first_word(credentials: &[u8]) -> &[u8] {
    credentials.split(|byte| *byte == b',').next().unwrap_or_default()
}

fn is_parameters(credentials: &[u8]) -> bool {
    credentials.contains(&b',') && judge::Stats::of(credentials).n_jumps >= 4
}

fn is_credential(credentials: &[u8]) -> bool {
    let credentials = &credentials[..credentials.len().min(judge::SAMPLE)];
    credentials.len() >= 8
        && !credentials.contains(&b'(')
        && !judge::is_reference(credentials)
        && !judge::has_placeholder(credentials)
}
