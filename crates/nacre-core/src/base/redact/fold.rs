//! The text as a reader sees it: without what is invisible, and with look-alikes as the letters they look like.
//!
//! Secrets are looked for in this copy as well. What is found there is replaced in the text as it came, so that the
//! rest of the text stays as it was.

use std::ops::Range;

use super::look_alikes::{Seen, seen, tag_letter};

/// Bytes of plain text are looked at in blocks of this size.
const BLOCK: usize = 64;

/// A longer sequence of a terminal is not followed.
const MAX_SEQUENCE: usize = 32;

/// A longer word is judged by its surroundings.
const MAX_WORD: usize = 256;

/// A shorter word of another script that could be read as ASCII is a word of that script.
const MIN_FOREIGN_WORD: usize = 4;

/// The longest number of a character between braces, with the brace that closes it.
const MAX_BRACED: usize = 9;

/// The longest reference to a character of HTML: `&#x000067;`.
const MAX_REFERENCE: usize = 12;

/// What tells that a text of ASCII has to be folded: an escape of JSON or of code, a reference of HTML, a character of a
/// token that is percent-encoded, and any control character, of which the automaton knows only one.
///
/// The engine looks for them with its other anchors, so that a text without any pays nothing.
pub(super) fn triggers() -> Vec<String> {
    let mut list = ["\\u", "\\U", "\\x", "&#", "\x1b"].map(str::to_owned).to_vec();
    for byte in (0..0x7f).filter(|byte| is_of_token(*byte)) {
        // The last digit of an octal number would only make the table of anchors larger.
        let octal = format!("\\{:02o}", byte >> 3);
        list.extend([format!("%{byte:02x}"), format!("%{byte:02X}"), octal]);
    }
    list.sort();
    list.dedup();
    list
}

/// Says whether a byte is one that nobody needs to percent-encode, and that tokens consist of.
fn is_of_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn is_mark(byte: u8) -> bool {
    // As a signed number what is not ASCII is below zero.
    (((byte as i8) < 0x20) & (byte != b'\n') & (byte != b'\t') & (byte != b'\r')) | (byte == 0x7f)
}

/// A piece of the text that is read as something else.
#[derive(Clone, Copy, Debug)]
struct Unit {
    /// Where it stands in the folded text.
    at: usize,
    /// How much of the folded text it is: one byte, or nothing.
    len: usize,
    /// Where it stands in the text as it came.
    start: usize,
    end: usize,
}

/// A folded text that remembers where every byte came from.
pub(super) struct Folded {
    pub(super) text: String,
    units: Vec<Unit>,
}

impl Folded {
    /// Folds `text` in every way it can be read; nothing if it reads as it is written.
    ///
    /// Tag characters are invisible, so one inside a word is nothing. A whole word can be written in them too.
    pub(super) fn readings(text: &str) -> Vec<Self> {
        let (first, has_tags) = Self::fold(text, Tags::Hidden);
        let second = has_tags.then(|| Self::fold(text, Tags::Letters).0).flatten();
        first.into_iter().chain(second).collect()
    }

    /// Folds `text`, and says whether there are tag characters in it.
    fn fold(text: &str, tags: Tags) -> (Option<Self>, bool) {
        let mut folder = Folder {
            text,
            folded: String::new(),
            units: Vec::new(),
            done: 0,
            word: None,
            tags,
            has_tags: false,
        };
        let mut spots = Spots::new(text.as_bytes());
        let mut pos = 0;
        while let Some(spot) = spots.next(pos) {
            pos = folder.take(spot);
        }
        let has_tags = folder.has_tags;
        if folder.units.is_empty() {
            return (None, has_tags);
        }
        folder.folded.push_str(&text[folder.done..]);
        (Some(Self { text: folder.folded, units: folder.units }), has_tags)
    }

    /// Returns the places of the folded text that are read otherwise, of those that came from `parts`.
    pub(super) fn spots(&self, parts: &[Range<usize>]) -> Vec<usize> {
        let is_in = |unit: &&Unit| {
            let next = parts.partition_point(|part| part.end < unit.start);
            parts.get(next).is_some_and(|part| part.start <= unit.end)
        };
        self.units.iter().filter(is_in).map(|unit| unit.at).collect()
    }

    /// Returns where `range` of the folded text came from.
    pub(super) fn origin(&self, range: Range<usize>) -> Range<usize> {
        let start = self.byte_origin(range.start).start;
        let end = range.end.checked_sub(1).map_or(start, |last| self.byte_origin(last).end);
        start..end.max(start)
    }

    fn byte_origin(&self, pos: usize) -> Range<usize> {
        let next = self.units.partition_point(|unit| unit.at + unit.len <= pos);
        if let Some(unit) = self.units.get(next).filter(|unit| unit.at == pos) {
            return unit.start..unit.end;
        }
        let start = match next.checked_sub(1).and_then(|before| self.units.get(before)) {
            Some(unit) => unit.end + (pos - unit.at - unit.len),
            None => pos,
        };
        start..start + 1
    }
}

/// The next places at which a unit may begin.
struct Spots<'t> {
    bytes: &'t [u8],
    mark: usize,
    escapes: [usize; ESCAPES.len()],
}

/// How characters begin that are written as something else.
const ESCAPES: [&[u8]; 7] = [b"\\u", b"\\U", b"\\x", b"\\0", b"\\1", b"&#", b"%"];

impl<'t> Spots<'t> {
    fn new(bytes: &'t [u8]) -> Self {
        let escapes = ESCAPES.map(|escape| next_escape(bytes, 0, escape));
        Self { bytes, mark: next_mark(bytes, 0), escapes }
    }

    /// Returns the first of them that does not stand before `from`.
    fn next(&mut self, from: usize) -> Option<usize> {
        if self.mark < from {
            self.mark = next_mark(self.bytes, from);
        }
        let mut spot = self.mark;
        for (known, escape) in self.escapes.iter_mut().zip(ESCAPES) {
            if *known < from {
                *known = next_escape(self.bytes, from, escape);
            }
            spot = spot.min(*known);
        }
        (spot < self.bytes.len()).then_some(spot)
    }
}

/// Returns the next byte that is no plain text, or the end. Blocks without one are passed many bytes at once.
fn next_mark(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    let has_mark = |block: &[u8]| block.iter().fold(false, |any, byte| any | is_mark(*byte));
    let n_blocks = rest.chunks(BLOCK).take_while(|block| !has_mark(block)).count();
    let start = (n_blocks * BLOCK).min(rest.len());
    let tail = &rest[start..];
    from + start + tail.iter().position(|byte| is_mark(*byte)).unwrap_or(tail.len())
}

/// Returns where the next `escape` begins, with its backslashes, or the end.
fn next_escape(bytes: &[u8], from: usize, escape: &[u8]) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    let Some(at) = memchr::memmem::find(rest, escape) else { return bytes.len() };
    from + at - rest[..at].iter().rev().take_while(|byte| **byte == b'\\').count()
}

/// Whether the look-alikes of one word are read as ASCII.
struct Word {
    end: usize,
    is_disguise: bool,
}

/// How tag characters are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tags {
    Hidden,
    /// As the characters of ASCII that they repeat.
    Letters,
}

struct Folder<'t> {
    text: &'t str,
    tags: Tags,
    has_tags: bool,
    folded: String,
    units: Vec<Unit>,
    /// Up to here the text is folded.
    done: usize,
    word: Option<Word>,
}

impl Folder<'_> {
    /// Folds what begins at `spot`, and returns where it ends.
    fn take(&mut self, spot: usize) -> usize {
        let Some((c, end)) = char_at(self.text, spot) else { return spot + 1 };
        let first = self.text.as_bytes()[spot];
        let is_escape = first == b'\\' || (matches!(first, b'%' | b'&') && end > spot + 1);
        if c == '\u{1b}' {
            let end = end + sequence_len(&self.text.as_bytes()[end..]);
            self.push(spot..end, None);
            return end;
        }
        let tag = tag_letter(c);
        self.has_tags |= tag.is_some();
        if let (Tags::Letters, Some(byte)) = (self.tags, tag) {
            self.push(spot..end, Some(byte));
            return end;
        }
        match seen(c) {
            Seen::Itself if is_escape && is_plain(c) => self.push(spot..end, Some(c as u8)),
            Seen::Itself => {}
            Seen::Nothing => self.push(spot..end, None),
            Seen::As(byte) => self.push(spot..end, Some(byte)),
            Seen::InWord(byte) if self.is_in_disguise(spot..end) => self.push(spot..end, byte),
            Seen::InWord(_) => {}
        }
        end
    }

    fn push(&mut self, range: Range<usize>, byte: Option<u8>) {
        self.folded.push_str(&self.text[self.done..range.start]);
        let at = self.folded.len();
        self.folded.extend(byte.map(char::from));
        let len = self.folded.len() - at;
        self.units.push(Unit { at, len, start: range.start, end: range.end });
        self.done = range.end;
    }

    /// Says whether the word around a look-alike has ASCII in it, or nothing but look-alikes.
    fn is_in_disguise(&mut self, range: Range<usize>) -> bool {
        if let Some(word) = self.word.as_ref().filter(|word| range.start < word.end) {
            return word.is_disguise;
        }
        let floor = self.text.floor_char_boundary(range.start.saturating_sub(MAX_WORD));
        let head = &self.text[floor..range.start];
        let n_head = head.len() - head.trim_end_matches(is_word_char).len();
        let limit = self.text.floor_char_boundary(range.end + MAX_WORD);
        // An escape is one character of a word.
        let tail = &self.text[range.end..limit.max(range.end)];
        let n_tail = tail.len() - tail.trim_start_matches(is_word_char).len();
        let word = &self.text[range.start - n_head..range.end + n_tail];
        let has_ascii = word.bytes().any(|byte| byte.is_ascii_alphanumeric());
        let is_foldable = |c: char| seen(c) != Seen::Itself;
        let is_disguise = has_ascii
            || (word.chars().count() >= MIN_FOREIGN_WORD && word.chars().all(is_foldable));
        self.word = Some(Word { end: range.end + n_tail, is_disguise });
        is_disguise
    }
}

fn is_word_char(c: char) -> bool {
    let is_in_word = || match seen(c) {
        Seen::Itself => false,
        Seen::Nothing | Seen::InWord(None) => true,
        Seen::As(byte) | Seen::InWord(Some(byte)) => is_of_token(byte),
    };
    c.is_alphanumeric() || matches!(c, '_' | '-') || !c.is_ascii() && is_in_word()
}

/// Marks that a value may consist of; quotes and backslashes stay escaped.
fn is_plain(c: char) -> bool {
    (c.is_ascii_graphic() || c == ' ') && !matches!(c, '"' | '\'' | '`' | '\\')
}

/// Returns the character at `spot`, which may be written as an escape of JSON at any depth, and where it ends.
fn char_at(text: &str, spot: usize) -> Option<(char, usize)> {
    let rest = text.get(spot..)?;
    if !rest.starts_with('\\') {
        let (byte, len) = match rest.as_bytes().first()? {
            b'%' => percent(rest).unwrap_or((b'%', 1)),
            b'&' => reference(rest).unwrap_or((b'&', 1)),
            _ => {
                let c = rest.chars().next()?;
                return Some((c, spot + c.len_utf8()));
            }
        };
        return Some((char::from(byte), spot + len));
    }
    let n_slashes = rest.bytes().take_while(|byte| *byte == b'\\').count();
    if let Some((c, len)) = rest.get(n_slashes..).and_then(escape) {
        return Some((c, spot + n_slashes + len));
    }
    let Some((first, end)) = unit_at(rest, n_slashes) else {
        return Some(('\\', spot + n_slashes));
    };
    let next = rest.get(end..).unwrap_or_default();
    let n_slashes = next.bytes().take_while(|byte| *byte == b'\\').count();
    let second =
        unit_at(next, n_slashes).filter(|_| n_slashes > 0 && (0xd800..0xdc00).contains(&first));
    let (units, end) = match second {
        Some((second, n_second)) => (vec![first, second], end + n_second),
        None => (vec![first], end),
    };
    let c = char::decode_utf16(units).next()?.unwrap_or(char::REPLACEMENT_CHARACTER);
    Some((c, spot + end))
}

/// Returns the character that one escape of code stands for, and the length of the escape behind its backslashes:
/// `x67`, `147`, `u{67}`, `x{67}`, `U00000067`.
fn escape(rest: &str) -> Option<(char, usize)> {
    match rest.as_bytes() {
        [b'u' | b'x', b'{', ..] => {
            let n_digits = rest[2..].bytes().take(MAX_BRACED).position(|byte| byte == b'}')?;
            Some((code_point(&rest[2..2 + n_digits])?, n_digits + 3))
        }
        [b'U', ..] => Some((code_point(rest.get(1..9)?)?, 9)),
        [b'x', ..] => Some((char::from(hex_byte(&rest[1..])?), 3)),
        [b'0' | b'1', ..] => {
            let digits = rest.get(..3)?;
            let is_octal = digits.bytes().all(|byte| matches!(byte, b'0'..=b'7'));
            let byte = u8::from_str_radix(digits, 8).ok().filter(|_| is_octal)?;
            byte.is_ascii_graphic().then_some((char::from(byte), 3))
        }
        _ => None,
    }
}

/// Returns the character whose number `digits` are.
fn code_point(digits: &str) -> Option<char> {
    let is_hex = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    char::from_u32(u32::from_str_radix(digits, 16).ok().filter(|_| is_hex)?)
}

/// Returns the character of ASCII whose number the first two digits are.
fn hex_byte(rest: &str) -> Option<u8> {
    let digits =
        rest.get(..2).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u8::from_str_radix(digits, 16).ok().filter(u8::is_ascii_graphic)
}

/// Returns the character of a token that is percent-encoded at the beginning of `rest`, and how long that is.
fn percent(rest: &str) -> Option<(u8, usize)> {
    let byte = hex_byte(rest.strip_prefix('%')?).filter(|byte| is_of_token(*byte))?;
    Some((byte, 3))
}

/// Returns the character of the reference of HTML at the beginning of `rest`, and how long that is.
fn reference(rest: &str) -> Option<(u8, usize)> {
    let len = rest.bytes().take(MAX_REFERENCE).position(|byte| byte == b';')?;
    let digits = rest.get(..len)?.strip_prefix("&#")?;
    let code = match digits.strip_prefix(['x', 'X']) {
        Some(digits) => u8::from_str_radix(digits, 16),
        None => digits.parse(),
    };
    code.ok().filter(u8::is_ascii_graphic).map(|byte| (byte, len + 1))
}

/// Returns the number of `uXXXX` at `at`, and where it ends.
fn unit_at(rest: &str, at: usize) -> Option<(u16, usize)> {
    let digits = rest.get(at..)?.strip_prefix('u')?.get(..4)?;
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let code = u16::from_str_radix(digits, 16).ok().filter(|_| is_hex)?;
    Some((code, at + 5))
}

/// Returns the length of what follows an escape character and goes to the terminal.
fn sequence_len(rest: &[u8]) -> usize {
    match rest {
        [b'[', tail @ ..] => {
            let is_parameter = |byte: &&u8| (0x20..0x40).contains(*byte);
            let n = tail.iter().take(MAX_SEQUENCE).take_while(is_parameter).count();
            let is_whole = tail.get(n).is_some_and(|byte| (0x40..0x7f).contains(byte));
            if is_whole { n + 2 } else { 0 }
        }
        [b'(' | b')', set, ..] if set.is_ascii_alphanumeric() => 2,
        _ => 0,
    }
}
