//! How code writes a literal beside a name: behind the reading of a variable, as a raw string, in a constructor.

use super::breaks;
use super::text::Text;
use super::value;

/// What stands between a variable that may be missing and the literal for that case.
const OPERATORS: &[&str] = &["||=", "??=", "||", "??", "?:", "or "];

/// Brackets and quotes that close the reading of a variable: `get('NAME')`, `ENV["NAME"]`.
const MAX_CLOSERS: usize = 3;

/// The longest name of a constructor.
const MAX_CALL: usize = 40;

/// The most `#` of a raw string.
const MAX_HASHES: usize = 3;

/// Returns where the literal begins that is taken when the variable is missing whose name and quote end at `pos`.
pub(super) fn literal(text: &Text<'_>, pos: usize) -> Option<usize> {
    let rest = text.rest(pos);
    let is_closer = |byte: &&u8| matches!(byte, b']' | b')' | b'!');
    let n_closers = rest.iter().take(MAX_CLOSERS).take_while(is_closer).count();
    let at = breaks::skip_lines(text, pos + n_closers);
    // Nearly every name is followed by something else.
    if !matches!(text.at(at)?, b'|' | b'?' | b'o') || at == pos && text.at(at) == Some(b'o') {
        return None;
    }
    let rest = text.rest(at);
    let operator = OPERATORS.iter().find(|sign| rest.starts_with(sign.as_bytes()))?;
    let at = breaks::skip_lines(text, at + operator.len());
    value::quote_at(text, at).map(|_| at)
}

/// How a literal is written in code.
pub(super) enum Wrapping {
    /// As it is, or behind a prefix: `b"…"`, `r#"…"#`, `@"…"`.
    Plain(usize),
    /// In a call: `String::from("…")`, `new String("…")`.
    Call(usize),
}

/// Skips the prefix of a string and one call around a literal.
pub(super) fn skip_wrapping(text: &Text<'_>, pos: usize) -> Wrapping {
    let is_new = text.rest(pos).starts_with(b"new ");
    let start = pos + if is_new { b"new ".len() } else { 0 };
    let rest = text.rest(start);
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_:.!@$".contains(byte);
    let n_word = rest.iter().take(MAX_CALL).take_while(is_name).count();
    let is_hash = |byte: &&u8| **byte == b'#';
    let n_hashes = rest[n_word..].iter().take(MAX_HASHES).take_while(is_hash).count();
    let is_quote = |pos: usize| value::quote_at(text, pos).is_some();
    let n_prefix = n_word + n_hashes;
    if n_word <= 2 && n_prefix > 0 && !is_new && is_quote(pos + n_prefix) {
        return Wrapping::Plain(pos + n_prefix);
    }
    if n_word > 0 && rest.get(n_word) == Some(&b'(') && is_quote(start + n_word + 1) {
        return Wrapping::Call(start + n_word + 1);
    }
    Wrapping::Plain(pos)
}

/// Skips the anchor or the tag of a value in YAML: `&name value`, `!!str value`.
pub(super) fn skip_properties(text: &Text<'_>, pos: usize) -> usize {
    let rest = text.rest(pos);
    if !matches!(rest.first(), Some(b'&' | b'!')) {
        return pos;
    }
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-!".contains(byte);
    let n_name = rest[1..].iter().take(MAX_CALL).take_while(is_name).count();
    match rest.get(1 + n_name..3 + n_name) {
        // `&str = ` is a type.
        Some([b' ', next]) if n_name > 0 && *next != b'=' => pos + n_name + 2,
        Some(_) | None => pos,
    }
}

/// Returns the length of what opens a block of YAML on the lines below.
pub(super) fn block_len(rest: &[u8]) -> usize {
    let is_indicator = |byte: &&u8| matches!(**byte, b'+' | b'-' | b'1'..=b'9');
    match rest {
        [b'|' | b'>', rest @ ..] => 1 + rest.iter().take(2).take_while(is_indicator).count(),
        _ => 0,
    }
}

/// Returns the length of the mark of a here-document: `<<EOT`, `<<-'EOT'`.
pub(super) fn heredoc_len(rest: &[u8]) -> usize {
    let Some(mark) = rest.strip_prefix(b"<<") else { return 0 };
    let is_mark = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-~'".contains(byte);
    2 + mark.iter().take(MAX_CALL).take_while(is_mark).count()
}

/// Returns where the text of the fence at `pos` begins.
pub(super) fn fence_end(text: &Text<'_>, pos: usize) -> Option<usize> {
    let rest = text.rest(pos);
    if !rest.starts_with(b"```") && !rest.starts_with(b"~~~") {
        return None;
    }
    let n_language = rest[3..].iter().take(MAX_CALL).take_while(|b| b.is_ascii_alphanumeric());
    let next = breaks::break_end(text, pos + 3 + n_language.count())?;
    Some(breaks::skip_blanks(text, next))
}
