//! Canonical events: what every adapter turns a trace into.
//!
//! Text can enter an event only through [`BoundedText::new`], which redacts and bounds it, so no
//! adapter can hand a secret or a fifty-megabyte tool result to the rooms above.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::base::redact::{ExtraWords, redact};

/// What an event is, whichever agent wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// A message with the role of the user; `origin` says whether a person wrote it.
    User,
    Assistant,
    Reasoning,
    ToolCall,
    ToolResult,
    /// A title or a recap that the agent wrote about the session.
    Summary,
    /// The place where the agent replaced its history by a shorter one.
    Compaction,
    /// Anything else worth a line: unknown records, hooks, turn ends.
    Meta,
}

impl EventKind {
    pub const ALL: [Self; 8] = [
        Self::User,
        Self::Assistant,
        Self::Reasoning,
        Self::ToolCall,
        Self::ToolResult,
        Self::Summary,
        Self::Compaction,
        Self::Meta,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Reasoning => "reasoning",
            Self::ToolCall => "tool_call",
            Self::ToolResult => "tool_result",
            Self::Summary => "summary",
            Self::Compaction => "compaction",
            Self::Meta => "meta",
        }
    }

    /// How much of a text of this kind is kept.
    ///
    /// Quotes are looked up in what people and agents said, so those keep nearly everything; tool
    /// output is kept for its first and last screens only.
    pub fn bounds(self) -> Bounds {
        match self {
            Self::User | Self::Assistant => Bounds { head: 192 * 1024, tail: 64 * 1024 },
            Self::Reasoning | Self::Summary | Self::Compaction => {
                Bounds { head: 24 * 1024, tail: 8 * 1024 }
            }
            Self::ToolCall | Self::ToolResult => Bounds { head: 3 * 1024, tail: 1024 },
            Self::Meta => Bounds { head: 1536, tail: 512 },
        }
    }
}

/// Where a piece of the person's words was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WordSource {
    /// A prompt, as typed.
    Prompt,
    /// Typed while the agent worked, kept in a queue.
    Queued,
    /// An answer to a question that the agent asked through a tool.
    Answer,
    /// The reason given when a tool call was refused.
    Refusal,
    /// The arguments of a slash command.
    CommandArgs,
    /// A shell command that the person ran inside the agent.
    Shell,
    /// The input block inside an injected template.
    TemplateInput,
    /// A user-role message of a format that cannot tell people from machines.
    Unverified,
}

impl WordSource {
    pub const ALL: [Self; 8] = [
        Self::Prompt,
        Self::Queued,
        Self::Answer,
        Self::Refusal,
        Self::CommandArgs,
        Self::Shell,
        Self::TemplateInput,
        Self::Unverified,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Queued => "queued",
            Self::Answer => "answer",
            Self::Refusal => "refusal",
            Self::CommandArgs => "command_args",
            Self::Shell => "shell",
            Self::TemplateInput => "template_input",
            Self::Unverified => "unverified",
        }
    }
}

/// Why a text counts as injected: no person and no model of this session wrote it as talk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InjectedReason {
    /// Rule files such as `AGENTS.md` and `CLAUDE.md`, and skills.
    Instructions,
    SystemReminder,
    /// The wrapper around a slash command.
    Command,
    /// Output of a command that ran outside the model's view.
    CommandOutput,
    /// Working directory, shell, sandbox, date.
    Environment,
    /// Files, selections and images that the editor attached.
    EditorContext,
    /// A guess of the next prompt, or another helper's request.
    PromptSuggestion,
    Caveat,
    Hook,
    /// A notice about a background task or another agent.
    TaskNotice,
    /// "Interrupted by user" and its like: a signal, not words.
    Interruption,
    /// Text that continues a compacted session.
    CompactionSummary,
    /// A message that the agent marked as its own, or that fits none of the above.
    Host,
    /// Nacre's own briefs, hook output and tool results: recall must never feed itself.
    Nacre,
}

impl InjectedReason {
    /// The reason, or `likely` where nothing told which program it was.
    pub(super) fn or_if_unknown(self, likely: Self) -> Self {
        if self == Self::Host { likely } else { self }
    }

    pub const ALL: [Self; 14] = [
        Self::Instructions,
        Self::SystemReminder,
        Self::Command,
        Self::CommandOutput,
        Self::Environment,
        Self::EditorContext,
        Self::PromptSuggestion,
        Self::Caveat,
        Self::Hook,
        Self::TaskNotice,
        Self::Interruption,
        Self::CompactionSummary,
        Self::Host,
        Self::Nacre,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Instructions => "instructions",
            Self::SystemReminder => "system_reminder",
            Self::Command => "command",
            Self::CommandOutput => "command_output",
            Self::Environment => "environment",
            Self::EditorContext => "editor_context",
            Self::PromptSuggestion => "prompt_suggestion",
            Self::Caveat => "caveat",
            Self::Hook => "hook",
            Self::TaskNotice => "task_notice",
            Self::Interruption => "interruption",
            Self::CompactionSummary => "compaction_summary",
            Self::Host => "host",
            Self::Nacre => "nacre",
        }
    }
}

/// Who is behind the text of an event. A text is the person's or injected, never both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    Person(WordSource),
    /// The model.
    Agent,
    /// A tool's output.
    Tool,
    Injected(InjectedReason),
    /// The agent's program itself: turn ends, titles, unknown records.
    Host,
}

impl Origin {
    /// What a person typed.
    pub fn prompt() -> Self {
        Self::Person(WordSource::Prompt)
    }
}

/// Which line of talk an event belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lane {
    Main,
    /// A sub-agent's talk.
    Sidechain,
    /// Copied from the session this one was forked or spawned from; it was talk there, not here.
    Inherited,
}

impl Lane {
    pub const ALL: [Self; 3] = [Self::Main, Self::Sidechain, Self::Inherited];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Sidechain => "sidechain",
            Self::Inherited => "inherited",
        }
    }
}

/// Where in its trace an event was read.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// A line, counted from 1, and the byte offset at which it starts (in the unpacked stream of a
    /// compressed trace).
    Line { line: u64, offset: u64 },
    /// A row, file or element inside a database, a tree or one big document.
    Row { key: String },
}

/// The tool call that a call or result event belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CallLink {
    /// Links a result to its call; empty when the format gives none.
    pub id: String,
    /// The tool's name, where it is known.
    pub tool: Option<String>,
}

/// How many bytes of a text are kept at its two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    pub head: usize,
    pub tail: usize,
}

/// A redacted text, cut in the middle where it is too long.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct BoundedText {
    head: String,
    tail: String,
    full_bytes: u64,
}

/// Redaction looks this far across a cut, so that no secret survives by being halved.
pub(super) const CUT_SLACK: usize = 2 * 1024;
/// How far before a secret the words may stand that tell it is one.
const CONTEXT: usize = 512;
/// How far from a cut half a word of a person's own may be.
const CUT_WORD: usize = 256;

impl BoundedText {
    /// Redacts and bounds a text that is wholly in memory.
    pub fn new(text: &str, bounds: Bounds) -> Self {
        Self::of_parts(Cow::Borrowed(text), "", text.len() as u64, bounds)
    }

    /// Redacts and bounds a text of which a reader kept only the two ends; an empty `tail` means
    /// that `head` is all of it.
    pub fn of_parts(head: Cow<'_, str>, tail: &str, full_bytes: u64, bounds: Bounds) -> Self {
        if tail.is_empty() && head.len() <= bounds.head + bounds.tail {
            let changed = match redact(&head) {
                Cow::Owned(redacted) => Some(redacted),
                Cow::Borrowed(_) => None,
            };
            let head = changed.unwrap_or_else(|| head.into_owned());
            return Self { head, tail: String::new(), full_bytes };
        }
        if head.len() <= bounds.head && tail.len() <= bounds.tail {
            // Cut to these bounds before, so nothing hides behind the cut.
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

    /// The same text without a person's own words. It was cut before they were looked for, so what stands next to the
    /// cut goes as well: it may be half of one.
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

    /// A text that nobody wants: only its size is told.
    pub(super) fn unread(full_bytes: u64) -> Self {
        Self { full_bytes, ..Self::default() }
    }

    /// The whole text, or its beginning when it was cut.
    pub fn head(&self) -> &str {
        &self.head
    }

    /// The end of a cut text; empty when nothing was cut.
    pub fn tail(&self) -> &str {
        &self.tail
    }

    /// The size before cutting and redaction; of a text that was not wanted, the size it is written
    /// in, escapes and all.
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

/// The beginning of a text that is too long to be kept, without its secrets.
///
/// Redaction looks past the cut. Where it shortened the text, what it looked at moves into what is
/// kept, so the word that its view ended in is left out: it may be half of a secret.
pub(super) fn clean_front(text: &str, max: usize) -> String {
    let clean = redact(front(text, max + CUT_SLACK));
    front(&clean, max.min(cut_word_start(&clean))).to_owned()
}

/// The end of a text that is too long to be kept, without its secrets; as [`clean_front`].
pub(super) fn clean_back(text: &str, max: usize) -> String {
    let clean = redact(back(text, max + CUT_SLACK));
    // The name that makes a secret of what follows it may be before the view.
    let unsure = CONTEXT.min(clean.len() / 4).max(cut_word_end(&clean));
    back(&clean, max.min(clean.len() - unsure)).to_owned()
}

/// What stands before the last word, which a cut may have halved.
fn before_cut_word(text: &str) -> &str {
    let near = text.floor_char_boundary(text.len().saturating_sub(CUT_WORD));
    &text[..near + text[near..].rfind(char::is_whitespace).unwrap_or(0)]
}

/// What stands behind the first word, which a cut may have halved.
fn after_cut_word(text: &str) -> &str {
    let near = text.ceil_char_boundary(CUT_WORD.min(text.len()));
    &text[text[..near].find(char::is_whitespace).unwrap_or(near)..]
}

/// Where the last word starts, if it may be the beginning of a secret; else the end.
pub(super) fn cut_word_start(text: &str) -> usize {
    let length = text.bytes().rev().take_while(|byte| is_in_token(*byte)).count();
    let start = text.len() - length;
    if looks_generated(&text.as_bytes()[start..]) { start } else { text.len() }
}

/// Where the first word ends, if it may be the end of a secret; else the start. A key goes on over
/// many lines, so long words that follow go with it.
pub(super) fn cut_word_end(text: &str) -> usize {
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

/// Whether a secret without spaces may hold this.
pub(super) fn is_in_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-+/=.~%".contains(&byte)
}

/// Whether a word, or a part of one, may be a secret's.
pub(super) fn looks_generated(word: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| word.iter().any(is);
    has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
}

/// The longest beginning of `text` of at most `max` bytes that ends between characters.
pub(super) fn front(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}

/// The longest end of `text` of at most `max` bytes that starts between characters.
pub(super) fn back(text: &str, max: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(max))..]
}

/// One event of a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Counts from 0 in the order of the trace, across incremental reads.
    pub sequence: u64,
    pub kind: EventKind,
    /// As the trace says it; traces run backwards at times, so order is by `sequence`.
    pub timestamp: Option<Timestamp>,
    pub place: Place,
    /// The agent's own id of the record: the same key in two traces is the same event.
    pub key: Option<String>,
    pub call: Option<CallLink>,
    pub text: BoundedText,
    pub origin: Origin,
    pub lane: Lane,
    /// A failed tool call, a refused request, an aborted turn.
    pub is_error: bool,
}

impl Event {
    /// The same event without the words that a person keeps out of everything.
    #[must_use]
    pub fn without_words(self, words: &ExtraWords) -> Self {
        if words.is_empty() {
            return self;
        }
        Self { text: self.text.without_words(words), ..self }
    }

    /// The same event with what `change` makes of its text.
    #[must_use]
    pub fn with_text(self, change: impl Fn(&str) -> Cow<'_, str>) -> Self {
        let BoundedText { head, tail, full_bytes } = &self.text;
        let (head, tail) = (change(head).into_owned(), change(tail).into_owned());
        Self { text: BoundedText { head, tail, full_bytes: *full_bytes }, ..self }
    }

    pub fn injected(&self) -> Option<InjectedReason> {
        match self.origin {
            Origin::Injected(reason) => Some(reason),
            Origin::Person(_) | Origin::Agent | Origin::Tool | Origin::Host => None,
        }
    }

    /// Where the person's words in this event came from; `None` when they are not a person's.
    pub fn person(&self) -> Option<WordSource> {
        match self.origin {
            Origin::Person(source) => Some(source),
            Origin::Injected(_) | Origin::Agent | Origin::Tool | Origin::Host => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_word_at_a_cut_is_left_out_as_well() {
        let words = ExtraWords::new(&["Quillhaven".to_owned()]);
        let text = format!("one Quillhaven {} Quillhaven last", "x ".repeat(200));
        let bounds = Bounds { head: 9, tail: 9 };
        let cut =
            BoundedText::of_parts(Cow::Borrowed(&text[..9]), &text[text.len() - 9..], 9, bounds);
        assert!(cut.head().ends_with("Quill") && cut.tail().starts_with("aven"), "{cut:?}");
        let clean = cut.without_words(&words);
        assert_eq!((clean.head(), clean.tail()), ("one", " last"));
    }

    #[test]
    fn a_whole_text_loses_its_words_and_nothing_else() {
        let words = ExtraWords::new(&["Quillhaven".to_owned()]);
        let text = BoundedText::new("for Quillhaven, soon", Bounds { head: 99, tail: 99 });
        assert_eq!(text.without_words(&words).head(), "for [redacted:extra], soon");
    }
}
