//! Agents: a spec run through one lifecycle, with every tool call passing one pipeline.
//!
//! An agent is data. What it may read, change, start and reach is a field of its spec and is enforced where calls
//! are made; a prompt only says so politely.

mod agents;
mod completion;
mod context;
mod control;
mod effects;
mod event;
mod footprint;
mod heartbeat;
mod lifecycle;
mod pipeline;
mod process;
mod recording;
mod sandbox;
mod seen;
mod skills;
mod spec;
pub mod state;
mod tasks;
mod telemetry;
mod tool;
pub mod toolkits;
mod workspace;

pub use agents::{
    Case, Citation, CitationState, Crew, Delegate, ExplorerReport, Finding, LEAD_DENIED, Lead,
    LeadAction, LeadOrder, LeadReport, LeadRuling, LeadStep, LeadTask, NOT_KNOWN, NearMemory,
    Report, asked, asker, check_report, explorer, lead,
};
pub use completion::{ANSWER_TOOL, Complaints, SIGNAL_TOOL, Signalled, Verdict};
pub use context::{ContextPlan, Conversation, Exchange, KeptResult, TooLong, Turn, plan};
pub use control::{RunControl, RunHandle, Stopped};
pub use effects::{ProjectEffects, RepositoryTrust};
pub use event::{
    Brief, CacheUse, Clock, DeltaKind, EffectOutcome, Event, Events, Heard, Listener, ModelFacts,
    Record, RunFacts, ToolFacts,
};
pub use footprint::{Area, Exec, Footprint, MemoryUse, Network};
pub use heartbeat::Heartbeat;
pub use lifecycle::{Ending, Engine, Job, Outcome, RunError, run};
pub use pipeline::{
    Batch, BudgetState, Cache, CallRecord, EffectDone, EffectReport, EffectRun, EffectRunner,
    Pipeline, PipelineError, PipelineParts, Registry, RegistryError, StepContext, Tally,
};
#[cfg(target_os = "linux")]
pub use process::helper;
pub use process::{
    Captured, Ending as ProgramEnding, Finished, Launcher, Order, OutputCaps, ProcessError,
    Program, Programs, Quotas, own_folders, program_environment,
};
pub use recording::{Recording, RecordingReport, RecordingRules};
pub use sandbox::{Confinement, Metadata, Reach, secrets_of_home};
pub use seen::Seen;
pub use skills::{
    ActiveSkills, BadSkill, Origin, Shelf, ShelfPlaces, ShelfReport, Skill, SkillProblem,
};
pub use spec::{
    AgentSpec, Budgets, Completion, Deeds, EffectKind, Effects, ExecPolicy, NetworkPolicy,
    Permissions, Signals, Spawn, Validator, Weight,
};
pub use tasks::{
    BadId, CancelTree, CancelledBy, Failure, IllegalMove, LEASE, Life, NewTask, QUEUE_CAP, Runner,
    SessionId, Signal, Start, TaskClass, TaskId, TaskState,
};
pub use telemetry::{Collector, CollectorError, SpanLog};
pub use tool::{
    AnyTool, Category, Change, ChangeKind, Desk, Fault, Output, Running, Tool, ToolError, ToolSpec,
};
pub use toolkits::checklist::{Checklist, ChecklistItem, ChecklistSet, ChecklistUpdate, ItemState};
pub use toolkits::memory::{
    ClaimSearch, MemoryAdd, MemoryRecall, MemoryRemove, MemorySearch, MemoryShelf,
    OverturnedPassage, Passage, QUOTE_MARK, note, recall, speaker,
};
pub use toolkits::shell::ShellRun;
pub use toolkits::trace::{TraceSearch, TraceShelf};
pub use toolkits::web::{AddressGuard, SearchEndpoint, SearchEndpointError, WebFetch, WebSearch};
pub use workspace::{BadGlob, Denied, Workspace, WorkspaceError};
