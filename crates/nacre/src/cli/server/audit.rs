//! `nacre server audit`

use clap::Args;
use nacre_api::wire::{AuditLine, AuditReport, AuditRequest};
use nacre_ops::text::Shown;
use nacre_ops::{Host, OpError, server as ops};

use super::super::exit::Exit;
use super::super::ui::{Role, Row, Ui};

/// Show what people asked of the server: who, when, what, in which project, with what outcome
///
/// Kept for 90 days. It holds no contents. What you yourself read is not listed, and what you change only once somebody else has a token.
#[derive(Debug, Args)]
pub(super) struct AuditArgs {
    /// Only what this person asked for; `owner` for yourself
    name: Option<String>,
    /// Only since a day or an age, such as 2026-01-31 or 7d
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// At most this many; 0 for all [default: 50]
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
}

pub(super) fn cmd_audit(ui: &mut Ui, host: &Host, args: &AuditArgs) -> Result<Exit, OpError> {
    let AuditArgs { name, since, limit } = args;
    let request = AuditRequest {
        person: name.clone(),
        project: host.named_project().map(str::to_owned),
        since: since.clone(),
        limit: *limit,
    };
    ui.report(&ops::audit(host, &request)?, print)
}

fn print(ui: &mut Ui, report: &AuditReport) -> Result<(), OpError> {
    let rows: Vec<Row> = report.entries.iter().map(|entry| row(ui, entry)).collect();
    ui.table(&rows)?;
    if rows.is_empty() {
        ui.status("Nobody asked for anything.")?;
        ui.hint("`nacre server token list` shows who may");
    }
    Ok(())
}

fn row(ui: &Ui, entry: &AuditLine) -> Row {
    let AuditLine { at, who, what, project, outcome } = entry;
    let at = if ui.is_watched() { ui.when(at) } else { at.clone() };
    let role = if outcome == "ok" { Role::Good } else { Role::Bad };
    let project = Shown(project.as_deref().unwrap_or("-")).one_line();
    let who = (Role::Title, who.clone());
    vec![
        (Role::Faint, at),
        who,
        (Role::Title, what.clone()),
        (Role::Id, project),
        (role, outcome.clone()),
    ]
}
