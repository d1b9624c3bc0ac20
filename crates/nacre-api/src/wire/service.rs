//! The server itself: whether it is there, how a browser is let in, and what it does by itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DatabaseState, DatabaseStatus, Report};

/// That the server answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HealthReport {
    /// `ok`.
    pub status: String,
    pub version: String,
    /// The database that servers share, where one is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<DatabaseState>,
}

impl Report for HealthReport {}

/// Where the server listens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServeReport {
    /// As `host:port`.
    pub address: String,
    /// The socket file, for processes of the same user.
    pub socket: Option<String>,
}

impl Report for ServeReport {}

/// A task that was begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskStarted {
    pub task: String,
}

impl Report for TaskStarted {}

/// A code that lets one browser in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoginCodeReport {
    pub code: String,
}

impl Report for LoginCodeReport {}

/// A link that lets one browser in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DashboardReport {
    /// It works once, for two minutes.
    pub link: String,
    /// Whether a browser was asked to open it.
    pub opened: bool,
}

impl Report for DashboardReport {}

/// The code that the page was opened with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoginRequest {
    pub code: String,
}

/// What a page shows from then on, as `Authorization: Bearer SECRET`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoginReport {
    /// For this page's origin alone, until 12 hours after its last request.
    pub secret: String,
}

impl Report for LoginReport {}

impl std::fmt::Debug for LoginReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoginReport").finish_non_exhaustive()
    }
}

/// What the server is doing by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServiceReport {
    pub version: String,
    pub started: String,
    /// Where it listens.
    pub address: String,
    /// The number of its process.
    pub pid: u32,
    pub paused: bool,
    /// How many clients listen for events.
    pub listeners: usize,
    /// The database that servers share, where one is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<DatabaseStatus>,
    /// None where the server was told to do nothing by itself.
    pub loops: Vec<LoopEntry>,
}

impl Report for ServiceReport {}

/// Something that is done again and again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoopEntry {
    pub name: LoopName,
    pub state: LoopState,
    /// How often, in seconds.
    pub every_s: u64,
    /// When it was last begun.
    pub last: Option<String>,
    /// When it is due.
    pub next: Option<String>,
    /// What was wrong the last time.
    pub last_error: Option<String>,
    /// What it did the last time, in a few words.
    pub last_result: Option<String>,
}

/// What is done again and again.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum LoopName {
    /// New and changed sessions are read.
    Sync,
    /// Memories are kept few and true.
    Maintain,
    /// Indexes are brought up to date.
    Index,
    /// Maps of projects in use are brought up to date.
    Map,
    /// What is too old is let go.
    Prune,
}

impl LoopName {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sync => "sync",
            Self::Maintain => "maintain",
            Self::Index => "index",
            Self::Map => "map",
            Self::Prune => "prune",
        }
    }
}

/// What a loop does now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoopState {
    Idle,
    Running,
    /// A person paused the service.
    Paused,
    /// It failed, and waits longer each time.
    Waiting,
}

/// What is to be done soon.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WakeRequest {
    /// Without any: the sync.
    pub loops: Vec<LoopName>,
}

/// How to run the server by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct UpRequest {
    pub port: u16,
    /// A plain process, also where a service manager answers.
    pub no_unit: bool,
    /// Pause, or resume, what it does by itself.
    pub pause: Option<bool>,
    /// Only write a compose file.
    pub docker: bool,
}

/// How the server runs now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UpReport {
    pub state: UpState,
    /// Who keeps it running, as far as that is known.
    pub manager: Option<ServiceManager>,
    /// As `host:port`.
    pub address: Option<String>,
    pub paused: bool,
    /// The file that was written for the service manager.
    pub file: Option<String>,
    /// A command to type next.
    pub next: String,
}

impl Report for UpReport {}

/// What `up` did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UpState {
    Started,
    /// It ran before.
    Running,
    /// It ran, and was started again with another definition.
    Restarted,
    /// A file was written, and nothing started.
    Written,
}

/// Who keeps a server running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServiceManager {
    Systemd,
    Launchd,
    /// A process of its own, which nobody starts again.
    Process,
    Docker,
}

/// What `down` did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DownReport {
    /// Whether a server ran.
    pub stopped: bool,
    /// Where it listened.
    pub address: Option<String>,
    /// The service manager that starts it no more.
    pub disabled: Option<ServiceManager>,
}

impl Report for DownReport {}

/// Which part of the log to show.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LogsRequest {
    /// At most this many lines; 0 for all. Without it, 50.
    pub lines: Option<usize>,
}

/// The log of the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogsReport {
    pub path: String,
    /// As they stand in the file, the oldest first.
    pub lines: Vec<String>,
}

impl Report for LogsReport {}
