//! `nacre refresh`

use clap::Args;
use nacre_api::wire::{DeltaReport, RefreshRequest};
use nacre_ops::{Host, OpError, map as ops};

use super::exit::Exit;
use super::map::{Format, PageArgs, print_delta};
use super::ui::Ui;

/// Read all code again and bring its map up to date
///
/// Other commands do this by themselves for what changed. This one believes nothing, and looks at every file by its
/// grammar.
#[derive(Debug, Args)]
pub(crate) struct RefreshArgs {
    /// The same as `--project`
    #[arg(value_name = "PROJECT", hide = true)]
    place: Option<String>,
    /// The same as `--json`
    #[arg(long, value_name = "FORMAT", hide = true)]
    format: Option<Format>,
    #[command(flatten)]
    page: PageArgs,
}

pub(crate) fn cmd_refresh(ui: &mut Ui, host: &Host, args: &RefreshArgs) -> Result<Exit, OpError> {
    let RefreshArgs { place, format, page } = args;
    Format::choose(*format, ui);
    let request = RefreshRequest {
        project: place.clone(),
        limit: Some(page.limit),
        after: page.after.clone(),
    };
    let report = ops::refresh(host, &request, &ui.cancellable_events())?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &DeltaReport) -> Result<(), OpError> {
    let DeltaReport { map, delta } = report;
    let stats = &map.stats;
    ui.line(format!(
        "{} files, {} read, {} skipped",
        stats.file_count,
        stats.rehashed_entries,
        stats.skipped.total()
    ))?;
    if !delta.is_empty() {
        print_delta(ui, delta)?;
    }
    ui.status(format!("Revision {}", map.revision))
}
