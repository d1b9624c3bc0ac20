//! Redacts text that is shown while it is being written.
//!
//! `Redactor` holds back 4 KiB, which is more than most answers have. Here the whole text so far is redacted each time,
//! and what goes out ends before the word that is being written, before a word that may be a secret or announce one
//! until enough follows it, and where more text changed what was found. Should later text make a secret of something that
//! went out, all of it is told again.

use super::{ExtraWords, names};

/// A word that may belong to a secret is settled when this much follows it.
const SETTLED_BYTES: usize = 200;

/// No more than this is held back.
const MAX_HELD: usize = 4096;

/// A longer text is continued without its beginning, of which this much is kept for context.
const MAX_BYTES: usize = 128 << 10;
const CONTEXT_BYTES: usize = 16 << 10;

/// A longer run of letters and digits is not a word.
const MAX_RUN: usize = 20;

/// Words that announce a secret before a sign such as `:`, and are no names of one.
const ANNOUNCING: &[&str] = &["bearer", "basic", "authorization", "cookie", "creds", "login"];

/// Words before a secret that is made of words.
const PHRASES: &[&str] = &["mnemonic", "seed", "phrase"];

/// What stands between a name and its value, or opens the value.
const LINKS: [char; 8] = [':', '=', '"', '\'', '`', '(', '<', '\u{ff1a}'];

/// What may go out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LiveText {
    /// Nothing now.
    Nothing,
    /// The next piece.
    More(String),
    /// In the place of everything that went out since the beginning: later text made a secret of a part of it.
    Instead(String),
}

/// Redacts a text while it grows.
#[derive(Clone, Debug, Default)]
pub struct LiveRedactor {
    words: ExtraWords,
    raw: String,
    /// How much of it went out.
    cut: usize,
    /// What that became.
    told: String,
    /// Whether the beginning is no longer kept, so that nothing can be told again.
    is_continued: bool,
}

impl LiveRedactor {
    pub fn new(words: ExtraWords) -> Self {
        Self { words, ..Self::default() }
    }

    pub fn push(&mut self, piece: &str) {
        self.raw.push_str(piece);
    }

    /// Whether nothing came since the beginning.
    pub fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }

    /// Returns what may go out now.
    pub fn ready(&mut self) -> LiveText {
        let cut = settled(&self.raw, self.cut).min(self.before_words());
        if cut <= self.cut {
            return LiveText::Nothing;
        }
        let whole = self.words.redact(&self.raw).into_owned();
        let clean = self.words.redact(&self.raw[..cut]).into_owned();
        let is_forced = MAX_HELD < self.raw.len() - self.cut;
        let n_same = if is_forced { clean.len() } else { common(&clean, &whole) };
        self.cut = cut;
        let text = self.tell(&clean[..n_same]);
        self.forget_beginning();
        text
    }

    /// Returns everything that is left, and begins anew.
    pub fn finish(&mut self) -> LiveText {
        let clean = self.words.redact(&self.raw).into_owned();
        let text = self.tell(&clean);
        *self = Self::new(std::mem::take(&mut self.words));
        text
    }

    /// Where a word of the person's own list could still begin.
    fn before_words(&self) -> usize {
        let most = self.words.longest();
        self.raw.floor_char_boundary(self.raw.len().saturating_sub(most.saturating_sub(1)))
    }

    fn tell(&mut self, clean: &str) -> LiveText {
        match clean.strip_prefix(self.told.as_str()) {
            Some("") => LiveText::Nothing,
            Some(more) => {
                self.told.push_str(more);
                LiveText::More(more.to_owned())
            }
            // Shorter than what is out, and the same: the rest comes again with the next text.
            None if self.told.starts_with(clean) => LiveText::Nothing,
            None if self.is_continued => {
                let from = common(clean, &self.told);
                let more = clean[from..].to_owned();
                clean.clone_into(&mut self.told);
                LiveText::More(more)
            }
            None => {
                clean.clone_into(&mut self.told);
                LiveText::Instead(clean.to_owned())
            }
        }
    }

    /// Keeps only the end of a long text.
    fn forget_beginning(&mut self) {
        if self.raw.len() < MAX_BYTES || self.cut < CONTEXT_BYTES {
            return;
        }
        let from = self.raw.floor_char_boundary(self.cut - CONTEXT_BYTES);
        let from = self.raw[from..self.cut].find('\n').map_or(from, |at| from + at + 1);
        self.raw.drain(..from);
        self.cut -= from;
        self.told = self.words.redact(&self.raw[..self.cut]).into_owned();
        self.is_continued = true;
    }
}

/// How much two texts have in common at their beginning.
fn common(one: &str, other: &str) -> usize {
    let n_same = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    one.floor_char_boundary(n_same)
}

/// Where the text ends that nothing behind it changes any more, as far as words tell.
fn settled(raw: &str, cut: usize) -> usize {
    let last = raw.rfind(char::is_whitespace);
    let end = last.map_or(0, |at| raw.ceil_char_boundary(at + 1));
    if MAX_HELD < raw.len() - cut {
        return if cut < end { end } else { raw.floor_char_boundary(raw.len() - SETTLED_BYTES) };
    }
    let mut at = cut;
    for word in raw[cut..end.max(cut)].split_inclusive(char::is_whitespace) {
        let word_end = at + word.trim_end().len();
        if is_wary(word.trim_end()) && !is_past(&raw[word_end..]) {
            return at;
        }
        at += word.len();
    }
    end
}

/// Whether enough follows a word.
fn is_past(rest: &str) -> bool {
    let n_lines = rest.split('\n').skip(1).filter(|line| !line.trim().is_empty()).count();
    // The last of them may still grow.
    SETTLED_BYTES <= rest.len() || (2 < n_lines)
}

/// Whether a word may be a secret, a part of one, or announce one that is more than a word. What is one word needs no
/// announcing: it is judged with all that stands before it.
fn is_wary(word: &str) -> bool {
    let has = |is: fn(char) -> bool| word.chars().any(is);
    let is_mixed = has(char::is_alphabetic) && has(|c| c.is_ascii_digit());
    let has_sign = word.contains(['=', '#', '$', '%', '^', '&', '+', '~', '@', '\\']);
    let n_digits = word.bytes().filter(u8::is_ascii_digit).count();
    let is_link = word.contains(LINKS);
    let runs = || word.split(|c: char| !c.is_alphanumeric()).filter(|run| !run.is_empty());
    (is_mixed && 5 <= word.len())
        || (has_sign && 5 <= word.len())
        || 8 <= n_digits
        || word.contains("----")
        || runs().any(|run| MAX_RUN <= run.len() || announces(run, is_link))
}

/// Whether a word announces a secret: the end of a name that promises one, where a value may follow.
fn announces(run: &str, is_link: bool) -> bool {
    let lower = run.to_lowercase();
    let is_name = || {
        let name = lower.strip_suffix('s').unwrap_or(&lower);
        names::words()
            .any(|(word, _)| name.ends_with(word) || !word.is_ascii() && lower.contains(word))
            || ANNOUNCING.contains(&lower.as_str())
    };
    PHRASES.contains(&lower.as_str()) || (is_link && is_name())
}
