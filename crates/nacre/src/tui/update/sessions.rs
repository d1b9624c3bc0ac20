//! Sessions: opened, filled with what was said in them, listed.

use nacre_api::wire::{
    ChatItemKind, ChatSession, RpcCall, SessionCreateRequest, SessionItemsReport,
    SessionItemsRequest, SessionListReport, SessionListRequest, SessionRequest,
    SessionSearchReport, TaskFollowRequest,
};

use super::{panels, sending};
use crate::tui::state::cell::Tone;
use crate::tui::state::panel::{ListKind, ListPanel, ListRow};
use crate::tui::state::requests::Purpose;
use crate::tui::state::{Start, State, items};
use crate::tui::text::{clean_line, count};

/// Items that are fetched when a session is opened.
const LAST_ITEMS: u64 = 1_000;

/// Sessions that are listed.
const MAX_LISTED: usize = 200;

/// Opens the session that the screen begins with.
pub(super) fn begin(state: &mut State) {
    match state.options.start.clone() {
        Start::New => create(state),
        Start::Resume(session) => resume(state, session),
    }
}

pub(super) fn create(state: &mut State) {
    let request = SessionCreateRequest {
        workspace: state.options.workspace.clone(),
        title: None,
        model: state.options.model.clone(),
        policy: state.options.policy,
    };
    state.send(RpcCall::SessionCreate(request), Purpose::Open);
}

pub(super) fn resume(state: &mut State, session: Option<String>) {
    let workspace = state.options.workspace.clone();
    state.send(RpcCall::SessionGet(SessionRequest { session, workspace }), Purpose::Open);
}

pub(super) fn list(state: &mut State) {
    let workspace = state.options.workspace.clone();
    let request = SessionListRequest { workspace, limit: Some(MAX_LISTED) };
    state.send(RpcCall::SessionList(request), Purpose::List);
}

/// Shows a session, and fetches what was said in it last.
pub(super) fn show(state: &mut State, session: ChatSession) {
    state.leave_session();
    let request = SessionItemsRequest {
        session: session.id.clone(),
        after: session.items.saturating_sub(LAST_ITEMS),
        limit: None,
    };
    let has_items = session.items > 0 || session.running.is_some();
    state.session = Some(session);
    if has_items {
        state.send(RpcCall::SessionItems(request), Purpose::Items);
    } else if let Some(prompt) = state.options.prompt.take() {
        sending::send_prompt(state, &prompt, None);
    }
}

/// What is known of the session is taken over; its title.
pub(super) fn renew(state: &mut State, session: ChatSession) -> String {
    let title = session.title.clone();
    if state.session_id().as_ref() == Some(&session.id) {
        state.session = Some(session);
    }
    title
}

/// What was said in the session. A turn that runs is told from its beginning, so its items are left out here.
pub(super) fn fill(state: &mut State, report: SessionItemsReport) {
    if state.session_id().as_ref() != Some(&report.session.id) {
        return;
    }
    let running = report.session.running.clone();
    let is_past = |task: Option<&String>| running.is_none() || task != running.as_ref();
    let past: Vec<_> =
        report.items.into_iter().filter(|item| is_past(item.task.as_ref())).collect();
    for item in &past {
        match &item.kind {
            ChatItemKind::User { text, .. } => state.history.push(text),
            ChatItemKind::Checklist { items } => state.plan.clone_from(items),
            ChatItemKind::Assistant { .. }
            | ChatItemKind::Reasoning { .. }
            | ChatItemKind::ToolCall { .. }
            | ChatItemKind::ToolResult { .. }
            | ChatItemKind::Notice { .. }
            | ChatItemKind::Summary { .. }
            | ChatItemKind::Undone { .. }
            | ChatItemKind::Ended { .. } => {}
        }
    }
    for item in &mut state.plan {
        item.label = clean_line(&item.label);
    }
    for (sequence, kind) in items::cells(&past) {
        state.transcript.push(kind);
        state.transcript.set_sequence(sequence);
    }
    state.session = Some(report.session);
    if let Some(task) = running {
        let request = TaskFollowRequest { task, after: 0 };
        state.send(RpcCall::TaskFollow(request), Purpose::Follow);
    }
    if let Some(prompt) = state.options.prompt.take() {
        sending::send_prompt(state, &prompt, None);
    }
}

pub(super) fn fill_earlier(state: &mut State, report: &SessionItemsReport) {
    let first = state.transcript.first_sequence();
    let is_before = |sequence: u64| first.is_none_or(|first| sequence < first);
    if state.session_id().as_ref() != Some(&report.session.id) {
        return;
    }
    let mut cells = items::cells(&report.items);
    cells.retain(|(sequence, _)| is_before(*sequence));
    if cells.is_empty() {
        state.flash(Tone::Faint, "This is the beginning");
        return;
    }
    state.transcript.prepend(cells);
}

/// Says what the session goes by.
pub(super) fn tell_settings(state: &mut State) {
    let Some(session) = &state.session else { return };
    let model = session.model.as_deref().unwrap_or("the one that is set for chat");
    let text = format!("Model: {model} · Policy: {}", session.policy.as_str());
    state.note(Tone::Faint, &text);
}

pub(super) fn open_list(state: &mut State, report: &SessionListReport) {
    let row = |session: &ChatSession| {
        let busy = if session.running.is_some() { " · works" } else { "" };
        let n_items = count(usize::try_from(session.items).unwrap_or(usize::MAX), "item");
        let day = session.updated.get(..16).unwrap_or(&session.updated).replace('T', " ");
        ListRow {
            id: session.id.clone(),
            text: clean_line(&session.title),
            detail: clean_line(&format!("{day} · {n_items}{busy}")),
        }
    };
    let rows: Vec<ListRow> = report.sessions.iter().take(MAX_LISTED).map(row).collect();
    let title = format!("Sessions: {}", rows.len());
    let empty = "There are no sessions here yet.";
    panels::open_list(state, ListPanel::new(ListKind::Sessions, &title, rows, empty));
}

pub(super) fn open_hits(state: &mut State, query: &str, report: &SessionSearchReport) {
    let row = |hit: &nacre_api::wire::SessionSearchHit| ListRow {
        id: hit.session.clone(),
        text: clean_line(&hit.excerpt),
        detail: clean_line(&hit.title),
    };
    let rows: Vec<ListRow> = report.hits.iter().take(MAX_LISTED).map(row).collect();
    let title = format!("“{}”: {}", clean_line(query), count(rows.len(), "hit"));
    let empty = "Nothing was found.";
    panels::open_list(state, ListPanel::new(ListKind::Hits, &title, rows, empty));
}
