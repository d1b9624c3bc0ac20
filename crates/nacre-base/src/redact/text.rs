//! The text being scanned, with byte sets, runs, escape-aware boundaries, patterns and findings.
//!
//! The ends of runs are cached per set, so a long run that contains a thousand anchors is measured
//! only once. The redactor therefore takes linear time even for malicious input.

use std::ops::Range;
use std::sync::OnceLock;

use regex::bytes::Regex;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Set {
    Digit,
    Hex,
    Upper,
    Lower,
    Alnum,
    /// URL-safe base64 without padding.
    Url,
    /// URL-safe base64 with dots, as in tokens that have several segments.
    UrlDot,
    /// Base64 in the standard or URL-safe alphabet, with padding.
    Base64,
    /// Base64 whose padding and symbols may be percent-encoded.
    Percent,
    /// Letters, digits and the symbols that occur in an Azure client secret.
    Tilde,
    Bare,
    Credential,
    Line,
    Token,
    Crypt,
}

/// Each set's members, in the order of the enum variants. A hyphen between two letters or digits
/// denotes a range.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edge {
    /// Any character except letters, digits and underscores. The end of an escape such as `\n` is
    /// also allowed.
    Word,
    /// Like `Word`, but also excludes base64 symbols and dots.
    Blob,
}

pub(super) struct Text<'t> {
    pub(super) bytes: &'t [u8],
    runs: [(usize, usize); N_SETS],
    /// Where the most recent findings end. These offsets count as boundaries, because one secret
    /// may directly follow another.
    ends: [usize; 4],
    pub(super) manifest: usize,
    pub(super) jwk: usize,
    pub(super) table: Range<usize>,
    /// How many layers of base64 were decoded to obtain this text.
    pub(super) depth: u8,
    pub(super) decoded: [(usize, usize); 4],
}

impl<'t> Text<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self::from_decoded(text, 0)
    }

    pub(super) fn from_decoded(text: &'t str, depth: u8) -> Self {
        Text {
            bytes: text.as_bytes(),
            runs: [(0, 0); N_SETS],
            ends: [0; 4],
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

    pub(super) fn note_end(&mut self, end: usize) {
        self.ends.rotate_right(1);
        self.ends[0] = end;
    }

    pub(super) fn before(&self, pos: usize) -> Option<u8> {
        self.bytes.get(pos.checked_sub(1)?).copied()
    }

    pub(super) fn rest(&self, pos: usize) -> &'t [u8] {
        self.bytes.get(pos..).unwrap_or_default()
    }

    pub(super) fn ahead(&self, pos: usize, max: usize) -> &'t [u8] {
        let rest = self.rest(pos);
        &rest[..rest.len().min(max)]
    }

    pub(super) fn behind(&self, pos: usize, max: usize) -> &'t [u8] {
        self.slice(pos.saturating_sub(max), pos)
    }

    pub(super) fn slice(&self, start: usize, end: usize) -> &'t [u8] {
        self.bytes.get(start..end).unwrap_or_default()
    }

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

    pub(super) fn run_start(&self, set: Set, end: usize, max: usize) -> usize {
        let floor = end.saturating_sub(max);
        let head = self.slice(floor, end);
        let n_kept = head.iter().rev().position(|byte| !set.has(*byte)).unwrap_or(head.len());
        self.skip_escape(end - n_kept)
    }

    /// Moves `pos` to the end of an escape sequence if it is inside one.
    ///
    /// Any number of backslashes is accepted, not only an odd number: in JSON inside JSON, `\\n` is
    /// one newline.
    fn skip_escape(&self, pos: usize) -> usize {
        match self.at(pos) {
            Some(b'u') if self.before(pos) == Some(b'\\') => pos + 5,
            Some(byte) if is_escape(byte) && self.before(pos) == Some(b'\\') => pos + 1,
            Some(_) | None => pos,
        }
    }

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

fn is_escape(byte: u8) -> bool {
    matches!(byte, b'n' | b'r' | b't' | b'b' | b'f' | b'/')
}

/// How certain we are of a finding's kind. Recognition by format is more certain than recognition
/// by place, which is more certain than recognition by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Weight {
    Name,
    Place,
    Shape,
}

pub(super) type Secrets = Vec<FoundSecret>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FoundSecret {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: &'static str,
    pub(super) weight: Weight,
}

impl FoundSecret {
    pub(super) fn new(range: Range<usize>, kind: &'static str, weight: Weight) -> Self {
        Self { start: range.start, end: range.end, kind, weight }
    }
}

pub(super) const PLACEHOLDER: &str = "[redacted:";

pub(super) const MAX_KIND: usize = 40;

/// Returns the end of the placeholder whose prefix ends at `pos`, or `pos` if the redactor did not
/// write it.
pub(super) fn placeholder_end(text: &Text<'_>, pos: usize) -> usize {
    let rest = text.rest(pos);
    let is_kind = |byte: &&u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || **byte == b'-';
    let n_kind = rest.iter().take(MAX_KIND).take_while(is_kind).count();
    if rest.get(n_kind) == Some(&b']') { pos + n_kind + 1 } else { pos }
}

/// Joins overlapping findings. The kind is taken from the most certain finding.
pub(super) fn merge(mut found: Secrets) -> Secrets {
    found.sort_by_key(|one| (one.start, std::cmp::Reverse(one.end)));
    let mut merged: Secrets = Vec::with_capacity(found.len());
    for one in found {
        match merged.last_mut() {
            Some(last) if one.start < last.end => {
                last.end = last.end.max(one.end);
                if last.weight < one.weight {
                    (last.kind, last.weight) = (one.kind, one.weight);
                }
            }
            Some(_) | None => merged.push(one),
        }
    }
    merged
}

/// What `<name>` means in pattern templates. Quotes, spaces and line breaks may be escaped at any
/// depth, as in JSON inside a JSON string.
const PARTS: &[(&str, &str)] = &[
    // For shell commands: the arguments before a flag, the first argument, and one more argument.
    ("<args>", r"\A<gap>?(?:<arg><gap>)*?"),
    ("<first>", r"\A<gap>?<flags>"),
    ("<next>", r#"(?:<string>|[^\s"'`\\|;<>()&-])<arg>?<gap><flags>"#),
    ("<flags>", r"(?:-<arg><gap>)*"),
    ("<is>", r"(?:<gap>|=)"),
    // A name-value pair, and the separator before it.
    ("<pair>", r#"<sep><q>?[\w-]{1,24}<q>?<_>[:=]<_>(?:<string>|[^\s,"'`\\]{0,64})"#),
    ("<sep>", r",?(?:[ \t\r\n]|<br>)*"),
    ("<arg>", r"(?:<string>|<bare>)+"),
    ("<bare>", r#"[^\s"'`\\|;<>()&]|&[^\s"'`\\|;<>()&]"#),
    ("<string>", r#"\\*"[^"\n]*"|\\*'[^'\n]*'"#),
    ("<gap>", r"(?:[ \t]|\\+t|\\+\r?\n|\\(?:\\\\)+(?:r\\+)?n)+"),
    // Code: an argument of a call.
    ("<item>", r#"(?:[NE]?<q>[^"'`\n]*<q>|[\w.$&*=:@]*)"#),
    ("<q>", r#"\\*["'`]"#),
    ("<s>", r"<_>(?:<br><_>)?"),
    ("<preposition>", "for|of|on|in|at|to|für|von|pour|du|de|para|per|di"),
    ("<verb>", "is|ist|lautet|es|est|è|é|jest|är|was|war"),
    ("<changed>", "was|is|has|been|now|changed|reset|set|updated|rotated"),
    // Spaces and line breaks.
    ("<ws>", r"(?:\s|\\+[nrt])+"),
    ("<_>", r"(?:[ \t]|\\+t)*"),
    ("<br>", r"(?:\\*(?:\r\n|\n|\r)|\\+(?:r\\+)?n|\\+r)"),
];

pub(super) struct Pattern {
    template: &'static str,
    regex: OnceLock<Regex>,
}

impl Pattern {
    pub(super) const fn new(template: &'static str) -> Self {
        Self { template, regex: OnceLock::new() }
    }

    fn regex(&self) -> &Regex {
        self.regex.get_or_init(|| {
            let mut pattern = self.template.to_owned();
            for (name, part) in PARTS {
                pattern = pattern.replace(name, &format!("(?:{part})"));
            }
            Regex::new(&format!("(?-u){pattern}")).expect("patterns are tested constants")
        })
    }

    pub(super) fn is_match(&self, bytes: &[u8]) -> bool {
        self.regex().is_match(bytes)
    }

    pub(super) fn len(&self, bytes: &[u8]) -> Option<usize> {
        self.regex().find(bytes).map(|found| found.end())
    }

    pub(super) fn group(&self, bytes: &[u8]) -> Option<Range<usize>> {
        let captures = self.regex().captures(bytes)?;
        captures.iter().skip(1).flatten().next().map(|group| group.range())
    }
}
