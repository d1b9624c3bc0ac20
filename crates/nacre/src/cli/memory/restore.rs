//! `nacre memory restore`

use clap::Args;
use nacre_ops::{Host, OpError, memory as ops};

use super::super::exit::Exit;
use super::super::ui::Ui;
use super::IdsArg;
use super::output::report_changes;

/// Bring archived memories back
#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    #[command(flatten)]
    which: IdsArg,
}

pub(crate) fn cmd_restore(ui: &mut Ui, host: &Host, args: &RestoreArgs) -> Result<Exit, OpError> {
    let report = ops::restore(host, &args.which.request(), &ui.events())?;
    report_changes(ui, &report)
}
