//! Records tasks, their states and their events in a database.
//!
//! This module does not depend on tools or agents.

mod call;
mod event;
mod runner;
pub mod state;
mod tasks;
mod telemetry;

pub use call::{Category, ChangeKind, Fault, FileChange, RunEffects, ShownLines};
pub use event::{
    ApprovalDecision, BoundedText, Clock, DeltaKind, EffectOutcome, Event, Events, Heard, Listener,
    ModelFacts, Record, RunFacts, ToolFacts,
};
pub use runner::{LEASE, Life, Runner};
pub use state::Heartbeat;
pub use tasks::{
    BadId, CancelledBy, Failure, IllegalMove, NewTask, QUEUE_CAP, SessionId, Signal, Start,
    TaskClass, TaskId, TaskState,
};
pub use telemetry::{CollectorError, Telemetry};
