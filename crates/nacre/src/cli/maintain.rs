//! `nacre maintain`

mod output;

use clap::Args;
use nacre_api::wire::MaintainRequest;
use nacre_ops::{Host, OpError, maintain as ops};

use super::exit::Exit;
use super::remote::{Asked, by_server_or};
use super::ui::Ui;

/// Keep memories few and true
///
/// Merges what says the same, overturns what a newer memory contradicts, marks what speaks of deleted files, puts away what
/// nobody confirmed or used for long, and mends links. Nothing is deleted: `nacre memory restore` brings a memory back, `nacre undo`
/// a whole run. Running it more often gives the same result. Where nothing has changed since the last run, nothing is
/// looked at. Ends with 3 when some projects failed.
#[derive(Debug, Args)]
pub(crate) struct MaintainArgs {
    /// Show what would be done and every line that would change; change nothing
    #[arg(long)]
    dry_run: bool,
    /// Run even if nothing has changed since the last run
    #[arg(long)]
    force: bool,
    /// Maintain every registered project, and your global memories
    #[arg(long)]
    all: bool,
    /// Let the model of the role `lead` write what is merged, and make one of three or more short memories on one point
    #[arg(long)]
    rewrite: bool,
    /// Take the model's answers from this file, for tests
    #[arg(long, value_name = "FILE", requires = "rewrite")]
    scripted: Option<String>,
}

pub(crate) fn cmd_maintain(ui: &mut Ui, host: &Host, args: &MaintainArgs) -> Result<Exit, OpError> {
    let MaintainArgs { dry_run, force, all, rewrite, scripted } = args;
    let request = MaintainRequest {
        dry_run: *dry_run,
        force: *force,
        all: *all,
        rewrite: *rewrite,
        scripted: scripted.clone(),
    };
    let events = ui.cancellable_events();
    let names_file = request.scripted.is_some();
    let asked = Asked { route: ("POST", "/api/maintain"), request: &request, names_file };
    let here = || ops::maintain(host, &request, &events);
    let report = by_server_or((ui, host), &asked, &events, here)?;
    ui.report(&report, output::print)
}
