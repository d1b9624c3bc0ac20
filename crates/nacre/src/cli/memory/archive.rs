//! `nacre memory archive`

use clap::Args;
use nacre_ops::{Host, OpError, memory as ops};

use super::super::exit::Exit;
use super::super::ui::Ui;
use super::IdsArg;
use super::output::report_changes;

/// Put memories away; `restore` brings them back
#[derive(Debug, Args)]
pub(crate) struct ArchiveArgs {
    #[command(flatten)]
    which: IdsArg,
}

pub(crate) fn cmd_archive(ui: &mut Ui, host: &Host, args: &ArchiveArgs) -> Result<Exit, OpError> {
    let report = ops::archive(host, &args.which.request(), &ui.events())?;
    report_changes(ui, &report)
}
