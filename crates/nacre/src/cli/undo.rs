//! `nacre undo`

use clap::Args;
use nacre_api::wire::UndoRequest;
use nacre_ops::{Host, OpError};

use super::exit::Exit;
use super::ui::{Role, Ui};

/// Put back what a run changed, byte for byte
///
/// Every file must still be what the run made of it; otherwise nothing is changed. An undo is a run and can be undone.
#[derive(Debug, Args)]
pub(crate) struct UndoArgs {
    /// The run's id, or the start or end of it
    run: String,
}

pub(crate) fn cmd_undo(ui: &mut Ui, host: &Host, args: &UndoArgs) -> Result<Exit, OpError> {
    let report = nacre_ops::undo(host, &UndoRequest { run: args.run.clone() })?;
    ui.report(&report, |ui, report| {
        report.paths.iter().try_for_each(|path| ui.line(path))?;
        ui.status(format!("Undid {}", ui.paint(Role::Id, &report.of)))?;
        ui.status(format!("Run: {}", report.run))
    })
}
