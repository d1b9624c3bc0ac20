//! `nacre pull`

use clap::Args;
use nacre_api::wire::{PullReport, PullRequest};
use nacre_ops::{Host, OpError, team as ops};

use super::exit::Exit;
use super::memory::print_undo;
use super::ui::Ui;

/// Bring the memories of this project from the server of your team
///
/// What comes is foreign until you trust it: it is found by search, and told to no agent unasked. What you changed here stays as it is.
#[derive(Debug, Args)]
pub(crate) struct PullArgs {
    /// Only say what would come
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn cmd_pull(ui: &mut Ui, host: &Host, args: &PullArgs) -> Result<Exit, OpError> {
    let PullArgs { dry_run } = args;
    let events = ui.cancellable_events();
    let report = ops::pull(host, &PullRequest { dry_run: *dry_run }, &events);
    ui.report(&report?, print)
}

fn print(ui: &mut Ui, report: &PullReport) -> Result<(), OpError> {
    let PullReport {
        from,
        project,
        dry_run,
        new,
        updated,
        differ,
        same,
        forgotten,
        waiting,
        change,
    } = report;
    for (sign, ids) in [("+", new), ("~", updated)] {
        for id in ids {
            ui.line(format_args!("{sign} {id}"))?;
        }
    }
    let verb = if *dry_run { "Would bring" } else { "Brought" };
    let (n_new, n_updated) = (new.len(), updated.len());
    ui.status(format!(
        "{verb} {n_new} new and {n_updated} changed memories of `{project}` from {from}; {same} were here."
    ))?;
    if !differ.is_empty() {
        let message = format!("{} memories are otherwise here; yours stay", differ.len());
        ui.warning(message, Some(&format!("See one: nacre memory show {}", differ[0])));
    }
    if *forgotten > 0 {
        ui.status(format!("{forgotten} that you removed here did not come back."))?;
    }
    if *waiting > 0 {
        ui.hint(&format!("{waiting} more: nacre pull"));
    }
    if !dry_run && n_new + n_updated > 0 {
        ui.hint("They are foreign until you agree: nacre trust");
    }
    print_undo(ui, change.as_deref())
}
