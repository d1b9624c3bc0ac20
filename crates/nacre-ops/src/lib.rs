//! What Nacre can do: one typed operation a file, over one host.
//!
//! The only crate that puts core, map and engine together. It knows no terminal and no socket: the command line, the
//! server, MCP and hooks parse a request, call an operation, and render its report.

mod cancel;
pub mod chat;
mod error;
mod events;
pub mod host;
mod json;
mod operations;

pub use cancel::Cancel;
pub use error::OpError;
pub use events::Events;
pub use host::Host;
pub use json::{ascii_json, json_line};
pub use operations::hook::hook_deadline;
pub use operations::{
    agent, ask, brief, changes, complete, config, connect, doctor, eval, export, extract, feedback,
    hook, import, index, maintain, map, memory, model, overview, project, queue, report, review,
    run, server, service, shared_index, skill, status, sync, tasks, team, trace, trust, undo,
};

/// The part of a process that starts the programs of agents; a process that is asked to be it does nothing else.
#[cfg(target_os = "linux")]
pub use nacre_engine::confine::helper;

/// Takes a process out of the session and the terminal of whoever started it.
pub use nacre_engine::confine::leave_session;

/// Settings that a terminal goes by.
pub mod terminal {
    pub use nacre_core::config::{ColorChoice, NACRE_PAGER, NO_COLOR, PAGER, ThemeChoice};
}

/// Who may ask a server for what.
pub mod people {
    pub use nacre_core::people::{
        AccessScope, AuditEntry, Caller, Identity, MAX_AUDIT, MAX_AUDIT_AGE, PeopleStore,
        Permissions, TOKEN_PREFIX, TokenHash, TokenRecord, is_person_name,
    };
}

/// Text from outside, made safe for a terminal, and fields in one line.
pub mod text {
    pub use nacre_core::base::{Shown, ShownLine};
    use nacre_engine::model::Cost;

    /// What billionths of a dollar are in dollars.
    pub fn dollars(nano_dollars: u64) -> String {
        Cost::from_nano_dollars(nano_dollars).to_string()
    }
}
