//! Which identifiers a text defines, as far as one line tells: those behind `fn`, `class` and the like, and methods behind
//! modifiers such as `public`.
//!
//! The grammars know it better. But they look at a large project only where somebody asks, and the words of a text must not depend on
//! how closely it was looked at.

const DEFINING: &[&[u8]] = &[
    b"class",
    b"const",
    b"def",
    b"enum",
    b"fn",
    b"fun",
    b"func",
    b"function",
    b"impl",
    b"interface",
    b"let",
    b"mod",
    b"module",
    b"object",
    b"record",
    b"struct",
    b"trait",
    b"type",
    b"union",
    b"var",
];

const MODIFIERS: &[&[u8]] = &[
    b"abstract",
    b"async",
    b"export",
    b"final",
    b"internal",
    b"override",
    b"private",
    b"protected",
    b"public",
    b"static",
    b"synchronized",
    b"virtual",
];

/// What an identifier says of those behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyword {
    None,
    /// The next one is defined.
    Defining,
    /// A method behind it is defined, where a line begins with it.
    Modifying,
}

impl Keyword {
    pub(super) fn of(identifier: &[u8]) -> Self {
        if DEFINING.contains(&identifier) {
            Self::Defining
        } else if MODIFIERS.contains(&identifier) {
            Self::Modifying
        } else {
            Self::None
        }
    }
}

/// What was seen of a line so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Line {
    /// A word that defines stands directly before.
    is_defining: bool,
    /// It begins with a modifier, and no method was found in it yet.
    is_modified: bool,
    has_word: bool,
    /// Brackets that opened behind a word that defines: a receiver, or parameters of a type.
    n_open: u32,
}

impl Line {
    /// Takes a byte that is in no identifier.
    pub(super) fn pass(&mut self, byte: u8) {
        match byte {
            b'\n' => *self = Self::default(),
            b' ' | b'\t' => {}
            b'(' | b'<' if self.is_defining => self.n_open += 1,
            b')' | b'>' if self.is_defining => self.n_open = self.n_open.saturating_sub(1),
            _ if 0 < self.n_open => {}
            b'=' | b';' => (self.is_defining, self.is_modified) = (false, false),
            _ => self.is_defining = false,
        }
    }

    /// Takes an identifier, by what it says, and the byte behind it; returns whether it is defined here.
    pub(super) fn take(&mut self, keyword: Keyword, next: Option<u8>) -> bool {
        if 0 < self.n_open {
            return false;
        }
        let is_first = !std::mem::replace(&mut self.has_word, true);
        if is_first && keyword == Keyword::Modifying {
            self.is_modified = true;
        }
        let is_defined = self.is_defining || self.is_modified && next == Some(b'(');
        if is_defined {
            (self.is_defining, self.is_modified) = (false, false);
            // `impl Trait for Type` and `const fn` go on.
        }
        if keyword == Keyword::Defining {
            self.is_defining = true;
            return false;
        }
        is_defined
    }
}
