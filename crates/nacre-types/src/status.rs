//! The state and health of memory stores: counts, activity, problems, and copies of forgotten
//! memories.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    DatabaseStatus, MemoryType, ModelStats, Outcome, ProjectEntry, Report, Scope, Speaker,
    StoreScope, ToolStats, WaitingSessions,
};

/// An overview of the stores, sessions and services.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatusReport {
    /// The name of the current project.
    pub project: Option<String>,
    pub root: Option<String>,
    /// The stores included in searches.
    pub scope: Scope,
    pub stores: Vec<StoreStatus>,
    /// Number of registered projects.
    pub projects: usize,
    pub sessions: Vec<SessionStatus>,
    /// Whether every known session is in exactly one state.
    pub sessions_add_up: bool,
    /// Unfinished sessions in all projects.
    #[serde(default)]
    pub waiting: WaitingSessions,
    /// Disconnected agents that have sessions on this machine. Their sessions are not processed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub switched_off: Vec<String>,
    pub last_sync: Option<String>,
    /// The running server for this Nacre home directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<ServiceStatus>,
    /// The shared database, if one is configured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<DatabaseStatus>,
    /// Model usage and its limits.
    pub spending: Vec<SpendingStatus>,
    /// A problem with the repository settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<String>,
    /// The result of the last check.
    pub health: Health,
    /// The time of the last check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked: Option<String>,
}

impl Report for StatusReport {
    fn outcome(&self) -> Outcome {
        let is_broken = self.stores.iter().any(|store| store.broken > 0);
        Outcome::partial_if(is_broken || self.config.is_some())
    }
}

/// A running server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServiceStatus {
    /// The server's address, as `host:port`.
    pub address: String,
    /// Whether a user paused the background loops.
    pub paused: bool,
}

/// Statistics about one memory store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoreStatus {
    pub scope: StoreScope,
    pub path: String,
    pub memories: Vec<TypeCount>,
    /// Candidates that no user has reviewed yet.
    pub candidates: usize,
    /// Memories from other sources that are pending in `nacre trust`.
    #[serde(default)]
    pub foreign: usize,
    /// Memories with instructions that did not come from the user.
    #[serde(default)]
    pub quarantined: usize,
    /// Files that cannot be read.
    pub broken: usize,
    /// Time of the last update of any memory.
    pub updated: Option<String>,
}

/// Number of memories of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TypeCount {
    pub r#type: MemoryType,
    pub active: usize,
    pub archived: usize,
}

/// One agent's sessions in one project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionStatus {
    pub project: Option<String>,
    pub agent: String,
    pub seen: u64,
    /// Number of sessions by state.
    pub states: BTreeMap<String, u64>,
    /// Number of skipped sessions by reason.
    pub skipped: BTreeMap<String, u64>,
}

/// Model usage in one scope.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpendingStatus {
    pub scope: SpendingScope,
    pub calls: u64,
    pub tokens: u64,
    pub limit_tokens: u64,
    pub cost_usd: f64,
    pub limit_usd: f64,
    /// Calls whose price is unknown. Only their tokens are counted.
    pub unpriced_calls: u64,
    /// Whether the limit has been reached, in which case no more model calls are made.
    pub is_reached: bool,
}

names! {
    /// The scope of a spending limit.
    pub enum SpendingScope {
        /// All spending on the current day.
        Day = "day",
        /// The project's spending in the current month.
        Project = "project",
    }
}

/// Activity in the project, or in all projects if none is selected. Days are in UTC.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OverviewReport {
    pub since: String,
    pub until: String,
    /// All days of the period, oldest first, including those without activity.
    pub days: Vec<OverviewDay>,
    /// Agents with sessions in the period, sorted by name.
    pub agents: Vec<AgentActivity>,
    /// Current number of decisions and learnings, by status.
    pub memories: BTreeMap<String, usize>,
    /// Number of memories at the end of each day, excluding archived ones. Counts only memories
    /// that still exist.
    pub growth: Vec<MemoryGrowth>,
    /// All-time model usage.
    pub models: Vec<ModelStats>,
    /// All-time tool usage.
    pub tools: Vec<ToolStats>,
}

/// Activity on one day.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OverviewDay {
    /// Date as `YYYY-MM-DD`.
    pub day: String,
    /// Number of sessions last active on that day, by agent.
    pub sessions: BTreeMap<String, u64>,
    /// Number of sessions that Nacre read and summarized on that day.
    #[serde(default)]
    pub sessions_read: usize,
    /// Number of memories learned on that day that still exist.
    pub learned: usize,
    /// Input tokens of agent sessions, excluding cached tokens.
    pub input_tokens: u64,
    /// Tokens read from or written to a cache.
    pub cached_tokens: u64,
    pub output_tokens: u64,
    /// Cost of Nacre's own model calls in billionths of a dollar, or `None` if the price of a call
    /// is unknown.
    pub cost_nano_dollars: Option<u64>,
    /// Number of sync and maintenance runs whose directories still exist.
    pub runs: usize,
}

/// Activity of one agent over the period.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentActivity {
    pub agent: String,
    pub sessions: u64,
    /// Input tokens, excluding cached tokens.
    pub input_tokens: u64,
    /// Tokens read from or written to a cache.
    pub cached_tokens: u64,
    pub output_tokens: u64,
    /// Time of the agent's last activity.
    pub last: String,
}

/// Number of memories at the end of a day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryGrowth {
    /// Date as `YYYY-MM-DD`.
    pub day: String,
    pub total: usize,
}

/// The period of a report, and where to write it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReportRequest {
    /// A date, a time or an age. The default is `30d`.
    pub since: Option<String>,
    /// Also write the report as an HTML page to this file.
    pub html: Option<String>,
    /// Overwrite the file even if it is not a Nacre report.
    pub force: bool,
}

/// Activity in a project's memory store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectReport {
    /// The project name, or `global`.
    pub project: String,
    /// The path of the HTML page, if one was written.
    pub html: Option<String>,
    pub report: StoreFigures,
}

/// The content of a store, and its activity since a given time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StoreFigures {
    pub since: String,
    pub until: String,
    /// Current number of memories by status.
    pub memories: BTreeMap<String, usize>,
    /// Current number of memories by lifecycle stage.
    pub stages: BTreeMap<String, usize>,
    /// Memories learned in the period, by type and kind.
    pub learned: BTreeMap<String, usize>,
    /// Current state of the memories learned in the period: in use, to review, archived, superseded
    /// or stale. The counts add up to the number of learned memories.
    #[serde(default)]
    pub learned_now: BTreeMap<String, usize>,
    /// Number of memories learned in the period that were later undone, rejected or forgotten.
    /// Other counts exclude these memories.
    #[serde(default)]
    pub n_taken_back: usize,
    /// Number of memories learned in each week, keyed by the week's Monday.
    pub learned_by_week: BTreeMap<String, usize>,
    pub sessions: usize,
    pub merged: Vec<ReportedAction>,
    pub archived: Vec<ReportedAction>,
    /// Memories that a newer, contradictory memory superseded.
    pub contradictions: Vec<ReportedAction>,
    /// Number of contradictions that a user must resolve.
    pub open_contradictions: usize,
    pub most_used: Vec<MemoryUse>,
    pub never_used: Vec<MemoryUse>,
    /// Number of current memories that were used at least once. Unused memories are in
    /// `n_never_used` (at least two weeks old) or `n_young` (newer).
    #[serde(default)]
    pub n_used: usize,
    pub n_never_used: usize,
    #[serde(default)]
    pub n_young: usize,
    /// Number of recent agent sessions that received memories from this store.
    #[serde(default)]
    pub n_given_sessions: usize,
    /// Number of memories that these sessions received, and how many of them were ever used.
    #[serde(default)]
    pub n_given: usize,
    #[serde(default)]
    pub n_given_used: usize,
    /// Histogram of effective confidence, with ten equal bins.
    pub confidence: Vec<usize>,
    pub n_broken: usize,
    /// The claims that several sessions made, most frequent first.
    #[serde(default)]
    pub repeats: Vec<RepeatedClaim>,
}

/// A claim that several sessions made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RepeatedClaim {
    pub id: String,
    pub title: String,
    /// Who made the claim: a user, or otherwise an agent.
    pub by: Speaker,
    /// The coding agent from whose session the claim was learned, if it is known.
    pub agent: Option<String>,
    /// Number of repetitions before Nacre knew the claim.
    pub before: usize,
    /// Number of repetitions after Nacre knew it.
    pub after: usize,
}

/// How often a memory was used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryUse {
    pub id: String,
    pub title: String,
    pub uses: u64,
    pub citations: u64,
    pub confirmations: u64,
    /// Confidence after adjustment for age and use.
    pub effective: f64,
}

/// An action that a run took on a memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedAction {
    pub run: String,
    pub target: String,
    pub with: Option<String>,
    pub title: String,
    pub reason: String,
}

/// Options for the check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DoctorRequest {
    pub scope: Option<Scope>,
    /// Treat warnings as errors.
    pub strict: bool,
    /// Compare each quote with its source transcript.
    pub evidence: bool,
    /// Before checking, fix problems that need no decision, such as broken links and evidence files
    /// without a memory.
    pub fix: bool,
}

/// Problems found in the stores.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorReport {
    pub health: Health,
    /// A problem with the repository settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<String>,
    pub stores: Vec<StoreCheck>,
    /// Registered projects whose store no longer exists. Each one is an error.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<ProjectEntry>,
    pub errors: usize,
    pub warnings: usize,
    /// Files fixed before the check.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mended: Vec<MendedFile>,
    /// The change ID to pass to `nacre undo`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

/// A file that was fixed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MendedFile {
    pub path: String,
    pub what: String,
}

impl Report for DoctorReport {
    fn outcome(&self) -> Outcome {
        match self.health {
            Health::Ok | Health::Unchecked => Outcome::Done,
            Health::Broken => Outcome::Failed,
        }
    }
}

names! {
    /// Whether the stores are usable. The stores are reported as healthy only after a complete
    /// check.
    pub enum Health {
        Ok = "ok",
        Broken = "broken",
        /// No check was run.
        Unchecked = "unchecked",
    }
}

/// Problems found in one store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoreCheck {
    pub scope: StoreScope,
    pub path: String,
    pub memories: usize,
    pub evidence: usize,
    /// Memories from other sources that are pending in `nacre trust`.
    #[serde(default)]
    pub foreign: usize,
    /// Memories with instructions that did not come from the user.
    #[serde(default)]
    pub quarantined: usize,
    /// Results of comparing the quotes, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quotes: Option<QuoteCheck>,
    pub findings: Vec<Finding>,
}

/// Number of quotes that match their transcripts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QuoteCheck {
    pub verified: usize,
    /// Quotes that the user entered directly in Nacre.
    pub by_hand: usize,
    /// Quotes whose transcript is not on this machine.
    pub unchecked: usize,
    pub missing: usize,
    /// Transcripts that cannot be read.
    pub unreadable: usize,
}

/// A problem with a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    pub severity: Severity,
    /// Path relative to the store.
    pub path: String,
    pub line: Option<usize>,
    pub message: String,
    pub hint: Option<String>,
}

names! {
    /// The severity of a finding.
    pub enum Severity {
        /// The file is not usable.
        Error = "error",
        /// The file is usable but suspicious.
        Warning = "warning",
    }
}

/// A location that was checked for copies after a memory was forgotten.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedCopy {
    pub place: CopyPlace,
    pub state: CopyState,
    /// Why a copy still exists, or the name of the server concerned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

names! {
    /// A kind of location that may contain a copy of a memory.
    pub enum CopyPlace {
        /// The memory file, its evidence and its usage counters.
        Files = "files",
        /// Run records and undo data.
        Runs = "runs",
        /// The search index on this machine.
        Index = "index",
        /// Session notes written by hooks, and drafts of edits.
        Notes = "notes",
        /// The index shared by servers.
        SharedIndex = "shared_index",
        /// A server that received the memory through a push.
        Server = "server",
    }
}

impl CopyPlace {
    pub fn label(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Runs => "runs",
            Self::Index => "search index",
            Self::Notes => "notes",
            Self::SharedIndex => "shared index",
            Self::Server => "server",
        }
    }
}

names! {
    /// The result of checking a location.
    pub enum CopyState {
        /// The location contains no copy.
        Gone = "gone",
        /// The location may still contain a copy.
        Waits = "waits",
    }
}
