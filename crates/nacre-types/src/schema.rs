//! The table of all public types. `make docs` writes their JSON schemas to `docs/schema.json`.

use schemars::{Schema, schema_for};

use crate::*;

macro_rules! public_types {
    (complete_reports { $($complete:ident)+ } others { $($other:ident)+ }) => {
        $(impl Report for $complete {})+

        /// Returns the schemas of all requests, reports, events and errors.
        ///
        /// Only tests call this function, so the program contains no schema generation code.
        pub fn schemas() -> Vec<(&'static str, Schema)> {
            vec![
                $((stringify!($complete), schema_for!($complete)),)+
                $((stringify!($other), schema_for!($other)),)+
            ]
        }
    };
}

// Operations with a report in `complete_reports` either succeed completely or fail. Of the other
// reports, those that state how much succeeded implement `Report` themselves.
public_types! {
    complete_reports {
        ApprovalAnswerReport AuditReport ChatAbortReport ChatStartReport ChatUndoReport
        ConfigGetReport ConfigPathReport ConfigSetReport ConfigShowReport ContextReport
        DashboardReport DeltaReport DownReport ExplainReport ExploreReport ExportReport
        FeedbackReport GraphReport HealthReport HelloReport HookReport ImportReport
        IndexRebuildReport IndexStatusReport InitAllReport ItemId LoginCode LoginReport LogsReport
        MemoryChangeReport MemoryRecordReport MemoryRelatedReport MemoryShowReport ModelListReport
        ModelReaderReport ModelStatsReport ModelTestReport MovedMemories OfferReport OverviewReport
        ProjectAddReport ProjectListReport ProjectRemoveReport ProjectReport PullReport
        QueueChangeReport QueueListReport RunListReport RunMessagesReport RunShowReport
        RunStatsReport SearchCodeReport ServeReport ServerMigrateReport ServiceReport
        SessionExportReport SessionItemsReport SessionListReport SessionRemoveReport SessionReport
        SessionSearchReport SkillShowReport SyncPreviewReport SyncTracePreviewReport TakeInReport
        TaskCancelReport TaskFollowReport TaskListReport TaskRef TaskShowReport TeamReport
        TokenAddReport TokenEntry TokenListReport ToolStatsReport TraceImportReport TraceListReport
        TraceSearchReport TraceShowReport TranscriptListReport TranscriptPutReport
        TranscriptShowReport TrustReport UndoListReport UpReport
    }
    others {
        AgentRunReport ApprovalAnswerRequest ApprovalRequest AskReport AskRequest AuditRequest
        BriefReport BriefRequest CallLine ChatItem ChatStartRequest ChatSteerRequest ChatTurnReport
        ChatUndoRequest ConfigSetRequest ConfigShowRequest ConnectDoctorReport ConnectReport
        ConnectRequest ContextRequest DeltaRequest DoctorReport DoctorRequest EmptyRequest
        ErrorReport Event ExploreRequest ExportRequest FeedbackRequest GraphRequest HandOverRequest
        HelloRequest HookEndRequest HookEvent HookPromptRequest HookRequest HookToolRequest
        ImportRequest InitReport LimitRequest MaintainReport MaintainRequest MemoryAddLinesReport
        MemoryAddRequest MemoryChangesReport MemoryEditRequest MemoryIdsRequest MemoryListReport
        MemoryListRequest MemoryRecordRequest MemoryRelatedRequest MemoryResetReport
        MemorySearchReport MemorySearchRequest MemoryShowRequest MemoryWriteRequest ModelTestRequest
        OfferRequest ProjectAddRequest ProjectRemoveRequest PushReport PushRequest
        QueueChangeRequest QueueListRequest ReadReport RefreshRequest ReportRequest
        ReviewDecideRequest ReviewListReport ReviewListRequest RpcMessage RpcRequest RunReport
        SearchCodeRequest ServerStatusReport SessionChangeRequest SessionCreateRequest
        SessionForkRequest SessionItemsRequest SessionListRequest SessionRequest
        SessionSearchRequest SinceRequest SkillListReport StatusReport StreamEvent StreamedEvent
        SyncReport SyncRequest SyncTraceReport SyncTraceRequest TaskEvent TaskFollowRequest
        TaskMessage TaskShowRequest TokenAddRequest TraceEvent TraceListRequest TraceSearchRequest
        TraceShowRequest TranscriptPutRequest TrustRequest UndoReport UndoRequest UndoRunReport
        UpRequest WakeRequest WatchRequest
    }
}
