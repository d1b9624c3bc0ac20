//! What is known about a session as a whole, and how well its trace could be read.
//!
//! Facts are carried inside a watermark, so that a grown trace is described by all of it although
//! only its new end was read.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::de::value::{Error as NameError, StrDeserializer};
use serde::{Deserialize, Serialize};

use crate::base::redact::ExtraWords;

/// A coding agent whose traces can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Agent {
    Claude,
    Codex,
    Cursor,
    OpenCode,
    Gemini,
    Qwen,
    Copilot,
    Pi,
    Droid,
    Cline,
    Continue,
    Aider,
    /// Nacre's own transcript format.
    Generic,
}

impl Agent {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::OpenCode => "opencode",
            Self::Gemini => "gemini",
            Self::Qwen => "qwen",
            Self::Copilot => "copilot",
            Self::Pi => "pi",
            Self::Droid => "droid",
            Self::Cline => "cline",
            Self::Continue => "continue",
            Self::Aider => "aider",
            Self::Generic => "generic",
        }
    }

    /// The agent of that name, as it is stored.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::deserialize(StrDeserializer::<NameError>::new(name)).ok()
    }
}

/// What the session was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionRole {
    #[default]
    Main,
    /// Spawned by another session to do a part of its work.
    SubAgent,
    /// Runs for the agent's own ends: guesses of the next prompt, compaction, review.
    Helper,
}

/// Whether the session was at rest when it was read.
///
/// No format marks the end reliably; the caller adds how long the trace has been quiet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The last turn is closed and nothing is pending.
    Finished,
    /// A turn or a tool call is still open.
    Active,
    /// The format, or what there is of the trace, does not tell.
    #[default]
    Unknown,
}

/// How many events of each kind there are; injected and inherited ones are counted apart.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counts {
    /// The person's messages.
    pub user: u64,
    pub assistant: u64,
    pub reasoning: u64,
    pub tool_calls: u64,
    pub tool_results: u64,
    pub summaries: u64,
    pub compactions: u64,
    pub meta: u64,
    pub injected: u64,
    /// Questions that Nacre asked the agent as a model; they are among the injected ones.
    #[serde(default)]
    pub questions: u64,
    pub sidechain: u64,
    pub inherited: u64,
    pub errors: u64,
}

/// Tokens of all model calls of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tokens {
    /// Fresh input, without what came from a cache.
    pub input: u64,
    pub output: u64,
    /// Read from a cache.
    pub cached: u64,
    /// Written to a cache.
    pub cache_write: u64,
    /// Part of `output`, where the agent tells it apart.
    pub reasoning: u64,
}

impl Tokens {
    /// Adds what another model call took.
    pub(super) fn add(&mut self, other: Self) {
        for (total, more) in [
            (&mut self.input, other.input),
            (&mut self.output, other.output),
            (&mut self.cached, other.cached),
            (&mut self.cache_write, other.cache_write),
            (&mut self.reasoning, other.reasoning),
        ] {
            *total = total.saturating_add(more);
        }
    }
}

/// Another session that this one hangs on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionLink {
    pub kind: LinkKind,
    /// The other session's id.
    pub session: String,
    /// The call in the other session that made this one, where known.
    pub call: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkKind {
    /// The other session spawned this one.
    Parent,
    /// This one began as a copy of the other.
    ForkOf,
    /// The other one's history stands before this one's and is not repeated here.
    Continues,
}

/// Events `from..=to` that the person took back: a rewind, a rollback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undone {
    pub from: u64,
    pub to: u64,
}

/// A session as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionFacts {
    pub agent: Agent,
    pub id: String,
    pub role: SessionRole,
    /// The version of the agent's program that wrote the trace last.
    pub agent_version: Option<String>,
    pub title: Option<String>,
    /// The working directory the session began in: its project.
    pub cwd: Option<String>,
    /// Further working directories, in the order they appeared.
    pub other_cwds: Vec<String>,
    pub git_branch: Option<String>,
    pub other_branches: Vec<String>,
    /// The repository's address, without credentials.
    pub repository: Option<String>,
    pub models: Vec<String>,
    pub started: Option<Timestamp>,
    pub last_activity: Option<Timestamp>,
    pub counts: Counts,
    pub tokens: Tokens,
    pub links: Vec<SessionLink>,
    pub undone: Vec<Undone>,
    pub ending: Ending,
}

impl SessionFacts {
    pub fn new(agent: Agent, id: &str) -> Self {
        Self {
            agent,
            id: id.to_owned(),
            role: SessionRole::Main,
            agent_version: None,
            title: None,
            cwd: None,
            other_cwds: Vec::new(),
            git_branch: None,
            other_branches: Vec::new(),
            repository: None,
            models: Vec::new(),
            started: None,
            last_activity: None,
            counts: Counts::default(),
            tokens: Tokens::default(),
            links: Vec::new(),
            undone: Vec::new(),
            ending: Ending::Unknown,
        }
    }

    /// The same facts without the words that a person keeps out of everything. Folders stay as they are: they say which
    /// project it was.
    #[must_use]
    pub fn without_words(mut self, words: &ExtraWords) -> Self {
        if words.is_empty() {
            return self;
        }
        let texts = [&mut self.title, &mut self.git_branch, &mut self.repository];
        for text in texts.into_iter().flatten().chain(&mut self.other_branches) {
            *text = words.redact(text).into_owned();
        }
        self
    }
}

/// How well a trace could be read: everything that was not simply taken over.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ReadReport {
    /// Whole lines (or rows) that were looked at in this read.
    pub lines: u64,
    /// Of these, lines of which nothing could be used.
    pub bad_lines: u64,
    /// Lines saved in part: two records on one line, a stub before a record, a broken escape.
    pub mended_lines: u64,
    /// Lines with bytes that are not UTF-8, each replaced.
    pub invalid_utf8: u64,
    /// Lines beyond the line cap, of which the two ends were kept.
    pub long_lines: u64,
    /// Records of a type that is not known here; kept as `meta`.
    pub unknown_records: u64,
    /// Their types and counts, at most 32.
    pub unknown_types: BTreeMap<String, u64>,
    /// Where an unfinished last line starts; it is left for the next read.
    pub torn_tail: Option<u64>,
    /// Texts that lost their middle.
    pub cut_texts: u64,
    /// Messages that the trace holds twice and that were given once.
    pub repeated: u64,
    /// Events beyond those that are read of one session: counted, and nothing else.
    pub left_out: u64,
}

const MAX_UNKNOWN_TYPES: usize = 32;
const MAX_TYPE_NAME: usize = 64;

impl ReadReport {
    pub(super) fn note_unknown(&mut self, record_type: &str) {
        self.unknown_records += 1;
        let name = super::names::short_name(record_type);
        let name = super::event::front(&name, MAX_TYPE_NAME);
        if let Some(count) = self.unknown_types.get_mut(name) {
            *count += 1;
        } else if self.unknown_types.len() < MAX_UNKNOWN_TYPES {
            self.unknown_types.insert(name.to_owned(), 1);
        }
    }
}
