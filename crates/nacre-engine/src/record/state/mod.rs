//! What survives a process: sessions, tasks and what they told, in one SQLite file of the global folder.
//!
//! The order of a task's life is kept here too: an end is written once, whoever comes second is told so, and what a
//! finished task still says is not kept. Texts are redacted before they reach the file.

#[cfg(test)]
mod conversation_tests;
mod db;
mod error;
mod event_rows;
mod events;
mod facts;
mod items;
mod log;
mod messages;
mod recorder;
mod retention;
mod row;
mod search;
mod sessions;
mod spending;
mod task_store;
mod tasks;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use db::{STATE_FILE, State};
pub use error::StateError;
pub use events::{BatchReport, EventRecord};
pub use facts::{ModelStats, ToolStats};
pub use items::{Holder, ItemRecord, NewItem};
pub use log::{LOG_FILE, LOG_FOLDER, LogFile};
pub use messages::{MessageEnd, MessageRecord, NewMessages};
pub use recorder::{Recorder, RecorderReport};
pub use retention::{Retention, TrimReport};
pub use search::ItemMatch;
pub use sessions::{
    Conversations, NewSession, SessionChange, SessionMatch, SessionRecord, SessionSummary,
};
pub use spending::{DaySpent, SpentFilter, SpentOn, SpentSum};
pub use task_store::TaskStore;
pub use tasks::{CancelReport, TaskRecord};
