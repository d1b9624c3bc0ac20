//! Nothing is written into an agent's files that a person did not see and agree to.

use std::io::Write as _;

use nacre_api::wire::{ConnectReport, ConnectRequest, WiringOptions};
use nacre_ops::{Host, OpError, connect as ops};

use super::super::ui::Ui;
use super::{ConnectArgs, print};

/// The request to carry out; `None` where everything there is to say was said.
pub(super) fn agreed(
    ui: &mut Ui,
    host: &Host,
    args: &ConnectArgs,
    request: ConnectRequest,
) -> Result<Option<ConnectRequest>, OpError> {
    if args.yes && !args.dry_run {
        return Ok(Some(request));
    }
    let trial = with(request.clone(), |wiring| wiring.dry_run = true);
    let report = ops::connect(host, &trial)?;
    if args.dry_run {
        ui.report(&report, print::dry_run)?;
        return Ok(None);
    }
    if report.changes.is_empty() {
        return Ok(Some(request));
    }
    if !ui.can_ask() || ui.is_json() {
        return Err(OpError::usage(
            "Settings of agents are changed only after a yes; nothing was changed",
        )
        .hint("Add --dry-run to see what would change, and --yes to change it"));
    }
    print::diffs(ui, &report)?;
    ui.flush();
    if !confirm(&report)? {
        return Err(OpError::usage("Nothing was changed"));
    }
    Ok(Some(with(request, |wiring| wiring.plan.clone_from(&report.plan))))
}

fn with(mut request: ConnectRequest, change: impl FnOnce(&mut WiringOptions)) -> ConnectRequest {
    match &mut request {
        ConnectRequest::List => {}
        ConnectRequest::Auto { wiring }
        | ConnectRequest::Add { wiring, .. }
        | ConnectRequest::Remove { wiring, .. }
        | ConnectRequest::Trust { wiring } => change(wiring),
    }
    request
}

fn confirm(report: &ConnectReport) -> Result<bool, OpError> {
    let mut terminal = std::io::stderr();
    let n_files = report.changes.len();
    let files = if n_files == 1 { "this file" } else { "these files" };
    write!(terminal, "Change {files}? [y/N] ")?;
    terminal.flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
