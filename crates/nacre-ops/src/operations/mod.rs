//! The operations: one file each, `request → report | error`, grouped as the command line groups them.
//!
//! An operation opens what it needs through the host, reports what it does to `Events`, and prints nothing.

pub mod changes;
pub mod connect;
pub mod extract;
pub mod memory;
pub mod queue;
mod run;
pub mod sync;
pub mod trace;
