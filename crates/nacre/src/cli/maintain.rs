//! `nacre maintain`

use std::time::Duration;

use nacre_ops::maintain as ops;
use nacre_types::{
    MaintainAction, MaintainReport, MaintainRequest, MaintainState, MaintainVerb, MaintainedStore,
    StoreMaintenance,
};

use super::prelude::*;
use super::remote::{by_server_or, server};
use super::render::print_changes;

const MAX_ACTIONS: usize = 10;

/// Table columns, and the actions that each one counts.
const COLUMNS: &[(&str, &[MaintainVerb])] = &[
    ("merged", &[MaintainVerb::Merge, MaintainVerb::Consolidate]),
    ("overturned", &[MaintainVerb::Supersede]),
    ("stale", &[MaintainVerb::Stale]),
    ("archived", &[MaintainVerb::Archive]),
    ("back", &[MaintainVerb::Restore, MaintainVerb::Freshen]),
    ("relinked", &[MaintainVerb::Relink]),
];

/// Merge duplicates, resolve contradictions, archive stale memories
///
/// Merges duplicates, marks memories contradicted by newer ones as superseded, marks memories about
/// deleted files as stale, archives memories that have not been confirmed or used for a long time,
/// and repairs links. Nothing is deleted: `nacre memory restore` restores a memory, and `nacre
/// undo` undoes a whole run. Running it again changes nothing, and stores without changes since the
/// last run are skipped. Exits with 3 if some projects failed.
#[derive(Debug, Args)]
pub(crate) struct MaintainArgs {
    /// Show what would change, line by line, without changing anything
    #[arg(long)]
    dry_run: bool,
    /// Run even if nothing has changed since the last run
    #[arg(long)]
    force: bool,
    /// Maintain all registered projects and your global memories
    #[arg(long)]
    all: bool,
    /// Let the model of the `lead` role write merged memories, and consolidate three or more short
    /// memories about the same point
    #[arg(long)]
    rewrite: bool,
    /// Read the model's responses from this file, for tests
    #[arg(long, value_name = "FILE", requires = "rewrite")]
    scripted: Option<String>,
}

pub(crate) fn cmd_maintain(ui: &mut Ui, host: &Host, args: MaintainArgs) -> CommandResult {
    let MaintainArgs { dry_run, force, all, rewrite, scripted } = args;
    // Only this process can read the script file by its path.
    let server = if scripted.is_some() { None } else { server(ui, host) };
    let request = MaintainRequest { dry_run, force, all, rewrite, scripted };
    let events = ui.cancellable_events();
    let here = |events: &_| ops::maintain(host, &request, events);
    let report = by_server_or(server, "POST /api/maintain", &request, &events, here)?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, MaintainReport { dry_run, projects }: &MaintainReport) {
    for store in projects {
        match &store.report {
            Some(report) if *dry_run => print_plan(ui, store, report),
            Some(_) => {}
            None => {
                let causes = store.causes.iter().flatten();
                let why = store.reason.iter().chain(causes).map(String::as_str);
                let why = why.collect::<Vec<_>>().join(": ");
                let hint = store.hints.iter().flatten().next().map(String::as_str);
                ui.warning(format!("Could not maintain {}: {why}", store.project), hint);
            }
        }
    }
    if *dry_run {
        return;
    }
    let mut head = vec![faint("project"), faint("memories")];
    head.extend(COLUMNS.iter().map(|(name, _)| faint(name)));
    head.extend([faint("time"), faint("")]);
    ui.table(std::iter::once(head).chain(projects.iter().map(row)));
    for report in projects.iter().filter_map(|store| store.report.as_ref()) {
        for action in report.actions.iter().take(MAX_ACTIONS) {
            print_action(ui, action);
        }
        if report.actions.len() > MAX_ACTIONS {
            let n_more = report.actions.len() - MAX_ACTIONS;
            ui.line(format!("  and {n_more} more; `nacre runs RUN` shows all"));
        }
        for open in &report.contradictions {
            ui.warning(
                format!("{} may contradict {}: {}", open.newer, open.older, open.reason),
                Some("Resolve it: nacre memory archive ID, or nacre feedback ID outdated"),
            );
        }
        if let Some(run) = &report.run_id {
            ui.status(format!("Undo: nacre undo {run}"));
        }
    }
}

fn row(store: &MaintainedStore) -> Row {
    let number = |n: Option<usize>| n.map_or_else(|| "-".to_owned(), |n| n.to_string());
    let report = store.report.as_ref().filter(|_| store.state != MaintainState::Skipped);
    let mut row = vec![id(&store.project), faint(number(report.map(|report| report.memories)))];
    for (_, verbs) in COLUMNS {
        let count = |report: &StoreMaintenance| {
            verbs.iter().filter_map(|verb| report.counts.get(verb)).sum()
        };
        row.push(cell(Role::Good, number(report.map(count))));
    }
    let took = Duration::from_millis(store.ms);
    row.push(faint(format!("{:.1}s", took.as_secs_f64())));
    row.push(title(match store.state {
        MaintainState::Done => "",
        MaintainState::Clean => "nothing to do",
        MaintainState::Skipped => "unchanged since the last run",
        MaintainState::Failed => "failed",
    }));
    row
}

fn print_action(ui: &mut Ui, action: &MaintainAction) {
    let with = action.with.as_ref().map(|with| format!(" → {with}")).unwrap_or_default();
    let line = format!("{} {}{with}: {}", action.action.as_str(), action.target, action.reason);
    ui.line(format!("  {}", Shown(&line).one_line()));
}

fn print_plan(ui: &mut Ui, store: &MaintainedStore, report: &StoreMaintenance) {
    ui.note(0, Role::Title, &store.project);
    for action in &report.actions {
        print_action(ui, action);
    }
    for open in &report.contradictions {
        ui.line(format!("  open: {} may contradict {}: {}", open.newer, open.older, open.reason));
    }
    // Some actions only change the local state, of which no lines are shown.
    let changes = store.changes.as_deref().unwrap_or_default();
    if report.actions.is_empty() || !changes.is_empty() {
        print_changes(ui, changes);
    }
}
