//! The wire types: a request and a report for each operation, events, and errors.
//!
//! One file a group of operations. A key that was published keeps its name and meaning.
//!
//! A new `…Request` or `…Report` is re-exported here by name and gets one line in the table of `schema.rs`; a test fails
//! while it is missing. `make docs` then writes its JSON schema to `docs/schema/`.

mod agent;
mod ask;
mod brief;
mod candidate;
mod change;
mod chat;
mod complete;
mod config;
mod connect;
mod doctor;
mod error;
mod eval;
mod event;
mod export;
mod extract;
mod forgotten;
mod graph;
mod hook;
mod import;
mod intake;
mod level;
mod maintain;
mod maintenance;
mod map;
mod memory;
mod model;
mod outcome;
mod overview;
mod people;
mod project;
mod queue;
mod recall;
mod report;
mod review;
mod run;
mod run_parts;
mod schema;
mod scope;
mod search;
mod server;
mod service;
mod skill;
mod status;
mod stream;
mod sync;
mod task;
mod team;
mod team_report;
mod trace;
mod transcripts;
mod trust;
mod undo;

pub use agent::{
    AgentName, AgentRunReport, AgentRunRequest, CheckedCitation, TokenUse, UnprovenSentence,
};
pub use ask::{
    AnswerSentence, AskReport, AskRequest, CitedMemory, MemoryAnswer, ModelAnswer, RecalledMemory,
    RecalledQuote, SentenceDoubt, SourceQuote,
};
pub use brief::{BriefItem, BriefReport, BriefRequest, BriefSection, BriefTopic};
pub use candidate::{DropReason, Gate, Signal, Strategy};
pub use change::PlannedChange;
pub use chat::{
    AnsweredBy, ApprovalAnswer, ApprovalAnswerReport, ApprovalAnswerRequest, ApprovalPolicy,
    ApprovalRequest, Attachment, ChatAbortReport, ChatAbortRequest, ChatItem, ChatItemKind,
    ChatSession, ChatStartReport, ChatStartRequest, ChatSteerReport, ChatSteerRequest,
    ChatTurnReport, ChatUndoReport, ChatUndoRequest, ChecklistItem, ChecklistState, FilePatch,
    HelloReport, HelloRequest, KeptPath, RPC_VERSION, RecalledNote, RpcAnswer, RpcCall, RpcMessage,
    RpcRequest, SessionChangeRequest, SessionCreateRequest, SessionExportReport,
    SessionForkRequest, SessionItemsReport, SessionItemsRequest, SessionListReport,
    SessionListRequest, SessionRemoveReport, SessionReport, SessionRequest, SessionSearchHit,
    SessionSearchReport, SessionSearchRequest, TaskEnd, TaskFollowReport, TaskFollowRequest,
    TaskMessage, TaskUpdate, ToolOutcome, TurnUsage,
};
pub use complete::{CompleteReport, CompleteRequest};
pub use config::{
    ConfigFile, ConfigGetReport, ConfigGetRequest, ConfigLayer, ConfigPathReport,
    ConfigPathRequest, ConfigSetReport, ConfigSetRequest, ConfigShowReport, ConfigShowRequest,
    Setting, SettingValue,
};
pub use connect::{
    AgentCheck, AgentEntry, ChangeKind, CheckState, ConnectDoctorReport, ConnectDoctorRequest,
    ConnectReport, ConnectRequest, FileChange, PartCheck, WiringOptions, WiringPart, WiringState,
};
pub use doctor::{
    DoctorReport, DoctorRequest, Finding, Health, MendedFile, QuoteCheck, Severity, StoreCheck,
};
pub use error::{CODES, ErrorCode, ErrorReport, Failure};
pub use eval::{
    DatasetFormat, EvalExtractionReport, EvalExtractionRequest, EvalHookReport, EvalHookRequest,
    EvalRetrievalReport, EvalRetrievalRequest, FoundLabels, KeptEntries, LatencyMillis,
    MissedEntry, MissedPrompt, MissedQuestion, ReadingCost, RetrievalBaseline, RetrievalScores,
};
pub use event::{Event, Warning};
pub use export::{ExportReport, ExportRequest, ExportState};
pub use extract::{
    Candidate, DroppedCandidate, ExplainedCandidates, ExtractFileReport, ExtractFileRequest,
    ExtractReport, ExtractRequest, ReadFallback, StrategyChoice, SummarizeFileReport,
    SummarizeFileRequest, SummarizeReport, SummarizeRequest,
};
pub use forgotten::{CheckedCopy, CopyPlace, CopyState};
pub use graph::{GraphEdge, GraphNode, GraphReport, GraphRequest};
pub use hook::{
    HookContextReport, HookEnd, HookEndReport, HookEndRequest, HookPromptRequest, HookQuestion,
    HookReport, HookRequest, HookSession, HookSource, HookStartRequest, HookToolReport,
    HookToolRequest, HookUpkeepReport, HookUpkeepRequest, ToolAccess,
};
pub use import::{
    FileFault, ImportReport, ImportRequest, ImportSkip, ImportedCandidate, ImportedFile,
    ReplacedMemory, SkippedText,
};
pub use intake::{
    AgentSessions, FolderSessions, LaterSessions, LearnedChange, LearnedMemory, LookedIn,
    SyncTotals, WaitingSessions,
};
pub use level::TrustLevel;
pub use maintain::{MaintainReport, MaintainRequest, MaintainState, MaintainedStore};
pub use maintenance::{
    MaintainAction, MaintainDurations, MaintainMetrics, MaintainOutcome, MaintainVerb,
    OpenContradiction, StoreMaintenance,
};
pub use map::{
    AffectedFile, AffectedFolder, AnalysisDepth, AnalysisProblem, BenchLatency, BenchMapReport,
    BenchMapRequest, BenchQuestion, BenchedLocalisation, BenchedQuestion, BenchedRepo, CacheStatus,
    CodeApart, CodeArea, CodeChange, CodeDelta, CodeSearchMode, CommandPurpose, ContextFile,
    ContextQuestion, ContextReport, ContextRequest, ContextSlice, ContextSymbol, DeltaQuestion,
    DeltaReport, DeltaRequest, EntryKind, EntryPoint, ExplainReport, ExplainRequest,
    ExploreQuestion, ExploreReport, ExploreRequest, FileDelta, HotPath, LanguageCount, LeftOut,
    Listed, LocalisationScore, LocalisedTask, MapCommand, MapDetail, MapFormat, MapHeader,
    MapRevision, MapStats, MapVerdict, MatchGroup, MatchSymbol, MatchedCode, MatchedFile,
    MatchedLine, ModuleGraph, ModuleNode, Overview, ProjectCommand, PublicSurface, RefreshRequest,
    SearchCodeReport, SearchCodeRequest, Since, SkippedCounts, SurfaceSymbol, SymbolDelta,
    SymbolDeltas, SymbolForm, SymbolKind, TokenCost, TopImport, WatchAnswer, WatchLine, WatchMode,
    WatchNotice, WatchNoticeKind, WatchQuestion, WatchReply, WatchRequest, WhyRelevant,
};
pub use memory::{
    BrokenFile, FeedbackReport, FeedbackRequest, LearningKind, MemoryAddRequest, MemoryChange,
    MemoryChangeReport, MemoryChangesReport, MemoryEditRequest, MemoryEntry, MemoryEvidence,
    MemoryFailure, MemoryFeedback, MemoryIdsRequest, MemoryLink, MemoryListReport,
    MemoryListRequest, MemoryQuote, MemoryRecordReport, MemoryRecordRequest, MemoryResetReport,
    MemoryResetRequest, MemoryShowReport, MemoryShowRequest, MemorySort, MemoryStatus, MemoryType,
    MemoryVersion, MemoryWriteRequest, Speaker, Verdict,
};
pub use model::{
    EmbedderEntry, EmbedderState, InstalledAgent, ModelListReport, ModelListRequest,
    ModelReaderReport, ModelReaderRequest, ModelRole, ModelTestReport, ModelTestRequest,
    ModelTestTokens, ProviderEntry, RoleEntry,
};
pub use outcome::{Outcome, Report};
pub use overview::{AgentActivity, MemoryGrowth, OverviewDay, OverviewReport, OverviewRequest};
pub use people::{
    AccessScope, AuditLine, AuditReport, AuditRequest, ProjectScope, TokenAddReport,
    TokenAddRequest, TokenEntry, TokenListReport, TokenListRequest, TokenRevokeReport,
    TokenRevokeRequest, TokenState,
};
pub use project::{
    InitReport, InitRequest, ProjectAddReport, ProjectAddRequest, ProjectEntry, ProjectListReport,
    ProjectListRequest, ProjectRemoveReport, ProjectRemoveRequest, ProjectState,
};
pub use queue::{
    JobState, QueueChange, QueueChangeReport, QueueChangeRequest, QueueJob, QueueListReport,
    QueueListRequest,
};
pub use recall::{
    EdgeKind, FoundMemory, IndexChange, IndexRebuildReport, IndexRebuildRequest, IndexState,
    IndexStatusReport, IndexStatusRequest, MemoryEdge, MemoryRelatedReport, MemoryRelatedRequest,
    MemorySearchReport, MemorySearchRequest, RebuiltIndex, RelatedMemory, WhyFound,
};
pub use report::{MemoryUse, ProjectReport, ReportRequest, ReportedAction, StoreFigures};
pub use review::{
    ReviewAcceptRequest, ReviewCandidate, ReviewDecideRequest, ReviewDecision, ReviewListReport,
    ReviewListRequest,
};
pub use run::{
    ActionCounts, ActionScores, Band, CandidateVerb, ChecklistStep, DecidedBy, LeadMetrics,
    MessageRole, Relation, RunCounts, RunEntry, RunListReport, RunListRequest, RunMessage,
    RunMessagesReport, RunMessagesRequest, RunMetrics, RunOfChange, RunReport, RunShowReport,
    RunShowRequest, SessionAction, SessionOutcome, SessionRun, StepState, SyncDurations,
    SyncMetrics, TokenCounts, UndoAction, UndoRunReport, UndoVerb,
};
pub use run_parts::{ExplorerFinding, ExplorerMetrics, LeadAction, RunMode};
pub use schema::schemas;
pub use scope::{OtherPlace, Scope, StoreScope};
pub use search::SearchMode;
pub use server::{
    DatabaseState, DatabaseStatus, MoveStores, MovedStores, ServerMigrateReport,
    ServerMigrateRequest, ServerStatusReport, ServerStatusRequest,
};
pub use service::{
    DashboardReport, DownReport, HealthReport, LoginCodeReport, LoginReport, LoginRequest,
    LogsReport, LogsRequest, LoopEntry, LoopName, LoopState, ServeReport, ServiceManager,
    ServiceReport, TaskStarted, UpReport, UpRequest, UpState, WakeRequest,
};
pub use skill::{
    SkillEntry, SkillListReport, SkillListRequest, SkillOrigin, SkillProblem, SkillShowReport,
    SkillShowRequest,
};
pub use status::{
    ServiceStatus, SessionStatus, SpendingScope, SpendingStatus, StatusReport, StatusRequest,
    StoreStatus, TypeCount,
};
pub use stream::{CallLine, ChangedThing, LINES_TYPE, StreamEvent, StreamedEvent};
pub use sync::{
    LeadRuntime, PausedSession, PlannedSession, SourceEntry, SourceProblem, SyncMode,
    SyncPreviewReport, SyncReport, SyncRequest, SyncResult, SyncTracePreviewReport,
    SyncTraceReport, SyncTraceRequest, SyncedSession,
};
pub use task::{
    ModelStats, ModelStatsReport, RunStatsReport, TaskCancelReport, TaskCancelRequest, TaskClass,
    TaskEntry, TaskEvent, TaskListReport, TaskListRequest, TaskShowReport, TaskShowRequest,
    TaskState, ToolStats, ToolStatsReport,
};
pub use team::{
    HandOverReport, HandOverRequest, KeptMemory, MovedMemory, OfferReport, OfferRequest,
    OfferedMemory, PullReport, PullRequest, PushReport, PushRequest, PushState, RefusedMemory,
    TakeInReport, TakeInRequest, TakenMemory,
};
pub use team_report::{
    ContestedPair, ProjectContradiction, ProjectMemory, TeamProject, TeamReport, TeamReportRequest,
};
pub use trace::{
    EventCounts, ReadReport, SessionEnding, SessionEntry, SessionFacts, SessionLink,
    SessionLinkKind, SessionRole, SessionTokens, TraceEvent, TraceEventKind, TraceHit,
    TraceHitReason, TraceImportReport, TraceImportRequest, TraceLane, TraceListReport,
    TraceListRequest, TracePlace, TraceSearchReport, TraceSearchRequest, TraceShowReport,
    TraceShowRequest, UndoneEvents,
};
pub use transcripts::{
    PushedTranscripts, TranscriptEntry, TranscriptForgetReport, TranscriptListReport,
    TranscriptListRequest, TranscriptPutReport, TranscriptPutRequest, TranscriptRequest,
    TranscriptShowReport, TranscriptState,
};
pub use trust::{TrustItem, TrustReport, TrustRequest};
pub use undo::{
    ChangeEntry, KeptFile, UndoListReport, UndoListRequest, UndoReport, UndoRequest, UndoneHow,
    UndoneMemory,
};
