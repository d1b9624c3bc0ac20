//! What happens is written down: tasks and their states, events in order, the database behind them, spans for a collector.
//!
//! Knows nothing of tools and agents: what they did comes in as facts.

mod call;
mod event;
mod heartbeat;
mod recording;
mod shown;
pub mod state;
mod tasks;
mod telemetry;

pub use call::{Category, Change, ChangeKind, Fault, FilePatch, RunEffects};
pub use event::{
    ApprovalDecision, BoundedText, CacheUse, Clock, DeltaKind, EffectOutcome, Event, Events, Heard,
    Listener, ModelFacts, Record, RunFacts, ToolFacts,
};
pub use heartbeat::Heartbeat;
pub use recording::{Recording, RecordingReport, RecordingRules};
pub use shown::ShownLines;
pub use tasks::{
    BadId, CancelTree, CancelledBy, Failure, IllegalMove, LEASE, Life, NewTask, QUEUE_CAP, Runner,
    SessionId, Signal, Start, TaskClass, TaskId, TaskState,
};
pub use telemetry::{Collector, CollectorError, SpanLog};
