//! A lenient pull parser for one line of JSON that borrows its input. Unlike `serde_json`, it
//! accepts lone surrogate escapes, which occur in real transcripts, and it skips unused values,
//! which make up most of a transcript. When skipping, it checks only that strings and brackets are
//! closed, which is sufficient to recognize a truncated record.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

/// The rest of the line is not valid JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

pub(crate) type Parsed<T> = Result<T, Malformed>;

/// The same limit as in `serde_json`. Deeper nesting is hostile.
const MAX_DEPTH: u32 = 128;

#[derive(Clone, Debug)]
pub(crate) struct JsonCursor<'a> {
    text: &'a str,
    at: usize,
    depth: u32,
}

impl<'a> JsonCursor<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0, depth: 0 }
    }

    /// Passes each member of an object to `each`, and skips values that `each` does not read. Keys
    /// are not unescaped, because the expected ones never contain escapes.
    pub(crate) fn object(
        &mut self,
        mut each: impl FnMut(&'a str, &mut Self) -> Parsed<()>,
    ) -> Parsed<()> {
        self.container(*b"{}", |cursor| {
            let key = cursor.string()?;
            cursor.expect(b':')?;
            cursor.read_or_skip(|cursor| each(key, cursor))
        })
    }

    /// Passes each element of an array to `each`, and skips elements that `each` does not read.
    pub(crate) fn array(&mut self, mut each: impl FnMut(&mut Self) -> Parsed<()>) -> Parsed<()> {
        self.container(*b"[]", |cursor| cursor.read_or_skip(&mut each))
    }

    fn container(
        &mut self,
        [open, close]: [u8; 2],
        mut each: impl FnMut(&mut Self) -> Parsed<()>,
    ) -> Parsed<()> {
        self.expect(open)?;
        self.enter()?;
        if self.peek()? == close {
            return self.leave();
        }
        loop {
            each(self)?;
            match self.peek()? {
                b',' => self.at += 1,
                byte if byte == close => return self.leave(),
                _ => return Err(Malformed),
            }
        }
    }

    fn read_or_skip(&mut self, read: impl FnOnce(&mut Self) -> Parsed<()>) -> Parsed<()> {
        self.space();
        let before = self.at;
        read(self)?;
        if self.at == before { self.skip() } else { Ok(()) }
    }

    pub(crate) fn string(&mut self) -> Parsed<&'a str> {
        self.expect(b'"')?;
        let end = string_end(self.text.as_bytes(), self.at)?;
        let raw = &self.text[self.at..end];
        self.at = end + 1;
        Ok(raw)
    }

    pub(crate) fn raw(&mut self) -> Parsed<&'a str> {
        self.space();
        let start = self.at;
        self.skip()?;
        Ok(&self.text[start..self.at])
    }

    pub(crate) fn rest(&mut self) -> &'a str {
        self.space();
        &self.text[self.at..]
    }

    pub(crate) fn skip(&mut self) -> Parsed<()> {
        match self.peek()? {
            b'"' => {
                self.at = string_end(self.text.as_bytes(), self.at + 1)? + 1;
                Ok(())
            }
            b'{' | b'[' => self.skip_container(),
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => self.skip_scalar(),
            _ => Err(Malformed),
        }
    }

    /// Skips an object or array, checking only its strings and brackets.
    fn skip_container(&mut self) -> Parsed<()> {
        let bytes = self.text.as_bytes();
        let mut open = 0_u32;
        loop {
            match bytes.get(self.at).ok_or(Malformed)? {
                b'"' => {
                    self.at = string_end(bytes, self.at + 1)? + 1;
                    continue;
                }
                b'{' | b'[' => {
                    open += 1;
                    if MAX_DEPTH < self.depth + open {
                        return Err(Malformed);
                    }
                }
                b'}' | b']' => {
                    open -= 1;
                    if open == 0 {
                        self.at += 1;
                        return Ok(());
                    }
                }
                b'\\' | 0..=8 => return Err(Malformed),
                _ => {}
            }
            self.at += 1;
        }
    }

    fn skip_scalar(&mut self) -> Parsed<()> {
        let bytes = &self.text.as_bytes()[self.at..];
        let is_part =
            |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        let length = bytes.iter().position(|byte| !is_part(byte)).unwrap_or(bytes.len());
        let is_number = bytes[0] == b'-' || bytes[0].is_ascii_digit();
        if !is_number && !matches!(&bytes[..length], b"true" | b"false" | b"null") {
            return Err(Malformed);
        }
        self.at += length;
        Ok(())
    }

    fn enter(&mut self) -> Parsed<()> {
        self.depth += 1;
        if MAX_DEPTH < self.depth { Err(Malformed) } else { Ok(()) }
    }

    fn leave(&mut self) -> Parsed<()> {
        self.depth -= 1;
        self.at += 1;
        Ok(())
    }

    fn space(&mut self) {
        let bytes = self.text.as_bytes();
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = bytes.get(self.at) {
            self.at += 1;
        }
    }

    pub(crate) fn peek(&mut self) -> Parsed<u8> {
        self.space();
        self.text.as_bytes().get(self.at).copied().ok_or(Malformed)
    }

    fn expect(&mut self, byte: u8) -> Parsed<()> {
        if self.peek()? != byte {
            return Err(Malformed);
        }
        self.at += 1;
        Ok(())
    }
}

fn string_end(bytes: &[u8], start: usize) -> Parsed<usize> {
    let mut at = start;
    loop {
        let rest = bytes.get(at..).ok_or(Malformed)?;
        at += memchr2(b'"', b'\\', rest).ok_or(Malformed)?;
        if bytes[at] == b'"' {
            return Ok(at);
        }
        at += 2;
    }
}

pub(crate) fn decode(raw: &str) -> Cow<'_, str> {
    let mut rest = raw;
    let mut text = String::new();
    while let Some(at) = memchr(b'\\', rest.as_bytes()) {
        text.reserve(rest.len());
        text.push_str(&rest[..at]);
        // Keep an invalid escape sequence unchanged, so that the rest of the line remains usable.
        let (character, length) = escape_at(&rest.as_bytes()[at..]).unwrap_or(('\\', 1));
        text.push(character);
        rest = &rest[at + length..];
    }
    if text.is_empty() {
        return Cow::Borrowed(rest);
    }
    text.push_str(rest);
    Cow::Owned(text)
}

/// Parses the escape sequence at the start of `bytes`, and returns its character and its length in
/// bytes. An unpaired surrogate becomes U+FFFD.
fn escape_at(bytes: &[u8]) -> Option<(char, usize)> {
    let character = match bytes.get(1)? {
        b'u' => return unicode_escape_at(bytes),
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        _ => return None,
    };
    Some((character, 2))
}

fn unicode_escape_at(bytes: &[u8]) -> Option<(char, usize)> {
    let unit = hex4(bytes.get(2..6)?)?;
    if let Some(character) = char::from_u32(unit) {
        return Some((character, 6));
    }
    let is_pair = bytes.get(6..8) == Some(b"\\u");
    let low = bytes.get(8..12).filter(|_| is_pair).and_then(hex4);
    match (unit, low) {
        (0xD800..0xDC00, Some(low @ 0xDC00..0xE000)) => {
            let point = 0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
            Some((char::from_u32(point)?, 12))
        }
        _ => Some((char::REPLACEMENT_CHARACTER, 6)),
    }
}

fn hex4(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |value, digit| Some(value * 16 + (*digit as char).to_digit(16)?))
}

#[cfg(test)]
mod tests;
