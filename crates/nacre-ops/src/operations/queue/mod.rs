//! The queue of sessions: what waits, runs and failed, and what a person changes about it.

mod change;
mod list;
mod wire;

pub use change::{retry, skip};
pub use list::list;
pub(crate) use wire::job_state;
