//! Settings of a password: under a name that means one, any value goes that is not a stand-in.
//!
//! What the value looks like is asked only elsewhere. Here the line must be a setting and not code, in which the same
//! words are a variable, a type or a parameter.

use super::breaks::{self, ends_line};
use super::judge;
use super::names::{Name, Role};
use super::text::Text;
use super::value::{self, Value, Writing};

/// A shorter value is a number or a switch, in quotes or alone.
const MIN_VALUE: usize = 5;

/// A longer value is a text.
const MAX_VALUE: usize = 64;

/// What may be before the name on the line of a setting.
const LEADS: [&[u8]; 9] = [b"", b"-", b"#", b"//", b"export", b"set", b"ENV", b"ARG", b"-e"];

/// Says whether `value` is the password of a setting called `name`.
pub(super) fn is_secret(text: &Text<'_>, name: &Name, value: &Value) -> bool {
    let bytes = text.slice(value.start, value.end);
    let written = text.slice(name.start, name.end);
    name.role == Role::Password
        && means_password(written)
        && (MIN_VALUE..=MAX_VALUE).contains(&bytes.len())
        && is_any_value(bytes)
        && match value.writing {
            Writing::Quoted => true,
            Writing::Bare => is_setting(text, name, value),
            Writing::Phrase | Writing::Bracketed => false,
        }
}

/// Says whether a name means a password and nothing else; `pass` alone is a verdict, too.
fn means_password(name: &[u8]) -> bool {
    let name = name.to_ascii_lowercase();
    let is_pass = |name: &[u8]| name.ends_with(b"pass") || name.ends_with(b"pw");
    !is_pass(&name) || (name.len() > 6 && name.contains(&b'_') && !name.starts_with(b"test"))
}

/// Says whether a value can be a password: not a label, a message, a type, a path or something put in from elsewhere.
fn is_any_value(value: &[u8]) -> bool {
    let has = |word: &[u8]| memchr::memmem::find(&value.to_ascii_lowercase(), word).is_some();
    let is_mark = |byte: &u8| !byte.is_ascii_alphanumeric();
    !judge::is_stand_in(value)
        && !judge::is_reference(value)
        && !judge::has_placeholder(value)
        && !judge::is_message_word(value)
        && !judge::is_code(value)
        && !value.iter().all(is_mark)
        && !value.contains(&b'/')
        && !value.contains(&b',')
        && !(value.iter().all(|byte| byte.is_ascii_alphabetic() || is_mark(byte))
            && (has(b"pass") || has(b"pwd")))
}

/// Says whether the line of a bare value is a setting: `name: value`, `name=value`, a flag, a tag, or a part of a
/// connection string.
fn is_setting(text: &Text<'_>, name: &Name, value: &Value) -> bool {
    let rest = text.rest(value.end);
    let line = breaks::line_start(text, name.start);
    let before = text.slice(line, name.start);
    if before.ends_with(b"<") {
        return text.rest(breaks::skip_lines(text, value.end)).starts_with(b"</");
    }
    let bytes = text.slice(value.start, value.end);
    let is_word = bytes.iter().all(u8::is_ascii_alphabetic);
    let ends_word = ends_line(text, value.end) || matches!(rest.first(), Some(b' ' | b'&'));
    // `--password TEXT` is help.
    if text.slice(name.start, name.end).starts_with(b"--") {
        return ends_word && !(is_word && bytes.iter().all(u8::is_ascii_uppercase));
    }
    let sign = text.slice(name.end, value.start);
    if sign == b"=" {
        let is_part = before.ends_with(b";") && rest.first() == Some(&b';');
        return is_part || ends_word && !is_in_code(text, line, value.end);
    }
    let lead = before.trim_ascii();
    let lead =
        lead.strip_suffix(b"\"").or_else(|| lead.strip_suffix(b"'")).unwrap_or(lead).trim_ascii();
    let is_line = LEADS.contains(&lead) && ends_line(text, value.end);
    let is_name = judge::is_identifier(bytes)
        && !bytes.iter().any(u8::is_ascii_digit)
        && (sign.contains(&b'=')
            || bytes.iter().any(|byte| byte.is_ascii_uppercase() || b"_.".contains(byte)));
    is_line && !is_name && !is_in_code(text, line, value.end)
}

/// Says whether the lines around `line..end` are code: settings end no line with a comma, a bracket or a semicolon.
fn is_in_code(text: &Text<'_>, line: usize, end: usize) -> bool {
    let head = text.slice(breaks::line_start(text, line.saturating_sub(1)), line);
    let above = head.trim_ascii_end();
    let above = above.strip_suffix(b"\\n").unwrap_or(above).trim_ascii_end();
    let below = breaks::skip_lines(text, value::quote_at(text, end).map_or(end, |quote| quote.end));
    matches!(above.last(), Some(b',' | b'{' | b'(' | b'[' | b';'))
        || matches!(text.at(below), Some(b')' | b'}' | b']' | b',' | b';'))
}
