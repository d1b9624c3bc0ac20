//! `nacre undo`

mod list;

use std::collections::BTreeMap;

use clap::{Args, Subcommand};
use nacre_api::wire::{UndoReport, UndoRequest, UndoneHow};
use nacre_ops::text::ShownLine;
use nacre_ops::{Host, OpError, undo as ops};

use super::changes::print_changes;
use super::exit::Exit;
use super::ui::{Role, Ui};

/// Memories that are named; more are counted.
const MAX_NAMED: usize = 20;

/// Take back what a command changed, byte for byte
///
/// Every command that changes something prints an id: a sync of many sessions has one, and so have `config set`, `connect`,
/// `export`, `trust` and `project add` and `remove`. `nacre undo ID` puts back all of it, `nacre undo --last` the newest
/// change; again, the one before. An undo is a change and can be undone. Where the newest change cannot be undone, `--last`
/// says so, and takes nothing older back.
///
/// Your edits win: where a file was changed since, nothing is put back, and the error names the file and who changed it.
/// `--keep-changed` leaves those memories as they are and puts back the others.
///
/// What undoes a change lies in its run folder (`.nacre/workspace/`, never shared), for the newest 200 runs of a kind (the
/// setting runs.keep); that of your own settings, agents and projects in `~/.nacre/workspace/`. `nacre memory forget` keeps
/// nothing, so that it cannot be undone, and takes the memory out of all earlier run folders' undo plans. What a sync read
/// stays read: the next sync does not bring back what you undid.
///
///   nacre undo list                    what was changed, the newest first
///   nacre undo --last --dry-run        what would be put back
///   nacre undo ID --keep-changed       all but what was changed since
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, args_conflicts_with_subcommands = true)]
pub(crate) struct UndoArgs {
    #[command(subcommand)]
    command: Option<UndoCommand>,
    /// The change's or run's id, or the start or end of it
    #[arg(value_name = "ID", conflicts_with = "last")]
    run: Option<String>,
    /// The newest change that is not undone
    #[arg(long)]
    last: bool,
    /// Show what would be put back, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Leave memories as they are that were changed since, and put back the others
    #[arg(long)]
    keep_changed: bool,
}

#[derive(Debug, Subcommand)]
enum UndoCommand {
    List(list::ListArgs),
}

pub(crate) fn cmd_undo(ui: &mut Ui, host: &Host, args: &UndoArgs) -> Result<Exit, OpError> {
    let UndoArgs { command, run, last, dry_run, keep_changed } = args;
    if let Some(UndoCommand::List(args)) = command {
        return list::cmd_list(ui, host, args);
    }
    let request = UndoRequest {
        run: run.clone().unwrap_or_default(),
        last: *last,
        dry_run: *dry_run,
        keep_changed: *keep_changed,
    };
    ui.report(&ops::undo(host, &request)?, print)
}

fn print(ui: &mut Ui, report: &UndoReport) -> Result<(), OpError> {
    if let Some(changes) = &report.changes {
        print_changes(ui, changes)?;
    }
    let rows = report.memories.iter().take(MAX_NAMED).map(|memory| {
        vec![(Role::Faint, memory.done.as_str().to_owned()), (Role::Id, memory.id.clone())]
    });
    let rows: Vec<_> = rows.collect();
    ui.table(&rows)?;
    if report.memories.len() > MAX_NAMED {
        ui.status(format!("… {} more", report.memories.len() - MAX_NAMED))?;
    }
    for note in &report.notes {
        ui.line(ShownLine(note))?;
    }
    for kept in &report.kept {
        let by = kept.by.as_ref().map_or("edited".to_owned(), |by| format!("changed by {by}"));
        ui.warning(format!("Left as it is, {by} since: {}", ShownLine(&kept.path)), None);
    }
    let what = what(report);
    let of = format!("{} ({})", ui.paint(Role::Id, &report.of), ShownLine(&report.command));
    if report.dry_run {
        return ui.status(format!("Would undo {of}{what}; nothing was changed."));
    }
    ui.status(format!("Undid {of}{what}"))?;
    ui.status(format!("Undo: nacre undo {}", report.run))
}

/// How many memories were put back how.
fn what(report: &UndoReport) -> String {
    let mut counts: BTreeMap<UndoneHow, usize> = BTreeMap::new();
    report.memories.iter().for_each(|memory| *counts.entry(memory.done).or_default() += 1);
    let said: Vec<String> =
        counts.iter().map(|(done, n)| format!("{n} {}", done.as_str())).collect();
    if said.is_empty() { String::new() } else { format!(": {}", said.join(", ")) }
}
