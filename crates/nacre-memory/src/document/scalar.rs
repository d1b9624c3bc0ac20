//! Decodes the most common scalars without the YAML parser.
//!
//! Each function returns `None` for any input that it does not fully support, and the caller then
//! uses the YAML parser. These functions may reject valid YAML but must never decode it
//! incorrectly.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr2};

pub(super) struct Token<'a> {
    /// The scalar's range in the given text. Without a value, the range is empty and at the start
    /// of the text.
    pub(super) span: Range<usize>,
    pub(super) text: Option<Cow<'a, str>>,
}

/// Parses the rest of a line after a key's colon or a list item's dash.
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

/// Parses one item of a flow list. Also returns its length.
pub(super) fn in_flow(node: &str) -> Option<(Option<Cow<'_, str>>, usize)> {
    match node.as_bytes().first()? {
        b'"' => double_quoted(node).map(|(text, length)| (Some(text), length)),
        b'\'' => single_quoted(node).map(|(text, length)| (Some(text), length)),
        _ => plain(node, Context::Flow),
    }
}

/// Returns whether `rest` may follow a complete value on the same line.
pub(super) fn is_rest(rest: &str) -> bool {
    let comment = rest.trim_start_matches(' ');
    comment.is_empty() || comment.starts_with('#') && comment.len() < rest.len()
}

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

/// Characters that must not start a plain scalar. YAML allows some of them before a non-space
/// character, but that is rare.
const INDICATORS: [char; 19] = [
    '-', '?', ':', ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`',
];

/// Parses a double-quoted string on one line. The returned length includes the quotes.
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

/// Decodes the escape sequence after a backslash. Surrogate pairs and rare YAML escapes are left to
/// the YAML parser.
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
    // `from_str_radix` would accept a sign.
    digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then_some(())?;
    u32::from_str_radix(digits, 16).ok().and_then(char::from_u32)
}

/// Parses a single-quoted string on one line. The returned length includes the quotes.
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
