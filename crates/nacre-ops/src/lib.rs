//! Operations: typed functions that take a request and return a report or an error, grouped by
//! topic.
//!
//! The command line, the server, MCP and hooks parse a request, call an operation, and render its
//! report. An operation accesses everything through the host, reports progress to `Events`, and
//! prints nothing.

pub mod agent;
pub mod ask;
pub mod brief;
pub mod chat;
pub mod config;
pub mod connect;
mod copies;
mod doctor;
mod error;
mod events;
mod export;
pub mod hook;
mod hook_notes;
pub mod host;
mod import;
pub mod index;
mod json;
pub mod maintain;
pub mod map;
pub mod memory;
pub mod model;
mod overview;
mod prelude;
pub mod project;
pub mod queue;
mod recording;
pub mod report;
pub mod review;
pub mod run;
pub mod server;
pub mod service;
pub mod skill;
pub mod status;
pub mod sync;
pub mod tasks;
pub mod team;
#[cfg(test)]
mod test;
pub mod trace;
mod trust;
pub mod undo;

pub use doctor::doctor;
pub use error::{OpError, Result};
pub use events::Events;
pub use export::export;
pub use hook::hook_deadline;
pub use host::Host;
pub use import::import;
pub use json::{ascii_json, json_line};
pub use memory::{complete, feedback};
pub use nacre_engine::model::Cancel;
pub use overview::overview;
pub use trust::trust;

/// Runs the helper process that starts agent programs, if the arguments select it.
#[cfg(target_os = "linux")]
pub use nacre_engine::confine::helper;

/// Detaches the process from its parent's session and terminal.
pub use nacre_engine::confine::leave_session;

pub mod terminal {
    pub use nacre_base::config::{ColorChoice, NACRE_PAGER, NO_COLOR, PAGER, ThemeChoice};
}

pub mod people {
    pub use nacre_team::people::{
        AccessScope, AuditEntry, Caller, Identity, MAX_AUDIT, MAX_AUDIT_AGE, PeopleStore,
        Permissions, TOKEN_PREFIX, TokenHash, TokenRecord, is_person_name,
    };
}

/// Escapes untrusted text for terminals and single-line fields.
pub mod text {
    pub use nacre_base::{ChangeTag, Shown, ShownLine, find_changed_parts};
    use nacre_engine::model::Cost;

    /// Formats an amount in billionths of a dollar as dollars.
    pub fn dollars(nano_dollars: u64) -> String {
        Cost::from_nano_dollars(nano_dollars).to_string()
    }
}
