//! The server of a home: there is one at a time, and what others need to reach it lies in `run/`, for the person alone.

mod definition;
mod find;
mod hold;
mod log;
mod logs;
mod manager;
mod metrics;
mod pause;
mod prune;
mod status;
mod upkeep;

pub use self::definition::{ServiceDefinition, definition};
pub use self::find::{Door, FoundService, find, find_socket};
pub use self::hold::{HeldService, hold};
pub use self::log::{LogLevel, log};
pub use self::logs::{LogTail, logs};
pub use self::manager::{
    Manager, disable, enable, is_current, is_enabled, manager, start_process, write_compose,
};
pub use self::metrics::{DatabaseMetrics, database_metrics};
pub use self::pause::{is_paused, set_paused};
pub use self::prune::prune;
pub(super) use self::status::service_status;
pub use self::upkeep::{TraceChanges, has_due_sessions, keep_indexes, keep_maps, look_at_traces};

/// The folder in the global folder.
const RUN_FOLDER: &str = "run";
/// The folder in it whose lock the server holds.
const LOCK_FOLDER: &str = "server";
/// Where the server listens, as `host:port`.
const ADDRESS: &str = "address";
/// What proves that a request is the person's.
const TOKEN: &str = "token";
/// Whether a person paused what the server does by itself.
const PAUSED: &str = "paused";
/// Where processes of the same user reach it.
#[cfg(unix)]
const SOCKET: &str = "socket";
/// No file of these is larger.
const MAX_BYTES: u64 = 4096;
