//! Canonical events, the common format for all transcripts. [`BoundedText`] redacts and truncates
//! all text in events, so no adapter can emit a secret or a 50 MB tool result.

use std::borrow::Cow;

use jiff::Timestamp;

use nacre_base::redact::{ExtraWords, redact};
pub use nacre_types::{
    InjectedReason, TraceEventKind as EventKind, TraceLane as Lane, TracePlace as Position,
    WordSource,
};

/// Who wrote an event's text. Injected text never comes from the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextOrigin {
    Person(WordSource),
    Agent,
    Tool,
    Injected(InjectedReason),
    /// The agent's own program, which writes, for example, turn boundaries, titles and unknown
    /// records.
    Host,
}

impl TextOrigin {
    pub fn prompt() -> Self {
        Self::Person(WordSource::Prompt)
    }

    pub fn injection_reason(self) -> Option<InjectedReason> {
        if let Self::Injected(reason) = self { Some(reason) } else { None }
    }

    /// Returns where the user's words come from, or `None` if the user did not write the text.
    pub fn person(self) -> Option<WordSource> {
        if let Self::Person(source) = self { Some(source) } else { None }
    }

    /// Adjusts the origin to the lane. In a sub-agent's session, messages with the user role come
    /// from the parent agent.
    pub(crate) fn in_lane(self, lane: Lane) -> Self {
        if self.person().is_some() && lane == Lane::Sidechain { Self::Agent } else { self }
    }

    /// Applies `change` if the text consists of the user's words. Other origins stay unchanged.
    pub(crate) fn with_source(self, change: impl FnOnce(WordSource) -> WordSource) -> Self {
        self.person().map_or(self, |source| Self::Person(change(source)))
    }
}

/// Links a tool call event to its result event.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CallLink {
    /// Empty if the format has no call IDs.
    pub id: String,
    pub tool: Option<String>,
}

/// How many bytes are kept at each end of truncated text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextBounds {
    pub head: usize,
    pub tail: usize,
}

impl TextBounds {
    /// User and agent messages are kept almost completely, because quotes are verified against
    /// them. For tool output, the first and last screenfuls are enough.
    pub fn of(kind: EventKind) -> Self {
        match kind {
            EventKind::User | EventKind::Assistant => Self { head: 192 * 1024, tail: 64 * 1024 },
            EventKind::Reasoning | EventKind::Summary | EventKind::Compaction => {
                Self { head: 24 * 1024, tail: 8 * 1024 }
            }
            EventKind::ToolCall | EventKind::ToolResult => Self { head: 3 * 1024, tail: 1024 },
            EventKind::Meta => Self { head: 1536, tail: 512 },
        }
    }
}

/// Redacted text, without its middle if it is too long.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct BoundedText {
    head: String,
    tail: String,
    full_bytes: u64,
}

/// Redaction examines this many bytes beyond a cut, so that a secret split by the cut is still
/// detected.
pub(crate) const CUT_SLACK: usize = 2 * 1024;
/// Maximum distance between a secret and the preceding words that identify it.
const CONTEXT: usize = 512;
/// How far from a cut to look for the boundary of a word that was split.
const CUT_WORD: usize = 256;

impl BoundedText {
    pub fn new(text: &str, bounds: TextBounds) -> Self {
        Self::of_parts(Cow::Borrowed(text), "", text.len() as u64, bounds)
    }

    /// Redacts and truncates text of which only both ends are available. If `tail` is empty, `head`
    /// is complete.
    pub fn of_parts(head: Cow<'_, str>, tail: &str, full_bytes: u64, bounds: TextBounds) -> Self {
        if tail.is_empty() && head.len() <= bounds.head + bounds.tail {
            let changed = match redact(&head) {
                Cow::Owned(redacted) => Some(redacted),
                Cow::Borrowed(_) => None,
            };
            let head = changed.unwrap_or_else(|| head.into_owned());
            return Self { head, tail: String::new(), full_bytes };
        }
        if head.len() <= bounds.head && tail.len() <= bounds.tail {
            // Both parts already fit, so nothing is cut here and no secret can be split.
            let (head, tail) = (redact(&head).into_owned(), redact(tail).into_owned());
            return Self { head, tail, full_bytes };
        }
        let last = if tail.is_empty() { &*head } else { tail };
        Self {
            head: clean_front(&head, bounds.head),
            tail: clean_back(last, bounds.tail),
            full_bytes,
        }
    }

    /// Redacts the words on the user's redaction list. Words next to a cut are dropped, because
    /// they may be incomplete.
    fn without_words(self, words: &ExtraWords) -> Self {
        let Self { head, tail, full_bytes } = self;
        let (head, tail) = if tail.is_empty() {
            (head.as_str(), "")
        } else {
            (before_cut_word(&head), after_cut_word(&tail))
        };
        let (head, tail) = (words.redact(head).into_owned(), words.redact(tail).into_owned());
        Self { head, tail, full_bytes }
    }

    /// Placeholder for text that the sink does not need. Only its size is recorded.
    pub(crate) fn unread(full_bytes: u64) -> Self {
        Self { full_bytes, ..Self::default() }
    }

    /// Returns the text, or its beginning if it was truncated.
    pub fn head(&self) -> &str {
        &self.head
    }

    /// Returns the end of a truncated text, or an empty string if nothing was cut off.
    pub fn tail(&self) -> &str {
        &self.tail
    }

    /// Returns the size in bytes before truncation and redaction. Text that was not read is counted
    /// in its escaped form.
    pub fn full_bytes(&self) -> u64 {
        self.full_bytes
    }

    pub fn is_cut(&self) -> bool {
        !self.tail.is_empty()
    }

    pub fn is_empty(&self) -> bool {
        self.head.is_empty() && self.tail.is_empty()
    }
}

/// Redacts an overlong string and returns its beginning.
///
/// Text just after the cut is examined as well, so that a secret split by the cut is detected. If
/// redaction shortens the beginning, some of the following text moves into the result. The last
/// word is dropped if it may be part of a secret.
pub(crate) fn clean_front(text: &str, max: usize) -> String {
    let clean = redact(front(text, max + CUT_SLACK));
    front(&clean, max.min(cut_word_start(&clean))).to_owned()
}

/// Redacts an overlong string and returns its end. See [`clean_front`].
pub(crate) fn clean_back(text: &str, max: usize) -> String {
    let clean = redact(back(text, max + CUT_SLACK));
    // The words that identify a secret may precede the examined part, so its beginning is dropped.
    let unsure = CONTEXT.min(clean.len() / 4).max(cut_word_end(&clean));
    back(&clean, max.min(clean.len() - unsure)).to_owned()
}

fn before_cut_word(text: &str) -> &str {
    let near = text.floor_char_boundary(text.len().saturating_sub(CUT_WORD));
    &text[..near + text[near..].rfind(char::is_whitespace).unwrap_or(0)]
}

fn after_cut_word(text: &str) -> &str {
    let near = text.ceil_char_boundary(CUT_WORD.min(text.len()));
    &text[text[..near].find(char::is_whitespace).unwrap_or(near)..]
}

/// Returns where the last word starts if it may be the beginning of a secret; otherwise, the end of
/// the text.
pub(crate) fn cut_word_start(text: &str) -> usize {
    let length = text.bytes().rev().take_while(|byte| is_in_token(*byte)).count();
    let start = text.len() - length;
    if looks_generated(&text.as_bytes()[start..]) { start } else { text.len() }
}

/// Returns where the first word ends if it may be the end of a secret; otherwise 0. Long words that
/// follow are included, because a key may span several lines.
pub(crate) fn cut_word_end(text: &str) -> usize {
    const LINE: usize = 32;
    let bytes = text.as_bytes();
    let (mut end, mut start) = (0, 0);
    loop {
        let length = bytes[start..].iter().take_while(|byte| is_in_token(**byte)).count();
        let is_part = looks_generated(&bytes[start..start + length]);
        if !is_part || (start > 0 && length < LINE) {
            return end;
        }
        end = start + length;
        let is_between = |byte: &&u8| byte.is_ascii_whitespace() || b"\\\",".contains(*byte);
        start = end + bytes[end..].iter().take_while(is_between).count();
    }
}

pub(crate) fn is_in_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-+/=.~%".contains(&byte)
}

/// Returns `true` if the word may be part of a generated secret.
pub(crate) fn looks_generated(word: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| word.iter().any(is);
    has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
}

pub(crate) fn front(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}

pub(crate) fn back(text: &str, max: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(max))..]
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranscriptEvent {
    /// Position in the transcript, counted from 0 across incremental reads.
    pub sequence: u64,
    pub kind: EventKind,
    /// Copied unchanged from the transcript. Timestamps may be out of order, so events are ordered
    /// by `sequence`.
    pub timestamp: Option<Timestamp>,
    pub place: Position,
    /// The agent's ID for the record. Events with the same key in two transcripts are the same
    /// event.
    pub key: Option<String>,
    pub call: Option<CallLink>,
    pub text: BoundedText,
    pub origin: TextOrigin,
    pub lane: Lane,
    /// Set for a failed tool call, a rejected request, or an aborted turn.
    pub is_error: bool,
}

impl TranscriptEvent {
    #[must_use]
    pub fn without_words(self, words: &ExtraWords) -> Self {
        if words.is_empty() {
            return self;
        }
        Self { text: self.text.without_words(words), ..self }
    }

    #[must_use]
    pub fn with_text(self, change: impl Fn(&str) -> Cow<'_, str>) -> Self {
        let BoundedText { head, tail, full_bytes } = &self.text;
        let (head, tail) = (change(head).into_owned(), change(tail).into_owned());
        Self { text: BoundedText { head, tail, full_bytes: *full_bytes }, ..self }
    }

    pub fn injection_reason(&self) -> Option<InjectedReason> {
        self.origin.injection_reason()
    }

    pub fn person(&self) -> Option<WordSource> {
        self.origin.person()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_word_at_a_cut_is_left_out_as_well() {
        let words = ExtraWords::new(&["Quillhaven".to_owned()]);
        let text = format!("one Quillhaven {} Quillhaven last", "x ".repeat(200));
        let bounds = TextBounds { head: 9, tail: 9 };
        let cut =
            BoundedText::of_parts(Cow::Borrowed(&text[..9]), &text[text.len() - 9..], 9, bounds);
        assert!(cut.head().ends_with("Quill") && cut.tail().starts_with("aven"), "{cut:?}");
        let clean = cut.without_words(&words);
        assert_eq!((clean.head(), clean.tail()), ("one", " last"));
    }

    #[test]
    fn a_whole_text_loses_its_words_and_nothing_else() {
        let words = ExtraWords::new(&["Quillhaven".to_owned()]);
        let text = BoundedText::new("for Quillhaven, soon", TextBounds { head: 99, tail: 99 });
        assert_eq!(text.without_words(&words).head(), "for [redacted:extra], soon");
    }
}
