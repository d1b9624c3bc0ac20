//! The server for a home directory. At most one server runs per home directory. Clients find its
//! address and token in `run/`, which only the user can access.

mod definition;
mod manager;
mod upkeep;

pub use nacre_traces::catalog::TraceGlance;

pub use self::definition::{
    FoundService, ServerAddress, ServiceDefinition, definition, find, find_socket,
};
pub use self::manager::{
    Manager, disable, enable, is_current, is_enabled, manager, start_process, write_compose,
};
pub(super) use self::upkeep::service_status;
pub use self::upkeep::{
    HeldService, LogLevel, LogTail, has_due_sessions, hold, is_paused, keep_indexes, keep_maps,
    log, logs, look_at_traces, prune, set_paused,
};

const RUN_FOLDER: &str = "run";
/// The directory in `run/` that a running server keeps locked.
const LOCK_FOLDER: &str = "server";
/// Name of the file that contains the address as `host:port`.
const ADDRESS: &str = "address";
const TOKEN: &str = "token";
const PAUSED: &str = "paused";
#[cfg(unix)]
const SOCKET: &str = "socket";
const MAX_BYTES: u64 = 4096;
