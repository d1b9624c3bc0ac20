//! Agents: a spec run through one lifecycle, with every tool call passing one pipeline.
//!
//! An agent is data. What it may read, change, start and reach is a field of its spec and is enforced where calls
//! are made; a prompt only says so politely.

mod event;
mod footprint;
mod pipeline;
mod spec;
mod tasks;
mod tool;
pub mod toolkits;
mod workspace;

pub use event::{
    Brief, CacheUse, Clock, DeltaKind, EffectOutcome, Event, Events, Heard, Listener, ModelFacts,
    Record, RunFacts, ToolFacts,
};
pub use footprint::{Area, Exec, Footprint, MemoryUse, Network};
pub use pipeline::{
    Batch, BudgetState, Cache, CallRecord, EffectDone, EffectReport, EffectRun, EffectRunner,
    Pipeline, PipelineError, PipelineParts, Registry, RegistryError, StepContext, Tally,
};
pub use spec::{
    AgentSpec, Budgets, Completion, Deeds, EffectKind, Effects, ExecPolicy, NetworkPolicy,
    Permissions, Signals, Spawn, Validator,
};
pub use tasks::{BadId, CancelledBy, Failure, IllegalMove, SessionId, Signal, TaskId, TaskState};
pub use tool::{
    AnyTool, Category, Change, ChangeKind, Desk, Fault, Output, Running, Tool, ToolError, ToolSpec,
};
pub use workspace::{BadGlob, Denied, Workspace, WorkspaceError};
