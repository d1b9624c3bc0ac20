//! The text under inspection: byte sets, runs, and edges that know about escapes.
//!
//! Run ends are remembered per set, so that a thousand anchors inside one long run measure it once;
//! this is what keeps the whole redactor linear on hostile input.

use std::ops::Range;

/// A set of bytes that a part of a secret may consist of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Set {
    Digit,
    /// Lower-case hexadecimal.
    Hex,
    /// Upper-case letters and digits.
    Upper,
    /// Lower-case letters and digits.
    Lower,
    Alnum,
    /// URL-safe base64 without padding.
    Url,
    /// URL-safe base64 with dots, as in tokens of several segments.
    UrlDot,
    /// Base64 of either alphabet, with padding.
    Base64,
    /// Base64 whose padding and signs may be percent-encoded.
    Percent,
    /// Letters, digits and the marks of an Azure client secret.
    Tilde,
    /// What a value without quotes may consist of.
    Bare,
    /// What the credentials of a header may consist of.
    Credential,
    /// What one line of text may consist of, inside any quotes.
    Line,
    /// What a token of any provider may consist of.
    Token,
    /// What the hash of a password may consist of, with its settings and its salt.
    Crypt,
}

/// The members of every set, in their order; a hyphen between two letters or digits is a range.
const SETS: [&[u8]; 15] = [
    b"0-9",
    b"0-9a-f",
    b"0-9A-Z",
    b"0-9a-z",
    b"0-9A-Za-z",
    b"0-9A-Za-z_-",
    b"0-9A-Za-z_.-",
    b"0-9A-Za-z_+/=-",
    b"0-9A-Za-z_+/=%-",
    b"0-9A-Za-z_~.-",
    b"0-9A-Za-z!#$%*+./:=?@^_~-",
    b"0-9A-Za-z!#$%&(*+./:=?@[^_{|~-",
    b"0-9A-Za-z !#$%&()*+,./:;=?@[]^_{|}~\t-",
    b"0-9A-Za-z_.+/=~-",
    b"0-9A-Za-z./$=,+-",
];

const N_SETS: usize = SETS.len();

/// One bit per set for every byte.
static MEMBERS: [u16; 256] = members();

const fn members() -> [u16; 256] {
    let mut table = [0; 256];
    let mut idx = 0;
    while idx < N_SETS {
        let set = SETS[idx];
        let mut at = 0;
        while at < set.len() {
            let is_range = at + 2 < set.len() && set[at + 1] == b'-';
            let last = if is_range { set[at + 2] } else { set[at] };
            let mut byte = set[at];
            while byte <= last {
                table[byte as usize] |= 1 << idx;
                byte += 1;
            }
            at += if is_range { 3 } else { 1 };
        }
        idx += 1;
    }
    table
}

impl Set {
    pub(super) fn has(self, byte: u8) -> bool {
        MEMBERS[usize::from(byte)] & (1 << self as u16) != 0
    }
}

/// What may stand directly before a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edge {
    /// Anything that is no letter, digit or underscore; an escape such as `\n` ends before it.
    Word,
    /// As `Word`, and no sign of base64 or of a dotted name either.
    Blob,
}

/// The bytes of one text with the run ends already measured.
pub(super) struct Text<'t> {
    pub(super) bytes: &'t [u8],
    runs: [(usize, usize); N_SETS],
    /// Where the last findings end: a secret may be glued to the one before it.
    ends: [usize; 4],
    /// Where the last `login ` ends.
    pub(super) login: Option<usize>,
    /// Up to here the manifests of clusters were looked at.
    pub(super) manifest: usize,
    /// Up to here JSON Web Keys were looked at.
    pub(super) jwk: usize,
    /// Where the last table stands whose columns were looked at.
    pub(super) table: Range<usize>,
    /// How often base64 was decoded to come to this text.
    pub(super) depth: u8,
    /// What was decoded and scanned last, by the place of its groups.
    pub(super) decoded: [(usize, usize); 4],
}

impl<'t> Text<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self::decoded(text, 0)
    }

    /// Takes a text that came out of base64, decoded `depth` times.
    pub(super) fn decoded(text: &'t str, depth: u8) -> Self {
        Text {
            bytes: text.as_bytes(),
            runs: [(0, 0); N_SETS],
            ends: [0; 4],
            login: None,
            manifest: 0,
            jwk: 0,
            table: 0..0,
            depth,
            decoded: [(0, 0); 4],
        }
    }

    pub(super) fn at(&self, pos: usize) -> Option<u8> {
        self.bytes.get(pos).copied()
    }

    /// Remembers that a finding ends at `end`.
    pub(super) fn note_end(&mut self, end: usize) {
        self.ends.rotate_right(1);
        self.ends[0] = end;
    }

    /// Returns the byte before `pos`.
    pub(super) fn before(&self, pos: usize) -> Option<u8> {
        self.bytes.get(pos.checked_sub(1)?).copied()
    }

    pub(super) fn rest(&self, pos: usize) -> &'t [u8] {
        self.bytes.get(pos..).unwrap_or_default()
    }

    pub(super) fn slice(&self, start: usize, end: usize) -> &'t [u8] {
        self.bytes.get(start..end).unwrap_or_default()
    }

    /// Returns where the longest run of `set` that holds `pos` ends.
    pub(super) fn run_end(&mut self, set: Set, pos: usize) -> usize {
        let known = &mut self.runs[set as usize];
        if known.0 <= pos && pos < known.1 {
            return known.1;
        }
        let tail = self.bytes.get(pos..).unwrap_or_default();
        let end = pos + tail.iter().position(|byte| !set.has(*byte)).unwrap_or(tail.len());
        *known = (pos, end);
        end
    }

    /// Returns where a run of `set` that ends at `end` begins, looking back `max` bytes at most.
    pub(super) fn run_start(&self, set: Set, end: usize, max: usize) -> usize {
        let floor = end.saturating_sub(max);
        let head = self.slice(floor, end);
        let n_kept = head.iter().rev().position(|byte| !set.has(*byte)).unwrap_or(head.len());
        self.skip_escape(end - n_kept)
    }

    /// Moves `pos` past the tail of an escape that it would cut in two.
    ///
    /// Any backslash counts, not only an odd number: in JSON inside JSON, `\\n` is one newline.
    fn skip_escape(&self, pos: usize) -> usize {
        match self.at(pos) {
            Some(b'u') if self.before(pos) == Some(b'\\') => pos + 5,
            Some(byte) if is_escape(byte) && self.before(pos) == Some(b'\\') => pos + 1,
            Some(_) | None => pos,
        }
    }

    /// Says whether a secret may begin at `pos`.
    pub(super) fn is_edge(&self, edge: Edge, pos: usize) -> bool {
        let Some(before) = self.before(pos) else { return true };
        if before == b'\\' && self.at(pos).is_some_and(|byte| is_escape(byte) || byte == b'u') {
            return false;
        }
        let is_inner = match edge {
            Edge::Word => before.is_ascii_alphanumeric() || before == b'_',
            Edge::Blob => {
                before.is_ascii_alphanumeric() || matches!(before, b'_' | b'/' | b'+' | b'-' | b'.')
            }
        };
        !is_inner || self.is_escape_end(pos) || self.ends.contains(&pos)
    }

    /// Says whether an escape ends right before `pos`: `\n`, `\u0026`, `%3D` or a terminal color.
    fn is_escape_end(&self, pos: usize) -> bool {
        let back = |n: usize| pos.checked_sub(n).and_then(|from| self.at(from));
        match back(1) {
            Some(b'm') if self.is_color_end(pos - 1) => true,
            Some(byte) if is_escape(byte) && back(2) == Some(b'\\') => true,
            Some(byte) if byte.is_ascii_hexdigit() => {
                back(3) == Some(b'%') || (back(6) == Some(b'\\') && back(5) == Some(b'u'))
            }
            Some(_) | None => false,
        }
    }

    fn is_color_end(&self, pos: usize) -> bool {
        let head = self.slice(pos.saturating_sub(12), pos);
        let n_codes =
            head.iter().rev().take_while(|byte| byte.is_ascii_digit() || **byte == b';').count();
        n_codes < head.len() && head[head.len() - n_codes - 1] == b'['
    }
}

/// The letters that stand for another character behind a backslash.
fn is_escape(byte: u8) -> bool {
    matches!(byte, b'n' | b'r' | b't' | b'b' | b'f' | b'/')
}
