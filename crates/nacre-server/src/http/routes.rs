//! The table of all routes, in the order in which the API description lists them.

use std::path::Path;

use axum::http::Method;
use nacre_ops::people::AccessScope::{Admin, Read, Write};
use nacre_ops::trace::NameSource;
use nacre_ops::{
    Events, Host, OpError, Result, brief, config, connect, hook, maintain, map, memory, model,
    overview, project, queue, review, run, status, sync, tasks, team, trace, undo,
};
use nacre_types::{
    AskRequest, ChangedThing, ConnectRequest, ContextRequest, DeltaRequest, DoctorRequest,
    EmptyRequest, ErrorCode, ExploreRequest, HealthReport, LoginCode, LoginReport, MaintainRequest,
    MemoryChangesReport, MemoryIdsRequest, MemoryShowRequest, ProjectAddRequest, RefreshRequest,
    Scope, SearchCodeRequest, ServiceReport, StreamEvent, TraceShowRequest, TrustRequest,
    WakeRequest, WiringOptions,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::route::{Route, RouteHead, UseOfVersion};
use super::server;
use crate::people::Permit::{self, Anybody, Machine};

fn get(path: &'static str, permit: impl Into<Permit>, summary: &'static str) -> RouteHead {
    RouteHead { verb: Method::GET, path, permit: permit.into(), summary }
}

fn post(path: &'static str, permit: impl Into<Permit>, summary: &'static str) -> RouteHead {
    RouteHead { verb: Method::POST, ..get(path, permit, summary) }
}

fn put(path: &'static str, permit: impl Into<Permit>, summary: &'static str) -> RouteHead {
    RouteHead { verb: Method::PUT, ..get(path, permit, summary) }
}

fn patch(path: &'static str, permit: impl Into<Permit>, summary: &'static str) -> RouteHead {
    RouteHead { verb: Method::PATCH, ..get(path, permit, summary) }
}

fn delete(path: &'static str, permit: impl Into<Permit>, summary: &'static str) -> RouteHead {
    RouteHead { verb: Method::DELETE, ..get(path, permit, summary) }
}

pub(super) fn all() -> Vec<Route> {
    let groups = [server(), recall(), memories(), team_routes(), work(), settings(), code_map()];
    groups.into_iter().flatten().collect()
}

fn server() -> Vec<Route> {
    vec![
        get("/api/health", Anybody, "Checks whether the server responds")
            .own(server::health)
            .reports::<HealthReport>(),
        get("/api/ready", Anybody, "Checks whether requests can be answered now")
            .own(server::ready)
            .reports::<HealthReport>(),
        get("/metrics", Machine, "Returns server metrics for Prometheus").own(server::metrics),
        get("/api/openapi.json", Anybody, "This description").own(server::description),
        post("/api/login", Anybody, "Logs in a browser with a one-time code")
            .own(server::login)
            .takes::<LoginCode>()
            .reports::<LoginReport>(),
        post("/api/login-code", Read, "Creates a one-time code for a browser")
            .own(server::login_code)
            .reports::<LoginCode>(),
        get("/api/events", Read, "Streams events as server-sent events; `Last-Event-ID` resumes")
            .own(server::events)
            .takes::<EventsRequest>()
            .reports::<StreamEvent>(),
        get("/rpc", Machine, "Opens the chat protocol on an upgraded connection")
            .rpc()
            .for_programs(),
        post("/mcp", Read, "Receives a Model Context Protocol message").mcp(),
        get("/api/service", Machine, "Shows background work")
            .own(server::service)
            .reports::<ServiceReport>(),
        post("/api/service/pause", Machine, "Pauses background work")
            .own(server::pause)
            .reports::<ServiceReport>(),
        post("/api/service/resume", Machine, "Resumes background work")
            .own(server::resume)
            .reports::<ServiceReport>(),
        post("/api/service/wake", Machine, "Runs background loops soon, the sync first")
            .own(server::wake)
            .takes::<WakeRequest>()
            .reports::<ServiceReport>(),
        post("/api/service/stop", Machine, "Stops the server gracefully").own(server::stop),
        post("/api/hook", Machine, "Returns a hook's output for its agent")
            .operation(hook::answer_request)
            .for_programs()
            .by_hook(),
        get("/api/status", Read, "Shows memory counts and queued work").operation(status::status),
        get("/api/overview", Machine, "Shows activity by day, agents and growth")
            .operation(overview),
        get("/api/doctor", Machine, "Checks the stores without changing them").operation(
            |host, request: &DoctorRequest| {
                if request.fix {
                    let error = OpError::usage("This only looks");
                    return Err(error.hint("Run in a terminal: nacre doctor --fix"));
                }
                nacre_ops::doctor(host, request)
            },
        ),
    ]
}

fn recall() -> Vec<Route> {
    vec![
        get("/api/search", Read, "Searches memories by words and meaning")
            .operation(memory::search),
        get("/api/brief", Read, "Returns the briefing for the next agent").operation(brief::brief),
        post("/api/ask", Read, "Answers a question from memories")
            .task(|host, request: &AskRequest, events| {
                no_file(request.scripted.as_deref())?;
                nacre_ops::ask::ask(host, request, events)
            })
            .reads(),
        post("/api/sync", Machine, "Reads new and changed sessions").task(sync::sync),
        post(
            "/api/maintain",
            Write,
            "Merges duplicates, resolves contradictions, archives stale memories",
        )
        .task(|host, request: &MaintainRequest, events| {
            no_file(request.scripted.as_deref())?;
            maintain::maintain(host, request, events)
        }),
    ]
}

fn memories() -> Vec<Route> {
    let changes = ChangedThing::Memories;
    vec![
        get("/api/memories", Read, "Lists memories").operation(memory::list),
        post("/api/memories", Write, "Adds a memory").with_events(memory::add).changes(changes),
        get("/api/memories/{id}", Read, "Shows a memory")
            .operation_with_version(memory::show, |report| Some(report.version.clone())),
        put("/api/memories/{id}", Write, "Replaces a memory's file")
            .with_events(memory::write)
            .version(UseOfVersion::Required)
            .changes(changes),
        delete("/api/memories/{id}", Write, "Archives a memory")
            .with_events(archive)
            .version(UseOfVersion::Checked)
            .changes(changes),
        post("/api/memories/{id}/restore", Write, "Brings one back")
            .with_events(memory::restore)
            .id_is("ids")
            .changes(changes),
        post("/api/memories/{id}/forget", Admin, "Deletes a memory permanently")
            .with_events(memory::forget)
            .id_is("ids")
            .changes(changes),
        post("/api/memories/{id}/feedback", Write, "Records feedback on a memory")
            .with_events(nacre_ops::feedback)
            .changes(changes),
        get("/api/memories/{id}/related", Read, "Lists related memories")
            .with_events(memory::list_related),
        get("/api/graph", Read, "Shows memories and their relations").operation(memory::graph),
        get("/api/review", Read, "Lists candidates with their quotes").operation(review::list),
        post("/api/review", Write, "Accepts or rejects candidates")
            .with_events(review::decide)
            .changes(changes),
        get("/api/trust", Read, "Lists memories that came from elsewhere").operation(
            |host, request: &TrustRequest| {
                // The user must see memories before trusting them, so this route only lists them.
                if request.all || !request.ids.is_empty() {
                    return Err(
                        OpError::usage("This only lists").hint("Run in a terminal: nacre trust")
                    );
                }
                nacre_ops::trust(host, request)
            },
        ),
    ]
}

fn team_routes() -> Vec<Route> {
    vec![
        post("/api/push", Write, "Takes memories in")
            .operation(team::take_in)
            .changes(ChangedThing::Memories),
        get("/api/pull", Read, "Lists memories with their versions").operation(team::offer),
        post("/api/pull", Read, "Hands memories over").operation(team::hand_over).reads(),
        get("/api/team/report", Read, "Shows learned, contested and unused memories")
            .with_events(team::report),
        post("/api/transcripts", Write, "Uploads part of a transcript")
            .operation(team::put_transcript),
        get("/api/transcripts", Read, "Lists your transcripts and shared ones")
            .operation(team::list_transcripts),
        get("/api/transcripts/{id}", Read, "Shows a transcript").operation(team::show_transcript),
        post("/api/transcripts/{id}/share", Write, "Shares a transcript")
            .operation(team::share_transcript),
        post("/api/transcripts/{id}/forget", Write, "Deletes a transcript permanently")
            .operation(team::forget_transcript),
    ]
}

fn work() -> Vec<Route> {
    let changes = ChangedThing::Queue;
    vec![
        get("/api/sessions", Machine, "Lists sessions").operation(trace::list),
        get("/api/sessions/search", Machine, "Searches session messages").operation(trace::search),
        get("/api/sessions/{id}", Machine, "Shows a session's messages and actions").operation(
            |host, request: &TraceShowRequest| trace::show(host, request, NameSource::Request),
        ),
        get("/api/runs", Admin, "Lists runs").with_events(run::list),
        get("/api/runs/stats", Machine, "Shows usage of models and tools")
            .operation(|host, _: &EmptyRequest| tasks::stats(host)),
        get("/api/runs/{id}", Admin, "Shows a run's actions and reasons").operation(run::show),
        get("/api/runs/{id}/messages", Admin, "Shows the messages of a run's model")
            .operation(run::messages),
        post("/api/runs/{id}/undo", Write, "Takes a change back")
            .operation(undo::undo)
            .id_is("run")
            .changes(ChangedThing::Memories),
        get("/api/changes", Write, "Lists changes that can be undone").operation(undo::list),
        get("/api/queue", Machine, "Lists queued and failed sessions").operation(queue::list),
        post("/api/queue/{id}/retry", Machine, "Puts a session back")
            .operation(queue::retry)
            .changes(changes),
        post("/api/queue/{id}/skip", Machine, "Takes a session out")
            .operation(queue::skip)
            .changes(changes),
        get("/api/tasks", Machine, "Lists tasks").operation(tasks::list),
        get("/api/tasks/{task}", Machine, "Shows a task and its events").with_events(tasks::show),
        get("/api/tasks/{task}/report", Read, "Returns the report of a task that this server ran")
            .own(server::task_report),
        post("/api/tasks/{task}/cancel", Machine, "Stops a task").operation(tasks::cancel),
    ]
}

fn settings() -> Vec<Route> {
    let (projects, changes) = (ChangedThing::Projects, ChangedThing::Config);
    vec![
        get("/api/project/list", Read, "Lists projects").operation(project::list),
        post("/api/project/add", Machine, "Registers a project")
            .operation(|host, request: &ProjectAddRequest| {
                // The server has no working directory against which to resolve relative paths.
                if !request.path.is_absolute() {
                    return Err(OpError::usage("The project path must be absolute"));
                }
                project::add(host, request)
            })
            .changes(projects),
        post("/api/project/remove", Machine, "Unregisters a project")
            .operation(project::remove)
            .changes(projects),
        get("/api/connect", Machine, "Lists agents")
            .operation(|host, _: &EmptyRequest| connect::connect(host, &ConnectRequest::List)),
        post("/api/connect", Machine, "Connects agents")
            .operation(connect::connect)
            .changes(changes),
        delete("/api/connect/{agent}", Machine, "Disconnects an agent")
            .operation(|host, request: &RemoveRequest| {
                let (agents, wiring) = (vec![request.agent.clone()], WiringOptions::default());
                connect::connect(host, &ConnectRequest::Remove { agents, wiring })
            })
            .changes(changes),
        get("/api/config", Machine, "Shows settings and their sources").operation(config::show),
        patch("/api/config", Machine, "Changes a harmless setting")
            .operation(config::set_harmless)
            .changes(changes),
        get("/api/models", Machine, "Lists models, providers and installed agents")
            .operation(model::list),
        post("/api/models/test", Machine, "Sends one question to a model").with_events(model::test),
    ]
}

fn code_map() -> Vec<Route> {
    vec![
        post("/v1/explore", Read, "Returns an overview of the code")
            .with_events(|host, request: &ExploreRequest, events| {
                let project = find_registered(host, request.project.as_deref())?;
                let request = ExploreRequest { project, ..request.clone() };
                Ok(map::explore(host, &request, events)?.report)
            })
            .reads(),
        post("/v1/delta", Read, "Shows changes in the code")
            .with_events(|host, request: &DeltaRequest, events| {
                let project = find_registered(host, request.project.as_deref())?;
                map::delta(host, &DeltaRequest { project, ..request.clone() }, events)
            })
            .reads(),
        post("/v1/context", Read, "Returns the code for a task")
            .with_events(|host, request: &ContextRequest, events| {
                let project = find_registered(host, request.project.as_deref())?;
                let request = ContextRequest { project, ..request.clone() };
                Ok(map::context(host, &request, events)?.report)
            })
            .reads(),
        post("/v1/search-code", Read, "Searches the code")
            .with_events(|host, request: &SearchCodeRequest, events| {
                let project = find_registered(host, request.project.as_deref())?;
                let request = SearchCodeRequest { project, ..request.clone() };
                Ok(map::search_code(host, &request, events)?.report)
            })
            .reads(),
        post("/v1/refresh", Write, "Reads all code again")
            .task(|host, request: &RefreshRequest, events| {
                let project = find_registered(host, request.project.as_deref())?;
                map::refresh(host, &RefreshRequest { project, ..request.clone() }, events)
            })
            .changes(ChangedThing::Map),
    ]
}

/// Selects the events to stream.
#[derive(Debug, JsonSchema)]
#[expect(dead_code, reason = "for the description; the stream parses its query itself")]
struct EventsRequest {
    /// Stream only events of this task, including those stored earlier.
    task: Option<String>,
}

/// The agent to disconnect.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RemoveRequest {
    agent: String,
}

/// The memory to archive, and its version.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ArchiveRequest {
    id: String,
    #[serde(default)]
    version: Option<String>,
    #[serde(default)]
    scope: Option<Scope>,
}

/// Rejects `scripted` models, because a request must not choose which files are read.
fn no_file(named: Option<&str>) -> Result<()> {
    if named.is_none() {
        return Ok(());
    }
    let message = "`scripted` names a file, which is allowed only on the command line";
    Err(OpError::new(ErrorCode::Refused, message))
}

fn archive(host: &Host, request: &ArchiveRequest, events: &Events) -> Result<MemoryChangesReport> {
    let ArchiveRequest { id, version, scope } = request;
    if let Some(version) = version {
        let shown = MemoryShowRequest { id: id.clone(), scope: *scope, ..Default::default() };
        if memory::show(host, &shown, events)?.version != *version {
            let message = "The memory has changed since it was read";
            return Err(OpError::new(ErrorCode::Conflict, message).hint("Read it again"));
        }
    }
    memory::archive(host, &MemoryIdsRequest { ids: vec![id.clone()], scope: *scope }, events)
}

/// Returns a registered project. Other projects are rejected, because a request must not choose
/// which directories are read.
fn find_registered(host: &Host, named: Option<&str>) -> Result<Option<String>> {
    let Some(named) = named else {
        let project = host.project.as_ref().ok_or_else(|| host.no_project())?;
        return Ok(Some(project.path.display().to_string()));
    };
    let is_meant = |name: &str, path: &Path| name == named || path.as_os_str() == named;
    let found = host.projects.iter().find(|project| is_meant(&project.name, &project.path));
    let project = found.ok_or_else(|| {
        OpError::new(ErrorCode::NoProject, format!("Project `{named}` not found"))
            .hint("`nacre project` lists all projects")
    })?;
    Ok(Some(project.path.display().to_string()))
}
