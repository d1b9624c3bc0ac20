//! Sessions without a conversation: listed, searched, exported, removed.

use nacre_api::wire::{
    ChatSession, ChatUndoReport, ChatUndoRequest, RpcCall, SessionExportReport, SessionListReport,
    SessionListRequest, SessionRemoveReport, SessionReport, SessionRequest, SessionSearchReport,
    SessionSearchRequest,
};
use nacre_ops::OpError;
use nacre_ops::text::ShownLine;

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};
use super::link::Conversations;

pub(super) fn list(ui: &mut Ui, conversations: &Conversations) -> Result<Exit, OpError> {
    let request = SessionListRequest { workspace: Some(conversations.folder()), limit: None };
    let report: SessionListReport = conversations.ask(RpcCall::SessionList(request))?;
    ui.report(&report, |ui, report| {
        if report.sessions.is_empty() {
            return ui.status("There is no session in this folder yet. Begin one: nacre chat");
        }
        let rows: Vec<Vec<(Role, String)>> =
            report.sessions.iter().map(|session| row(ui, session)).collect();
        ui.table(&rows)?;
        ui.status("\nGo on with one: nacre chat --resume ID")
    })
}

fn row(ui: &Ui, session: &ChatSession) -> Vec<(Role, String)> {
    let title = match session.title.as_str() {
        "" => "(nothing was said)".to_owned(),
        title => ShownLine(title).to_string(),
    };
    let state = match (&session.running, session.items) {
        (Some(_), _) => "at work".to_owned(),
        (None, 1) => "1 item".to_owned(),
        (None, items) => format!("{items} items"),
    };
    vec![
        (Role::Id, session.id.clone()),
        (Role::Faint, ui.when(&session.updated)),
        (Role::Faint, state),
        (Role::Title, title),
    ]
}

pub(super) fn search(
    ui: &mut Ui,
    conversations: &Conversations,
    words: &str,
) -> Result<Exit, OpError> {
    let request = SessionSearchRequest { query: words.to_owned(), session: None, limit: None };
    let report: SessionSearchReport = conversations.ask(RpcCall::SessionSearch(request))?;
    ui.report(&report, |ui, report| {
        if report.hits.is_empty() {
            return ui.status("No session says that");
        }
        for hit in &report.hits {
            let place = ui.paint(Role::Id, format!("{}:{}", hit.session, hit.sequence));
            ui.line(format!("{place}  {}", ShownLine(&hit.excerpt)))?;
        }
        Ok(())
    })
}

pub(super) fn export(
    ui: &mut Ui,
    conversations: &Conversations,
    session: &str,
) -> Result<Exit, OpError> {
    let request = SessionRequest { session: Some(session.to_owned()), workspace: None };
    let report: SessionExportReport = conversations.ask(RpcCall::SessionExport(request))?;
    ui.report(&report, |ui, report| ui.text(report.transcript.trim_end()))
}

pub(super) fn remove(
    ui: &mut Ui,
    conversations: &Conversations,
    session: &str,
) -> Result<Exit, OpError> {
    let request = SessionRequest { session: Some(session.to_owned()), workspace: None };
    let report: SessionRemoveReport = conversations.ask(RpcCall::SessionRemove(request))?;
    ui.report(&report, |ui, report| {
        ui.status(format!("Removed {} with {} items", report.session, report.items))
    })
}

pub(super) fn undo(
    ui: &mut Ui,
    conversations: &Conversations,
    session: &str,
) -> Result<Exit, OpError> {
    let named = Some(session.to_owned()).filter(|id| !id.is_empty());
    let request = SessionRequest { session: named, workspace: Some(conversations.folder()) };
    let found: SessionReport = conversations.ask(RpcCall::SessionGet(request))?;
    let request = ChatUndoRequest { session: found.session.id, task: None };
    let report: ChatUndoReport = conversations.ask(RpcCall::ChatUndo(request))?;
    ui.report(&report, |ui, report| {
        for path in &report.restored {
            ui.line(format!("Put back {}", ui.paint(Role::Id, ShownLine(path))))?;
        }
        for kept in &report.kept {
            ui.warning(format!("Left as it is: {}: {}", ShownLine(&kept.path), kept.why), None);
        }
        if report.restored.is_empty() {
            return ui.status("Nothing was put back");
        }
        Ok(())
    })
}
