//! `nacre trace import`

use clap::Args;
use nacre_api::wire::{TraceImportReport, TraceImportRequest};
use nacre_ops::{Host, OpError, trace as ops};

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};

/// Read a session in Nacre's own transcript format
///
/// One JSON object a line, the last part of its name `.jsonl`; docs/transcript-format.md describes it. The
/// file stays where it is and is read from there. `nacre import` takes over instruction files such as CLAUDE.md.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// The transcript
    file: String,
}

pub(crate) fn cmd_import(ui: &mut Ui, host: &Host, args: &ImportArgs) -> Result<Exit, OpError> {
    let ImportArgs { file } = args;
    let report = ops::import(host, &TraceImportRequest { file: file.clone() })?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &TraceImportReport) -> Result<(), OpError> {
    let TraceImportReport { id, state, reason } = report;
    let reason = reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    ui.status(format!("Read {}, {}{reason}", ui.paint(Role::Id, id), state.as_str()))
}
