//! `nacre server status`

use clap::Args;
use nacre_api::wire::{ServerStatusReport, ServerStatusRequest};
use nacre_ops::text::ShownLine;
use nacre_ops::{Host, OpError, server as ops};

use super::super::exit::Exit;
use super::super::ui::Ui;

/// Say whether the database answers, and what waits in it
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {}

pub(crate) fn cmd_status(ui: &mut Ui, host: &Host, args: &StatusArgs) -> Result<Exit, OpError> {
    let StatusArgs {} = args;
    let report = ops::status(host, &ServerStatusRequest {})?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &ServerStatusReport) -> Result<(), OpError> {
    let ServerStatusReport { database, schema, needed_schema, sessions, server, next } = report;
    ui.line(format_args!("Database {}", database.state.as_str()))?;
    if let Some(detail) = &database.detail {
        ui.line(format_args!("  {}", ShownLine(detail)))?;
    }
    if let Some(schema) = schema {
        ui.line(format_args!("Format {schema}, this program needs {needed_schema}"))?;
    }
    let sessions: Vec<String> = sessions.iter().map(|(state, n)| format!("{n} {state}")).collect();
    if !sessions.is_empty() {
        ui.line(format_args!("Sessions {}", sessions.join(", ")))?;
    }
    ui.line(format_args!("This home is server {server}"))?;
    match next {
        Some(next) => ui.line(format_args!("Next: {next}")),
        None => Ok(()),
    }
}
