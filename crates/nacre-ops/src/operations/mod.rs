//! The operations: one file each, `request → report | error`, grouped as the command line groups them.
//!
//! An operation opens what it needs through the host, reports what it does to `Events`, and prints nothing.

pub mod map;
pub mod memory;
