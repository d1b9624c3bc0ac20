//! Lists, shows, searches and imports agent sessions.

use std::borrow::Cow;
use std::ops::ControlFlow;

use nacre_base::ShownLine;
use nacre_base::redact::ExtraWords;
use nacre_memory::Memory;
use nacre_memory::messages::{TextHit, TextIndexAccess, TextQuery, search_messages};
use nacre_memory::search::Query;
use nacre_traces::agents::{adapter_of, trace_at};
use nacre_traces::catalog::{
    AllowedProjects, Catalog, CatalogError, Connection, JobState, Placing, RefreshOptions,
    SessionFilter, SessionRow, key_of, project_root,
};
use nacre_traces::transcript::{
    Agent, EventKind, InjectedReason, Lane, Sink, Stamp, TextOrigin, Trace, TraceSource,
    TranscriptEvent, WordSource,
};
use nacre_types::{
    RunReport, SessionEntry, TraceEvent, TraceHit, TraceHitReason, TraceImportReport,
    TraceListReport, TraceListRequest, TraceSearchReport, TraceSearchRequest, TraceShowReport,
    TraceShowRequest,
};

use crate::host::{
    agent_named, agent_names, check_session, index_folder, open_catalog, parse_when, rebuild_texts,
    refresh_options,
};
use crate::prelude::*;
use crate::run::folder as run;
use crate::run::show::read_record;

pub fn list(host: &Host, request: &TraceListRequest) -> Result<TraceListReport> {
    let TraceListRequest { agent, all, since, offset, limit } = request;
    let limit = host.max_results(*limit);
    let project = host.project.as_ref().filter(|_| !all);
    let filter = SessionFilter {
        agent: agent.as_deref().map(agent_named).transpose()?,
        project: project.map(|project| project.path.display().to_string()),
        since: since.as_deref().map(|since| parse_when(since, host.now())).transpose()?,
        ..SessionFilter::default()
    };
    let sessions = open_catalog(host)?.sessions(&filter)?;
    let total = sessions.len();
    let sessions = sessions.into_iter().skip(*offset).take(limit).map(session_entry).collect();
    Ok(TraceListReport { sessions, total })
}

/// Number of events to show from a given event, so that a search hit's context is one short page.
pub const EVENTS_AROUND: usize = 20;

pub fn show(
    host: &Host,
    request: &TraceShowRequest,
    source: NameSource,
) -> Result<TraceShowReport> {
    let numbered = request.id.rsplit_once(':').and_then(|(id, sequence)| {
        let sequence = sequence.parse::<u64>().ok()?;
        Some((id, sequence))
    });
    let limit = request.limit.or(numbered.map(|_| EVENTS_AROUND));
    let (id, from) = numbered.unwrap_or((request.id.as_str(), 0));
    let session = find_session(host, id, source)?;
    let words = host.words_of(session.project.as_deref())?;
    let events = read(&session, &words, from, &TraceShowRequest { limit, ..request.clone() })?;
    let events = events.into_iter().map(trace_event).collect();
    Ok(TraceShowReport { session: session_entry(session), events })
}

fn read(
    session: &SessionRow,
    words: &ExtraWords,
    from: u64,
    request: &TraceShowRequest,
) -> Result<Vec<TranscriptEvent>> {
    let adapter = adapter_of(session.trace.source.agent);
    let mut events = Vec::new();
    let mut sink = |event: TranscriptEvent| {
        let has_room = request.limit.is_none_or(|limit| events.len() < limit);
        if event.sequence >= from && has_room && (request.full || is_talk(&event)) {
            events.push(event.without_words(words));
        }
    };
    adapter.read(&session.trace, None, Sink::everything(&mut sink)).map_err(CatalogError::from)?;
    Ok(events)
}

fn is_talk(event: &TranscriptEvent) -> bool {
    let is_talk = match event.kind {
        EventKind::User => matches!(event.origin, TextOrigin::Person(_)),
        EventKind::Assistant | EventKind::ToolCall | EventKind::ToolResult => true,
        EventKind::Summary | EventKind::Compaction => true,
        EventKind::Reasoning | EventKind::Meta => false,
    };
    is_talk && event.lane != Lane::Inherited
}

pub fn search(host: &Host, request: &TraceSearchRequest) -> Result<TraceSearchReport> {
    let query = text_query(host, request)?;
    let owner = host.owner("trace search");
    let access = TextIndexAccess { owner: &owner, now: host.now() };
    let hits = search_messages(&open_catalog(host)?, &query, index_folder(host)?, access)?;
    let hits = hits.into_iter().map(hit).collect();
    Ok(TraceSearchReport { query: request.query.clone(), hits })
}

fn text_query(host: &Host, request: &TraceSearchRequest) -> Result<TextQuery> {
    let TraceSearchRequest { query: text, agent, all, since, mode, limit } = request;
    let mut query = Query::parse(text, host.now());
    if query.is_empty() {
        return Err(
            OpError::usage("The search is empty").hint("nacre trace search flaky report test")
        );
    }
    let mut agents = query.facets.iter().filter(|(name, _)| name == "agent");
    agents.try_for_each(|(_, agent)| agent_named(agent).map(drop))?;
    if let Some(since) = since {
        query.after = Some(parse_when(since, host.now())?);
    }
    let project = host.project.as_ref().filter(|_| !all);
    Ok(TextQuery {
        query,
        mode: *mode,
        agent: agent.as_deref().map(agent_named).transpose()?,
        project: project.map(|project| project.path.display().to_string()),
        limit: limit.unwrap_or(host.settings().memory.max_results),
    })
}

pub fn import(host: &Host, file: &str) -> Result<TraceImportReport> {
    host.check_user("import a session")?;
    let path = host.environment.absolute(Path::new(file));
    if !path.is_file() {
        return Err(OpError::not_found(format!("File `{}` not found", path.display()))
            .hint("Name a session file; `nacre connect list` shows where agents store theirs"));
    }
    // Other agents' files are read only from their own directories.
    let told = trace_at(&path).map(|trace| trace.source.agent).ok();
    let agent = told.filter(|agent| *agent == Agent::OpenCode).unwrap_or(Agent::Generic);
    let stamp = Stamp { size: 0, modified: None, inode: 0 };
    check_session(&Trace::whole(TraceSource { agent, path: path.clone(), stamp }))?;
    let connection = Connection { agent, roots: vec![path.clone()] };
    let options = RefreshOptions {
        connections: vec![connection],
        force: true,
        allowed: AllowedProjects::Only(host.project.as_ref().map(|here| here.path.clone())),
        ..refresh_options(host, &[])?
    };
    let mut catalog = open_catalog(host)?;
    let report = catalog.refresh(&options, |_| ControlFlow::Continue(()))?;
    if report.reworded > 0 {
        rebuild_texts(host, &catalog)?;
    }
    if let Some(problem) = report.problems.first() {
        return Err(invalid(problem.reason.clone()));
    }
    let filter = SessionFilter { agent: Some(agent), ..SessionFilter::default() };
    let sessions = catalog.sessions(&filter)?;
    let session = sessions.into_iter().find(|session| session.trace.source.path == path);
    let SessionRow { key, state, reason, facts, .. } = session.ok_or_else(|| {
        invalid(format!("`{}` was skipped: its name does not end in .jsonl", path.display()))
    })?;
    let projects: Vec<PathBuf> = host.projects.iter().map(|project| project.path.clone()).collect();
    let is_here = |root: &Path| host.project.as_ref().is_some_and(|here| here.path == root);
    // A trace can contain any directory name, so it must not add memories to a project other than
    // the current one.
    if let Placing::Project(other) = project_root(facts.cwd.as_deref(), &projects)
        && !is_here(&other)
    {
        let other = other.display().to_string();
        let other = ShownLine(&other);
        let message = format!("The session names the project `{other}`; nothing was queued");
        return Err(
            invalid(message).hint(format!("If that is correct, import it there: cd {other}"))
        );
    }
    Ok(TraceImportReport { id: key, state, reason })
}

fn invalid(message: String) -> OpError {
    OpError::new(ErrorCode::Invalid, message)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameSource {
    /// The name was typed by the user in a terminal. It can be a path.
    Terminal,
    /// The name was sent in a request. It must be an id, so that a request cannot read a file or
    /// find out whether it exists.
    Request,
}

fn find_session(host: &Host, name: &str, source: NameSource) -> Result<SessionRow> {
    let catalog = open_catalog(host)?;
    // Commands abbreviate the home directory when they print paths.
    let home = host.environment.home.as_ref();
    let expanded = name.strip_prefix("~/").zip(home).map(|(rest, home)| home.join(rest));
    let path = host.environment.absolute(expanded.as_deref().unwrap_or(Path::new(name)));
    if source == NameSource::Terminal && path.is_file() {
        return at_path(&catalog, &path);
    }
    let unknown = match catalog.session(own_id(name)) {
        Err(error @ CatalogError::UnknownTrace { .. }) => error,
        found => return Ok(found?),
    };
    let of_memory = || {
        let stores = host.stores_to_read(None).ok()?;
        session_of(&stores.iter().find_map(|scoped| scoped.store.get(name).ok())?)
    };
    let of_run = || {
        let store = host.project_store().ok()??.store;
        match read_record(&store, &run::find(&store, name).ok()?).ok()?? {
            RunReport::Sync(report) => Some(report.session),
            RunReport::Maintain(_) | RunReport::Undo(_) => None,
        }
    };
    let named = of_memory().or_else(of_run);
    match named.map(|session| catalog.session(own_id(&session))) {
        Some(Ok(session)) => Ok(session),
        Some(Err(_)) | None if source == NameSource::Terminal && name.contains('/') => {
            Err(OpError::not_found(format!("Trace `{}` not found", path.display()))
                .hint("`nacre trace` lists the known sessions"))
        }
        Some(Err(_)) | None => Err(unknown.into()),
    }
}

/// Returns the session from which a memory was created, as `AGENT:SESSION`.
pub(crate) fn session_of(memory: &Memory) -> Option<String> {
    let source = memory.source.clone().or_else(|| {
        let source = memory.document.text("raw_trace_path").ok().flatten();
        source.map(Cow::into_owned)
    });
    source.filter(|source| source.contains(':'))
}

/// Removes the agent's name from an id such as `claude:ID`.
fn own_id(name: &str) -> &str {
    let source = name.split_once(':');
    let is_agent = |agent: &str| agent_names().any(|known| known == agent);
    source.filter(|(agent, _)| is_agent(agent)).map_or(name, |(_, id)| id)
}

/// Reads the session from the file if it is not in the catalog.
fn at_path(catalog: &Catalog, path: &Path) -> Result<SessionRow> {
    let trace = trace_at(path)?;
    let key = key_of(&trace);
    if let Ok(seen) = catalog.session(&key) {
        return Ok(seen);
    }
    let adapter = adapter_of(trace.source.agent);
    let mut ignore = |_: TranscriptEvent| {};
    let outcome =
        adapter.read(&trace, None, Sink::everything(&mut ignore)).map_err(CatalogError::from)?;
    Ok(SessionRow {
        key,
        trace,
        project: None,
        facts: outcome.facts,
        report: outcome.report,
        state: JobState::Pending,
        reason: Some("not found by a sync yet".to_owned()),
    })
}

fn session_entry(row: SessionRow) -> SessionEntry {
    let SessionRow { key, trace, project, facts, report, state, reason } = row;
    SessionEntry {
        id: key,
        path: trace.source.path.display().to_string(),
        inner_id: trace.session,
        project,
        state,
        reason,
        facts,
        report,
    }
}

fn trace_event(event: TranscriptEvent) -> TraceEvent {
    let injected = event.injection_reason().map(InjectedReason::as_str).map(str::to_owned);
    let person = event.person().map(WordSource::as_str).map(str::to_owned);
    let (call, tool) = event.call.map(|call| (call.id, call.tool)).unzip();
    TraceEvent {
        sequence: event.sequence,
        kind: event.kind,
        at: event.timestamp.map(|at| at.to_string()),
        place: event.place,
        key: event.key,
        call,
        tool: tool.flatten(),
        lane: event.lane,
        injected,
        person,
        error: event.is_error,
        text: event.text.head().to_owned(),
        text_end: event.text.tail().to_owned(),
        full_bytes: event.text.full_bytes(),
    }
}

fn hit(of: TextHit) -> TraceHit {
    TraceHit {
        id: of.key,
        agent: of.agent,
        title: of.title,
        project: of.project,
        sequence: of.sequence,
        kind: of.kind,
        at: of.at.map(|at| at.to_string()),
        snippet: of.snippet,
        score: of.score,
        why: TraceHitReason { terms: of.terms, similarity: of.similarity },
    }
}
