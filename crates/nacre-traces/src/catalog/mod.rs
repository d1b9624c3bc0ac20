//! The catalog of all sessions found on this machine, and the queue of sessions to process.
//!
//! The catalog is one SQLite file, `catalog.sqlite3`, in the global directory. Sources, sessions
//! and messages can be read again from the transcripts, but the queue cannot be restored, so every
//! queue change is one transaction. A source is skipped if its size, modification time, inode,
//! adapter version and redaction list are unchanged.

mod admission;
mod db;
mod error;
mod job;
mod look;
mod messages;
mod offer;
mod place;
mod queue;
mod record;
mod refresh;
mod sessions;
mod take;
#[cfg(test)]
mod tests;
mod twins;
mod words;

use admission::{Admission, GONE, Moment, NO_FOLDER, NO_PROJECT, OUTSIDE, SAME, admit, set_job};
pub use db::Catalog;
use db::{columns, json, limit_of, path_text, rows, stamp_of, time_of};
pub use error::CatalogError;
use error::Result;
pub use job::{
    Claim, ClaimOrder, JobQueue, JobState, MAX_ATTEMPTS, Outcome, QueueFilter, QueueJob,
    ServiceRun, StateCounts, wait_after,
};
pub use look::{Look, TraceGlance, glance, look};
pub use messages::{SaidMessage, SaidSession};
pub use offer::OfferedSession;
pub use place::{Placing, main_worktree, project_root, repository_identity};
use place::{may_speak_for, remote_of};
use record::{Texts, first_said, inner, is_placed, put_session, put_source, stamp_source};
pub use refresh::{AllowedProjects, Connection, Progress, RefreshOptions, RefreshReport};
pub use sessions::{
    DayActivity, SessionFilter, SessionRow, UnregisteredFolder, key_of, later_sessions,
};
use words::fingerprint;
pub use words::{ProjectWords, WordLists};
