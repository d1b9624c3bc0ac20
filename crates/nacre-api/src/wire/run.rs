//! Runs: what they did, why, and what it took. The files of a run folder have the same keys.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    DropReason, ExplorerMetrics, Gate, MaintainMetrics, MaintainVerb, Report, RunMode, Signal,
    StoreMaintenance, Strategy,
};

/// How many runs to list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RunListRequest {
    /// At most this many; 0 for all. Without it, the setting `memory.max_results`.
    pub limit: Option<usize>,
}

/// The runs of a project, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunListReport {
    pub runs: Vec<RunEntry>,
    /// How many there are, listed or not.
    pub total: usize,
}

impl Report for RunListReport {}

/// A run, in a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunEntry {
    pub id: String,
    /// Nothing where its report cannot be read.
    pub mode: Option<RunMode>,
    /// An undo counts nothing.
    pub counts: Option<RunCounts>,
    /// The trace that it read, or the run that it took back.
    pub of: String,
}

/// How often a run did what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RunCounts {
    Sync(ActionCounts),
    Maintain(BTreeMap<MaintainVerb, usize>),
}

/// Which run to show.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunShowRequest {
    /// Its id, or the start or end of it.
    pub id: String,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunShowReport {
    pub id: String,
    /// What it did; nothing where that cannot be read.
    pub report: Option<RunReport>,
    /// What it took; an undo measures nothing.
    pub metrics: Option<RunMetrics>,
    /// The runs of a change that is several: one a session of a sync.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<RunOfChange>,
}

impl Report for RunShowReport {}

/// One run of a change that is several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunOfChange {
    pub id: String,
    /// What it did; nothing where that cannot be read.
    pub report: Option<RunReport>,
    /// What it took; an undo measures nothing.
    pub metrics: Option<RunMetrics>,
}

/// Whose talk to show.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunMessagesRequest {
    /// The run's id, or the start or end of it.
    pub run: String,
}

/// What a run folder keeps of the talk with models; nothing where none was asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunMessagesReport {
    pub run: String,
    /// In their order: the lead's, then its explorers'.
    pub messages: Vec<RunMessage>,
    /// How many there are beyond these.
    pub left_out: usize,
}

impl Report for RunMessagesReport {}

/// Something that was said in a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunMessage {
    pub role: MessageRole,
    pub text: String,
    pub at: Option<String>,
    /// The tool that was called, or that answered.
    pub tool: Option<String>,
}

/// Who says a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MessageRole {
    /// What was asked.
    User,
    /// What a model said or called.
    Assistant,
    /// What a tool gave back.
    Tool,
    /// What Nacre notes about the run.
    System,
}

/// What a run did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RunReport {
    Sync(Box<SessionRun>),
    Maintain(Box<StoreMaintenance>),
    Undo(UndoRunReport),
}

/// What a run took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RunMetrics {
    Sync(Box<SyncMetrics>),
    Maintain(Box<MaintainMetrics>),
}

/// What a run over one session did.
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
    /// Proposals that were turned away, by reason.
    pub dropped: BTreeMap<DropReason, u64>,
    pub written_paths: Vec<String>,
    pub summary_path: Option<String>,
    pub cost_usd: f64,
    pub strategy: Strategy,
    /// Why the session was not read as it should have been.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<String>,
    /// The limit that stood in the way, by its key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// Why the lead settled nothing, so that the rule did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead_error: Option<String>,
}

/// Whether a session had anything to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionOutcome {
    /// It was read and settled.
    Done,
    /// It was read to its end before.
    Unchanged,
}

/// How many candidates became what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ActionCounts {
    pub add: u64,
    pub update: u64,
    pub no_op: u64,
    pub supersede: u64,
}

/// One step of a run, and how far it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChecklistStep {
    pub step: String,
    pub state: StepState,
}

/// How far a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepState {
    Pending,
    InProgress,
    Done,
    Failed,
    /// The session was not worth a look.
    Gated,
    /// Nobody was asked to do it.
    Skipped,
}

/// What became of one candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionAction {
    pub candidate: String,
    pub title: String,
    /// What in the session gave it.
    pub signal: Signal,
    pub action: CandidateVerb,
    /// The memory that was made, changed or found to say it.
    pub target: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<String>,
    /// The memory that it was compared with.
    pub nearest: Option<String>,
    pub band: Band,
    pub relation: Option<Relation>,
    pub likelihood: Option<f32>,
    pub scores: Option<ActionScores>,
    pub reason: String,
    pub by: DecidedBy,
    /// The lead's own words, and those of the memory or candidate that it goes by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
}

/// What is done with a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CandidateVerb {
    Add,
    Update,
    NoOp,
    /// Added, and the memory that it contradicts is kept as overturned.
    Supersede,
}

impl CandidateVerb {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Update => "update",
            Self::NoOp => "no-op",
            Self::Supersede => "supersede",
        }
    }
}

/// Whether the numbers alone decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Band {
    Clear,
    Grey,
}

impl Band {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Clear => "clear",
            Self::Grey => "grey",
        }
    }
}

/// How a candidate stands to a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    Different,
    Contradicts,
    Refines,
    Same,
}

impl Relation {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Different => "different",
            Self::Contradicts => "contradicts",
            Self::Refines => "refines",
            Self::Same => "same",
        }
    }
}

/// How likely each question about a candidate and its nearest memory is answered with yes, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ActionScores {
    pub about: f32,
    pub against: f32,
    pub more: f32,
}

/// Who decided about a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DecidedBy {
    Rule,
    /// The numbers did not decide, and a lead did.
    Lead,
}

/// What a sync of one session took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SyncMetrics {
    pub run_id: String,
    pub strategy: Strategy,
    /// Whether the session was worth a look.
    pub gate: Gate,
    pub windows: usize,
    /// Windows whose answers could not be used, or that were too many.
    pub unread_windows: usize,
    /// Events that a model did not get to see because the session is too long.
    pub unread_events: u64,
    /// Pieces of code that a model wrote to explore it.
    pub steps: usize,
    pub fallback: Option<String>,
    pub candidates: usize,
    /// Proposals that were turned away, by reason.
    pub dropped: BTreeMap<DropReason, u64>,
    pub denied_writes: usize,
    pub leads: Vec<LeadMetrics>,
    pub explorers: Vec<ExplorerMetrics>,
    pub model_calls: u64,
    pub tokens: TokenCounts,
    pub cost_usd: f64,
    /// Calls of models whose price is not known.
    pub unpriced_calls: u64,
    /// Secrets that were kept out, by their kind.
    pub redactions: BTreeMap<String, usize>,
    pub events: u64,
    pub durations_ms: SyncDurations,
}

/// Tokens that models read and wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenCounts {
    pub input: u64,
    pub output: u64,
}

/// How long each step of a sync took, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SyncDurations {
    pub read: u64,
    pub decide: u64,
    pub lead: u64,
}

/// How one call of a lead ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LeadMetrics {
    pub task: String,
    /// What it was run with: `nacre` or `claude`; empty for runs from before there was a choice.
    pub runtime: String,
    pub state: String,
    pub error: Option<String>,
    pub rulings: usize,
    pub ms: u64,
    /// Of the lead alone, as the next two.
    pub tool_calls: u32,
    pub tokens: TokenCounts,
    pub cost_usd: f64,
}

/// What an undo did, as its run folder says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UndoRunReport {
    pub run_id: String,
    pub mode: RunMode,
    /// The change that was taken back.
    pub of: String,
    /// Its runs in this store.
    #[serde(default)]
    pub runs: Vec<String>,
    pub finished_at: String,
    pub actions: Vec<UndoAction>,
    pub written_paths: Vec<String>,
}

/// A file that was put back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UndoAction {
    pub action: UndoVerb,
    /// The memory that the file belongs to.
    pub target: String,
}

/// What an undo does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum UndoVerb {
    #[serde(rename = "put back")]
    PutBack,
}

impl UndoVerb {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PutBack => "put back",
        }
    }
}
