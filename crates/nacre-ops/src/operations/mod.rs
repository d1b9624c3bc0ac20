//! The operations: one file each, `request → report | error`, grouped as the command line groups them.
//!
//! An operation opens what it needs through the host, reports what it does to `Events`, and prints nothing.

mod doctor;
pub mod eval;
mod feedback;
pub mod index;
pub mod memory;
pub mod run;
mod undo;

pub use doctor::doctor;
pub use feedback::feedback;
pub use undo::undo;
