//! What Nacre can do: one typed operation a file, over one host.
//!
//! The only crate that puts core, map and engine together. It knows no terminal and no socket: the command line, the
//! server, MCP and hooks parse a request, call an operation, and render its report.

mod error;
mod events;
pub mod host;
mod json;
mod operations;

pub use error::OpError;
pub use events::Events;
pub use host::Host;
pub use json::{ascii_json, json_line};
pub use operations::map;
pub use operations::memory;

/// Text from outside, made safe for a terminal.
pub mod text {
    pub use nacre_core::base::{Shown, ShownLine};
}
