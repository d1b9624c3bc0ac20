//! Stores sessions, tasks and their events in a single SQLite file in the global directory.
//!
//! Task states are enforced here: a task ends only once, and its later events are rejected. Text is
//! redacted before it is written.

#[cfg(test)]
mod conversation_tests;
mod db;
mod events;
mod items;
mod recorder;
mod sessions;
mod spending;
#[cfg(test)]
mod support_tests;
mod tasks;
#[cfg(test)]
mod tests;

pub use db::{Result, STATE_FILE, State, StateError};
pub use events::{LOG_FILE, LOG_FOLDER, LogFile};
pub use items::{ItemRecord, MessageRecord, NewItem};
pub use recorder::{Heartbeat, MAX_TASK_AGE, Recorder, RecorderReport};
pub use sessions::{NewSession, SessionChange, SessionMatch, SessionRecord};
pub use spending::{DaySpent, SpentFilter, SpentOn, SpentSum};
pub use tasks::{BatchReport, CancelReport, EventRecord, TaskRecord, TaskStore};
