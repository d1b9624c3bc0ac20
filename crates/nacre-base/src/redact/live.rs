//! Redacts text while it is being generated and displayed.
//!
//! At each step, `LiveRedactor` redacts all text generated so far. It holds back an unfinished
//! word, a word that may be or introduce a secret until enough text follows it, and everything
//! after a point at which new text changed an earlier result. If later text shows that output
//! already sent contains a secret, the complete output is sent again.

use super::{ExtraWords, names};

/// Number of bytes that must follow a word before it is considered final.
const SETTLED_BYTES: usize = 200;

const MAX_HELD: usize = 4096;

/// If the text is longer than this, its beginning is dropped, except for the last `CONTEXT_BYTES`
/// that were sent.
const MAX_BYTES: usize = 128 << 10;
const CONTEXT_BYTES: usize = 16 << 10;

const MAX_RUN: usize = 20;

/// Words that introduce a secret when followed by a character such as `:` but are not themselves
/// names of secrets.
const ANNOUNCING: &[&str] = &["bearer", "basic", "authorization", "cookie", "creds", "login"];

const PHRASES: &[&str] = &["mnemonic", "seed", "phrase"];

/// Characters that can separate a name from its value or begin the value.
const LINKS: [char; 8] = [':', '=', '"', '\'', '`', '(', '<', '\u{ff1a}'];

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LiveText {
    Nothing,
    More(String),
    /// Replaces all output so far, because part of it turned out to be a secret.
    Instead(String),
}

#[derive(Clone, Debug, Default)]
pub struct LiveRedactor {
    words: ExtraWords,
    raw: String,
    cut: usize,
    /// The redacted text sent so far.
    told: String,
    /// Whether the beginning of the text was dropped. If so, the complete output cannot be sent
    /// again.
    is_continued: bool,
}

impl LiveRedactor {
    pub fn new(words: ExtraWords) -> Self {
        Self { words, ..Self::default() }
    }

    pub fn push(&mut self, piece: &str) {
        self.raw.push_str(piece);
    }

    pub fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }

    pub fn ready(&mut self) -> LiveText {
        let cut = find_settled_end(&self.raw, self.cut).min(self.before_words());
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

    pub fn finish(&mut self) -> LiveText {
        let clean = self.words.redact(&self.raw).into_owned();
        let text = self.tell(&clean);
        *self = Self::new(std::mem::take(&mut self.words));
        text
    }

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
            // The redacted text is shorter than what was already sent. Send nothing until it
            // becomes longer.
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

fn common(one: &str, other: &str) -> usize {
    let n_same = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    one.floor_char_boundary(n_same)
}

/// Returns the end of the part that later text cannot change, which is always the end of a word.
fn find_settled_end(raw: &str, cut: usize) -> usize {
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

fn is_past(rest: &str) -> bool {
    let n_lines = rest.split('\n').skip(1).filter(|line| !line.trim().is_empty()).count();
    SETTLED_BYTES <= rest.len() || (2 < n_lines)
}

/// Returns whether a word may be a secret, be part of one, or introduce a multi-word secret.
/// Single-word secrets need no introduction, because a word is always checked together with the
/// text before it.
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
