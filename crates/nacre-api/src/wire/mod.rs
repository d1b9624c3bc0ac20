//! The wire types: a request and a report for each operation, events, and errors.
//!
//! One file a group of operations. A key that was published keeps its name and meaning.

mod agent;
mod ask;
mod brief;
mod change;
mod error;
mod event;
mod maintain;
mod memory;
mod outcome;
mod report;
mod scope;
mod task;

pub use agent::{AgentName, AgentRunReport, AgentRunRequest, CheckedCitation, TokenUse};
pub use ask::{
    AnswerSentence, AskReport, AskRequest, CitedMemory, MemoryAnswer, ModelAnswer, RecalledMemory,
    RecalledQuote, SentenceDoubt,
};
pub use brief::{BriefItem, BriefReport, BriefRequest, BriefSection, BriefTopic};
pub use change::PlannedChange;
pub use error::{CODES, ErrorCode, ErrorReport, Failure};
pub use event::{Event, Warning};
pub use maintain::{
    MaintainAction, MaintainReport, MaintainRequest, MaintainState, MaintainedStore,
    OpenContradiction, StoreMaintenance,
};
pub use memory::{
    BrokenFile, MemoryEntry, MemoryEvidence, MemoryLink, MemoryListReport, MemoryListRequest,
    MemoryQuote, MemoryShowReport, MemoryShowRequest, MemoryType, MemoryVersion, Speaker,
};
pub use outcome::{Outcome, Report};
pub use report::{MemoryUse, ProjectReport, ReportRequest, ReportedAction, StoreFigures};
pub use scope::{OtherPlace, Scope, StoreScope};
pub use task::{
    ModelStats, ModelStatsReport, TaskCancelReport, TaskCancelRequest, TaskClass, TaskEntry,
    TaskEvent, TaskListReport, TaskListRequest, TaskShowReport, TaskShowRequest, TaskState,
    ToolStats, ToolStatsReport,
};
