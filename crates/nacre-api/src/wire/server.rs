//! What several servers share: the database, its schema, and what moves there and back.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Outcome, Report};

/// How the database is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DatabaseState {
    Connected,
    /// It answers, but late.
    Slow,
    /// It does not answer; it may come back.
    Away,
    /// It answers, and cannot be used as it is.
    Unusable,
}

impl DatabaseState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Connected => "connected",
            Self::Slow => "slow",
            Self::Away => "away",
            Self::Unusable => "unusable",
        }
    }

    /// Whether requests that need it can be answered.
    pub fn is_usable(self) -> bool {
        match self {
            Self::Connected | Self::Slow => true,
            Self::Away | Self::Unusable => false,
        }
    }
}

/// The database that servers share, as one of them sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DatabaseStatus {
    pub state: DatabaseState,
    /// Since when this process has seen it so.
    pub since: String,
    /// Whether this server does what only one is to do.
    pub is_leader: bool,
    /// Why it cannot be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// Looks at the database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerStatusRequest {}

/// The database, its schema and its queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerStatusReport {
    pub database: DatabaseStatus,
    /// The version of its schema; nothing while it does not answer, 0 before the first migration.
    pub schema: Option<i32>,
    /// The version that this program works with.
    pub needed_schema: i32,
    /// The sessions of its queue, by state.
    pub sessions: BTreeMap<String, u64>,
    /// The name that this home goes by among the servers.
    pub server: String,
    /// The command to try next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

impl Report for ServerStatusReport {
    fn outcome(&self) -> Outcome {
        if self.database.state.is_usable() { Outcome::Done } else { Outcome::Failed }
    }
}

/// Where what this machine holds goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MoveStores {
    /// From the files of this machine into the database.
    FromEmbedded,
    /// From the database back to the files of this machine.
    ToEmbedded,
}

/// Prepares the database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerMigrateRequest {
    /// What to move once its schema is up to date.
    #[serde(default)]
    pub r#move: Option<MoveStores>,
}

/// What was done to the database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerMigrateReport {
    /// The version of the schema before.
    pub from: i32,
    pub to: i32,
    /// The steps that were taken.
    pub steps: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved: Option<MovedStores>,
    /// The command to try next.
    pub next: String,
}

impl Report for ServerMigrateReport {}

/// What was moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MovedStores {
    pub direction: MoveStores,
    /// The sessions of this machine whose place in the queue was moved.
    pub sessions: u64,
    /// The memories of its projects that the shared index took in, or let go of.
    pub memories: u64,
}
