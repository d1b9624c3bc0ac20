//! `nacre trace import`

use clap::Args;
use nacre_api::wire::{TraceImportReport, TraceImportRequest};
use nacre_ops::{Host, OpError, trace as ops};

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};

/// Read a session from a file: in Nacre's own transcript format, or exported by OpenCode
///
/// Nacre's format is one JSON object a line, the last part of the name `.jsonl`; docs/transcript-format.md
/// describes it. OpenCode's is what `opencode export` prints. The file stays where it is and is read from there.
/// `nacre import` takes over instruction files such as CLAUDE.md.
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
