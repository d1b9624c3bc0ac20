//! `nacre undo list`

use clap::Args;
use nacre_api::wire::{ChangeEntry, UndoListReport, UndoListRequest};
use nacre_ops::text::ShownLine;
use nacre_ops::{Host, OpError, undo as ops};

use super::super::exit::Exit;
use super::super::memory::print_more;
use super::super::ui::{Role, Row, Ui};

/// A shorter end of an id names too many changes.
const MIN_SHORT: usize = 4;

/// List what was changed here, the newest first
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// At most this many; 0 for all [default: the setting memory.max_results]
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
}

pub(super) fn cmd_list(ui: &mut Ui, host: &Host, args: &ListArgs) -> Result<Exit, OpError> {
    let report = ops::list(host, &UndoListRequest { limit: args.limit })?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &UndoListReport) -> Result<(), OpError> {
    let changes = &report.changes;
    if changes.is_empty() {
        return ui.status("Nothing was changed yet.");
    }
    if ui.is_watched() {
        let head = ["change", "when", "command", "what"].map(|cell| (Role::Faint, cell.to_owned()));
        let rows = changes.iter().map(|change| watched_row(ui, change, changes));
        let rows: Vec<Row> = std::iter::once(head.to_vec()).chain(rows).collect();
        ui.table(&rows)?;
    } else {
        let rows: Vec<Row> = changes.iter().map(row).collect();
        ui.table(&rows)?;
    }
    print_more(ui, report.total - changes.len())
}

fn row(change: &ChangeEntry) -> Row {
    let when = change.at.get(..16).unwrap_or(&change.at).replace('T', " ");
    let mut said = what(change);
    said.extend(fate(change, str::to_owned));
    vec![
        (Role::Faint, when),
        (Role::Id, ShownLine(&change.id).to_string()),
        (Role::Title, ShownLine(&change.command).to_string()),
        (Role::Faint, ShownLine(&said.join(", ")).to_string()),
    ]
}

/// A change as a person reads it: an id that can be typed, its age, and first whether it stands.
fn watched_row(ui: &Ui, change: &ChangeEntry, all: &[ChangeEntry]) -> Row {
    let short = |id: &str| short_id(id, all).to_owned();
    let mut said: Vec<String> = fate(change, short).into_iter().collect();
    said.extend(what(change));
    vec![
        (Role::Id, ShownLine(short_id(&change.id, all)).to_string()),
        (Role::Faint, ui.when(&change.at)),
        (Role::Title, ShownLine(&change.command).to_string()),
        (Role::Faint, ShownLine(&said.join(", ")).to_string()),
    ]
}

/// The end of an id, where no other id of the list has it.
fn short_id<'i>(id: &'i str, all: &[ChangeEntry]) -> &'i str {
    let Some((_, end)) = id.rsplit_once('-') else { return id };
    let n_alike = all.iter().filter(|other| other.id.ends_with(end)).count();
    if end.len() < MIN_SHORT || n_alike > 1 { id } else { end }
}

/// How much was changed.
fn what(change: &ChangeEntry) -> Vec<String> {
    let counts =
        [(change.added, "added"), (change.changed, "changed"), (change.removed, "removed")];
    let counts = counts.iter().filter(|(n, _)| *n > 0).map(|(n, verb)| format!("{n} {verb}"));
    let mut said: Vec<String> = counts.collect();
    if let (1, Some(memory)) =
        (change.added + change.changed + change.removed, change.memories.first())
    {
        said = vec![memory.clone()];
    }
    said.extend((!change.about.is_empty()).then(|| change.about.clone()));
    said
}

/// Whether it stands, and what it took back.
fn fate(change: &ChangeEntry, short: impl Fn(&str) -> String) -> Option<String> {
    match (&change.undone_by, &change.undoes) {
        (Some(by), Some(of)) => Some(format!("undid {}, undone by {}", short(of), short(by))),
        (Some(by), None) => Some(format!("undone by {}", short(by))),
        (None, Some(of)) => Some(format!("undid {}", short(of))),
        (None, None) if !change.undoable => Some("cannot be undone".to_owned()),
        (None, None) => None,
    }
}
