//! The lifecycle shared by all agents: resolve a spec, prepare its context, take steps, and check
//! the result.
//!
//! An agent spec is pure data. Its permissions are enforced when the agent makes a call.

mod completion;
mod context;
mod control;
mod items;
mod spec;
mod steps;

pub use completion::{ANSWER_TOOL, Complaints, SIGNAL_TOOL};
pub use context::{
    Attachment, ContextPlan, Conversation, Exchange, KeptResult, Picture, Summary, TooLong, Turn,
    TurnEnd, plan,
};
pub use control::{RunControl, RunHandle, Stopped};
pub use items::Item;
pub use spec::{AgentSpec, Completion, Validator, Weight};
pub use steps::{
    Checkpoint, CheckpointError, Ending, Engine, Job, Outcome, RunError, SMALL_WINDOW, run,
};
