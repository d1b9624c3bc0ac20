//! `nacre project remove`

use clap::Args;
use nacre_api::wire::ProjectRemoveRequest;
use nacre_ops::{Host, OpError, project as ops};

use super::super::exit::Exit;
use super::super::memory::print_undo;
use super::super::ui::Ui;

/// Take a project out of the register; its files stay
///
/// Its sessions are no longer made into memories. While its `.nacre` folder is there, using its memory registers it again.
#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// The project's name
    name: String,
}

pub(crate) fn cmd_remove(ui: &mut Ui, host: &Host, args: &RemoveArgs) -> Result<Exit, OpError> {
    let RemoveArgs { name } = args;
    let report = ops::remove(host, &ProjectRemoveRequest { name: name.clone() })?;
    ui.report(&report, |ui, report| {
        let name = &report.removed;
        ui.status(format!("Removed project `{name}` from the register; its files are untouched."))?;
        print_undo(ui, report.change.as_deref())
    })
}
