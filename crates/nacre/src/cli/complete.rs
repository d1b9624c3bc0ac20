//! `nacre complete`: what the completion scripts ask.

use clap::Args;
use nacre_api::wire::CompleteRequest;
use nacre_ops::text::ShownLine;
use nacre_ops::{Host, OpError};

use super::exit::Exit;
use super::ui::Ui;

/// Print the ids that begin with a text, one a line
#[derive(Debug, Args)]
#[command(hide = true)]
pub(crate) struct CompleteArgs {
    /// What was typed so far
    #[arg(default_value = "")]
    prefix: String,
}

pub(crate) fn cmd_complete(ui: &mut Ui, host: &Host, args: &CompleteArgs) -> Result<Exit, OpError> {
    let CompleteArgs { prefix } = args;
    let report = nacre_ops::complete(host, &CompleteRequest { prefix: prefix.clone() })?;
    ui.report(&report, |ui, report| report.ids.iter().try_for_each(|id| ui.line(ShownLine(id))))
}
