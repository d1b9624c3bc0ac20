//! The wire types: a request and a report for each operation, events, and errors.
//!
//! One file a group of operations. A key that was published keeps its name and meaning.

mod error;
mod event;
mod map;
mod memory;
mod outcome;
mod scope;

pub use error::{CODES, ErrorCode, ErrorReport, Failure};
pub use event::{Event, Warning};
pub use map::{
    AffectedFile, AnalysisDepth, AnalysisProblem, BenchLatency, BenchMapReport, BenchMapRequest,
    BenchQuestion, BenchedQuestion, BenchedRepo, CacheStatus, CodeChange, CodeDelta, ContextFile,
    ContextQuestion, ContextReport, ContextRequest, ContextSlice, ContextSymbol, DeltaQuestion,
    DeltaReport, DeltaRequest, EntryKind, EntryPoint, ExplainReport, ExplainRequest,
    ExploreQuestion, ExploreReport, ExploreRequest, FileDelta, HotPath, LanguageCount, LeftOut,
    Listed, MapCommand, MapDetail, MapFormat, MapHeader, MapRevision, MapStats, MapVerdict,
    ModuleGraph, ModuleNode, Overview, PublicSurface, RefreshRequest, Since, SkippedCounts,
    SurfaceSymbol, SymbolDelta, SymbolDeltas, SymbolForm, SymbolKind, TokenCost, TokensBy,
    TopImport, WatchAnswer, WatchLine, WatchMode, WatchNotice, WatchNoticeKind, WatchQuestion,
    WatchReply, WatchRequest, WhyRelevant,
};
pub use memory::{
    BrokenFile, MemoryEntry, MemoryEvidence, MemoryLink, MemoryListReport, MemoryListRequest,
    MemoryQuote, MemoryShowReport, MemoryShowRequest, MemoryType, MemoryVersion, Speaker,
};
pub use outcome::{Outcome, Report};
pub use scope::{OtherPlace, Scope, StoreScope};
