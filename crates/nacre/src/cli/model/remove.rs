//! `nacre model remove`

use clap::Args;
use nacre_api::wire::ModelRemoveRequest;
use nacre_ops::{Host, OpError, model as ops};

use super::super::exit::Exit;
use super::super::ui::Ui;
use super::Installable;

/// Take an installed model away
#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// Which model
    model: Installable,
}

pub(crate) fn cmd_remove(ui: &mut Ui, host: &Host, args: &RemoveArgs) -> Result<Exit, OpError> {
    let RemoveArgs { model } = args;
    let report = ops::remove(host, &ModelRemoveRequest { model: (*model).into() })?;
    ui.report(&report, |ui, report| {
        ui.status(format!("Removed model `{}`.", report.removed.as_str()))
    })
}
