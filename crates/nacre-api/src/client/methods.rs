//! Every route as a method.

use super::connection::{Client, Route};
use super::error::ClientError;
use super::events::EventStream;
use crate::wire::*;

/// Lists routes once: each becomes a method, and a row of [`ROUTES`].
macro_rules! routes {
    ($($(#[$doc:meta])* $name:ident: $verb:literal $path:literal, $request:ty => $report:ty;)+) => {
        /// The routes that have a method.
        pub const ROUTES: &[(&str, &str)] = &[$(($verb, $path),)+];

        impl Client {
            $(
                $(#[$doc])*
                pub fn $name(&self, request: &$request) -> Result<$report, ClientError> {
                    self.ask(&Route { verb: $verb, path: $path }, request, (&[], None))
                }
            )+
        }
    };
}

/// The same for operations that run as tasks: each can be begun or waited for.
macro_rules! tasks {
    ($($(#[$doc:meta])* $name:ident, $begin:ident: $path:literal, $request:ty => $report:ty;)+) => {
        /// The routes that begin a task.
        pub const TASKS: &[(&str, &str)] = &[$(("POST", $path),)+];

        impl Client {
            $(
                $(#[$doc])*
                pub fn $name(&self, request: &$request) -> Result<$report, ClientError> {
                    let route = Route { verb: "POST", path: $path };
                    self.ask(&route, request, (&[("wait", "true")], None))
                }

                /// The same without waiting: the task to follow.
                pub fn $begin(&self, request: &$request) -> Result<TaskStarted, ClientError> {
                    self.ask(&Route { verb: "POST", path: $path }, request, (&[], None))
                }
            )+
        }
    };
}

routes! {
    /// Whether the server answers.
    health: "GET" "/api/health", () => HealthReport;
    /// Whether requests can be answered now.
    ready: "GET" "/api/ready", () => HealthReport;
    /// What is known and what waits.
    status: "GET" "/api/status", StatusRequest => StatusReport;
    /// What the server does by itself.
    service: "GET" "/api/service", () => ServiceReport;
    /// Begins nothing more by itself.
    pause: "POST" "/api/service/pause", () => ServiceReport;
    /// Goes on by itself.
    resume: "POST" "/api/service/resume", () => ServiceReport;
    /// Runs loops soon.
    wake: "POST" "/api/service/wake", WakeRequest => ServiceReport;
    /// What a hook says to its agent.
    hook: "POST" "/api/hook", HookRequest => HookReport;
    /// Stops the server in order.
    stop: "POST" "/api/service/stop", () => ();
    /// Activity by day, agents, growth.
    overview: "GET" "/api/overview", OverviewRequest => OverviewReport;
    /// Checks the stores and changes nothing.
    doctor: "GET" "/api/doctor", DoctorRequest => DoctorReport;
    /// A code that lets one browser in.
    login_code: "POST" "/api/login-code", () => LoginCodeReport;
    /// Finds memories by words and meaning.
    search: "GET" "/api/search", MemorySearchRequest => MemorySearchReport;
    /// What the next agent is told.
    brief: "GET" "/api/brief", BriefRequest => BriefReport;
    /// Lists memories.
    memories: "GET" "/api/memories", MemoryListRequest => MemoryListReport;
    /// Adds a memory.
    add_memory: "POST" "/api/memories", MemoryAddRequest => MemoryChangeReport;
    /// Shows a memory.
    memory: "GET" "/api/memories/{id}", MemoryShowRequest => MemoryShowReport;
    /// Memories and what ties them together.
    graph: "GET" "/api/graph", GraphRequest => GraphReport;
    /// Archives a memory.
    archive_memory: "DELETE" "/api/memories/{id}", MemoryIdsRequest => MemoryChangesReport;
    /// Brings an archived memory back.
    restore_memory: "POST" "/api/memories/{id}/restore", MemoryIdsRequest => MemoryChangesReport;
    /// Removes a memory for good.
    forget_memory: "POST" "/api/memories/{id}/forget", MemoryIdsRequest => MemoryChangesReport;
    /// Says how a memory served.
    feedback: "POST" "/api/memories/{id}/feedback", FeedbackRequest => FeedbackReport;
    /// What belongs to a memory.
    related: "GET" "/api/memories/{id}/related", MemoryRelatedRequest => MemoryRelatedReport;
    /// Lists candidates with their quotes.
    review: "GET" "/api/review", ReviewListRequest => ReviewListReport;
    /// Accepts or rejects candidates.
    decide: "POST" "/api/review", ReviewDecideRequest => MemoryChangesReport;
    /// Lists what came from elsewhere.
    trust: "GET" "/api/trust", TrustRequest => TrustReport;
    /// Takes memories in.
    push: "POST" "/api/push", TakeInRequest => TakeInReport;
    /// Lists memories by their versions.
    offer: "GET" "/api/pull", OfferRequest => OfferReport;
    /// Hands memories over.
    pull: "POST" "/api/pull", HandOverRequest => HandOverReport;
    /// What a team learned, what is contested and what nobody uses.
    team_report: "GET" "/api/team/report", TeamReportRequest => TeamReport;
    /// Takes a piece of a transcript in.
    put_transcript: "POST" "/api/transcripts", TranscriptPutRequest => TranscriptPutReport;
    /// Lists your transcripts and shared ones.
    transcripts: "GET" "/api/transcripts", TranscriptListRequest => TranscriptListReport;
    /// Shows a transcript.
    transcript: "GET" "/api/transcripts/{id}", TranscriptRequest => TranscriptShowReport;
    /// Lets others read a transcript.
    share_transcript: "POST" "/api/transcripts/{id}/share", TranscriptRequest => TranscriptShowReport;
    /// Removes a transcript for good.
    forget_transcript: "POST" "/api/transcripts/{id}/forget", TranscriptRequest => TranscriptForgetReport;
    /// Lists sessions.
    sessions: "GET" "/api/sessions", TraceListRequest => TraceListReport;
    /// Finds what was said.
    search_sessions: "GET" "/api/sessions/search", TraceSearchRequest => TraceSearchReport;
    /// Shows what was said and done in a session.
    session: "GET" "/api/sessions/{id}", TraceShowRequest => TraceShowReport;
    /// Lists runs.
    runs: "GET" "/api/runs", RunListRequest => RunListReport;
    /// What models and tools were used.
    run_stats: "GET" "/api/runs/stats", () => RunStatsReport;
    /// What a run's model said.
    run_messages: "GET" "/api/runs/{id}/messages", RunMessagesRequest => RunMessagesReport;
    /// What a run did, and why.
    run: "GET" "/api/runs/{id}", RunShowRequest => RunShowReport;
    /// Takes a change back.
    undo: "POST" "/api/runs/{id}/undo", UndoRequest => UndoReport;
    /// Lists changes that can be undone.
    changes: "GET" "/api/changes", UndoListRequest => UndoListReport;
    /// Lists sessions that wait or failed.
    queue: "GET" "/api/queue", QueueListRequest => QueueListReport;
    /// Puts a session back into the queue.
    retry: "POST" "/api/queue/{id}/retry", QueueChangeRequest => QueueChangeReport;
    /// Takes a session out of the queue.
    skip: "POST" "/api/queue/{id}/skip", QueueChangeRequest => QueueChangeReport;
    /// Lists tasks.
    tasks: "GET" "/api/tasks", TaskListRequest => TaskListReport;
    /// Shows a task and its events.
    task: "GET" "/api/tasks/{task}", TaskShowRequest => TaskShowReport;
    /// The report of a task that this server ran.
    task_report: "GET" "/api/tasks/{task}/report", TaskShowRequest => serde_json::Value;
    /// Stops a task.
    cancel_task: "POST" "/api/tasks/{task}/cancel", TaskCancelRequest => TaskCancelReport;
    /// Lists projects.
    projects: "GET" "/api/project/list", ProjectListRequest => ProjectListReport;
    /// Registers a project.
    add_project: "POST" "/api/project/add", ProjectAddRequest => ProjectAddReport;
    /// Takes a project out of the register.
    remove_project: "POST" "/api/project/remove", ProjectRemoveRequest => ProjectRemoveReport;
    /// Lists agents.
    agents: "GET" "/api/connect", () => ConnectReport;
    /// Connects agents.
    connect: "POST" "/api/connect", ConnectRequest => ConnectReport;
    /// Settings, and where each comes from.
    config: "GET" "/api/config", ConfigShowRequest => ConfigShowReport;
    /// Changes a harmless setting.
    set_config: "PATCH" "/api/config", ConfigSetRequest => ConfigSetReport;
    /// Models, providers and installed agents.
    models: "GET" "/api/models", ModelListRequest => ModelListReport;
    /// Asks a model one question.
    test_model: "POST" "/api/models/test", ModelTestRequest => ModelTestReport;
    /// An overview of the code.
    explore: "POST" "/v1/explore", ExploreRequest => ExploreReport;
    /// What changed in the code.
    delta: "POST" "/v1/delta", DeltaRequest => DeltaReport;
    /// The code that a task needs.
    context: "POST" "/v1/context", ContextRequest => ContextReport;
    /// Search in the code.
    search_code: "POST" "/v1/search-code", SearchCodeRequest => SearchCodeReport;
}

tasks! {
    /// Answers a question from memories.
    ask_question, begin_ask: "/api/ask", AskRequest => AskReport;
    /// Reads new and changed sessions.
    sync, begin_sync: "/api/sync", SyncRequest => SyncReport;
    /// Keeps memories few and true.
    maintain, begin_maintain: "/api/maintain", MaintainRequest => MaintainReport;
    /// Reads all code again.
    refresh, begin_refresh: "/v1/refresh", RefreshRequest => DeltaReport;
}

impl Client {
    /// Writes a memory's whole file, which must still be of the `version` that the request names.
    pub fn write_memory(
        &self,
        request: &MemoryWriteRequest,
    ) -> Result<MemoryChangeReport, ClientError> {
        let route = Route { verb: "PUT", path: "/api/memories/{id}" };
        let version = request.version.clone();
        let request = MemoryWriteRequest { version: None, ..request.clone() };
        self.ask(&route, &request, (&[], version.as_deref()))
    }

    /// What happens in the server, or in one task, from now on.
    pub fn events(&self, task: Option<&str>) -> Result<EventStream, ClientError> {
        EventStream::open(self, task)
    }
}
