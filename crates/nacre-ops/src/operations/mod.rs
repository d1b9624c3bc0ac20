//! The operations: one file each, `request → report | error`, grouped as the command line groups them.
//!
//! An operation opens what it needs through the host, reports what it does to `Events`, and prints nothing.

pub mod agent;
pub mod ask;
pub mod brief;
pub mod changes;
pub mod config;
pub mod connect;
mod doctor;
pub mod eval;
mod export;
pub mod extract;
mod feedback;
pub mod hook;
mod import;
pub mod index;
pub mod maintain;
pub mod map;
pub mod memory;
pub mod model;
pub mod project;
pub mod queue;
pub mod report;
pub mod review;
pub mod run;
pub mod skill;
pub mod status;
pub mod sync;
pub mod tasks;
pub mod trace;
mod trust;
mod undo;

pub use doctor::doctor;
pub use export::export;
pub use feedback::feedback;
pub use import::import;
pub use trust::trust;
pub use undo::undo;
