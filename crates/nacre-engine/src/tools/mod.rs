//! Tool definitions, the pipeline that handles every call, and the toolkits.

mod approval;
mod effects;
mod footprint;
mod guard;
mod guarded;
mod pipeline;
mod programs;
pub(crate) mod skills;
mod tool;
pub mod toolkits;
mod workspace;

pub use approval::{
    Approval, ApprovalAnswer, ApprovalKind, ApprovalRequest, Approver, AskingPerson, Grants,
};
pub use effects::ProjectEffects;
pub use footprint::{Area, Budgets, Exec, Footprint, MemoryUse, Permissions};
pub use guard::{Guard, GuardRules};
pub use pipeline::{
    Batch, BudgetState, CallRecord, EffectDone, EffectReport, EffectRun, EffectRunner, Pipeline,
    PipelineError, PipelineParts, StepContext, TakenBack, TurnChanges, TurnFile,
};
pub use programs::Programs;
pub use skills::{ActiveSkills, Skill, SkillRegistry, SkillsReport};
pub use tool::{
    AnyTool, Output, Preview, Result, Running, Seen, Tool, ToolContext, ToolError, ToolSpec, tool,
};
pub use toolkits::checklist::{Checklist, ChecklistItem, ChecklistSet, ItemState};
pub(crate) use toolkits::memory::quote_passage;
pub use toolkits::memory::{
    MemoryHandle, MemoryRecall, MemoryRecord, MemoryRemove, MemorySearch, QUOTE_MARK, RecordClaim,
    RecordingClaim, note, recall,
};
pub use toolkits::shell::{ShellJobs, ShellPoll, ShellRun, ShellStart, ShellStop};
pub use toolkits::trace::{TraceHandle, TraceSearch};
pub use toolkits::web::{AddressGuard, WebFetch};
pub(crate) use workspace::Walk;
pub use workspace::{BadGlob, Denied, Workspace, WorkspaceError};
