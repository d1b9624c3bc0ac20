//! Run records: actions, decisions and metrics. The files in a run directory use the same field
//! names.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{MaintainMetrics, MaintainVerb, StoreMaintenance, TokenCounts};

/// The runs of a project, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunListReport {
    pub runs: Vec<RunEntry>,
    /// Total number of runs, including those not listed.
    pub total: usize,
}

/// A run in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunEntry {
    pub id: String,
    /// Absent if the report cannot be read.
    pub mode: Option<RunMode>,
    /// Absent for an undo.
    pub counts: Option<RunCounts>,
    /// The trace that the run processed, or the change that it undid.
    pub of: String,
}

/// How many actions of each kind a run took.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RunCounts {
    Sync(ActionCounts),
    Maintain(BTreeMap<MaintainVerb, usize>),
}

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunShowReport {
    pub id: String,
    /// The run's actions. Absent if the report cannot be read.
    pub report: Option<RunReport>,
    /// Durations, token counts and other metrics. Absent for an undo.
    pub metrics: Option<RunMetrics>,
    /// The individual runs if a change spans several, such as a sync with one run per session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<Self>,
}

/// The stored messages exchanged with models. Empty if the run used no model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunMessagesReport {
    pub run: String,
    /// Messages in order: the lead agent's first, followed by those of its explorers.
    pub messages: Vec<RunMessage>,
    /// Number of omitted messages.
    pub left_out: usize,
}

/// A message of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunMessage {
    pub role: MessageRole,
    pub text: String,
    pub at: Option<String>,
    /// The tool that was called or that returned the result.
    pub tool: Option<String>,
}

names! {
    /// The sender of a message.
    pub enum MessageRole {
        /// The prompt.
        User = "user",
        /// Text or a tool call from a model.
        Assistant = "assistant",
        /// The result of a tool call.
        Tool = "tool",
        /// A note from Nacre about the run.
        System = "system",
    }
}

/// The actions of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RunReport {
    Sync(Box<SessionRun>),
    Maintain(Box<StoreMaintenance>),
    Undo(UndoRunReport),
}

/// The metrics of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RunMetrics {
    Sync(Box<SyncMetrics>),
    Maintain(Box<MaintainMetrics>),
}

/// The actions of a run that processed one session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionRun {
    pub run_id: String,
    pub mode: RunMode,
    pub outcome: SessionOutcome,
    pub trace_path: String,
    pub session: String,
    /// The coding agent that wrote the trace.
    pub agent: String,
    pub memory_root: String,
    pub workspace_root: String,
    pub run_folder: String,
    pub finished_at: String,
    pub checklist: Vec<ChecklistStep>,
    pub actions: Vec<SessionAction>,
    pub counts: ActionCounts,
    /// Rejected proposals by reason.
    pub dropped: BTreeMap<DropReason, u64>,
    pub written_paths: Vec<String>,
    pub summary_path: Option<String>,
    pub cost_usd: f64,
    pub strategy: Strategy,
    /// Why the session was processed with a fallback strategy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<String>,
    /// The settings key of the limit that was reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// Why the lead agent failed. The decisions were then made by the rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead_error: Option<String>,
}

names! {
    /// Whether a session had new content to process.
    pub enum SessionOutcome {
        /// The session was processed.
        Done = "done",
        /// The session had already been processed completely.
        Unchanged = "unchanged",
    }
}

/// Number of candidates for each action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ActionCounts {
    pub add: u64,
    pub update: u64,
    pub no_op: u64,
    pub supersede: u64,
}

/// A step of a run, and its state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChecklistStep {
    pub step: String,
    pub state: StepState,
}

names! {
    /// The state of a step.
    pub enum StepState {
        Pending = "pending",
        InProgress = "in_progress",
        Done = "done",
        Failed = "failed",
        /// Skipped because the session was not worth processing.
        Gated = "gated",
        /// The step was not requested.
        Skipped = "skipped",
    }
}

/// The action taken for one candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionAction {
    pub candidate: String,
    pub title: String,
    /// The kind of session content that led to the candidate.
    pub signal: Signal,
    pub action: CandidateVerb,
    /// The memory that was created, changed, or found to say the same thing already.
    pub target: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<String>,
    /// The memory that the candidate was compared with.
    pub nearest: Option<String>,
    pub band: Band,
    pub relation: Option<Relation>,
    pub likelihood: Option<f32>,
    pub scores: Option<ActionScores>,
    pub reason: String,
    pub by: DecidedBy,
    /// The lead agent's explanation, quoting the memory or candidate that it refers to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
}

names! {
    /// The action taken for a candidate.
    pub enum CandidateVerb {
        Add = "add",
        Update = "update",
        NoOp = "no-op",
        /// The candidate is added and supersedes the memory that it contradicts.
        Supersede = "supersede",
    }

    /// Whether the scores alone determine the action.
    pub enum Band {
        Clear = "clear",
        Grey = "grey",
    }

    /// The relation between a candidate and a memory.
    pub enum Relation {
        Different = "different",
        Contradicts = "contradicts",
        Refines = "refines",
        Same = "same",
    }
}

/// For each question about a candidate and its nearest memory, the estimated probability, from 0 to
/// 1, that the answer is yes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ActionScores {
    pub about: f32,
    pub against: f32,
    pub more: f32,
}

names! {
    /// The component that decided on a candidate.
    pub enum DecidedBy {
        Rule = "rule",
        /// The lead agent decided because the scores were inconclusive.
        Lead = "lead",
    }
}

/// The metrics for syncing one session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SyncMetrics {
    pub run_id: String,
    pub strategy: Strategy,
    /// Whether the session was worth processing.
    pub gate: Gate,
    pub windows: usize,
    /// Windows skipped because the model's response was unusable or the session had too many
    /// windows.
    pub unread_windows: usize,
    /// Events not passed to a model because the session was too long.
    pub unread_events: u64,
    pub fallback: Option<String>,
    pub candidates: usize,
    /// Rejected proposals by reason.
    pub dropped: BTreeMap<DropReason, u64>,
    pub denied_writes: usize,
    pub leads: Vec<LeadMetrics>,
    pub explorers: Vec<ExplorerMetrics>,
    pub model_calls: u64,
    pub tokens: TokenCounts,
    pub cost_usd: f64,
    /// Model calls with an unknown price.
    pub unpriced_calls: u64,
    /// Removed secrets by kind.
    pub redactions: BTreeMap<String, usize>,
    pub events: u64,
    pub durations_ms: SyncDurations,
}

/// The duration of each step of a sync, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SyncDurations {
    pub read: u64,
    pub decide: u64,
    pub lead: u64,
    /// All steps, and the time between them.
    #[serde(default)]
    pub total: u64,
}

/// The metrics of one lead agent call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LeadMetrics {
    pub task: String,
    pub state: String,
    pub error: Option<String>,
    pub rulings: usize,
    pub ms: u64,
    /// Number of tool calls by the lead agent. This count and the next two exclude explorer calls.
    pub tool_calls: u32,
    pub tokens: TokenCounts,
    pub cost_usd: f64,
}

/// What an undo did, as stored in its run directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UndoRunReport {
    pub run_id: String,
    pub mode: RunMode,
    /// The change that was undone.
    pub of: String,
    /// The undone runs in this store.
    #[serde(default)]
    pub runs: Vec<String>,
    pub finished_at: String,
    pub actions: Vec<UndoAction>,
    pub written_paths: Vec<String>,
}

/// A restored file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UndoAction {
    /// Always `put back`.
    pub action: String,
    /// The memory to which the file belongs.
    pub target: String,
}

names! {
    /// The purpose of a run.
    pub enum RunMode {
        Sync = "sync",
        /// Sync of a session that just ended.
        Hot = "hot",
        /// Sync of sessions that predate the installation of Nacre.
        Cold = "cold",
        Maintain = "maintain",
        Undo = "undo",
        /// The user added, changed or removed memories.
        Memory = "memory",
        /// The user accepted or rejected candidates.
        Review = "review",
        Import = "import",
        /// The user connected or disconnected agents.
        Connect = "connect",
        /// The user changed a setting.
        Config = "config",
        /// The user exported memories to an instruction file.
        Export = "export",
        /// The user changed the list of registered projects.
        Project = "project",
        /// The user trusted memories from other sources.
        Trust = "trust",
    }
}

/// The metrics of one explorer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExplorerMetrics {
    pub task: String,
    pub candidates: Vec<String>,
    pub state: String,
    pub findings: Vec<ExplorerFinding>,
    pub ms: u64,
    pub model_calls: u32,
}

/// An explorer's finding about one candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExplorerFinding {
    pub candidate_id: String,
    /// The action that the explorer suggests. The lead agent decides.
    pub action_hint: LeadAction,
    pub matched_file: Option<String>,
    /// The explorer's estimate of how much of the candidate the memory file already covers, from 0
    /// to 1.
    pub overlap: f64,
    /// A quote from the file.
    pub evidence: String,
}

names! {
    /// The action that a lead agent or explorer chooses for a candidate.
    pub enum LeadAction {
        Add = "add",
        Update = "update",
        NoOp = "no_op",
        Supersede = "supersede",
    }

    /// How a session was processed.
    pub enum Strategy {
        Offline = "offline",
        Windows = "windows",
    }

    /// Whether a session is worth processing and, if not, why.
    pub enum Gate {
        Open = "open",
        /// The session was started by another agent and contains no user input.
        NotAPersons = "not_a_persons",
        /// All messages with the user role were generated by programs.
        NoWords = "no_words",
        /// The session ended before any work was done.
        Abandoned = "abandoned",
        /// The user only gave instructions, without any information worth remembering.
        Mechanical = "mechanical",
    }

    /// The kind of session content that led to a candidate.
    pub enum Signal {
        Remember = "remember",
        Correction = "correction",
        Preference = "preference",
        Decision = "decision",
        Choice = "choice",
        Convention = "convention",
        Context = "context",
        Failure = "failure",
        Procedure = "procedure",
        Model = "model",
    }

    /// Why a proposal was rejected before it became a candidate.
    pub enum DropReason {
        NoEvidence = "no_evidence",
        Secret = "secret",
        TooShort = "too_short",
        TooLong = "too_long",
        Tautology = "tautology",
        Derivable = "derivable",
        AboutNacre = "about_nacre",
        Injected = "injected",
        Recalled = "recalled",
        Forgotten = "forgotten",
        NotDurable = "not_durable",
        Revoked = "revoked",
        Repeated = "repeated",
        Weak = "weak",
        OverCap = "over_cap",
        /// The model left the claim out when it joined the parts of a long session.
        LeftOut = "left_out",
        /// The sentence was not read because of the limit for one session.
        Unread = "unread",
    }
}

impl Gate {
    pub fn is_open(self) -> bool {
        self == Self::Open
    }
}
