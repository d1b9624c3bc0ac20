//! `nacre runs list`

use clap::Args;
use nacre_api::wire::{MaintainVerb, RunCounts, RunEntry, RunListReport, RunListRequest};
use nacre_ops::text::Shown;
use nacre_ops::{Host, OpError, run as ops};

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};

/// List the runs of this project, newest first
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// At most this many; 0 for all [default: the setting memory.max_results]
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
}

pub(crate) fn cmd_list(ui: &mut Ui, host: &Host, args: &ListArgs) -> Result<Exit, OpError> {
    let ListArgs { limit } = args;
    let report = ops::list(host, &RunListRequest { limit: *limit }, &ui.events())?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &RunListReport) -> Result<(), OpError> {
    let rows: Vec<_> = report.runs.iter().map(row).collect();
    ui.table(&rows)?;
    if rows.is_empty() {
        ui.status("No runs yet.")?;
    }
    Ok(())
}

fn row(run: &RunEntry) -> Vec<(Role, String)> {
    vec![
        (Role::Id, run.id.clone()),
        (Role::Faint, run.counts.as_ref().map_or_else(|| "-".to_owned(), did)),
        (Role::Title, Shown(&run.of).one_line()),
    ]
}

/// What a run did, in a few signs.
fn did(counts: &RunCounts) -> String {
    match counts {
        RunCounts::Sync(counts) => {
            format!("+{} ~{} ={}", counts.add + counts.supersede, counts.update, counts.no_op)
        }
        RunCounts::Maintain(counts) => {
            let n = |verb: MaintainVerb| counts.get(&verb).copied().unwrap_or_default();
            let merged = n(MaintainVerb::Merge) + n(MaintainVerb::Consolidate);
            format!("merged {merged} archived {}", n(MaintainVerb::Archive))
        }
    }
}
