//! A sync: new sessions are found, read, and made into memories.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    FolderSessions, LearnedMemory, LookedIn, Outcome, PlannedChange, Report, SessionRun,
    StrategyChoice, SyncTotals, WaitingSessions,
};

/// What the runs of a sync are for; their folders are named by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SyncMode {
    #[default]
    Sync,
    /// For a session that just ended.
    Hot,
    /// For sessions from before Nacre was installed.
    Cold,
}

/// What the lead of a sync is run with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LeadRuntime {
    /// Nacre's own engine.
    #[default]
    Nacre,
    /// The installed Claude Code.
    Claude,
}

/// What to sync, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SyncRequest {
    /// Read and queue sessions without making memories of them.
    pub no_extract: bool,
    /// Only these agents; none for all that are connected.
    pub agents: Vec<String>,
    /// Only traces changed since this day, moment or age.
    pub since: Option<String>,
    /// Only traces changed before this day, moment or age.
    pub until: Option<String>,
    /// Stop after this many sessions.
    pub max_sessions: Option<usize>,
    pub mode: SyncMode,
    /// The name of this run.
    pub run_id: Option<String>,
    /// Read also what did not change.
    pub force: bool,
    /// Run although another sync is running.
    pub ignore_lock: bool,
    pub strategy: Option<StrategyChoice>,
    /// In place of what is set.
    pub runtime: Option<LeadRuntime>,
}

/// Which session to sync into the project around, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SyncTraceRequest {
    /// A trace of any agent, or the id of a session that was seen.
    pub trace: String,
    #[serde(default)]
    pub mode: SyncMode,
    /// Read also what was read before.
    #[serde(default)]
    pub force: bool,
    #[serde(default)]
    pub strategy: Option<StrategyChoice>,
    /// In place of what is set.
    #[serde(default)]
    pub runtime: Option<LeadRuntime>,
}

/// What a sync did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SyncReport {
    /// The name of this sync.
    pub run: String,
    /// Files and databases that were found.
    pub sources: u64,
    /// Of these, not opened.
    pub unchanged: u64,
    /// Sessions that were read.
    pub read: u64,
    /// Of these, resumed where the last read ended.
    pub resumed: u64,
    pub bytes: u64,
    /// Sessions that other words of `redact.extra` were taken out of.
    pub reworded: u64,
    /// Sessions whose project was registered since they were read.
    pub readmitted: u64,
    /// Queued sessions whose trace is gone.
    pub gone: u64,
    /// Sources left for the next sync.
    pub left: u64,
    pub problems: Vec<SourceProblem>,
    pub sessions: Vec<SyncedSession>,
    /// Sessions that wait for a model: the first of each project.
    pub paused: Vec<PausedSession>,
    /// The memories that were made or changed, as they are now.
    #[serde(default)]
    pub learned: Vec<LearnedMemory>,
    #[serde(default)]
    pub totals: SyncTotals,
    #[serde(default)]
    pub waiting: WaitingSessions,
    /// The folder that the command was run in, where it is not set up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_set_up_here: Option<FolderSessions>,
    /// Where sessions were looked for, where none was found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub looked_in: Vec<LookedIn>,
    /// Agents that left sessions here and that a person took out, so that they are not read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub switched_off: Vec<String>,
    /// A command to try next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Another process holds a store; the rest stays in the queue.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub busy: bool,
}

impl Report for SyncReport {
    fn outcome(&self) -> Outcome {
        let is_complete = self.problems.is_empty()
            && self.paused.is_empty()
            && self.sessions.iter().all(SyncedSession::is_complete);
        if self.busy { Outcome::Busy } else { Outcome::partial_if(!is_complete) }
    }
}

/// A source that could not be read, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceProblem {
    pub path: String,
    pub reason: String,
}

/// A session that waits for a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PausedSession {
    pub id: String,
    pub reason: String,
    /// The limit that was reached, by its key; without one, the model cannot be reached.
    pub limit: Option<String>,
}

/// A session that was worked off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SyncedSession {
    pub id: String,
    pub agent: String,
    pub title: String,
    /// The root of the project that it belongs to.
    #[serde(default)]
    pub project: String,
    /// How long it took, in milliseconds.
    pub ms: u64,
    #[serde(flatten)]
    pub result: SyncResult,
}

impl SyncedSession {
    /// Whether it was done and no limit was reached.
    pub fn is_complete(&self) -> bool {
        match &self.result {
            SyncResult::Done { report, .. } => report.limit.is_none(),
            SyncResult::Failed { .. } => false,
        }
    }
}

/// What became of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum SyncResult {
    Done {
        report: Box<SessionRun>,
        /// How many proposals were turned away.
        dropped: u64,
    },
    Failed {
        reason: String,
    },
}

/// What a sync of one session did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SyncTraceReport {
    pub sessions: Vec<SyncedSession>,
    /// The memories that were made or changed, as they are now.
    #[serde(default)]
    pub learned: Vec<LearnedMemory>,
    #[serde(default)]
    pub totals: SyncTotals,
    /// The id that `nacre undo` takes; nothing where nothing changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

impl Report for SyncTraceReport {
    fn outcome(&self) -> Outcome {
        Outcome::partial_if(!self.sessions.iter().all(SyncedSession::is_complete))
    }
}

/// What a sync would do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SyncPreviewReport {
    pub would_read: Vec<SourceEntry>,
    /// Files and databases that were found.
    pub sources: u64,
    /// Sources that would not be opened.
    pub unchanged: u64,
    pub sessions: Vec<PlannedSession>,
    /// What would wait then; nothing where sessions would only be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<WaitingSessions>,
}

impl Report for SyncPreviewReport {}

/// What a sync of one session would do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SyncTracePreviewReport {
    pub sessions: Vec<PlannedSession>,
}

impl Report for SyncTracePreviewReport {}

/// A file or database that holds traces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceEntry {
    pub agent: String,
    pub path: String,
    pub bytes: u64,
}

/// What a run over one session would do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedSession {
    pub report: SessionRun,
    pub changes: Vec<PlannedChange>,
}
