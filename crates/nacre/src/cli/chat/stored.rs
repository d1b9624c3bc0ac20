//! Actions on stored sessions: list, search, export, remove and undo.

use nacre_types::{
    ChatSession, ChatUndoReport, ChatUndoRequest, RpcCall, SessionExportReport, SessionListReport,
    SessionListRequest, SessionRemoveReport, SessionReport, SessionRequest, SessionSearchReport,
    SessionSearchRequest,
};

use super::conversations::Conversations;
use crate::cli::prelude::*;
use crate::cli::render::count;

pub(super) fn list(ui: &mut Ui, conversations: &Conversations) -> CommandResult {
    let request = SessionListRequest { workspace: Some(conversations.folder()), limit: None };
    let report: SessionListReport = conversations.ask(RpcCall::SessionList(request))?;
    ui.report(&report, |ui, report| {
        if report.sessions.is_empty() {
            return ui.status("No sessions in this directory yet. Start one: nacre chat");
        }
        let rows: Vec<Row> = report.sessions.iter().map(|session| row(ui, session)).collect();
        ui.table(rows);
        ui.status("\nContinue one: nacre chat --resume ID");
    })
}

fn row(ui: &Ui, session: &ChatSession) -> Row {
    let name = match session.title.as_str() {
        "" => "(empty)",
        name => name,
    };
    let state = match session.running {
        Some(_) => "at work".to_owned(),
        None => count(session.items as usize, "item"),
    };
    vec![id(&session.id), faint(ui.when(&session.updated)), faint(state), title(name)]
}

pub(super) fn search(ui: &mut Ui, conversations: &Conversations, query: String) -> CommandResult {
    let request = SessionSearchRequest { query, session: None, limit: None };
    let report: SessionSearchReport = conversations.ask(RpcCall::SessionSearch(request))?;
    ui.report(&report, |ui, report| {
        if report.hits.is_empty() {
            return ui.status("No session matches");
        }
        for hit in &report.hits {
            let place = ui.paint(Role::Id, format!("{}:{}", hit.session, hit.sequence));
            ui.line(format!("{place}  {}", ShownLine(&hit.excerpt)));
        }
    })
}

pub(super) fn export(ui: &mut Ui, conversations: &Conversations, session: String) -> CommandResult {
    let request = SessionRequest { session: Some(session), workspace: None };
    let report: SessionExportReport = conversations.ask(RpcCall::SessionExport(request))?;
    ui.report(&report, |ui, report| ui.text(report.transcript.trim_end()))
}

pub(super) fn remove(ui: &mut Ui, conversations: &Conversations, session: String) -> CommandResult {
    let request = SessionRequest { session: Some(session), workspace: None };
    let report: SessionRemoveReport = conversations.ask(RpcCall::SessionRemove(request))?;
    ui.report(&report, |ui, report| {
        ui.status(format!("Removed {} with {} items", report.session, report.items));
    })
}

pub(super) fn undo(ui: &mut Ui, conversations: &Conversations, session: String) -> CommandResult {
    let session = Some(session).filter(|id| !id.is_empty());
    let request = SessionRequest { session, workspace: Some(conversations.folder()) };
    let found: SessionReport = conversations.ask(RpcCall::SessionGet(request))?;
    let request = ChatUndoRequest { session: found.session.id, task: None };
    let report: ChatUndoReport = conversations.ask(RpcCall::ChatUndo(request))?;
    ui.report(&report, |ui, report| {
        for path in &report.restored {
            ui.line(format!("Put back {}", ui.paint(Role::Id, ShownLine(path))));
        }
        for kept in &report.kept {
            ui.warning(format!("Not restored: {}: {}", ShownLine(&kept.path), kept.why), None);
        }
        if report.restored.is_empty() {
            ui.status("No files were restored");
        }
    })
}
