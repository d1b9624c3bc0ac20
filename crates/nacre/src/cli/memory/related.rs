//! `nacre memory related`

use clap::Args;
use nacre_api::wire::{MemoryEdge, MemoryRelatedReport, MemoryRelatedRequest};
use nacre_ops::text::Shown;
use nacre_ops::{Host, OpError, memory as ops};

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};
use super::ScopeArg;
use super::output::{print_memory_row, print_more};

/// Show the memories that belong to one
///
/// By its own links, and by what it shares with others: the session it comes from, files and symbols
/// that it names, tags.
#[derive(Debug, Args)]
pub(crate) struct RelatedArgs {
    /// The memory's id, or the start of it
    id: String,
    /// At most this many; 0 for all [default: the setting memory.max_results]
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
    #[command(flatten)]
    scope: ScopeArg,
}

pub(crate) fn cmd_related(ui: &mut Ui, host: &Host, args: &RelatedArgs) -> Result<Exit, OpError> {
    let RelatedArgs { id, limit, scope } = args;
    let request = MemoryRelatedRequest { id: id.clone(), limit: *limit, scope: scope.mode() };
    let report = ops::related(host, &request, &ui.events())?;
    ui.shorten_ids(host, scope.mode());
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &MemoryRelatedReport) -> Result<(), OpError> {
    for one in &report.related {
        print_memory_row(ui, &one.memory)?;
        ui.line(format!("    {}", ui.paint(Role::Faint, reason(&one.edge))))?;
    }
    if report.total == 0 {
        ui.status("Nothing belongs to it.")?;
    }
    print_more(ui, report.total - report.related.len())
}

fn reason(edge: &MemoryEdge) -> String {
    match &edge.shared {
        Some(shared) => format!("{} {}", edge.kind.as_str(), Shown(shared).one_line()),
        None => edge.kind.as_str().to_owned(),
    }
}
