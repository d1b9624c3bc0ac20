//! What was seen of every agent's traces, and the queue of those that wait for a run.
//!
//! One SQLite file, `catalog.sqlite3`, in the global folder. The rows about sources, sessions and
//! their texts are derived and can be read again from the traces; the queue is not, and every
//! change of it is one transaction. A source that did not change since the last visit is not
//! opened: its size, time, inode and adapter version say so, and that the words to be kept out of
//! its sessions are the same.
//!
//! Knows transcripts, and nothing of memories, models or the terminal.

mod activity;
mod admission;
mod columns;
mod db;
mod error;
mod job;
mod job_queue;
mod look;
mod offer;
mod place;
mod queue;
mod record;
mod refresh;
mod refresh_options;
mod rehearsal;
mod runs;
mod said;
mod search;
mod seen;
mod take;
#[cfg(test)]
mod tests;
mod twins;
mod waiting;
mod words;

pub use activity::DayActivity;
pub use db::Catalog;
pub use error::CatalogError;
pub use job::{Job, JobState, Outcome, RetryPolicy};
pub use job_queue::JobQueue;
pub use look::{Look, TraceGlance, glance, look};
pub use offer::OfferedSession;
pub use place::{Placing, project_root};
pub use queue::{Claim, ClaimOrder, QueueFilter};
pub use refresh_options::{
    AllowedProjects, Connection, Progress, RefreshOptions, RefreshReport, SourceProblem,
};
pub use runs::ServiceRun;
pub use said::{SaidMessage, said_in};
pub use search::{TextHit, TextIndexAccess, TextQuery};
pub use seen::{SessionFilter, SessionRow, StateCounts, key_of};
pub use waiting::{LaterSessions, WaitingSessions};
pub use words::{ProjectWords, WordLists};
