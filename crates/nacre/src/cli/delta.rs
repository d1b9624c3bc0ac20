//! `nacre delta`

use clap::Args;
use nacre_api::wire::{DeltaReport, DeltaRequest, Since};
use nacre_ops::{Host, OpError, map as ops};

use super::exit::Exit;
use super::map::{Format, MapArgs, PageArgs, print_delta};
use super::ui::Ui;

/// Tell which files and symbols changed, and who is affected
///
/// Since a revision that an earlier answer named, since a commit (with what is not committed), or since what a client
/// has seen. Asking takes nothing away: anybody can ask again.
#[derive(Debug, Args)]
pub(crate) struct DeltaArgs {
    #[command(flatten)]
    map: MapArgs,
    /// Since when: a revision, git:REF, client:NAME, or 0 for everything [default: git:HEAD, or where there is no
    /// commit, since the map was first made]
    #[arg(long, value_name = "SINCE")]
    since: Option<Since>,
    #[command(flatten)]
    page: PageArgs,
    /// Tokens that the answer may have, counted on its JSON; affected files are then counted by folder
    #[arg(long, value_name = "TOKENS")]
    budget: Option<usize>,
}

pub(crate) fn cmd_delta(ui: &mut Ui, host: &Host, args: &DeltaArgs) -> Result<Exit, OpError> {
    let DeltaArgs { map, since, page, budget } = args;
    let MapArgs { place, refresh, strict, format, client } = map;
    Format::choose(*format, ui);
    let request = DeltaRequest {
        project: place.clone(),
        refresh: *refresh,
        strict: *strict,
        client: client.clone(),
        since: since.clone(),
        limit: Some(page.limit),
        after: page.after.clone(),
        budget: *budget,
    };
    let report = ops::delta(host, &request, &ui.events())?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &DeltaReport) -> Result<(), OpError> {
    print_delta(ui, &report.delta)?;
    ui.status(format!("Revision {}", report.map.revision))
}
