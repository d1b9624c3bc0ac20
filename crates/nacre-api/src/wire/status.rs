//! What there is: stores, sessions and spending, counted and not judged.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    DatabaseStatus, Health, MemoryType, Outcome, Report, Scope, StoreScope, WaitingSessions,
};

/// Counts what there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StatusRequest {}

/// What there is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatusReport {
    /// The name of the project around the current folder.
    pub project: Option<String>,
    pub root: Option<String>,
    /// Where recall looks.
    pub scope: Scope,
    pub stores: Vec<StoreStatus>,
    /// How many projects are registered.
    pub projects: usize,
    pub sessions: Vec<SessionStatus>,
    /// Whether every session seen is in exactly one state.
    pub sessions_add_up: bool,
    /// The sessions of all projects that no sync has finished.
    #[serde(default)]
    pub waiting: WaitingSessions,
    /// Agents that left sessions here and that a person took out, so that they are not read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub switched_off: Vec<String>,
    pub last_sync: Option<String>,
    /// The server that runs for this home.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<ServiceStatus>,
    /// The database that servers share, where one is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<DatabaseStatus>,
    /// What models used, beside what they may.
    pub spending: Vec<SpendingStatus>,
    /// What is wrong with the settings of the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<String>,
    /// What the last check said.
    pub health: Health,
    /// When that was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked: Option<String>,
}

impl Report for StatusReport {
    fn outcome(&self) -> Outcome {
        let is_broken = self.stores.iter().any(|store| store.broken > 0);
        Outcome::partial_if(is_broken || self.config.is_some())
    }
}

/// A server that runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServiceStatus {
    /// As `host:port`.
    pub address: String,
    /// A person paused what it does by itself.
    pub paused: bool,
}

/// The memories of one store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoreStatus {
    pub scope: StoreScope,
    pub path: String,
    pub memories: Vec<TypeCount>,
    /// Candidates that wait for a person's word.
    pub candidates: usize,
    /// Memories that came from elsewhere and wait for `nacre trust`.
    #[serde(default)]
    pub foreign: usize,
    /// Memories that give an order which the person did not give.
    #[serde(default)]
    pub quarantined: usize,
    /// Files that cannot be read.
    pub broken: usize,
    /// When the newest memory was updated.
    pub updated: Option<String>,
}

/// How many memories of one type there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TypeCount {
    pub r#type: MemoryType,
    pub active: usize,
    pub archived: usize,
}

/// The sessions of one agent in one project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionStatus {
    pub project: Option<String>,
    pub agent: String,
    pub seen: u64,
    /// How many are in each state.
    pub states: BTreeMap<String, u64>,
    /// How many were skipped, by reason.
    pub skipped: BTreeMap<String, u64>,
}

/// What models used in one scope.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpendingStatus {
    pub scope: SpendingScope,
    pub calls: u64,
    pub tokens: u64,
    pub limit_tokens: u64,
    pub cost_usd: f64,
    pub limit_usd: f64,
    /// Calls whose price is not known: only their tokens are counted.
    pub unpriced_calls: u64,
    /// Whether nothing more may be asked.
    pub is_reached: bool,
}

/// What a sum of spending covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SpendingScope {
    /// Everything of today.
    Day,
    /// The project's current month.
    Project,
}

impl SpendingScope {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Project => "project",
        }
    }
}
