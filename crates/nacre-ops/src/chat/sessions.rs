//! Creates, lists, changes and exports conversations.

use nacre_engine::lifecycle::Item;
use nacre_engine::model::{ModelRef, ToolStatus};
use nacre_engine::record::SessionId;
use nacre_engine::record::state::{
    ItemRecord, NewSession, SessionChange, SessionMatch, SessionRecord, State, TaskStore as _,
};
use nacre_types::{
    ApprovalPolicy, ChatSession, SessionChangeRequest, SessionCreateRequest, SessionExportReport,
    SessionForkRequest, SessionItemsReport, SessionItemsRequest, SessionListReport,
    SessionListRequest, SessionRemoveReport, SessionReport, SessionRequest, SessionSearchReport,
    SessionSearchRequest,
};
use serde::Serialize;

use super::requests::{chat_item, value};
use super::turn::recover;
use super::{CallOrigin, ChatShared, Workspaces, attachments, open_state, random};
use crate::host::SESSIONS_FOLDER;
use crate::prelude::*;
use crate::tasks::row_limit;

const USUAL_SESSIONS: usize = 20;
const USUAL_ITEMS: usize = 1000;
const USUAL_HITS: usize = 20;

pub(super) fn create(
    chats: &ChatShared,
    host: &Host,
    workspaces: Workspaces,
    request: &SessionCreateRequest,
) -> Result<SessionReport> {
    let SessionCreateRequest { workspace, title, model, policy } = request;
    let named = workspace.as_deref().map_or(host.environment.folder.as_path(), Path::new);
    let folder = match workspaces {
        Workspaces::Any => chats.environment.absolute(named),
        Workspaces::Registered => find_registered(host, named)?,
    };
    if !folder.is_dir() {
        return Err(OpError::not_found(format!("Directory `{}` not found", folder.display())));
    }
    check_model(model.as_deref())?;
    let host = chats
        .open_host(CallOrigin { folder: Some(folder.clone()), caller: host.caller.clone() })?;
    let root = host.workspace().display().to_string();
    let new = NewSession {
        id: SessionId::from_random(random(&host)?),
        title: title.clone().unwrap_or_default(),
        workspace: Some(root.clone()),
        project: host.project_key(),
        model: model.clone(),
        approval: Some(policy.unwrap_or_default().label().to_owned()),
    };
    let mut state = open_state(&host)?;
    let made = state.create_session(&new, host.now())?;
    state.set_active_session(&root, &made.id)?;
    Ok(SessionReport { session: entry(&state, made)? })
}

/// Returns the root of a registered project, given its name or path. The path is never accessed, so
/// the error cannot reveal whether it exists.
fn find_registered(host: &Host, named: &Path) -> Result<PathBuf> {
    let is_meant = |name: &str, path: &Path| path == named || Path::new(name) == named;
    let found = host.projects.iter().find(|project| is_meant(&project.name, &project.path));
    found.map(|project| project.path.clone()).ok_or_else(|| {
        OpError::new(ErrorCode::NoProject, "The workspace is not a registered project")
            .hint("`nacre project` lists all projects")
    })
}

fn check_model(model: Option<&str>) -> Result<()> {
    let Some(model) = model else { return Ok(()) };
    match model.parse::<ModelRef>() {
        Ok(_) => Ok(()),
        Err(error) => Err(OpError::from_error(ErrorCode::Usage, &error, None)
            .hint("Use the form PROVIDER/MODEL; `nacre model` shows the configured models")),
    }
}

pub(super) fn list(host: &Host, request: &SessionListRequest) -> Result<SessionListReport> {
    let SessionListRequest { workspace, limit } = request;
    let mut state = open_state(host)?;
    recover(host, &mut state)?;
    let limit = row_limit(*limit, USUAL_SESSIONS);
    let found = state.conversations(workspace.as_deref(), limit)?;
    let sessions = found.into_iter().map(|found| entry(&state, found)).collect::<Result<_, _>>()?;
    Ok(SessionListReport { sessions })
}

/// Returns the named session, or else the one to continue in this directory.
pub(super) fn get(host: &Host, request: &SessionRequest) -> Result<SessionReport> {
    let mut state = open_state(host)?;
    recover(host, &mut state)?;
    let found = find(&state, host, request)?;
    if let Some(workspace) = &found.workspace {
        state.set_active_session(workspace, &found.id)?;
    }
    Ok(SessionReport { session: entry(&state, found)? })
}

/// Like `get`, but changes nothing.
fn find(state: &State, host: &Host, request: &SessionRequest) -> Result<SessionRecord> {
    let SessionRequest { session, workspace } = request;
    if let Some(session) = session {
        return find_session(state, session);
    }
    let workspace = match workspace {
        Some(workspace) => workspace.clone(),
        None => host.workspace().display().to_string(),
    };
    if let Some(active) = state.active_session(&workspace)? {
        return Ok(active);
    }
    state.conversations(Some(&workspace), 1)?.into_iter().next().ok_or_else(|| {
        OpError::not_found("No session in this directory yet").hint("Start one: nacre chat")
    })
}

pub(super) fn find_session(state: &State, start: &str) -> Result<SessionRecord> {
    match state.find_session(start)? {
        SessionMatch::One(found) => Ok(*found),
        SessionMatch::Nothing => {
            let shown: String = start.chars().take(60).collect();
            Err(OpError::not_found(format!("Session `{shown}` not found")).hint(
                "`nacre chat --list` lists the sessions; three characters of an id are enough",
            ))
        }
        SessionMatch::Many(found) => {
            let ids: Vec<String> = found.iter().map(|found| found.id.to_string()).collect();
            let message = format!("`{start}` matches several sessions: {}", ids.join(", "));
            Err(OpError::new(ErrorCode::Ambiguous, message))
        }
    }
}

pub(super) fn items(host: &Host, request: &SessionItemsRequest) -> Result<SessionItemsReport> {
    let SessionItemsRequest { session, after, limit } = request;
    let state = open_state(host)?;
    let found = find_session(&state, session)?;
    let limit = row_limit(*limit, USUAL_ITEMS);
    let mut records = state.items(&found.id, *after, limit.saturating_add(1))?;
    let more = limit < records.len();
    records.truncate(limit);
    let items = records.into_iter().map(chat_item).collect();
    Ok(SessionItemsReport { session: entry(&state, found)?, items, more })
}

pub(super) fn change(host: &Host, request: &SessionChangeRequest) -> Result<SessionReport> {
    let SessionChangeRequest { session, title, model, policy } = request;
    check_model(model.as_deref())?;
    if title.as_deref().is_some_and(|title| title.trim().is_empty()) {
        return Err(OpError::usage("The title is empty"));
    }
    let mut state = open_state(host)?;
    let found = find_session(&state, session)?;
    let change = SessionChange {
        title: title.clone(),
        model: model.clone(),
        approval: policy.map(|policy| policy.label().to_owned()),
    };
    let changed = state.change_session(&found.id, &change)?;
    Ok(SessionReport { session: entry(&state, changed)? })
}

pub(super) fn fork(host: &Host, request: &SessionForkRequest) -> Result<SessionReport> {
    let SessionForkRequest { session, until } = request;
    let mut state = open_state(host)?;
    let from = find_session(&state, session)?;
    let id = SessionId::from_random(random(host)?);
    let made = state.fork_session(&from.id, *until, &id, host.now())?;
    if let Some(workspace) = &made.workspace {
        state.set_active_session(workspace, &made.id)?;
    }
    Ok(SessionReport { session: entry(&state, made)? })
}

/// Removes a session and all its messages. The request must name the session.
pub(super) fn remove(host: &Host, request: &SessionRequest) -> Result<SessionRemoveReport> {
    let Some(session) = &request.session else {
        return Err(OpError::usage("Specify the session to remove"));
    };
    let mut state = open_state(host)?;
    recover(host, &mut state)?;
    let found = find_session(&state, session)?;
    let pictures = attachments::of_session(&state, &found.id)?;
    state.remove_session(&found.id)?;
    attachments::drop_unused(host, &state, &pictures)?;
    Ok(SessionRemoveReport { session: found.id.to_string(), items: found.last_item })
}

pub(super) fn search(host: &Host, request: &SessionSearchRequest) -> Result<SessionSearchReport> {
    let SessionSearchRequest { query, session, limit } = request;
    let state = open_state(host)?;
    let within = session.as_deref().map(|session| find_session(&state, session)).transpose()?;
    let within = within.map(|found| found.id);
    let hits = state.search_items(within.as_ref(), query, row_limit(*limit, USUAL_HITS))?;
    Ok(SessionSearchReport { hits })
}

/// Returns the session's approval policy, or the default if it is invalid.
pub(super) fn policy_of(record: &SessionRecord) -> ApprovalPolicy {
    let word = record.approval.as_deref();
    let known = ApprovalPolicy::ALL.into_iter().find(|policy| Some(policy.label()) == word);
    known.unwrap_or_default()
}

pub(super) fn entry(state: &State, record: SessionRecord) -> Result<ChatSession> {
    let (running, waiting) = state.find_unfinished(&record.id)?;
    Ok(ChatSession {
        policy: policy_of(&record),
        id: record.id.to_string(),
        title: record.title,
        workspace: record.workspace.unwrap_or_default(),
        model: record.model,
        parent: record.parent.map(|parent| parent.to_string()),
        created: record.created.to_string(),
        updated: record.updated.to_string(),
        items: record.last_item,
        running: running.map(|task| task.to_string()),
        waiting: u32::try_from(waiting).unwrap_or(u32::MAX),
    })
}

const EXPORTS_FOLDER: &str = "exports";

const FORMAT_VERSION: u32 = 1;

pub(super) fn export(host: &Host, request: &SessionRequest) -> Result<SessionExportReport> {
    let state = open_state(host)?;
    let session = find(&state, host, request)?;
    let transcript = transcript(&session, &state.items(&session.id, 0, usize::MAX)?);
    Ok(SessionExportReport { session: session.id.to_string(), transcript })
}

/// Marks the stored items of a turn that was started or steered by someone other than the owner.
pub(super) const GUEST: &str = "guest";

/// Writes the session as a trace for `sync` to read. Because `sync` attributes everything in a
/// trace to the owner and the agent, the trace omits other people's turns. It also omits summaries
/// and the title, which may quote them.
pub(super) fn keep(host: &Host, state: &State, session: &SessionRecord) -> Result<()> {
    let mut session = session.clone();
    let mut records = state.items(&session.id, 0, usize::MAX)?;
    let is_guests = |record: &ItemRecord| !record.json[GUEST].is_null();
    if records.iter().any(is_guests) {
        records.retain(|record| !is_guests(record) && record.json["kind"] != "summary");
        session.title.clear();
    }
    let trace = transcript(&session, &records);
    write(host, SESSIONS_FOLDER, session.id.as_str(), &trace).map(drop)
}

fn write(host: &Host, folder: &str, session: &str, text: &str) -> Result<PathBuf> {
    let folder = host.home_folder(folder)?;
    let writer = folder.lock(&host.owner("chat"), host.settings().lock.wait)?;
    let name = RelPath::new(&format!("{session}.jsonl"))?;
    writer.put_derived(&name, text.as_bytes())?;
    Ok(folder.path().join(name.as_str()))
}

/// Saves an exported session in the user's directory, which `sync` does not read, and returns the
/// path.
pub fn save_export(host: &Host, report: &SessionExportReport) -> Result<PathBuf> {
    write(host, EXPORTS_FOLDER, &report.session, &report.transcript)
}

fn transcript(session: &SessionRecord, records: &[ItemRecord]) -> String {
    let models = records.iter().filter_map(|record| record.json["model"].as_str());
    let models: BTreeSet<&str> = models.collect();
    let header = Header {
        r#type: "session",
        version: FORMAT_VERSION,
        id: session.id.as_str(),
        agent: "nacre",
        cwd: &session.workspace,
        title: &session.title,
        models,
        started: session.created.to_string(),
        last_activity: session.updated.to_string(),
    };
    let mut lines = vec![line(&header)];
    lines.extend(records.iter().filter_map(event).map(|event| line(&event)));
    lines.push(String::new());
    lines.join("\n")
}

fn line(value: &impl Serialize) -> String {
    // The types have only string keys, so serialization cannot fail.
    serde_json::to_string(value).unwrap_or_default()
}

#[derive(Serialize)]
struct Header<'a> {
    r#type: &'static str,
    version: u32,
    id: &'a str,
    agent: &'static str,
    cwd: &'a Option<String>,
    title: &'a str,
    models: BTreeSet<&'a str>,
    started: String,
    last_activity: String,
}

#[derive(Default, Serialize)]
struct TranscriptEvent {
    r#type: &'static str,
    text: String,
    time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<&'static str>,
}

/// Converts an item to a transcript event. Returns `None` for items that are only used internally.
fn event(record: &ItemRecord) -> Option<TranscriptEvent> {
    let time = record.at.to_string();
    let plain = |r#type, text: String| TranscriptEvent {
        r#type,
        text,
        time: time.clone(),
        ..TranscriptEvent::default()
    };
    Some(match Item::from_json(&record.json) {
        Item::User { text, .. } | Item::Steering { text, .. } => plain("user", text),
        Item::Assistant { text, .. } | Item::Interrupted { text } => plain("assistant", text),
        Item::Reasoning { text, .. } => plain("reasoning", text),
        Item::ToolCall { call, tool, arguments, .. } => TranscriptEvent {
            call: Some(call),
            tool: Some(tool),
            ..plain("tool_call", value(&arguments).to_string())
        },
        Item::ToolResult { call, tool, status, text, .. } => TranscriptEvent {
            call: Some(call),
            tool: Some(tool),
            error: Some(status == ToolStatus::Failed),
            ..plain("tool_result", text)
        },
        Item::Summary(summary) => plain("summary", summary.text),
        Item::Remark { text, .. } => {
            TranscriptEvent { origin: Some("host"), ..plain("meta", text) }
        }
        Item::HiddenReasoning { .. }
        | Item::End(_)
        | Item::Notice { .. }
        | Item::Checklist { .. }
        | Item::Unknown => return None,
    })
}
