//! Sessions of coding agents: as they are listed, shown, searched and imported.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{JobState, Report, SearchMode};

/// A session that was seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionEntry {
    pub id: String,
    /// The file or database that holds it.
    pub path: String,
    /// Its name inside a source that holds several.
    pub inner_id: Option<String>,
    /// The root of its project, where that is registered.
    pub project: Option<String>,
    pub state: JobState,
    /// Why it is in that state.
    pub reason: Option<String>,
    pub facts: SessionFacts,
    pub report: ReadReport,
}

/// A session as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionFacts {
    pub agent: String,
    /// The agent's own id of the session.
    pub id: String,
    pub role: SessionRole,
    /// The version of the agent's program that wrote the trace last.
    pub agent_version: Option<String>,
    pub title: Option<String>,
    /// The working directory the session began in.
    pub cwd: Option<String>,
    pub other_cwds: Vec<String>,
    pub git_branch: Option<String>,
    pub other_branches: Vec<String>,
    /// The repository's address, without credentials.
    pub repository: Option<String>,
    pub models: Vec<String>,
    pub started: Option<String>,
    pub last_activity: Option<String>,
    pub counts: EventCounts,
    pub tokens: SessionTokens,
    pub links: Vec<SessionLink>,
    pub undone: Vec<UndoneEvents>,
    pub ending: SessionEnding,
}

/// What a session was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionRole {
    Main,
    /// Spawned by another session to do a part of its work.
    SubAgent,
    /// Runs for the agent's own ends.
    Helper,
}

/// Whether a session was at rest when it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionEnding {
    Finished,
    /// A turn or a tool call is still open.
    Active,
    Unknown,
}

/// How many events of each kind there are; injected and inherited ones are counted apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventCounts {
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
    pub sidechain: u64,
    pub inherited: u64,
    pub errors: u64,
}

/// Tokens of all model calls of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionTokens {
    /// Without what came from a cache.
    pub input: u64,
    pub output: u64,
    /// Read from a cache.
    pub cached: u64,
    /// Written to a cache.
    pub cache_write: u64,
    /// Part of `output`, where the agent tells it apart.
    pub reasoning: u64,
}

/// Another session that this one depends on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionLink {
    pub kind: SessionLinkKind,
    /// The other session's id.
    pub session: String,
    /// The call in the other session that made this one.
    pub call: Option<String>,
}

/// How two sessions are linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionLinkKind {
    /// The other session spawned this one.
    Parent,
    /// This one began as a copy of the other.
    ForkOf,
    /// This one continues the other, whose history is not repeated.
    Continues,
}

/// Events `from..=to` that the person took back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UndoneEvents {
    pub from: u64,
    pub to: u64,
}

/// How well a trace could be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReadReport {
    /// Whole lines or rows that were read.
    pub lines: u64,
    /// Of these, lines of which nothing could be used.
    pub bad_lines: u64,
    /// Lines saved in part.
    pub mended_lines: u64,
    /// Lines with bytes that are not UTF-8.
    pub invalid_utf8: u64,
    /// Lines beyond the line cap.
    pub long_lines: u64,
    /// Records of a type that is not known.
    pub unknown_records: u64,
    /// Their types and counts, at most 32.
    pub unknown_types: BTreeMap<String, u64>,
    /// Where an unfinished last line starts.
    pub torn_tail: Option<u64>,
    /// Texts that lost their middle.
    pub cut_texts: u64,
    /// Messages that the trace holds twice.
    pub repeated: u64,
    /// Events beyond those that are read of one session.
    pub left_out: u64,
}

/// Which sessions to list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TraceListRequest {
    pub agent: Option<String>,
    /// Sessions of all projects, not only of this one.
    pub all: bool,
    /// Only sessions active since this day, moment or age.
    pub since: Option<String>,
    /// How many to pass over.
    pub offset: usize,
    /// At most this many; 0 for all. Without it, the setting `memory.max_results`.
    pub limit: Option<usize>,
}

/// Sessions, the latest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TraceListReport {
    pub sessions: Vec<SessionEntry>,
    /// How many there are, listed or not.
    pub total: usize,
}

impl Report for TraceListReport {}

/// Which session to show, and how much of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceShowRequest {
    /// Its id, or the start of it; `ID:SEQUENCE` starts at one event.
    pub id: String,
    /// Also reasoning, injected text and records of unknown kinds.
    #[serde(default)]
    pub full: bool,
    /// At most this many events.
    #[serde(default)]
    pub limit: Option<usize>,
}

/// One session and its events, in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TraceShowReport {
    pub session: SessionEntry,
    pub events: Vec<TraceEvent>,
}

impl Report for TraceShowReport {}

/// Something that was said or done in a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TraceEvent {
    pub sequence: u64,
    pub kind: TraceEventKind,
    pub at: Option<String>,
    pub place: TracePlace,
    /// The agent's own id of the record.
    pub key: Option<String>,
    /// Links a tool result to its call.
    pub call: Option<String>,
    pub tool: Option<String>,
    pub lane: TraceLane,
    /// Why the text is not a person's, where it was injected.
    pub injected: Option<String>,
    /// Where a person's words came from.
    pub person: Option<String>,
    pub error: bool,
    /// The text, or its beginning where it was cut.
    pub text: String,
    /// The end of a text that was cut.
    pub text_end: String,
    /// The size before it was cut.
    pub full_bytes: u64,
}

/// What an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TraceEventKind {
    User,
    Assistant,
    Reasoning,
    ToolCall,
    ToolResult,
    Summary,
    Compaction,
    Meta,
}

impl TraceEventKind {
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
}

/// Whose part of a session an event belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TraceLane {
    Main,
    /// A sub-agent's.
    Sidechain,
    /// Copied from the session that this one was forked from.
    Inherited,
}

/// Where in its trace an event was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TracePlace {
    /// A line, counted from 1, and the byte at which it starts.
    Line { line: u64, offset: u64 },
    /// A row of a database.
    Row { key: String },
}

/// What to look for in what was said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceSearchRequest {
    /// Words, quoted phrases and filters.
    pub query: String,
    #[serde(default)]
    pub agent: Option<String>,
    /// Sessions of all projects, not only of this one.
    #[serde(default)]
    pub all: bool,
    /// Only what was said since this day, moment or age.
    #[serde(default)]
    pub since: Option<String>,
    #[serde(default)]
    pub mode: SearchMode,
    /// At most this many. Without it, the setting `memory.max_results`.
    #[serde(default)]
    pub limit: Option<usize>,
}

/// Messages that were found, best first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TraceSearchReport {
    pub query: String,
    pub hits: Vec<TraceHit>,
}

impl Report for TraceSearchReport {}

/// A message that was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TraceHit {
    /// The session's id.
    pub id: String,
    pub agent: String,
    pub title: Option<String>,
    pub project: Option<String>,
    pub sequence: u64,
    pub kind: String,
    pub at: Option<String>,
    /// The words around what was found.
    pub snippet: String,
    pub score: f32,
    pub why: TraceHitReason,
}

/// Why a message was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TraceHitReason {
    /// Terms of the query that it contains.
    pub terms: Vec<String>,
    /// How near its meaning is to the query's, from 0 to 1.
    pub similarity: f32,
}

/// Which file to read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceImportRequest {
    /// A transcript in Nacre's own format.
    pub file: String,
}

/// A session that was imported, and where it stands in the queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TraceImportReport {
    pub id: String,
    pub state: JobState,
    pub reason: Option<String>,
}

impl Report for TraceImportReport {}
