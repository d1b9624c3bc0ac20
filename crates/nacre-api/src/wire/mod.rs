//! The wire types: a request and a report for each operation, events, and errors.
//!
//! One file a group of operations. A key that was published keeps its name and meaning.

mod candidate;
mod change;
mod connect;
mod error;
mod event;
mod extract;
mod memory;
mod outcome;
mod queue;
mod run;
mod scope;
mod search;
mod sync;
mod trace;

pub use candidate::{DropReason, Gate, Signal, Strategy};
pub use change::PlannedChange;
pub use connect::{AgentEntry, ConnectReport, ConnectRequest};
pub use error::{CODES, ErrorCode, ErrorReport, Failure};
pub use event::{Event, Warning};
pub use extract::{
    Candidate, DroppedCandidate, ExplainedCandidates, ExtractFileReport, ExtractFileRequest,
    ExtractReport, ExtractRequest, ReadFallback, StrategyChoice, SummarizeFileReport,
    SummarizeFileRequest, SummarizeReport, SummarizeRequest,
};
pub use memory::{
    BrokenFile, MemoryEntry, MemoryEvidence, MemoryLink, MemoryListReport, MemoryListRequest,
    MemoryQuote, MemoryShowReport, MemoryShowRequest, MemoryType, MemoryVersion, Speaker,
};
pub use outcome::{Outcome, Report};
pub use queue::{
    JobState, QueueChange, QueueChangeReport, QueueChangeRequest, QueueJob, QueueListReport,
    QueueListRequest,
};
pub use run::{ActionCounts, ChecklistStep, RunMode, SessionAction, SessionOutcome, SessionRun};
pub use scope::{OtherPlace, Scope, StoreScope};
pub use search::SearchMode;
pub use sync::{
    PausedSession, PlannedSession, SourceEntry, SourceProblem, SyncMode, SyncPreviewReport,
    SyncReport, SyncRequest, SyncResult, SyncTracePreviewReport, SyncTraceReport, SyncTraceRequest,
    SyncedSession,
};
pub use trace::{
    EventCounts, ReadReport, SessionEnding, SessionEntry, SessionFacts, SessionLink,
    SessionLinkKind, SessionRole, SessionTokens, TraceEvent, TraceEventKind, TraceHit,
    TraceHitReason, TraceImportReport, TraceImportRequest, TraceLane, TraceListReport,
    TraceListRequest, TracePlace, TraceSearchReport, TraceSearchRequest, TraceShowReport,
    TraceShowRequest, UndoneEvents,
};
