//! The wire types: a request and a report for each operation, events, and errors.
//!
//! One file a group of operations. A key that was published keeps its name and meaning.

mod candidate;
mod doctor;
mod error;
mod eval;
mod event;
mod maintenance;
mod memory;
mod outcome;
mod recall;
mod run;
mod scope;
mod search;

pub use candidate::{DropReason, Gate, Signal, Strategy};
pub use doctor::{DoctorReport, DoctorRequest, Finding, Health, QuoteCheck, Severity, StoreCheck};
pub use error::{CODES, ErrorCode, ErrorReport, Failure};
pub use eval::{
    DatasetFormat, EvalExtractionReport, EvalExtractionRequest, EvalRetrievalReport,
    EvalRetrievalRequest, ExtractionHalves, ExtractionScores, LatencyMillis, MissedQuestion,
    RetrievalScores, Slip,
};
pub use event::{Event, Warning};
pub use maintenance::{
    MaintainAction, MaintainDurations, MaintainMetrics, MaintainOutcome, MaintainVerb,
    OpenContradiction, StoreMaintenance,
};
pub use memory::{
    BrokenFile, FeedbackReport, FeedbackRequest, LearningKind, MemoryAddRequest, MemoryChange,
    MemoryChangeReport, MemoryChangesReport, MemoryEditRequest, MemoryEntry, MemoryEvidence,
    MemoryFailure, MemoryIdsRequest, MemoryLink, MemoryListReport, MemoryListRequest, MemoryQuote,
    MemoryResetReport, MemoryResetRequest, MemoryShowReport, MemoryShowRequest, MemoryType,
    MemoryVersion, Speaker, Verdict,
};
pub use outcome::{Outcome, Report};
pub use recall::{
    EdgeKind, FoundMemory, IndexChange, IndexRebuildReport, IndexRebuildRequest, IndexState,
    IndexStatusReport, IndexStatusRequest, MemoryEdge, MemoryRelatedReport, MemoryRelatedRequest,
    MemorySearchReport, MemorySearchRequest, RebuiltIndex, RelatedMemory, WhyFound,
};
pub use run::{
    ActionCounts, ActionScores, Band, CandidateVerb, ChecklistStep, DecidedBy, ExplorerFinding,
    ExplorerMetrics, LeadAction, LeadMetrics, Relation, RunCounts, RunEntry, RunListReport,
    RunListRequest, RunMetrics, RunMode, RunReport, RunShowReport, RunShowRequest, SessionAction,
    SessionOutcome, SessionRun, StepState, SyncDurations, SyncMetrics, TokenCounts, UndoAction,
    UndoReport, UndoRequest, UndoRunReport, UndoVerb,
};
pub use scope::{OtherPlace, Scope, StoreScope};
pub use search::SearchMode;
