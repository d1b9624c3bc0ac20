//! What Nacre can do: one typed operation a file, over one host.
//!
//! The only crate that puts core, map and engine together. It knows no terminal and no socket: the command line, the
//! server, MCP and hooks parse a request, call an operation, and render its report.

mod error;
mod events;
pub mod host;
mod operations;

pub use error::OpError;
pub use events::Events;
pub use host::Host;
pub use operations::config;
pub use operations::memory;
pub use operations::model;
pub use operations::project;
pub use operations::skill;
pub use operations::status;

/// The part of a process that starts the programs of agents; a process that is asked to be it does nothing else.
#[cfg(target_os = "linux")]
pub use nacre_engine::agent::helper;

/// Settings that a terminal goes by.
pub mod terminal {
    pub use nacre_core::config::{ColorChoice, NO_COLOR};
}

/// Text from outside, made safe for a terminal.
pub mod text {
    pub use nacre_core::base::{Shown, ShownLine};
}
