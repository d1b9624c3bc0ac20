//! A pull reader for one line of JSON: goes once over the text, borrows everything, and skips what
//! nobody asks for.
//!
//! Why not `serde_json`: most bytes of a trace belong to values that are never looked at, and to
//! strings of which only the two ends are kept. Even `IgnoredAny` walks them at half the speed that
//! is needed here, and a lone surrogate escape, which real traces hold, makes it refuse the line.
//! Skipping checks only that strings and brackets close; that is enough to tell a
//! whole record from a torn one.

mod quotes;
mod text;

use std::sync::LazyLock;

use memchr::memmem::Finder;

use self::quotes::string_end;
pub(super) use self::text::{Ends, Text};

/// The line, or the rest of it, is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed;

pub(super) type Parsed<T> = Result<T, Malformed>;

/// As in `serde_json`: deeper values are hostile.
const MAX_DEPTH: u32 = 128;

/// What kind of value comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Object,
    Array,
    String,
    /// A number, `true`, `false` or `null`.
    Scalar,
}

/// A place inside a JSON text.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    depth: u32,
    is_abandoned: bool,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, depth: 0, is_abandoned: false }
    }

    /// Reads an object, handing each member to `each`; a value that `each` leaves alone is skipped.
    ///
    /// Keys are given as written: the ones we look for are never escaped.
    pub(super) fn object(
        &mut self,
        mut each: impl FnMut(&'a str, &mut Self) -> Parsed<()>,
    ) -> Parsed<()> {
        self.expect(b'{')?;
        self.enter()?;
        if self.peek()? == b'}' {
            return self.leave();
        }
        loop {
            let key = self.string()?.raw();
            self.expect(b':')?;
            self.space();
            let before = self.at;
            each(key, self)?;
            if self.is_abandoned {
                return Ok(());
            }
            if self.at == before {
                self.skip()?;
            }
            match self.peek()? {
                b',' => self.at += 1,
                b'}' => return self.leave(),
                _ => return Err(Malformed),
            }
        }
    }

    /// Reads an array, handing each element to `each`; one that `each` leaves alone is skipped.
    pub(super) fn array(&mut self, mut each: impl FnMut(&mut Self) -> Parsed<()>) -> Parsed<()> {
        self.expect(b'[')?;
        self.enter()?;
        if self.peek()? == b']' {
            return self.leave();
        }
        loop {
            self.space();
            let before = self.at;
            each(self)?;
            if self.at == before {
                self.skip()?;
            }
            match self.peek()? {
                b',' => self.at += 1,
                b']' => return self.leave(),
                _ => return Err(Malformed),
            }
        }
    }

    /// The kind of the next value.
    pub(super) fn next(&mut self) -> Parsed<Next> {
        match self.peek()? {
            b'{' => Ok(Next::Object),
            b'[' => Ok(Next::Array),
            b'"' => Ok(Next::String),
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => Ok(Next::Scalar),
            _ => Err(Malformed),
        }
    }

    /// Reads a string.
    pub(super) fn string(&mut self) -> Parsed<Text<'a>> {
        self.expect(b'"')?;
        let end = string_end(self.text.as_bytes(), self.at)?;
        let raw = &self.text[self.at..end];
        self.at = end + 1;
        Ok(Text::written(raw))
    }

    /// Reads the next value where it is a string; skips any other.
    pub(super) fn maybe_string(&mut self) -> Parsed<Option<Text<'a>>> {
        match self.next()? {
            Next::String => self.string().map(Some),
            Next::Object | Next::Array | Next::Scalar => self.skip().map(|()| None),
        }
    }

    /// Reads the next value where it is `true` or `false`; skips any other.
    pub(super) fn truth(&mut self) -> Parsed<bool> {
        Ok(self.raw()? == "true")
    }

    /// Reads the next value where it is a whole number; skips any other.
    pub(super) fn number(&mut self) -> Parsed<Option<u64>> {
        Ok(self.raw()?.parse().ok())
    }

    /// Skips the next value and returns it as written.
    pub(super) fn raw(&mut self) -> Parsed<&'a str> {
        self.space();
        let start = self.at;
        self.skip()?;
        Ok(&self.text[start..self.at])
    }

    /// Where the next value starts.
    pub(super) fn position(&mut self) -> usize {
        self.space();
        self.at
    }

    /// What was read since `position`, as written.
    pub(super) fn since(&self, position: usize) -> &'a str {
        &self.text[position..self.at]
    }

    /// Gives up the rest of the line unread, because nothing in it is wanted. A second record on the
    /// same line would still be: where one may start, the line is read on.
    pub(super) fn abandon(&mut self) {
        static NEXT: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b"}{\""));
        if NEXT.find(&self.text.as_bytes()[self.at..]).is_none() {
            self.at = self.text.len();
            self.is_abandoned = true;
        }
    }

    /// What follows, without leading white space.
    pub(super) fn rest(&mut self) -> &'a str {
        self.space();
        &self.text[self.at..]
    }

    /// Skips the next value, however deep it is.
    pub(super) fn skip(&mut self) -> Parsed<()> {
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

    /// Skips an object or array by its strings and brackets alone.
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

    fn peek(&mut self) -> Parsed<u8> {
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

#[cfg(test)]
mod tests;
