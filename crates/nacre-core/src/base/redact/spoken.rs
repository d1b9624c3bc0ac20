//! Words between a name and its value in prose: `the password for prod is …`, `API key (prod): …`.
//!
//! What follows is believed only when it looks like a secret, so sentences about passwords stay.

use super::names::Role;
use super::text::Text;

/// The longest note between a name and its value.
const MAX_NOTE: usize = 32;

/// The most words of a note that has no brackets: `for the prod db`.
const MAX_WORDS: usize = 4;

/// What stands for `is`.
const VERBS: &[&str] = &["is", "ist", "lautet", "es", "est", "è", "é", "jest", "är", "was", "war"];

/// What stands for `is` right behind a name.
const PARTICLES: &[&str] = &["は", "是", "为", "為", "는", "은"];

/// What begins a note.
const PREPOSITIONS: &[&str] =
    &["for", "of", "on", "in", "at", "to", "für", "von", "pour", "du", "de", "para", "per", "di"];

/// What links a note to a value.
const SIGNS: &[&str] = &[":", "=>", "->", "=", "\u{2192}"];

/// What links a name to a value right behind it, with a blank before: `Password — …`.
const BARE_SIGNS: &[&str] = &["->", "\u{2192}", "\u{2014}", "\u{2013}", "- "];

/// Returns where the words end that link a name to its value. The name ends at `name_end`, and blanks at `pos`.
pub(super) fn link_end(text: &Text<'_>, name_end: usize, pos: usize, role: Role) -> Option<usize> {
    if matches!(role, Role::Credential | Role::Weak) {
        return None;
    }
    let rest = text.rest(pos);
    match rest.first()? {
        0x80.. => {}
        // `password->field` and `password(…)` are code.
        b'-' | b'(' | b'a'..=b'z' if pos > name_end => {}
        _ => return None,
    }
    let n_note = note_len(rest);
    let n_blanks = rest[n_note..].iter().take(2).take_while(|byte| **byte == b' ').count();
    let n_before = if n_note > 0 { n_note + n_blanks } else { 0 };
    let after = &rest[n_before..];
    let n_link = if n_note > 0 { sign_len(after).or_else(|| verb_len(after)) } else { None };
    // Between a name and its value these are links without a note, too; other signs are read elsewhere.
    let n_link = n_link.or_else(|| if n_note == 0 { bare_link_len(rest, role) } else { None })?;
    Some(pos + n_before + n_link)
}

/// Returns the length of a link that needs no note before it.
fn bare_link_len(rest: &[u8], role: Role) -> Option<usize> {
    let arrow = BARE_SIGNS.iter().copied().find(|sign| rest.starts_with(sign.as_bytes()));
    let particle = PARTICLES.iter().find(|word| rest.starts_with(word.as_bytes()));
    // `is` behind a password is read elsewhere, where less of the value is asked.
    let is_read = role == Role::Password && matches!(rest, [b'i', b's', b' ' | b':', ..]);
    let verb = verb_len(rest).filter(|_| !is_read);
    arrow.or(particle.copied()).map(str::len).or(verb)
}

fn sign_len(rest: &[u8]) -> Option<usize> {
    SIGNS.iter().find(|sign| rest.starts_with(sign.as_bytes())).map(|sign| sign.len())
}

/// Returns the length of the verb at the beginning of `rest`, with what ends it.
fn verb_len(rest: &[u8]) -> Option<usize> {
    let is_verb = |verb: &&&str| {
        rest.starts_with(verb.as_bytes()) && matches!(rest.get(verb.len()), Some(b' ' | b':'))
    };
    VERBS.iter().find(is_verb).map(|verb| verb.len() + 1)
}

/// Returns the length of the note at the beginning of `rest`: `(prod)`, `for the prod db`.
fn note_len(rest: &[u8]) -> usize {
    let rest = &rest[..rest.len().min(MAX_NOTE)];
    if rest.first() == Some(&b'(') {
        let is_note = |byte: &&u8| byte.is_ascii_alphanumeric() || b" _-./".contains(byte);
        let n_inside = rest[1..].iter().take_while(is_note).count();
        let is_closed = rest.get(1 + n_inside) == Some(&b')');
        return if is_closed { n_inside + 2 } else { 0 };
    }
    let is_first = |word: &&str| {
        rest.strip_prefix(word.as_bytes()).is_some_and(|rest| rest.first() == Some(&b' '))
    };
    let Some(first) = PREPOSITIONS.iter().copied().find(is_first) else { return 0 };
    let mut len = first.len();
    for _ in 0..MAX_WORDS {
        let is_word = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-.@/".contains(byte);
        let n_word = match rest.get(len..) {
            Some([b' ', word @ ..]) => word.iter().take_while(is_word).count(),
            Some(_) | None => 0,
        };
        let word = rest.get(len + 1..len + 1 + n_word).unwrap_or_default();
        if n_word == 0 || VERBS.iter().any(|verb| word == verb.as_bytes()) || word[0] == b'-' {
            break;
        }
        len += 1 + n_word;
    }
    // A preposition alone is no note.
    if len > first.len() { len } else { 0 }
}
