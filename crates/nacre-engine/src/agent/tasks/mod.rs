//! Tasks: units of work with six states, of which the last three are ends.
//!
//! Knows neither models nor tools, and has no clock: whoever moves a task says when.

mod id;
mod state;

pub use id::{BadId, SessionId, TaskId};
pub use state::{CancelledBy, Failure, IllegalMove, Signal, TaskState};
