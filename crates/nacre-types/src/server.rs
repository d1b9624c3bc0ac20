//! Requests and reports for the server: its service, background loops, database and dashboard
//! logins.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Outcome, Report};

/// Confirms that the server is running.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HealthReport {
    /// Always `ok`.
    pub status: String,
    pub version: String,
    /// The state of the shared database, if one is configured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<DatabaseState>,
}

/// The server's addresses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServeReport {
    /// The address, as `host:port`.
    pub address: String,
    /// The Unix socket for processes of the same user.
    pub socket: Option<String>,
}

/// A login link to the dashboard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DashboardReport {
    /// The link is valid for one login within two minutes.
    pub link: String,
    /// Whether a browser was opened with the link.
    pub opened: bool,
}

/// The one-time code from a dashboard link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoginCode {
    pub code: String,
}

/// The session secret of a dashboard page, sent as `Authorization: Bearer SECRET`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoginReport {
    /// The session secret. It is valid only for this page's origin and expires 12 hours after its
    /// last use.
    pub secret: String,
}

impl std::fmt::Debug for LoginReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoginReport").finish_non_exhaustive()
    }
}

/// The state of the server and its background loops.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServiceReport {
    pub version: String,
    pub started: String,
    /// The server's address.
    pub address: String,
    /// The server's process ID.
    pub pid: u32,
    pub paused: bool,
    /// Number of clients subscribed to events.
    pub listeners: usize,
    /// The state of the shared database, if one is configured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<DatabaseStatus>,
    /// The background loops. Empty if the server runs without them.
    pub loops: Vec<LoopEntry>,
}

/// A background loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoopEntry {
    pub name: LoopName,
    pub state: LoopState,
    /// Interval in seconds.
    pub every_s: u64,
    /// When the last iteration started.
    pub last: Option<String>,
    /// When the next iteration is due.
    pub next: Option<String>,
    /// The error from the last iteration.
    pub last_error: Option<String>,
    /// A short description of the last iteration's result.
    pub last_result: Option<String>,
}

names! {
    /// The name of a background loop.
    pub enum LoopName {
        /// Processes new and changed sessions.
        Sync = "sync",
        /// Merges duplicate memories and archives stale ones.
        Maintain = "maintain",
        /// Updates the search indexes.
        Index = "index",
        /// Updates the code maps of active projects.
        Map = "map",
        /// Deletes expired data.
        Prune = "prune",
    }

    /// The current state of a loop.
    pub enum LoopState {
        Idle = "idle",
        Running = "running",
        /// A user paused the loops.
        Paused = "paused",
        /// The loop failed and will be retried with increasing delays.
        Waiting = "waiting",
    }
}

/// Loops to run as soon as possible.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WakeRequest {
    /// The loops to run. If empty, the sync loop runs.
    pub loops: Vec<LoopName>,
}

/// Options for running the server in the background.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct UpRequest {
    pub port: u16,
    /// Start a plain process even if a service manager is available.
    pub no_unit: bool,
    /// Pause or resume the background loops.
    pub pause: Option<bool>,
    /// Only write a Docker Compose file, without starting a server.
    pub docker: bool,
}

/// The state of the background server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UpReport {
    pub state: UpState,
    /// The service manager that runs the server, if known.
    pub manager: Option<ServiceManager>,
    /// The server's address, as `host:port`.
    pub address: Option<String>,
    pub paused: bool,
    /// Path of the service file, if one was written.
    pub file: Option<String>,
    /// Suggested next command.
    pub next: String,
}

names! {
    /// The action taken by `up`.
    pub enum UpState {
        Started = "started",
        /// The server was already running.
        Running = "running",
        /// The server was restarted with a new service definition.
        Restarted = "restarted",
        /// Only a file was written; no server was started.
        Written = "written",
    }

    /// The program that keeps the server running.
    pub enum ServiceManager {
        Systemd = "systemd",
        Launchd = "launchd",
        /// A separate process, which is not restarted automatically.
        Process = "process",
        Docker = "docker",
    }
}

/// The action taken by `down`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DownReport {
    /// Whether a server was running.
    pub stopped: bool,
    /// The address of the stopped server.
    pub address: Option<String>,
    /// The service manager that used to run the server.
    pub disabled: Option<ServiceManager>,
}

/// Lines of the server log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogsReport {
    pub path: String,
    /// Lines in file order, oldest first.
    pub lines: Vec<String>,
}

names! {
    /// The state of the shared database.
    pub enum DatabaseState {
        Connected = "connected",
        /// The database responds slowly.
        Slow = "slow",
        /// The database does not respond.
        Away = "away",
        /// The database responds but cannot be used in its current state.
        Unusable = "unusable",
    }
}

impl DatabaseState {
    /// Returns whether requests that need the database can be served.
    pub fn is_usable(self) -> bool {
        matches!(self, Self::Connected | Self::Slow)
    }
}

/// The state of the shared database as seen by one server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DatabaseStatus {
    pub state: DatabaseState,
    /// When this process first observed the current state.
    pub since: String,
    /// Whether this server does the work that is reserved for one server at a time.
    pub is_leader: bool,
    /// Why the database cannot be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// The state of the database, its schema and its queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerStatusReport {
    pub database: DatabaseStatus,
    /// The schema version: 0 before the first migration, absent if the database does not respond.
    pub schema: Option<i32>,
    /// The schema version required by this version of Nacre.
    pub needed_schema: i32,
    /// Number of queued sessions, by state.
    pub sessions: BTreeMap<String, u64>,
    /// The name under which this Nacre home directory is registered as a server.
    pub server: String,
    /// Suggested next command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

impl Report for ServerStatusReport {
    fn outcome(&self) -> Outcome {
        if self.database.state.is_usable() { Outcome::Done } else { Outcome::Failed }
    }
}

names! {
    /// The direction in which to move stored data.
    pub enum MoveStores {
        /// From files on this machine to the database.
        FromEmbedded = "from_embedded",
        /// From the database to files on this machine.
        ToEmbedded = "to_embedded",
    }
}

/// The result of a database migration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerMigrateReport {
    /// The schema version before the migration.
    pub from: i32,
    pub to: i32,
    /// The migration steps that were run.
    pub steps: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved: Option<MovedStores>,
    /// Suggested next command.
    pub next: String,
}

/// The data that was moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MovedStores {
    pub direction: MoveStores,
    /// Number of sessions from this machine whose queue entries were moved.
    pub sessions: u64,
    /// Number of memories added to or removed from the shared index.
    pub memories: u64,
}
