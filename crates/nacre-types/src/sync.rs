//! Requests and reports for a sync, which finds new sessions and extracts memories from them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{MemoryType, Outcome, PlannedChange, Report, SessionRun};

names! {
    /// How sessions are processed.
    #[derive(Default)]
    pub enum StrategyChoice {
        /// Use a model if one is available, and otherwise use rules.
        #[default]
        Auto = "auto",
        /// Use rules only, without a model.
        Offline = "offline",
        /// A model reads the session window by window.
        Windows = "windows",
    }

    /// The purpose of a sync run. The mode is part of the run directory's name.
    #[derive(Default)]
    pub enum SyncMode {
        #[default]
        Sync = "sync",
        /// Sync of a session that just ended.
        Hot = "hot",
        /// Sync of sessions that predate the installation of Nacre.
        Cold = "cold",
    }
}

impl StrategyChoice {
    /// Returns whether sessions must be processed by a model.
    pub fn demands_a_model(self) -> bool {
        self == Self::Windows
    }
}

/// The sessions to sync, and how to process them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SyncRequest {
    /// Read and queue sessions without extracting memories.
    pub no_extract: bool,
    /// Sync only these agents' sessions. If empty, all connected agents are included.
    pub agents: Vec<String>,
    /// Only traces changed since this date, time or age.
    pub since: Option<String>,
    /// Only traces changed before this date, time or age.
    pub until: Option<String>,
    /// Stop after this many sessions.
    pub max_sessions: Option<usize>,
    /// The agent's ID for a session that has ended, so that the session is not treated as still
    /// active.
    pub ended: Option<String>,
    pub mode: SyncMode,
    /// The name of the sync run.
    pub run_id: Option<String>,
    /// Also read unchanged traces.
    pub force: bool,
    /// Run even if another sync is running.
    pub ignore_lock: bool,
    pub strategy: Option<StrategyChoice>,
}

/// The session to sync into the current project, and how to process it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SyncTraceRequest {
    /// The path of any agent's trace, `PATH:ID` for a session in a database, or a session's ID.
    pub trace: String,
    #[serde(default)]
    pub mode: SyncMode,
    /// Process the session again even if it was already processed.
    #[serde(default)]
    pub force: bool,
    pub strategy: Option<StrategyChoice>,
}

/// The result of a sync.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SyncReport {
    /// The name of the sync run.
    pub run: String,
    /// Number of files and databases found.
    pub sources: u64,
    /// Number of sources that were unchanged and not opened.
    pub unchanged: u64,
    /// Number of sessions read.
    pub read: u64,
    /// Number of sessions that were read starting from where the previous sync stopped.
    pub resumed: u64,
    pub bytes: u64,
    /// Number of stored sessions that were redacted again because `redact.extra` changed.
    pub reworded: u64,
    /// Number of sessions queued because their project was registered only after they were read.
    pub readmitted: u64,
    /// Number of queued sessions whose trace no longer exists.
    pub gone: u64,
    /// Number of sources left for the next sync.
    pub left: u64,
    pub problems: Vec<SourceProblem>,
    pub sessions: Vec<SyncedSession>,
    /// Sessions paused until a model is available. Only the first session of each project is
    /// listed.
    pub paused: Vec<PausedSession>,
    /// Current state of the memories that this sync created or changed.
    #[serde(default)]
    pub learned: Vec<LearnedMemory>,
    #[serde(default)]
    pub totals: SyncTotals,
    #[serde(default)]
    pub waiting: WaitingSessions,
    /// The current directory and how many sessions it has, if the directory is not set up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_set_up_here: Option<FolderSessions>,
    /// The locations that were searched, if no session was found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub looked_in: Vec<LookedIn>,
    /// Disconnected agents that have sessions on this machine. Their sessions are not processed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub switched_off: Vec<String>,
    /// Suggested next command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Whether another process has locked a store. The remaining sessions stay in the queue.
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

/// A source that cannot be read, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceProblem {
    pub path: String,
    pub reason: String,
}

/// A session that is paused until a model is available.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PausedSession {
    pub id: String,
    pub reason: String,
    /// The settings key of the limit that was reached. Absent if the model is unreachable.
    pub limit: Option<String>,
}

/// A processed session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SyncedSession {
    pub id: String,
    pub agent: String,
    pub title: String,
    /// The root directory of the session's project.
    #[serde(default)]
    pub project: String,
    /// Duration in milliseconds.
    pub ms: u64,
    #[serde(flatten)]
    pub result: SyncResult,
}

impl SyncedSession {
    /// Returns whether the session was processed without reaching a limit.
    pub fn is_complete(&self) -> bool {
        match &self.result {
            SyncResult::Done { report, .. } => report.limit.is_none(),
            SyncResult::Failed { .. } => false,
        }
    }
}

/// The result of processing a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum SyncResult {
    Done {
        report: Box<SessionRun>,
        /// Number of rejected proposals.
        dropped: u64,
    },
    Failed {
        reason: String,
    },
}

/// The result of syncing one session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SyncTraceReport {
    pub sessions: Vec<SyncedSession>,
    /// Current state of the memories that this sync created or changed.
    #[serde(default)]
    pub learned: Vec<LearnedMemory>,
    #[serde(default)]
    pub totals: SyncTotals,
    /// The change ID to pass to `nacre undo`. Absent if nothing changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

impl Report for SyncTraceReport {
    fn outcome(&self) -> Outcome {
        Outcome::partial_if(!self.sessions.iter().all(SyncedSession::is_complete))
    }
}

/// The expected result of a sync.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SyncPreviewReport {
    pub would_read: Vec<SourceEntry>,
    /// Number of files and databases found.
    pub sources: u64,
    /// Number of unchanged sources, which would not be opened.
    pub unchanged: u64,
    pub sessions: Vec<PlannedSession>,
    /// Sessions that would stay in the queue. Absent if sessions would only be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<WaitingSessions>,
}

/// The expected result of syncing one session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SyncTracePreviewReport {
    pub sessions: Vec<PlannedSession>,
}

/// A file or database that contains traces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceEntry {
    pub agent: String,
    pub path: String,
    pub bytes: u64,
}

/// A planned run for one session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedSession {
    pub report: SessionRun,
    pub changes: Vec<PlannedChange>,
}

/// Number of an agent's sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentSessions {
    pub agent: String,
    /// The display name of the agent.
    pub title: String,
    pub sessions: u64,
}

/// Number of sessions in a directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FolderSessions {
    pub path: String,
    pub sessions: u64,
    /// The path of the registered project that is a clone of the same repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clone_of: Option<String>,
}

/// Unfinished sessions, grouped by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WaitingSessions {
    /// Number of sessions ready to be processed.
    pub ready: u64,
    /// Sessions that were modified recently and may still be running.
    pub active: Option<LaterSessions>,
    /// Failed sessions that will be retried.
    pub retried: Option<LaterSessions>,
    /// Sessions in directories that are not set up. Directories with the most sessions come first.
    pub not_set_up: Vec<FolderSessions>,
    /// Sessions whose traces name no directory. `nacre sync --trace` assigns them to a project.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without_folder: Vec<AgentSessions>,
}

/// Sessions that are due later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LaterSessions {
    pub sessions: u64,
    /// When the last of these sessions is due.
    pub ready_at: String,
    /// Seconds until the last of these sessions is due.
    pub ready_in: u64,
    /// The ID of one of these sessions.
    pub example: String,
}

/// A memory that a sync created or changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LearnedMemory {
    pub id: String,
    pub r#type: MemoryType,
    pub title: String,
    /// The project of the memory.
    pub project: String,
    pub change: LearnedChange,
    /// Whether the memory is pending in `nacre review`.
    pub is_candidate: bool,
}

names! {
    /// The change that a sync made to a memory.
    pub enum LearnedChange {
        Added = "added",
        Updated = "updated",
    }
}

/// Totals of a sync.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SyncTotals {
    /// Number of processed sessions.
    pub sessions: u64,
    /// Number of failed sessions.
    pub failed: u64,
    /// Number of new memories.
    pub added: u64,
    /// Number of new memories that are active.
    pub active: u64,
    /// Number of new memories that are pending in `nacre review`.
    pub to_review: u64,
    /// Number of existing memories to which details were added.
    pub updated: u64,
    /// Number of superseded memories.
    pub superseded: u64,
    /// Number of session summaries.
    pub summaries: u64,
    /// Cost of model calls in US dollars.
    pub cost_usd: f64,
}

/// A location where an agent stores its sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LookedIn {
    pub agent: String,
    pub path: String,
    pub exists: bool,
}
