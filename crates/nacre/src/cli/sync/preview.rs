//! `nacre sync --dry-run`: what would be read, and file by file what would change.

use std::path::Path;

use nacre_api::wire::{PlannedSession, SyncPreviewReport, SyncTracePreviewReport};
use nacre_ops::host::short;
use nacre_ops::text::Shown;
use nacre_ops::{Host, OpError};

use super::super::changes::print_changes;
use super::super::intake::print_waiting;
use super::super::ui::{Role, Ui};

pub(super) fn print(ui: &mut Ui, host: &Host, report: &SyncPreviewReport) -> Result<(), OpError> {
    let SyncPreviewReport { would_read, sources, unchanged: _, sessions, waiting } = report;
    let rows: Vec<_> = would_read
        .iter()
        .map(|source| {
            let path = short(host, Path::new(&source.path));
            vec![(Role::Id, source.agent.clone()), (Role::Faint, path)]
        })
        .collect();
    ui.table(&rows)?;
    ui.status(format!("Would read {} of {sources} sources.", would_read.len()))?;
    sessions.iter().try_for_each(|session| print_session(ui, session))?;
    match waiting {
        Some(waiting) => print_waiting(ui, host, waiting),
        None => Ok(()),
    }
}

pub(super) fn print_trace(ui: &mut Ui, report: &SyncTracePreviewReport) -> Result<(), OpError> {
    report.sessions.iter().try_for_each(|session| print_session(ui, session))
}

fn print_session(ui: &mut Ui, session: &PlannedSession) -> Result<(), OpError> {
    let PlannedSession { report, changes } = session;
    ui.line(ui.paint(Role::Title, Shown(&report.trace_path).one_line()))?;
    for action in &report.actions {
        let line = format!("{}: {} ({})", action.action.as_str(), action.title, action.reason);
        ui.line(format!("  {}", Shown(&line).one_line()))?;
    }
    print_changes(ui, changes)
}
