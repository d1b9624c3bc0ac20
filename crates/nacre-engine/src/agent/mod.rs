//! Agents: a spec run through one lifecycle, with every tool call passing one pipeline.
//!
//! An agent is data. What it may read, change, start and reach is a field of its spec and is enforced where calls
//! are made; a prompt only says so politely.

mod effects;
mod footprint;
mod pipeline;
mod process;
mod sandbox;
mod spec;
mod tool;
mod toolkits;
mod workspace;

pub use effects::{ProjectEffects, RepositoryTrust};
pub use footprint::{Area, Exec, Footprint, MemoryUse, Network};
pub use pipeline::{
    Batch, BudgetState, Cache, CacheUse, CallRecord, EffectReport, EffectRun, EffectRunner,
    Pipeline, PipelineError, PipelineParts, Registry, RegistryError, Tally,
};
#[cfg(target_os = "linux")]
pub use process::helper;
pub use process::{
    Captured, Ending, Finished, Launcher, Order, OutputCaps, ProcessError, Program, Programs,
    Quotas, program_environment,
};
pub use sandbox::{Confinement, Metadata, Reach, secrets_of_home};
pub use spec::{
    AgentSpec, Budgets, Completion, Deeds, EffectKind, Effects, ExecPolicy, NetworkPolicy,
    Permissions, Signals, Spawn, Validator,
};
pub use tool::{
    AnyTool, Category, Change, ChangeKind, Desk, Fault, Output, Running, Tool, ToolError, ToolSpec,
};
pub use toolkits::checklist::{Checklist, ChecklistItem, ChecklistSet, ChecklistUpdate, ItemState};
pub use toolkits::memory::{MemoryAdd, MemoryRemove, MemorySearch, MemoryShelf};
pub use toolkits::shell::ShellRun;
pub use toolkits::web::{AddressGuard, SearchEndpoint, SearchEndpointError, WebFetch, WebSearch};
pub use workspace::{BadGlob, Denied, Workspace, WorkspaceError};
