//! One lifecycle for every agent: a spec is resolved, its context prepared, steps are taken, and the end is checked.
//!
//! An agent is data. What it may read, change, start and reach is a field of its spec and is enforced where calls
//! are made; a prompt only says so politely.

mod completion;
mod context;
mod control;
mod items;
mod parts;
mod spec;
mod steps;

pub use completion::{ANSWER_TOOL, Complaints, CompletionVerdict, SIGNAL_TOOL, Signalled};
pub use context::{ContextPlan, Conversation, Exchange, KeptResult, TooLong, Turn, plan};
pub use control::{RunControl, RunHandle, Stopped};
pub use items::Item;
pub use parts::{Attachment, Picture, Summary, TurnEnd};
pub use spec::{AgentSpec, Compaction, Completion, Signals, Spawn, Validator, Weight};
pub use steps::{
    Checkpoint, CheckpointError, Ending, Engine, Job, Outcome, RunError, SMALL_WINDOW, run,
};
