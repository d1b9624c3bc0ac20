//! Tools: what they are, the one pipeline that every call passes, and the kits.
//!
//! A tool declares what it touches; permission, budget, cache, effects and record follow from that one declaration.

mod approval;
mod effects;
mod footprint;
mod guard;
mod guarded;
mod pipeline;
mod policy;
mod programs;
mod seen;
pub(crate) mod skills;
mod tool;
pub mod toolkits;
mod workspace;

pub use approval::{
    Approval, ApprovalAnswer, ApprovalKind, ApprovalPolicy, ApprovalRequest, Approver,
    AskingPerson, Grants,
};
pub use effects::{ProjectEffects, RepositoryTrust};
pub use footprint::{Area, Exec, Footprint, MemoryUse, Network};
pub use guard::{Guard, GuardRules, ReadGuard, ReadGuardError, Refusal, Touch};
pub use pipeline::{
    Batch, BudgetState, Cache, CallRecord, EffectDone, EffectReport, EffectRun, EffectRunner,
    NotKept, Pipeline, PipelineError, PipelineParts, Registry, RegistryError, StepContext,
    TakenBack, Tally, TurnChanges, TurnFile,
};
pub use policy::{
    Budgets, EffectKind, Effects, ExecPolicy, NetworkPolicy, Permissions, ToolPolicy,
};
pub use programs::Programs;
pub use seen::Seen;
pub use skills::{
    ActiveSkills, BadSkill, Origin, Skill, SkillPlaces, SkillProblem, SkillRegistry, SkillsReport,
};
pub use tool::{
    AnyTool, Output, Preview, PreviewProgram, Running, Tool, ToolContext, ToolError, ToolSpec,
};
pub use toolkits::checklist::{Checklist, ChecklistItem, ChecklistSet, ChecklistUpdate, ItemState};
pub use toolkits::memory::{
    AgentRecord, ClaimSearch, MemoryAdd, MemoryHandle, MemoryRecall, MemoryRecord, MemoryRemove,
    MemorySearch, OverturnedPassage, Passage, QUOTE_MARK, Recalled, RecordClaim, RecordingClaim,
    note, recall, speaker,
};
pub use toolkits::shell::{ShellJobs, ShellPoll, ShellRun, ShellStart, ShellStop};
pub use toolkits::trace::{TraceHandle, TraceSearch};
pub use toolkits::web::{AddressGuard, SearchEndpoint, SearchEndpointError, WebFetch, WebSearch};
pub use workspace::{BadGlob, Denied, Workspace, WorkspaceError};
pub(crate) use workspace::{Walk, WalkedFile};
