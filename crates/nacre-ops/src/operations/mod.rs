//! The operations: one file each, `request → report | error`, grouped as the command line groups them.
//!
//! An operation opens what it needs through the host, reports what it does to `Events`, and prints nothing.

pub mod agent;
pub mod ask;
pub mod brief;
pub mod changes;
mod complete;
pub mod config;
pub mod connect;
mod copies;
mod doctor;
pub mod eval;
mod export;
pub mod extract;
mod feedback;
pub mod hook;
mod hook_notes;
mod import;
pub mod index;
mod intake;
mod last_check;
pub mod maintain;
pub mod map;
pub mod memory;
pub mod model;
mod overview;
pub mod project;
pub mod queue;
mod recording;
pub mod report;
pub mod review;
pub mod run;
pub mod server;
pub mod service;
pub mod shared_index;
pub mod skill;
pub mod status;
pub mod sync;
pub mod tasks;
pub mod team;
mod team_state;
#[cfg(test)]
mod testing;
mod texts;
pub mod trace;
mod trust;
pub mod undo;

pub use complete::complete;
pub use doctor::doctor;
pub use export::export;
pub use feedback::feedback;
pub use import::import;
pub use overview::overview;
pub(crate) use recording::CommandChange;
pub use trust::trust;
