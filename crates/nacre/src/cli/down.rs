//! `nacre down`

use clap::Args;
use nacre_api::wire::DownReport;
use nacre_ops::{Host, OpError};
use nacre_server::control;

use super::exit::Exit;
use super::ui::Ui;

/// Stop what `nacre up` started
///
/// What runs has some seconds to end, and is then cancelled: the next sync goes on where it ended. A service of systemd or
/// launchd is disabled, too.
#[derive(Debug, Args)]
pub(crate) struct DownArgs {}

pub(crate) fn cmd_down(ui: &mut Ui, host: &Host, DownArgs {}: &DownArgs) -> Result<Exit, OpError> {
    let report = control::down(host)?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &DownReport) -> Result<(), OpError> {
    let DownReport { stopped, address, disabled } = report;
    match (stopped, address) {
        (true, Some(address)) => ui.line(format_args!("Stopped the server on {address}"))?,
        _ => ui.line("No server was running")?,
    }
    if disabled.is_some() {
        ui.line("It is no longer started with each login")?;
    }
    ui.status("Next: nacre up")
}
