//! Opens, loads and lists sessions, and handles responses to requests.

use nacre_types::{
    ChatItemKind, ChatSession, ChatStartReport, ChatUndoReport, EmptyRequest, HelloReport,
    RpcAnswer, RpcCall, SessionCreateRequest, SessionExportReport, SessionItemsReport,
    SessionItemsRequest, SessionListReport, SessionListRequest, SessionReport, SessionRequest,
    SessionSearchHit, SessionSearchReport, SkillEntry, SkillListReport, TaskFollowRequest,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::messages::adopt;
use super::{panels, sending};
use crate::tui::event::{Effect, Outside};
use crate::tui::state::ScreenState;
use crate::tui::state::cell;
use crate::tui::state::panel::{ListKind, ListRow};
use crate::tui::state::turn::Purpose;
use crate::tui::text::{clean_line, count, failure_text};
use crate::tui::theme::Role;

const LAST_ITEMS: u64 = 1_000;

const MAX_LISTED: usize = 200;

pub(super) fn create(state: &mut ScreenState) {
    let request = SessionCreateRequest {
        workspace: state.options.workspace.clone(),
        title: None,
        model: state.options.model.clone(),
        policy: state.options.policy,
    };
    state.send(RpcCall::SessionCreate(request), Purpose::Open);
}

pub(super) fn resume(state: &mut ScreenState, session: Option<String>) {
    let workspace = state.options.workspace.clone();
    state.send(RpcCall::SessionGet(SessionRequest { session, workspace }), Purpose::Open);
}

pub(super) fn list(state: &mut ScreenState) {
    let workspace = state.options.workspace.clone();
    let request = SessionListRequest { workspace, limit: Some(MAX_LISTED) };
    state.send(RpcCall::SessionList(request), Purpose::List);
}

fn show(state: &mut ScreenState, session: ChatSession) {
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

fn renew(state: &mut ScreenState, session: ChatSession) -> String {
    let title = session.title.clone();
    if state.session_id().as_ref() == Some(&session.id) {
        state.session = Some(session);
    }
    title
}

/// Fills the transcript with stored items. The running turn is replayed from its start, so its
/// stored items are skipped.
fn fill(state: &mut ScreenState, report: SessionItemsReport) {
    if state.session_id().as_ref() != Some(&report.session.id) {
        return;
    }
    let running = report.session.running.clone();
    let is_past = |task: Option<&String>| running.is_none() || task != running.as_ref();
    let past: Vec<_> =
        report.items.into_iter().filter(|item| is_past(item.task.as_ref())).collect();
    for item in &past {
        if let ChatItemKind::User { text, .. } = &item.kind {
            state.history.push(text);
        } else if let ChatItemKind::Checklist { items } = &item.kind {
            state.plan.clone_from(items);
        }
    }
    for item in &mut state.plan {
        item.label = clean_line(&item.label);
    }
    for (sequence, kind) in cell::cells(&past) {
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

fn fill_earlier(state: &mut ScreenState, report: &SessionItemsReport) {
    let first = state.transcript.first_sequence();
    let is_before = |sequence: u64| first.is_none_or(|first| sequence < first);
    if state.session_id().as_ref() != Some(&report.session.id) {
        return;
    }
    let mut cells = cell::cells(&report.items);
    cells.retain(|(sequence, _)| is_before(*sequence));
    if cells.is_empty() {
        state.flash(Role::Faint, "This is the start of the session");
        return;
    }
    state.transcript.prepend(cells);
}

pub(super) fn tell_settings(state: &mut ScreenState) {
    let Some(session) = &state.session else { return };
    let model = session.model.as_deref().unwrap_or("the default chat model");
    let text = format!("Model: {model} · Policy: {}", session.policy.label());
    state.note(Role::Faint, &text);
}

fn open_session_list(state: &mut ScreenState, report: &SessionListReport) {
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
    panels::open_list(state, ListKind::Sessions, title, rows);
}

fn open_hits(state: &mut ScreenState, query: &str, report: &SessionSearchReport) {
    let row = |hit: &SessionSearchHit| ListRow {
        id: hit.session.clone(),
        text: clean_line(&hit.excerpt),
        detail: clean_line(&hit.title),
    };
    let rows: Vec<ListRow> = report.hits.iter().take(MAX_LISTED).map(row).collect();
    let title = format!("“{}”: {}", clean_line(query), count(rows.len(), "hit"));
    panels::open_list(state, ListKind::Hits, title, rows);
}

pub(super) fn take_answer(state: &mut ScreenState, answer: RpcAnswer) {
    let Some(id) = answer.id else {
        let text = answer.error.map(|error| failure_text(&error)).unwrap_or_default();
        return state.note(Role::Bad, &format!("Invalid request:\n{text}"));
    };
    let Some(purpose) = state.requests.take(id) else { return };
    match answer.error {
        Some(error) => refuse(state, id, purpose, &failure_text(&error)),
        None => {
            let result = answer.result.unwrap_or(Value::Null);
            if let Err(why) = apply_result(state, id, &purpose, result) {
                let text = format!("Error: Could not parse a response\nCaused by: {why}");
                refuse(state, id, purpose, &text);
            }
        }
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "for other requests, only the error is shown")]
fn refuse(state: &mut ScreenState, id: u64, purpose: Purpose, text: &str) {
    match purpose {
        Purpose::Start => {
            let refused = state.prompts.iter().position(|prompt| prompt.request == Some(id));
            if let Some(idx) = refused {
                let prompt = state.prompts.remove(idx);
                if state.editor.is_empty() {
                    state.editor.set(&prompt.text);
                }
            }
            state.note(Role::Bad, text);
        }
        Purpose::Steer { text: words } => {
            if state.editor.is_empty() {
                state.editor.set(&words);
            }
            state.note(Role::Bad, text);
        }
        Purpose::Abort => {
            if let Some(turn) = &mut state.turn {
                turn.is_stopping = false;
            }
            state.note(Role::Bad, text);
        }
        // The user did not ask for this list of skills, so errors are not shown.
        Purpose::Skills { is_asked: false } => {}
        _ => state.note(Role::Bad, text),
    }
}

fn read<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}

fn apply_result(
    state: &mut ScreenState,
    id: u64,
    purpose: &Purpose,
    result: Value,
) -> Result<(), String> {
    match purpose {
        Purpose::Hello => {
            let hello: HelloReport = read(result)?;
            if hello.methods.iter().any(|method| method == "skill.list") {
                let call = RpcCall::SkillList(EmptyRequest::default());
                state.send(call, Purpose::Skills { is_asked: false });
            }
            match state.options.resume.clone() {
                None => create(state),
                Some(request) => state.send(RpcCall::SessionGet(request), Purpose::Open),
            }
        }
        Purpose::Open => show(state, read::<SessionReport>(result)?.session),
        Purpose::Items => fill(state, read::<SessionItemsReport>(result)?),
        Purpose::EarlierItems => {
            fill_earlier(state, &read::<SessionItemsReport>(result)?);
        }
        Purpose::Rename => {
            let title = renew(state, read::<SessionReport>(result)?.session);
            state.flash(Role::Good, &format!("Renamed: {title}"));
        }
        Purpose::Change => {
            renew(state, read::<SessionReport>(result)?.session);
            tell_settings(state);
        }
        Purpose::List => open_session_list(state, &read::<SessionListReport>(result)?),
        Purpose::Search { query } => {
            open_hits(state, query, &read::<SessionSearchReport>(result)?);
        }
        Purpose::Export => {
            let SessionExportReport { session, transcript } = read(result)?;
            let action = Outside::SaveExport { session, transcript };
            state.effects.push(Effect::Outside(action));
        }
        Purpose::Start => {
            let started: ChatStartReport = read(result)?;
            let sent = state.prompts.iter().position(|prompt| prompt.request == Some(id));
            if let Some(idx) = sent.filter(|idx| state.prompts[*idx].task.is_none()) {
                adopt(state, idx, &started.task);
            }
        }
        Purpose::Undo => tell_undo(state, &read::<ChatUndoReport>(result)?),
        Purpose::Skills { is_asked } => take_skills(state, read(result)?, *is_asked),
        Purpose::Steer { .. } | Purpose::Abort | Purpose::Follow | Purpose::Answer => {}
    }
    Ok(())
}

fn tell_undo(state: &mut ScreenState, report: &ChatUndoReport) {
    let mut text = match report.restored.len() {
        0 => "No files were restored".to_owned(),
        n => format!("Taken back: {} ({})", count(n, "file"), report.restored.join(", ")),
    };
    for kept in &report.kept {
        text.push_str(&format!("\nNot restored: {}: {}", kept.path, kept.why));
    }
    let tone = if report.kept.is_empty() { Role::Good } else { Role::Warning };
    state.note(tone, &text);
}

fn take_skills(state: &mut ScreenState, report: SkillListReport, is_asked: bool) {
    state.skills = report.skills;
    if !is_asked {
        return;
    }
    let row = |skill: &SkillEntry| ListRow {
        id: skill.name.clone(),
        text: clean_line(&skill.name),
        detail: clean_line(&skill.description),
    };
    let rows: Vec<ListRow> = state.skills.iter().map(row).collect();
    let title = format!("Skills: {}", rows.len());
    panels::open_list(state, ListKind::Skills, title, rows);
}
