//! `nacre runs list`

use clap::Args;
use nacre_api::wire::{MaintainVerb, RunCounts, RunEntry, RunListReport, RunListRequest};
use nacre_ops::text::Shown;
use nacre_ops::{Host, OpError, run as ops};

use super::super::exit::Exit;
use super::super::memory::print_more;
use super::super::ui::{Role, Row, Ui};

/// A shorter end of an id is no hash.
const MIN_HASH: usize = 8;

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
    if report.runs.is_empty() {
        return ui.status("No runs yet.");
    }
    if ui.is_watched() {
        let head = ["run", "when", "what it did", "of"].map(|cell| (Role::Faint, cell.to_owned()));
        let rows = report.runs.iter().map(|run| watched_row(ui, run, &report.runs));
        let rows: Vec<Row> = std::iter::once(head.to_vec()).chain(rows).collect();
        ui.table(&rows)?;
    } else {
        let rows: Vec<Row> = report.runs.iter().map(row).collect();
        ui.table(&rows)?;
    }
    print_more(ui, report.total - report.runs.len())
}

fn row(run: &RunEntry) -> Row {
    vec![
        (Role::Id, run.id.clone()),
        (Role::Faint, run.counts.as_ref().map_or_else(|| "-".to_owned(), did)),
        (Role::Title, Shown(&run.of).one_line()),
    ]
}

/// A run as a person reads it: the end of its id, its age, and what it did in words.
fn watched_row(ui: &Ui, run: &RunEntry, all: &[RunEntry]) -> Row {
    let short = |id: &str| short_id(id, all.iter().map(|run| run.id.as_str())).to_owned();
    let when = started(&run.id).map_or_else(String::new, |time| ui.when(&time));
    let (mode, words) = (run.id.split('-').next().unwrap_or_default(), run.counts.as_ref());
    let did =
        words.map_or_else(|| mode.to_owned(), |counts| format!("{mode}: {}", in_words(counts)));
    let of =
        if all.iter().any(|other| other.id == run.of) { short(&run.of) } else { tail(&run.of) };
    vec![
        (Role::Id, short(&run.id)),
        (Role::Faint, when),
        (Role::Title, did),
        (Role::Faint, Shown(&of).one_line()),
    ]
}

/// The hash at the end of a run's id, where no other run ends with it.
fn short_id<'i>(id: &'i str, all: impl Iterator<Item = &'i str>) -> &'i str {
    let Some((_, end)) = id.rsplit_once('-') else { return id };
    let n_alike = all.filter(|other| other.ends_with(end)).count();
    if end.len() < MIN_HASH || n_alike > 1 { id } else { end }
}

/// When a run began, from its id: `sync-20261115-083000-abcdef12`.
fn started(id: &str) -> Option<String> {
    let mut parts = id.rsplit('-').skip(1);
    let (time, day) = (parts.next()?, parts.next()?);
    let (year, month, date) = (day.get(..4)?, day.get(4..6)?, day.get(6..8)?);
    let (hour, minute, second) = (time.get(..2)?, time.get(2..4)?, time.get(4..6)?);
    Some(format!("{year}-{month}-{date}T{hour}:{minute}:{second}Z"))
}

/// The end of a path: its start is the same in every row.
fn tail(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_owned()
}

/// What a run did, in words.
fn in_words(counts: &RunCounts) -> String {
    let parts = match counts {
        RunCounts::Sync(counts) => vec![
            (counts.add + counts.supersede, "added"),
            (counts.update, "updated"),
            (counts.no_op, "known already"),
        ],
        RunCounts::Maintain(counts) => {
            let n = |verb: MaintainVerb| counts.get(&verb).copied().unwrap_or_default();
            let merged = n(MaintainVerb::Merge) + n(MaintainVerb::Consolidate);
            vec![(merged as u64, "merged"), (n(MaintainVerb::Archive) as u64, "archived")]
        }
    };
    let parts = parts.into_iter().filter(|(n, _)| *n > 0);
    let parts: Vec<String> = parts.map(|(n, what)| format!("{n} {what}")).collect();
    if parts.is_empty() { "nothing new".to_owned() } else { parts.join(", ") }
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
