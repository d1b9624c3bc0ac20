//! Key words: a value is a secret because of the name it is assigned to.
//!
//! The grammar between name and value is a superset of env files, YAML, JSON, TOML, code, headers,
//! flags, tags and cells; what keeps code out is how the value is judged, not the grammar.

use super::base64;
use super::judge;
use super::names::{self, Name, Role};
use super::scan::{Found, Weight};
use super::text::Text;
use super::value::{self, Writing};

/// More blanks than this are a column of prose.
const MAX_BLANKS: usize = 40;

/// Longer bare words that are not random are names of tests and the like.
const MAX_BARE: usize = 24;

/// Longer quoted texts that are not random are messages and paths.
const MAX_QUOTED: usize = 64;

/// What stands between a name and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Link {
    /// `name=value`.
    Tight,
    /// `name = value`, `name: value`, `--name value`, `<name>value`.
    Loose,
    /// `"name", "value"` or `name = wrap("value")`: believed only when the value is random.
    Distant,
    /// `NAME value`, with nothing but blanks between: as `Distant`, and no weak name.
    Apart,
}

/// Returns the secret assigned to the name around the key word at `start..end`.
pub(super) fn find(text: &mut Text<'_>, role: Role, start: usize, end: usize) -> Option<Found> {
    let name = names::read(text, role, start, end)?;
    let (link, pos) = link(text, &name, role)?;
    let value = value::read(text, pos)?;
    let is_json_number = value.writing == Writing::Bare
        && value::quote_at(text, name.end).is_some_and(|quote| quote.mark == b'"');
    let is_secret_to = |end: usize| {
        let bytes = text.slice(value.start, end.min(value.start + judge::SAMPLE));
        is_secret_of(bytes, text.slice(name.start, name.end), role, link, value.writing)
    };
    // What goes on behind an `&` is judged with what stands before it, and without.
    let is_secret =
        is_secret_to(value.end) || (value.core_end != value.end && is_secret_to(value.core_end));
    if !is_secret || is_json_number {
        return None;
    }
    let kind = name.kind(text);
    Some(Found { start: value.start, end: value.end, kind, weight: Weight::Name })
}

/// Says whether `bytes` is a secret that is assigned to the name `written`.
fn is_secret_of(bytes: &[u8], written: &[u8], role: Role, link: Link, writing: Writing) -> bool {
    let is_path = role == Role::Password && bytes.starts_with(b"/");
    // Test runners print `PASS: name`.
    let is_verdict = written == b"PASS" && link == Link::Loose;
    if is_path || is_verdict || is_excused(bytes) {
        return false;
    }
    let is_variable = link == Link::Tight && written.iter().all(|byte| !byte.is_ascii_lowercase());
    let is_login = role == Role::Credential
        && link != Link::Apart
        && written.ends_with(b"auth")
        && base64::is_login(bytes);
    (is_variable && role == Role::Password && judge::is_word(bytes))
        || is_login
        || is_secret(bytes, role, link, writing)
}

/// Returns how the name is linked to its value, and where the value begins.
fn link(text: &Text<'_>, name: &Name, role: Role) -> Option<(Link, usize)> {
    let mut pos = name.end;
    let quote = value::quote_at(text, pos);
    if let Some(quote) = quote {
        pos = quote.end + usize::from(text.at(quote.end) == Some(b']'));
    }
    pos = skip_stars(text, pos);
    let before_blanks = pos;
    pos = skip_blanks(text, pos);
    if quote.is_some()
        && let Some(pos) = paired_value(text, pos)
    {
        return Some((Link::Loose, pos));
    }
    let is_flag = text.slice(name.start, name.end).starts_with(b"--")
        && pos > before_blanks
        && text.at(pos) != Some(b'=');
    if is_flag {
        return Some((Link::Loose, pos));
    }
    let (link, after) = operator(text, name, role, pos)?;
    let value_pos = skip_blanks(text, skip_stars(text, after));
    let link = if link == Link::Tight && (value_pos > after || pos > before_blanks) {
        Link::Loose
    } else {
        link
    };
    let value_pos = skip_type(text, value_pos);
    Some(skip_wrapping(text, link, value_pos))
}

/// Reads the sign of an assignment.
fn operator(text: &Text<'_>, name: &Name, role: Role, pos: usize) -> Option<(Link, usize)> {
    let rest = text.rest(pos);
    let is_tag = || text.before(name.start) == Some(b'<');
    let (link, len) = match rest {
        [b'=', b'=', b'=', ..] => (Link::Distant, 3),
        [b'=' | b'!', b'=', ..] => (Link::Distant, 2),
        [b'=', b'>', ..] | [b':', b'=', ..] | [b'?', b'=' | b':', ..] => (Link::Loose, 2),
        [b'=', ..] => (Link::Tight, 1),
        [b':', b':', ..] => return None,
        [b':', ..] => (Link::Loose, 1),
        [b'i', b's', b' ' | b':', ..] if role == Role::Password && pos > name.end => {
            (Link::Loose, 3)
        }
        [b'>', ..] if is_tag() => (Link::Loose, 1),
        [b',' | b'|', ..] => (Link::Distant, 1),
        [b'"' | b'\'' | b'`', ..] if pos > name.end => (Link::Apart, 0),
        [first, ..] if pos > name.end && first.is_ascii_alphanumeric() => (Link::Apart, 0),
        _ => return None,
    };
    Some((link, pos + len))
}

fn skip_blanks(text: &Text<'_>, pos: usize) -> usize {
    let is_blank = |byte: &&u8| matches!(**byte, b' ' | b'\t');
    pos + text.rest(pos).iter().take(MAX_BLANKS).take_while(is_blank).count()
}

/// Skips the end of `**name**: value` and of `**name:** value`.
fn skip_stars(text: &Text<'_>, pos: usize) -> usize {
    if text.rest(pos).starts_with(b"**") { pos + 2 } else { pos }
}

/// Returns where the value of `"name": "API_KEY", "value": "…"` or `key="ApiKey" value="…"` begins.
fn paired_value(text: &Text<'_>, pos: usize) -> Option<usize> {
    let pos = pos + usize::from(text.at(pos) == Some(b','));
    let is_space = |byte: &&u8| byte.is_ascii_whitespace();
    let pos = pos + text.rest(pos).iter().take(MAX_BLANKS).take_while(is_space).count();
    let pos = value::quote_at(text, pos).map_or(pos, |quote| quote.end);
    let word = text.slice(pos, pos + 5);
    if !word.eq_ignore_ascii_case(b"value") {
        return None;
    }
    let pos = value::quote_at(text, pos + 5).map_or(pos + 5, |quote| quote.end);
    let pos = skip_blanks(text, pos);
    matches!(text.at(pos), Some(b':' | b'=')).then(|| skip_blanks(text, pos + 1))
}

/// Skips the type of `NAME: &str = value`.
fn skip_type(text: &Text<'_>, pos: usize) -> usize {
    let is_type = |byte: u8| {
        byte.is_ascii_alphanumeric()
            || matches!(
                byte,
                b'_' | b'&' | b'\'' | b'<' | b'>' | b':' | b' ' | b'[' | b']' | b'|' | b'.' | b'*'
            )
    };
    let rest = text.rest(pos);
    if !rest
        .first()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'&' | b'[' | b'*'))
    {
        return pos;
    }
    let n_type = rest.iter().take(64).take_while(|byte| is_type(**byte)).count();
    match rest.get(n_type - 1..n_type + 2) {
        Some([b' ', b'=', b' ' | b'"']) => skip_blanks(text, pos + n_type + 1),
        Some(_) | None => pos,
    }
}

/// Skips a string prefix such as `b"` and one call around a literal, as in `String::from("…")`.
fn skip_wrapping(text: &Text<'_>, link: Link, pos: usize) -> (Link, usize) {
    let rest = text.rest(pos);
    let n_word = rest
        .iter()
        .take(40)
        .take_while(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'.' | b'!' | b'@' | b'$')
        })
        .count();
    let is_quote = |pos: usize| value::quote_at(text, pos).is_some();
    if (1..=2).contains(&n_word) && is_quote(pos + n_word) {
        return (link, pos + n_word);
    }
    if n_word > 0 && rest.get(n_word) == Some(&b'(') && is_quote(pos + n_word + 1) {
        return (Link::Distant, pos + n_word + 1);
    }
    (link, pos)
}

/// Says whether a value says itself that it is no secret.
fn is_excused(bytes: &[u8]) -> bool {
    bytes.len() < 8 || judge::is_reference(bytes) || judge::has_placeholder(bytes) || is_code(bytes)
}

fn is_secret(bytes: &[u8], role: Role, link: Link, writing: Writing) -> bool {
    if judge::is_random(bytes) || is_uuid(bytes) {
        return match role {
            Role::Password | Role::Secret | Role::Token | Role::Key => true,
            Role::Credential => link != Link::Apart && !is_uuid(bytes),
        };
    }
    let is_chosen = judge::is_mixed(bytes) && !is_identifier(bytes);
    match (role, link) {
        (Role::Credential, _) | (_, Link::Apart) => false,
        (Role::Secret | Role::Token | Role::Key, Link::Distant) => false,
        (Role::Password, Link::Distant) => is_chosen,
        (Role::Password, Link::Tight | Link::Loose) => match writing {
            Writing::Quoted => judge::is_password(bytes) || judge::is_joined_words(bytes),
            Writing::Bare => {
                bytes.len() <= MAX_BARE && judge::is_password(bytes) && !is_identifier(bytes)
            }
        },
        (Role::Secret | Role::Key, Link::Tight | Link::Loose) if writing == Writing::Quoted => {
            bytes.len() <= MAX_QUOTED && judge::is_password(bytes) && !is_identifier(bytes)
        }
        (Role::Secret | Role::Token | Role::Key, Link::Tight | Link::Loose) => {
            bytes.len() <= MAX_BARE && is_chosen
        }
    }
}

fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36 && value.iter().filter(|byte| **byte == b'-').count() == 4
}

/// A name of the code or a dotted path of names, perhaps with a number at its end.
fn is_identifier(value: &[u8]) -> bool {
    let is_name = |part: &[u8]| {
        let n_digits = part.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let stem = &part[..part.len() - n_digits];
        n_digits <= 2 && stem.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
    };
    value.split(|byte| matches!(byte, b'.' | b'-' | b'/' | b':')).all(is_name)
}

/// An expression, a path or an address rather than a literal.
fn is_code(value: &[u8]) -> bool {
    let has = |needle: &[u8]| memchr::memmem::find(value, needle).is_some();
    let is_path = value.starts_with(b"./") || value.starts_with(b"../") || value.starts_with(b"~/");
    has(b"::")
        || has(b"://")
        || has(b"()")
        || has(b"->")
        || has(b"=>")
        || is_path
        || value.starts_with(b"--")
        || (value.starts_with(b"+") && !judge::is_random(value))
}
