//! Decodes by hand the scalars that most files consist of.
//!
//! Each function answers `None` for anything it does not fully understand; the caller then asks
//! the YAML parser. So this file may know little, but must never be wrong about what it knows.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr2};

/// A scalar on the rest of a line.
pub(super) struct Token<'a> {
    /// Where the scalar stands in the given text; empty at its start when nothing is written.
    pub(super) span: Range<usize>,
    /// `None` when the scalar is null.
    pub(super) text: Option<Cow<'a, str>>,
}

/// Reads the rest of a line after the colon of a key or the dash of a list item.
pub(super) fn in_block(rest: &str) -> Option<Token<'_>> {
    let node = rest.trim_start_matches(' ');
    let start = rest.len() - node.len();
    let (text, length) = match node.as_bytes().first() {
        None | Some(b'#') => return Some(Token { span: 0..0, text: None }),
        Some(b'"') => double_quoted(node).map(|(text, length)| (Some(text), length))?,
        Some(b'\'') => single_quoted(node).map(|(text, length)| (Some(text), length))?,
        Some(_) => plain(node, Context::Block)?,
    };
    is_rest(&node[length..]).then_some(Token { span: start..start + length, text })
}

/// Reads one item of a flow list, from its first byte; returns its length too.
pub(super) fn in_flow(node: &str) -> Option<(Option<Cow<'_, str>>, usize)> {
    match node.as_bytes().first()? {
        b'"' => double_quoted(node).map(|(text, length)| (Some(text), length)),
        b'\'' => single_quoted(node).map(|(text, length)| (Some(text), length)),
        _ => plain(node, Context::Flow),
    }
}

/// Whether a line may go on like this after a complete value.
pub(super) fn is_rest(rest: &str) -> bool {
    let comment = rest.trim_start_matches(' ');
    comment.is_empty() || comment.starts_with('#') && comment.len() < rest.len()
}

/// Whether YAML reads this plain scalar as null.
pub(super) fn is_null(plain: &str) -> bool {
    plain == "~" || plain.eq_ignore_ascii_case("null")
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Context {
    Block,
    Flow,
}

fn plain(node: &str, context: Context) -> Option<(Option<Cow<'_, str>>, usize)> {
    if node.starts_with(INDICATORS) || node.starts_with('\u{feff}') {
        return None;
    }
    let bytes = node.as_bytes();
    let mut end = bytes.len();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'\t' => return None,
            b':' if matches!(bytes.get(at + 1), None | Some(b' ')) => return None,
            b'#' if 0 < at && bytes[at - 1] == b' ' => match context {
                Context::Block => {
                    end = at;
                    break;
                }
                Context::Flow => return None,
            },
            b',' | b']' if context == Context::Flow => {
                if bytes[at - 1] == b':' {
                    return None;
                }
                end = at;
                break;
            }
            b'[' | b'{' | b'}' if context == Context::Flow => return None,
            _ => {}
        }
    }
    let text = node[..end].trim_end_matches(' ');
    Some(((!is_null(text)).then_some(Cow::Borrowed(text)), text.len()))
}

/// What a plain scalar does not start with; some may, before a non-space, but seldom do.
const INDICATORS: [char; 19] = [
    '-', '?', ':', ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`',
];

/// Reads a string in double quotes on one line; returns its length with the quotes too.
pub(super) fn double_quoted(node: &str) -> Option<(Cow<'_, str>, usize)> {
    let bytes = node.as_bytes();
    let mut at = 1;
    let mut decoded = String::new();
    let mut copied = 1;
    loop {
        at += memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[at] == b'"' {
            break;
        }
        decoded.push_str(&node[copied..at]);
        let (character, length) = escape(&node[at + 1..])?;
        decoded.push(character);
        at += 1 + length;
        copied = at;
    }
    if copied == 1 {
        return Some((Cow::Borrowed(&node[1..at]), at + 1));
    }
    decoded.push_str(&node[copied..at]);
    Some((Cow::Owned(decoded), at + 1))
}

/// Decodes the escape after a backslash; surrogate pairs and YAML's rarer ones are not known.
fn escape(after: &str) -> Option<(char, usize)> {
    let simple = |character| Some((character, 1));
    match after.as_bytes().first()? {
        b'"' => simple('"'),
        b'\\' => simple('\\'),
        b'/' => simple('/'),
        b'b' => simple('\u{8}'),
        b'f' => simple('\u{c}'),
        b'n' => simple('\n'),
        b'r' => simple('\r'),
        b't' => simple('\t'),
        b'u' => code_point(after.get(1..5)?).map(|character| (character, 5)),
        b'U' => code_point(after.get(1..9)?).map(|character| (character, 9)),
        _ => None,
    }
}

fn code_point(digits: &str) -> Option<char> {
    // `from_str_radix` would take a sign.
    digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then_some(())?;
    u32::from_str_radix(digits, 16).ok().and_then(char::from_u32)
}

/// Reads a string in single quotes on one line; returns its length with the quotes too.
pub(super) fn single_quoted(node: &str) -> Option<(Cow<'_, str>, usize)> {
    let bytes = node.as_bytes();
    let mut at = 1;
    let mut is_escaped = false;
    loop {
        at += memchr(b'\'', bytes.get(at..)?)?;
        if bytes.get(at + 1) != Some(&b'\'') {
            break;
        }
        is_escaped = true;
        at += 2;
    }
    let inner = &node[1..at];
    let text = if is_escaped { Cow::Owned(inner.replace("''", "'")) } else { Cow::Borrowed(inner) };
    Some((text, at + 1))
}
