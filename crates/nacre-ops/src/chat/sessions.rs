//! Sessions: made, found, listed, changed, forked, removed, searched.

use std::path::{Path, PathBuf};

use nacre_api::wire::{
    ApprovalPolicy, ChatSession, ErrorCode, SessionChangeRequest, SessionCreateRequest,
    SessionForkRequest, SessionItemsReport, SessionItemsRequest, SessionListReport,
    SessionListRequest, SessionRemoveReport, SessionReport, SessionRequest, SessionSearchHit,
    SessionSearchReport, SessionSearchRequest,
};
use nacre_engine::model::ModelRef;
use nacre_engine::record::SessionId;
use nacre_engine::record::state::{
    Conversations, NewSession, SessionChange, SessionMatch, SessionRecord, State,
};

use super::Workspaces;
use super::items::chat_item;
use super::pictures;
use super::recovery::recover;
use super::shared::{ChatShared, open_state, random};
use crate::error::OpError;
use crate::host::{Host, git_root};

/// Rows without a limit of the request's own.
const USUAL_SESSIONS: usize = 20;
const USUAL_ITEMS: usize = 1000;
const USUAL_HITS: usize = 20;

pub(super) fn create(
    chats: &ChatShared,
    host: &Host,
    (folder, workspaces): (&Path, Workspaces),
    request: &SessionCreateRequest,
) -> Result<SessionReport, OpError> {
    let SessionCreateRequest { workspace, title, model, policy } = request;
    let named = workspace.as_deref().map_or(folder, Path::new);
    let folder = match workspaces {
        Workspaces::Any => chats.environment.absolute(named),
        Workspaces::Registered => registered(host, named)?,
    };
    if !folder.is_dir() {
        return Err(OpError::not_found(format!("There is no folder `{}`", folder.display())));
    }
    check_model(model.as_deref())?;
    let host = chats.open_host(Some(&folder))?;
    let root = workspace_of(&host, &folder);
    let new = NewSession {
        id: SessionId::from_random(random(&chats.environment)?),
        title: title.clone().unwrap_or_default(),
        workspace: Some(root.clone()),
        project: host.project.as_ref().map(|project| project.path.display().to_string()),
        model: model.clone(),
        approval: Some(policy.unwrap_or_default().as_str().to_owned()),
    };
    let mut state = open_state(&host)?;
    let made = state.create_session(&new, host.now())?;
    state.set_active_session(&root, Some(&made.id))?;
    Ok(SessionReport { session: entry(&state, made)? })
}

/// The root of a registered project, by its name or path. Nothing is looked up on disk, so that the error tells nothing of it.
fn registered(host: &Host, named: &Path) -> Result<PathBuf, OpError> {
    let is_meant = |name: &str, path: &Path| path == named || Path::new(name) == named;
    let found = host.projects.iter().find(|project| is_meant(&project.name, &project.path));
    found.map(|project| project.path.clone()).ok_or_else(|| {
        let error = OpError::failed("The workspace is not a registered project");
        OpError { code: ErrorCode::NoProject, ..error }
            .hint("`nacre project list` shows every project")
    })
}

/// The folder that a session works in: the project around, the repository, or the folder itself.
fn workspace_of(host: &Host, folder: &Path) -> String {
    let project = host.project.as_ref().map(|project| project.path.clone());
    let root = project.or_else(|| git_root(&host.person, folder));
    root.unwrap_or_else(|| folder.to_owned()).display().to_string()
}

fn check_model(model: Option<&str>) -> Result<(), OpError> {
    let Some(model) = model else { return Ok(()) };
    match model.parse::<ModelRef>() {
        Ok(_) => Ok(()),
        Err(error) => Err(OpError::from_error(ErrorCode::Usage, &error, None)
            .hint("Name it as PROVIDER/MODEL; `nacre model list` shows what is set")),
    }
}

pub(super) fn list(
    host: &Host,
    request: &SessionListRequest,
) -> Result<SessionListReport, OpError> {
    let SessionListRequest { workspace, limit } = request;
    let mut state = open_state(host)?;
    recover(host, &mut state)?;
    let which = Conversations {
        workspace: workspace.as_deref(),
        with_archived: false,
        limit: rows(*limit, USUAL_SESSIONS),
    };
    let found = state.conversations(&which)?;
    let sessions = found.into_iter().map(|found| entry(&state, found)).collect::<Result<_, _>>()?;
    Ok(SessionListReport { sessions })
}

/// A session by its name, or the one that its folder goes on with.
pub(super) fn get(
    host: &Host,
    folder: &Path,
    request: &SessionRequest,
) -> Result<SessionReport, OpError> {
    let mut state = open_state(host)?;
    recover(host, &mut state)?;
    let found = find(&state, host, folder, request)?;
    if let Some(workspace) = &found.workspace {
        state.set_active_session(workspace, Some(&found.id))?;
    }
    Ok(SessionReport { session: entry(&state, found)? })
}

/// See `get`; changes nothing.
pub(super) fn find(
    state: &State,
    host: &Host,
    folder: &Path,
    request: &SessionRequest,
) -> Result<SessionRecord, OpError> {
    let SessionRequest { session, workspace } = request;
    if let Some(session) = session {
        return named(state, session);
    }
    let workspace = match workspace {
        Some(workspace) => workspace.clone(),
        None => workspace_of(host, folder),
    };
    if let Some(active) = state.active_session(&workspace)? {
        return Ok(active);
    }
    let which = Conversations { workspace: Some(&workspace), with_archived: false, limit: 1 };
    state.conversations(&which)?.into_iter().next().ok_or_else(|| {
        OpError::not_found("There is no session in this folder yet").hint("Begin one: nacre chat")
    })
}

/// The session whose id begins with `start`.
pub(super) fn named(state: &State, start: &str) -> Result<SessionRecord, OpError> {
    match state.find_session(start)? {
        SessionMatch::One(found) => Ok(*found),
        SessionMatch::Nothing => {
            let shown: String = start.chars().take(60).collect();
            Err(OpError::not_found(format!("No session is named `{shown}`"))
                .hint("`nacre chat --list` shows them; three characters of an id are enough"))
        }
        SessionMatch::Many(found) => {
            let ids: Vec<String> = found.iter().map(|found| found.id.to_string()).collect();
            let message = format!("`{start}` fits several sessions: {}", ids.join(", "));
            Err(OpError { code: ErrorCode::Ambiguous, ..OpError::failed(message) })
        }
    }
}

pub(super) fn items(
    host: &Host,
    request: &SessionItemsRequest,
) -> Result<SessionItemsReport, OpError> {
    let SessionItemsRequest { session, after, limit } = request;
    let state = open_state(host)?;
    let found = named(&state, session)?;
    let limit = rows(*limit, USUAL_ITEMS);
    let mut records = state.items(&found.id, *after, limit.saturating_add(1))?;
    let more = limit < records.len();
    records.truncate(limit);
    let items = records.into_iter().map(chat_item).collect();
    Ok(SessionItemsReport { session: entry(&state, found)?, items, more })
}

pub(super) fn change(
    host: &Host,
    request: &SessionChangeRequest,
) -> Result<SessionReport, OpError> {
    let SessionChangeRequest { session, title, model, policy } = request;
    check_model(model.as_deref())?;
    if title.as_deref().is_some_and(|title| title.trim().is_empty()) {
        return Err(OpError::usage("The title is empty"));
    }
    let mut state = open_state(host)?;
    let found = named(&state, session)?;
    let change = SessionChange {
        title: title.clone(),
        model: model.clone(),
        approval: policy.map(|policy| policy.as_str().to_owned()),
        is_archived: None,
    };
    let changed = state.change_session(&found.id, &change, host.now())?;
    Ok(SessionReport { session: entry(&state, changed)? })
}

pub(super) fn fork(
    chats: &ChatShared,
    host: &Host,
    request: &SessionForkRequest,
) -> Result<SessionReport, OpError> {
    let SessionForkRequest { session, until } = request;
    let mut state = open_state(host)?;
    let from = named(&state, session)?;
    let id = SessionId::from_random(random(&chats.environment)?);
    let made = state.fork_session(&from.id, *until, &id, host.now())?;
    if let Some(workspace) = &made.workspace {
        state.set_active_session(workspace, Some(&made.id))?;
    }
    Ok(SessionReport { session: entry(&state, made)? })
}

/// Removes a session with everything that it said and was shown. It has to be named.
pub(super) fn remove(
    host: &Host,
    request: &SessionRequest,
) -> Result<SessionRemoveReport, OpError> {
    let Some(session) = &request.session else {
        return Err(OpError::usage("Say which session is to be removed"));
    };
    let mut state = open_state(host)?;
    recover(host, &mut state)?;
    let found = named(&state, session)?;
    let pictures = pictures::of_session(&state, &found.id)?;
    state.remove_session(&found.id)?;
    pictures::drop_unused(host, &state, &pictures)?;
    Ok(SessionRemoveReport { session: found.id.to_string(), items: found.last_item })
}

pub(super) fn search(
    host: &Host,
    request: &SessionSearchRequest,
) -> Result<SessionSearchReport, OpError> {
    let SessionSearchRequest { query, session, limit } = request;
    let state = open_state(host)?;
    let within = session.as_deref().map(|session| named(&state, session)).transpose()?;
    let within = within.map(|found| found.id);
    let hits = state.search_items(within.as_ref(), query, rows(*limit, USUAL_HITS))?;
    let hits = hits
        .into_iter()
        .map(|hit| SessionSearchHit {
            session: hit.session.to_string(),
            title: hit.title,
            sequence: hit.sequence,
            excerpt: hit.excerpt,
        })
        .collect();
    Ok(SessionSearchReport { hits })
}

/// How many rows a limit means: 0 is all of them.
fn rows(limit: Option<usize>, usual: usize) -> usize {
    match limit {
        None => usual,
        Some(0) => usize::MAX - 1,
        Some(limit) => limit,
    }
}

/// The policy of a session; what cannot be read asks.
pub(super) fn policy_of(record: &SessionRecord) -> ApprovalPolicy {
    let word = record.approval.as_deref();
    let known = ApprovalPolicy::ALL.into_iter().find(|policy| Some(policy.as_str()) == word);
    known.unwrap_or_default()
}

pub(super) fn entry(state: &State, record: SessionRecord) -> Result<ChatSession, OpError> {
    let (running, waiting) = state.unfinished(&record.id)?;
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
