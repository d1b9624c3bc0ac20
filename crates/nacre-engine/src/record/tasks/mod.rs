//! Tasks: units of work with six states, of which the last three are ends.
//!
//! Knows neither models nor tools nor where tasks are kept, and has no clock: whoever moves a task says when.

mod cancel;
mod class;
mod id;
mod runner;
mod state;

pub use cancel::CancelTree;
pub use class::{NewTask, QUEUE_CAP, Start, TaskClass};
pub use id::{BadId, SessionId, TaskId};
pub use runner::{LEASE, Life, Runner};
pub use state::{CancelledBy, Failure, IllegalMove, Signal, TaskState};
