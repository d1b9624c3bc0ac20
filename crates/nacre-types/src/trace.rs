//! Coding agent sessions, and the queue of sessions to process.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::SearchMode;

/// A session in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionEntry {
    pub id: String,
    /// The file or database that contains the session.
    pub path: String,
    /// The session's name within its source, if the source contains several sessions.
    pub inner_id: Option<String>,
    /// The root directory of its project, if the project is registered.
    pub project: Option<String>,
    pub state: JobState,
    /// The reason for the session's state.
    pub reason: Option<String>,
    pub facts: SessionFacts,
    pub report: ReadReport,
}

names! {
    /// A coding agent whose traces can be read.
    #[derive(Default)]
    pub enum Agent {
        Claude = "claude",
        Codex = "codex",
        Cursor = "cursor",
        OpenCode = "opencode",
        Gemini = "gemini",
        Qwen = "qwen",
        Copilot = "copilot",
        Pi = "pi",
        Droid = "droid",
        Cline = "cline",
        Continue = "continue",
        Aider = "aider",
        /// Nacre's own transcript format.
        #[default]
        Generic = "generic",
    }
}

/// Metadata of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionFacts {
    #[schemars(with = "String")]
    pub agent: Agent,
    /// The session ID assigned by the agent.
    pub id: String,
    pub role: SessionRole,
    /// The agent version that last wrote the trace.
    pub agent_version: Option<String>,
    pub title: Option<String>,
    /// The initial working directory of the session.
    pub cwd: Option<String>,
    pub other_cwds: Vec<String>,
    pub git_branch: Option<String>,
    pub other_branches: Vec<String>,
    /// The URL of the Git remote, without credentials.
    pub repository: Option<String>,
    pub models: Vec<String>,
    #[schemars(with = "Option<String>")]
    pub started: Option<Timestamp>,
    #[schemars(with = "Option<String>")]
    pub last_activity: Option<Timestamp>,
    pub counts: EventCounts,
    pub tokens: SessionTokens,
    pub links: Vec<SessionLink>,
    pub undone: Vec<UndoneEvents>,
    pub ending: SessionEnding,
}

impl SessionFacts {
    pub fn new(agent: Agent, id: &str) -> Self {
        Self { agent, id: id.to_owned(), ..Self::default() }
    }
}

names! {
    /// The purpose of a session.
    #[derive(Default)]
    pub enum SessionRole {
        #[default]
        Main = "main",
        /// Started by another session to do part of its work.
        SubAgent = "sub_agent",
        /// Started by the agent for an internal purpose, such as generating a title.
        Helper = "helper",
    }

    /// Whether a session was idle when it was last read.
    #[derive(Default)]
    pub enum SessionEnding {
        Finished = "finished",
        /// A turn or a tool call is still in progress.
        Active = "active",
        #[default]
        Unknown = "unknown",
    }
}

/// Number of events by kind. Injected and inherited events are counted separately.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventCounts {
    /// Number of user messages.
    pub user: u64,
    pub assistant: u64,
    pub reasoning: u64,
    pub tool_calls: u64,
    pub tool_results: u64,
    pub summaries: u64,
    pub compactions: u64,
    pub meta: u64,
    pub injected: u64,
    /// Number of prompts that Nacre sent to the agent when using it as a model. They are also
    /// counted as injected.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(skip)]
    pub questions: u64,
    pub sidechain: u64,
    pub inherited: u64,
    pub errors: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Token counts for all model calls in a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionTokens {
    /// Input tokens, excluding cached tokens.
    pub input: u64,
    pub output: u64,
    /// Tokens read from a cache.
    pub cached: u64,
    /// Tokens written to a cache.
    pub cache_write: u64,
    /// Reasoning tokens, if the agent reports them separately. They are included in `output`.
    pub reasoning: u64,
}

impl SessionTokens {
    pub fn add(&mut self, other: Self) {
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

/// A link to the session on which this one is based.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionLink {
    pub kind: SessionLinkKind,
    /// The ID of the other session.
    pub session: String,
    /// The call in the other session that started this one.
    pub call: Option<String>,
}

names! {
    /// The relation between two sessions.
    pub enum SessionLinkKind {
        /// The other session started this one.
        Parent = "parent",
        /// This session started as a copy of the other one.
        ForkOf = "fork_of",
        /// This session continues the other one but does not repeat its history.
        Continues = "continues",
    }
}

/// Events `from..=to` that the user reverted in the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UndoneEvents {
    pub from: u64,
    pub to: u64,
}

/// Statistics about reading a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReadReport {
    /// Complete lines or rows read.
    pub lines: u64,
    /// Lines without usable content.
    pub bad_lines: u64,
    /// Damaged lines that were partly recovered.
    pub mended_lines: u64,
    /// Lines that are not valid UTF-8.
    pub invalid_utf8: u64,
    /// Lines longer than the limit.
    pub long_lines: u64,
    /// Records of unknown type.
    pub unknown_records: u64,
    /// Number of records by unknown type, for at most 32 types.
    pub unknown_types: BTreeMap<String, u64>,
    /// Start offset of an incomplete last line, if any.
    pub torn_tail: Option<u64>,
    /// Number of text blocks whose middle was removed.
    pub cut_texts: u64,
    /// Number of messages that occur more than once in the trace.
    pub repeated: u64,
    /// Events omitted because the session exceeded the event limit.
    pub left_out: u64,
}

/// Selects the sessions to list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TraceListRequest {
    pub agent: Option<String>,
    /// Include sessions of all projects.
    pub all: bool,
    /// Only sessions active since this date, time or age.
    pub since: Option<String>,
    /// Number of sessions to skip.
    pub offset: usize,
    /// Maximum number of results; 0 means no limit. Defaults to the `memory.max_results` setting.
    pub limit: Option<usize>,
}

/// Sessions, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TraceListReport {
    pub sessions: Vec<SessionEntry>,
    /// Total number of sessions, including those not listed.
    pub total: usize,
}

/// The session to show, and which details to include.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceShowRequest {
    /// The session ID or a prefix of it. `ID:SEQUENCE` shows 20 events from this one on, unless
    /// `limit` is set.
    pub id: String,
    /// Include reasoning, injected text and records of unknown kinds.
    #[serde(default)]
    pub full: bool,
    /// Maximum number of events.
    pub limit: Option<usize>,
}

/// A session and its events in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TraceShowReport {
    pub session: SessionEntry,
    pub events: Vec<TraceEvent>,
}

/// An event of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TraceEvent {
    pub sequence: u64,
    pub kind: TraceEventKind,
    pub at: Option<String>,
    pub place: TracePlace,
    /// The record ID assigned by the agent.
    pub key: Option<String>,
    /// The ID shared by a tool call and its result.
    pub call: Option<String>,
    pub tool: Option<String>,
    pub lane: TraceLane,
    /// Why the text is considered injected, if it is.
    pub injected: Option<String>,
    /// How the user entered the text, if the user wrote it.
    pub person: Option<String>,
    pub error: bool,
    /// The text, or only its beginning if the text was shortened.
    pub text: String,
    /// The end of the text if it was shortened.
    pub text_end: String,
    /// Size in bytes before shortening.
    pub full_bytes: u64,
}

names! {
    /// The kind of an event.
    pub enum TraceEventKind {
        User = "user",
        Assistant = "assistant",
        Reasoning = "reasoning",
        ToolCall = "tool_call",
        ToolResult = "tool_result",
        Summary = "summary",
        Compaction = "compaction",
        Meta = "meta",
    }

    /// The part of a session to which an event belongs.
    #[derive(Default)]
    pub enum TraceLane {
        #[default]
        Main = "main",
        /// An event of a sub-agent.
        Sidechain = "sidechain",
        /// Copied from the session that this one was forked from.
        Inherited = "inherited",
    }

    /// How the user entered text.
    pub enum WordSource {
        /// A typed prompt.
        Prompt = "prompt",
        /// Typed while the agent was working, and queued.
        Queued = "queued",
        /// An answer to a question that the agent asked through a tool.
        Answer = "answer",
        /// The user's reason for rejecting a tool call.
        Refusal = "refusal",
        /// The arguments of a slash command.
        CommandArgs = "command_args",
        /// A shell command that the user ran inside the agent.
        Shell = "shell",
        /// The user's input within an injected template.
        TemplateInput = "template_input",
        /// A message with the user role that may have been sent by a program. It is trusted no more
        /// than agent output.
        Unverified = "unverified",
    }

    /// Why text is considered injected, that is, not written by the user or the session's model as
    /// part of the conversation.
    pub enum InjectedReason {
        /// Rule files such as `AGENTS.md` and `CLAUDE.md`, and skills.
        Instructions = "instructions",
        SystemReminder = "system_reminder",
        /// The text that wraps a slash command.
        Command = "command",
        /// Output of a command that was run outside the model's context.
        CommandOutput = "command_output",
        /// Information about the working directory, shell, sandbox or date.
        Environment = "environment",
        /// Files, selections and images that the editor attached.
        EditorContext = "editor_context",
        /// A request from a helper feature, such as one that suggests the next prompt.
        PromptSuggestion = "prompt_suggestion",
        Caveat = "caveat",
        Hook = "hook",
        /// A notification about a background task or another agent.
        TaskNotice = "task_notice",
        /// A marker such as "Interrupted by user".
        Interruption = "interruption",
        /// The summary at the start of a session that continues a compacted one.
        CompactionSummary = "compaction_summary",
        /// Marked as injected by the agent, for a reason not listed here.
        Host = "host",
        /// Nacre's briefings, hook output and tool results. They are excluded so that Nacre does
        /// not learn from its own output.
        Nacre = "nacre",
    }
}

impl InjectedReason {
    /// Returns `likely` if this reason is `Host`; otherwise, returns this reason unchanged.
    pub fn or_if_unknown(self, likely: Self) -> Self {
        if self == Self::Host { likely } else { self }
    }
}

/// The position of an event in its trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TracePlace {
    /// A line number, starting at 1, and the line's byte offset.
    Line { line: u64, offset: u64 },
    /// The key of a database row.
    Row { key: String },
}

/// A query for searching session messages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceSearchRequest {
    /// Words, quoted phrases and filters.
    pub query: String,
    pub agent: Option<String>,
    /// Include sessions of all projects.
    #[serde(default)]
    pub all: bool,
    /// Only messages since this date, time or age.
    pub since: Option<String>,
    #[serde(default)]
    pub mode: SearchMode,
    /// Maximum number of results. Defaults to the `memory.max_results` setting.
    pub limit: Option<usize>,
}

/// Matching messages, best match first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TraceSearchReport {
    pub query: String,
    pub hits: Vec<TraceHit>,
}

/// A matching message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TraceHit {
    /// The session ID.
    pub id: String,
    pub agent: String,
    pub title: Option<String>,
    pub project: Option<String>,
    pub sequence: u64,
    pub kind: String,
    pub at: Option<String>,
    /// The text around the matching words.
    pub snippet: String,
    pub score: f32,
    pub why: TraceHitReason,
}

/// Why a message matched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TraceHitReason {
    /// Query terms that the message contains.
    pub terms: Vec<String>,
    /// Semantic similarity to the query, from 0 to 1.
    pub similarity: f32,
}

/// An imported session, and its state in the queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TraceImportReport {
    pub id: String,
    pub state: JobState,
    pub reason: Option<String>,
}

names! {
    /// The state of a session in the queue.
    pub enum JobState {
        /// Queued, possibly for a retry.
        Pending = "pending",
        Running = "running",
        /// Processed, and at least one memory was learned.
        Done = "done",
        /// Processed, but no memory was learned.
        Empty = "empty",
        /// Not processed, for a reason that may change.
        Skipped = "skipped",
        /// Failed too often. The session will not be retried.
        Dead = "dead",
    }
}

/// Selects the queued sessions to list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct QueueListRequest {
    pub status: Option<JobState>,
    /// Maximum number of results; 0 means no limit. Defaults to the `memory.max_results` setting.
    pub limit: Option<usize>,
}

/// Queued sessions, most recently changed first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueueListReport {
    pub jobs: Vec<QueueJob>,
    /// Total number of sessions, including those not listed.
    pub total: usize,
}

/// A session in the queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueueJob {
    /// The session ID.
    pub id: String,
    pub state: JobState,
    pub reason: Option<String>,
    pub attempts: u32,
    /// The session is not retried before this time.
    pub not_before: Option<String>,
    /// The run that processed the session.
    pub run: Option<String>,
    pub changed: String,
    pub agent: String,
    pub title: Option<String>,
    pub project: Option<String>,
}

/// The sessions to retry or skip: a single one by ID, or all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct QueueChangeRequest {
    /// A prefix of the session ID.
    pub id: Option<String>,
    /// Select all dead sessions for a retry, or all pending sessions for a skip.
    pub all: bool,
}

names! {
    /// The change made to queued sessions.
    pub enum QueueChange {
        /// The sessions were queued again.
        Queued = "queued",
        /// The sessions were removed from the queue.
        Skipped = "skipped",
    }
}

/// The changed sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueueChangeReport {
    pub done: QueueChange,
    pub ids: Vec<String>,
}
