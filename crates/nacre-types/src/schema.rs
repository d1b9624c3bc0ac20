//! The JSON schemas of all public types. `make docs` writes them to `docs/schema.json`.
//!
//! Only tests use this module, so the program contains no schema generation code.

use schemars::{Schema, schema_for};

use crate::*;

macro_rules! schema_table {
    ($($name:ident)+) => {
        vec![$((stringify!($name), schema_for!($name)),)+]
    };
}

/// Returns the schemas of all requests, reports, events and errors, sorted by name.
pub fn schemas() -> Vec<(&'static str, Schema)> {
    schema_table! {
        AgentRunReport ApprovalAnswerReport ApprovalAnswerRequest ApprovalRequest AskReport
        AskRequest AuditReport AuditRequest BriefReport BriefRequest CallLine ChatAbortReport
        ChatItem ChatStartReport ChatStartRequest ChatSteerRequest ChatTurnReport ChatUndoReport
        ChatUndoRequest ConfigGetReport ConfigPathReport ConfigSetReport ConfigSetRequest
        ConfigShowReport ConfigShowRequest ConnectDoctorReport ConnectReport ConnectRequest
        ContextReport ContextRequest DashboardReport DeltaReport DeltaRequest DoctorReport
        DoctorRequest DownReport EmptyRequest ErrorReport Event ExplainReport ExploreReport
        ExploreRequest ExportReport ExportRequest FeedbackReport FeedbackRequest GraphReport
        GraphRequest HandOverRequest HealthReport HelloReport HelloRequest HookEndRequest HookEvent HookReport
        HookRequest HookToolRequest ImportReport ImportRequest IndexRebuildReport IndexStatusReport
        InitReport ItemId LimitRequest LoginCode LoginReport LogsReport MaintainReport
        MaintainRequest MemoryAddRequest MemoryChangeReport MemoryChangesReport MemoryEditRequest
        MemoryIdsRequest MemoryListReport MemoryListRequest MemoryRecordReport MemoryRecordRequest
        MemoryRelatedReport MemoryRelatedRequest MemoryResetReport MemorySearchReport
        MemorySearchRequest MemoryShowReport MemoryShowRequest MemoryWriteRequest ModelListReport
        ModelReaderReport ModelStatsReport ModelTestReport ModelTestRequest MovedMemories
        OfferReport OfferRequest OverviewReport ProjectAddReport ProjectAddRequest ProjectListReport
        ProjectRemoveReport ProjectRemoveRequest ProjectReport PullReport PushReport PushRequest
        QueueChangeReport QueueChangeRequest QueueListReport QueueListRequest ReadReport
        RefreshRequest ReportRequest ReviewDecideRequest ReviewListReport ReviewListRequest
        RpcMessage RpcRequest RunListReport RunMessagesReport RunReport RunShowReport RunStatsReport
        SearchCodeReport SearchCodeRequest ServeReport ServerMigrateReport ServerStatusReport
        ServiceReport SessionChangeRequest SessionCreateRequest SessionExportReport
        SessionForkRequest SessionItemsReport SessionItemsRequest SessionListReport
        SessionListRequest SessionRemoveReport SessionReport SessionRequest SessionSearchReport
        SessionSearchRequest SinceRequest SkillListReport SkillShowReport StatusReport StreamEvent
        StreamedEvent SyncPreviewReport SyncReport SyncRequest SyncTracePreviewReport
        SyncTraceReport SyncTraceRequest TakeInReport TaskCancelReport TaskEvent TaskFollowReport
        TaskFollowRequest TaskListReport TaskMessage TaskRef TaskShowReport TaskShowRequest
        TeamReport TokenAddReport TokenAddRequest TokenEntry TokenListReport ToolStatsReport
        TraceEvent TraceImportReport TraceListReport TraceListRequest TraceSearchReport
        TraceSearchRequest TraceShowReport TraceShowRequest TranscriptListReport TranscriptPutReport
        TranscriptPutRequest TranscriptShowReport TrustReport TrustRequest UndoListReport UndoReport
        UndoRequest UndoRunReport UpReport UpRequest WakeRequest WatchRequest
    }
}
