//! `nacre config get`

use clap::Args;
use nacre_api::wire::{ConfigGetReport, ConfigGetRequest};
use nacre_ops::text::Shown;
use nacre_ops::{Host, OpError, config as ops};

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};

/// Print the value of one key
///
/// On a terminal also what it means and where it was set.
#[derive(Debug, Args)]
pub(crate) struct GetArgs {
    /// The key, such as memory.scope
    key: String,
}

pub(crate) fn cmd_get(ui: &mut Ui, host: &Host, args: &GetArgs) -> Result<Exit, OpError> {
    let GetArgs { key } = args;
    let report = ops::get(host, &ConfigGetRequest { key: key.clone() })?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &ConfigGetReport) -> Result<(), OpError> {
    ui.line(Shown(&ops::value_text(&report.value)).one_line())?;
    if ui.is_watched() {
        ui.status(ui.paint(Role::Faint, &report.doc))?;
        ui.status(ui.paint(Role::Faint, Shown(&report.origin).one_line()))?;
    }
    Ok(())
}
