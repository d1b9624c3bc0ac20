//! `nacre undo`

use std::collections::BTreeMap;

use nacre_ops::undo as ops;
use nacre_types::{ChangeEntry, LimitRequest, UndoListReport, UndoReport, UndoRequest, UndoneHow};

use super::layout::minute;
use super::prelude::*;
use super::render::{print_changes, print_more, unique_end};

const MAX_NAMED: usize = 20;

/// Minimum length of a short id, which is the end of the full id. Shorter ids would match too many
/// changes.
const MIN_SHORT: usize = 4;

/// Undo what a command changed, byte for byte
///
/// Every command that changes something prints an id: a sync of many sessions has one id, and
/// `config set`, `connect`, `export`, `trust`, `project add` and `project remove` have one too.
/// `nacre undo ID` undoes that change, `nacre undo --last` the newest one; repeat it to undo the
/// one before. An undo can be undone. If the newest change cannot be undone, `--last` fails.
///
/// Your edits win: if a file was changed since, nothing is restored, and the error names the file
/// and what changed it. `--keep-changed` skips those memories and restores the others.
///
/// Undo data is stored in the change's run directory (`.nacre/workspace/`, never shared), for the
/// newest 200 runs of a kind (the setting runs.keep). For your settings, agents and projects, it is
/// stored in `~/.nacre/workspace/`. `nacre memory forget` cannot be undone, and deletes the memory
/// from the undo data of earlier runs. Sessions that a sync read stay marked as read: the next sync
/// does not bring back what you undid.
///
///   nacre undo --list                  list changes, newest first
///   nacre undo --last --dry-run        show what would be restored
///   nacre undo ID --keep-changed       skip what was changed since
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct UndoArgs {
    /// The id of the change or run, or the start or end of it
    #[arg(value_name = "ID", conflicts_with_all = ["last", "list"])]
    run: Option<String>,
    /// List changes, newest first
    #[arg(long, conflicts_with_all = ["last", "dry_run", "keep_changed"])]
    list: bool,
    /// List at most this many; 0 for all [default: the setting memory.max_results]
    #[arg(long, short = 'n', value_name = "N", requires = "list")]
    limit: Option<usize>,
    /// Undo the newest change that has not been undone
    #[arg(long)]
    last: bool,
    /// Show what would be restored without changing anything
    #[arg(long)]
    dry_run: bool,
    /// Skip memories that were changed since, and restore the others
    #[arg(long)]
    keep_changed: bool,
}

pub(crate) fn cmd_undo(ui: &mut Ui, host: &Host, args: UndoArgs) -> CommandResult {
    let UndoArgs { run, list, limit, last, dry_run, keep_changed } = args;
    if list {
        return ui.report(&ops::list(host, &LimitRequest { limit })?, print_list);
    }
    let run = run.unwrap_or_default();
    ui.report(&ops::undo(host, &UndoRequest { run, last, dry_run, keep_changed })?, print)
}

fn print(ui: &mut Ui, report: &UndoReport) {
    if let Some(changes) = &report.changes {
        print_changes(ui, changes);
    }
    let named = report.memories.iter().take(MAX_NAMED);
    ui.table(named.map(|memory| [faint(memory.done.as_str()), id(&memory.id)]));
    if report.memories.len() > MAX_NAMED {
        ui.status(format!("… {} more", report.memories.len() - MAX_NAMED));
    }
    for note in &report.notes {
        ui.line(ShownLine(note));
    }
    for kept in &report.kept {
        let by = kept.by.as_ref().map_or("edited".to_owned(), |by| format!("changed by {by}"));
        ui.warning(format!("Not restored, {by} since: {}", ShownLine(&kept.path)), None);
    }
    let counts = counts_text(report);
    let of = format!("{} ({})", ui.paint(Role::Id, &report.of), ShownLine(&report.command));
    if report.dry_run {
        return ui.status(format!("Would undo {of}{counts}; nothing was changed."));
    }
    ui.status(format!("Undid {of}{counts}"));
    ui.status(format!("Undo: nacre undo {}", report.run));
}

fn counts_text(report: &UndoReport) -> String {
    let mut counts: BTreeMap<UndoneHow, usize> = BTreeMap::new();
    report.memories.iter().for_each(|memory| *counts.entry(memory.done).or_default() += 1);
    let parts: Vec<String> =
        counts.iter().map(|(done, n)| format!("{n} {}", done.as_str())).collect();
    if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) }
}

fn print_list(ui: &mut Ui, report: &UndoListReport) {
    let changes = &report.changes;
    if changes.is_empty() {
        return ui.status("No changes yet.");
    }
    let mut rows: Vec<Row> = changes.iter().map(|change| row(ui, change, changes)).collect();
    if ui.is_watched() {
        rows.insert(0, ["change", "when", "command", "what"].map(faint).to_vec());
    }
    ui.table(rows);
    print_more(ui, report.total - changes.len());
}

fn row(ui: &Ui, change: &ChangeEntry, all: &[ChangeEntry]) -> Row {
    let short =
        |id: &str| unique_end(id, all.iter().map(|other| other.id.as_str()), MIN_SHORT).to_owned();
    if ui.is_watched() {
        let notes: Vec<String> = fate(change, short).into_iter().chain(what(change)).collect();
        let when = faint(ui.when(&change.at));
        return vec![id(short(&change.id)), when, title(&change.command), faint(notes.join(", "))];
    }
    let mut notes = what(change);
    notes.extend(fate(change, str::to_owned));
    let when = faint(minute(&change.at));
    vec![when, id(&change.id), title(&change.command), faint(notes.join(", "))]
}

fn what(change: &ChangeEntry) -> Vec<String> {
    let ChangeEntry { added, changed, removed, .. } = change;
    let mut notes = match (added + changed + removed, change.memories.first()) {
        (1, Some(memory)) => vec![memory.clone()],
        _ => [(added, "added"), (changed, "changed"), (removed, "removed")]
            .into_iter()
            .filter(|(n, _)| **n > 0)
            .map(|(n, verb)| format!("{n} {verb}"))
            .collect(),
    };
    notes.extend((!change.about.is_empty()).then(|| change.about.clone()));
    notes
}

fn fate(change: &ChangeEntry, short: impl Fn(&str) -> String) -> Option<String> {
    match (&change.undone_by, &change.undoes) {
        (Some(by), Some(of)) => Some(format!("undid {}, undone by {}", short(of), short(by))),
        (Some(by), None) => Some(format!("undone by {}", short(by))),
        (None, Some(of)) => Some(format!("undid {}", short(of))),
        (None, None) if !change.undoable => Some("cannot be undone".to_owned()),
        (None, None) => None,
    }
}
