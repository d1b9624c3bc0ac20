//! Passwords of a `.netrc`, a `.pgpass` and of statements in SQL.

use std::ops::Range;

use super::breaks;
use super::judge;
use super::text::Text;
use super::value::{self, Value, Writing};

/// How far before a password the entry of a `.netrc` may begin.
const MAX_ENTRY: usize = 240;

/// The longest host, database or user.
const MAX_HOST: usize = 64;

/// Remembers where the user of a `.netrc` entry may be.
pub(super) fn note_login(text: &mut Text<'_>, _start: usize, end: usize) -> Option<Range<usize>> {
    text.login = Some(end);
    None
}

/// Returns the password of a `.netrc` entry, where `password ` is at `start..end`.
pub(super) fn netrc(text: &mut Text<'_>, start: usize, end: usize) -> Option<Range<usize>> {
    let is_pair = text.before(end) == Some(b'\r') && text.at(end) == Some(b'\n');
    let at = breaks::skip_blanks(text, end + usize::from(is_pair));
    let value = if is_entry(text, start, end) { value::read(text, at)? } else { return None };
    literal(text, &value)
}

/// Returns where `value` is, if it is meant as it is written.
fn literal(text: &Text<'_>, value: &Value) -> Option<Range<usize>> {
    judge::is_literal(text.slice(value.start, value.end)).then_some(value.start..value.end)
}

/// Says whether the `password ` at `start..end` follows a machine and a login.
fn is_entry(text: &Text<'_>, start: usize, end: usize) -> bool {
    if text.login.is_none_or(|login| login + MAX_ENTRY < start) {
        return false;
    }
    let head = text.slice(start.saturating_sub(MAX_ENTRY), start);
    let last = |word: &[u8]| memchr::memmem::rfind(head, word);
    let Some((login, machine)) = last(b"login").zip(last(b"machine").or_else(|| last(b"default")))
    else {
        return false;
    };
    let is_below = text.before(end) != Some(b' ') || last(b"login ") != Some(login);
    machine < login && (!is_below || is_one_word(&head[login + 5..]))
}

/// Says whether nothing but one word is between two line breaks or blanks.
fn is_one_word(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes).replace("\\n", " ");
    text.split_whitespace().count() == 1
}

/// Returns the password of `host:port:database:user:password`, where `:port:` begins at `start`.
pub(super) fn pgpass(text: &mut Text<'_>, start: usize, _end: usize) -> Option<Range<usize>> {
    let is_host = |byte: &&u8| byte.is_ascii_alphanumeric() || b"._-*".contains(byte);
    let head = text.slice(start.saturating_sub(MAX_HOST), start);
    let host = start - head.iter().rev().take_while(is_host).count();
    let is_start = host < start && text.before(host).is_none_or(|byte| !b":/@%".contains(&byte));
    let mut pos = start + 1;
    for _ in 0..3 {
        let n_field = text.rest(pos).iter().take(MAX_HOST).take_while(is_host).count();
        pos = (n_field > 0 && text.at(pos + n_field) == Some(b':')).then_some(pos + n_field + 1)?;
    }
    let value = value::read(text, pos).filter(|value| value.writing == Writing::Bare)?;
    let has_field = text.slice(value.start, value.end).contains(&b':');
    literal(text, &value).filter(|_| is_start && !has_field)
}

/// Returns the password of `IDENTIFIED BY 'secret'` or `PASSWORD 'secret'`; the words end at `end`. Between backticks
/// is a name.
pub(super) fn sql(text: &mut Text<'_>, start: usize, end: usize) -> Option<Range<usize>> {
    let pos = end - usize::from(text.before(end) == Some(b'\''));
    let value = value::read(text, pos).filter(|value| value.writing == Writing::Quoted)?;
    // In a sentence the next word may be quoted, too.
    let is_sentence =
        text.at(start + 1) == Some(b'a') && !judge::is_password(text.slice(value.start, value.end));
    literal(text, &value).filter(|_| text.at(pos) != Some(b'`') && !is_sentence)
}
