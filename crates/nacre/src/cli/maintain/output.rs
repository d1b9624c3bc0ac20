//! What a maintenance did, as a table; what it would do, line by line.

use std::time::Duration;

use nacre_api::wire::{
    MaintainAction, MaintainReport, MaintainState, MaintainVerb, MaintainedStore, StoreMaintenance,
};
use nacre_ops::OpError;
use nacre_ops::text::Shown;

use super::super::changes::print_changes;
use super::super::ui::{Role, Ui};

/// How many changed memories are named.
const MAX_ACTIONS: usize = 10;

/// What the table counts, by the verbs of the actions.
const COLUMNS: &[(&str, &[MaintainVerb])] = &[
    ("merged", &[MaintainVerb::Merge, MaintainVerb::Consolidate]),
    ("overturned", &[MaintainVerb::Supersede]),
    ("stale", &[MaintainVerb::Stale]),
    ("archived", &[MaintainVerb::Archive]),
    ("back", &[MaintainVerb::Restore, MaintainVerb::Freshen]),
    ("relinked", &[MaintainVerb::Relink]),
];

pub(super) fn print(ui: &mut Ui, report: &MaintainReport) -> Result<(), OpError> {
    let MaintainReport { dry_run, projects } = report;
    for store in projects {
        match &store.report {
            Some(report) if *dry_run => print_plan(ui, store, report)?,
            Some(_) => {}
            None => warn_of_failure(ui, store),
        }
    }
    if *dry_run {
        return Ok(());
    }
    ui.table(&rows(projects))?;
    for report in projects.iter().filter_map(|store| store.report.as_ref()) {
        print_done(ui, report)?;
        for open in &report.contradictions {
            ui.warning(
                format!("{} may contradict {}: {}", open.newer, open.older, open.reason),
                Some("Settle it: nacre memory archive ID, or nacre feedback ID outdated"),
            );
        }
        if let Some(run) = &report.run_id {
            ui.status(format!("Undo: nacre undo {run}"))?;
        }
    }
    Ok(())
}

fn warn_of_failure(ui: &mut Ui, store: &MaintainedStore) {
    let causes = store.causes.iter().flatten();
    let why: Vec<&str> = store.reason.iter().chain(causes).map(String::as_str).collect();
    let hint = store.hints.iter().flatten().next().map(String::as_str);
    ui.warning(format!("{} could not be maintained: {}", store.project, why.join(": ")), hint);
}

fn rows(stores: &[MaintainedStore]) -> Vec<Vec<(Role, String)>> {
    let mut head = vec![(Role::Faint, "project".to_owned()), (Role::Faint, "memories".to_owned())];
    head.extend(COLUMNS.iter().map(|(name, _)| (Role::Faint, (*name).to_owned())));
    head.extend([(Role::Faint, "time".to_owned()), (Role::Faint, String::new())]);
    std::iter::once(head).chain(stores.iter().map(row)).collect()
}

fn row(store: &MaintainedStore) -> Vec<(Role, String)> {
    let number = |n: Option<usize>| n.map_or_else(|| "-".to_owned(), |n| n.to_string());
    let looked = store.report.as_ref().filter(|_| store.state != MaintainState::Skipped);
    let mut row = vec![
        (Role::Id, Shown(&store.project).one_line()),
        (Role::Faint, number(looked.map(|report| report.memories))),
    ];
    for (_, verbs) in COLUMNS {
        let count = |report: &StoreMaintenance| {
            verbs.iter().filter_map(|verb| report.counts.get(verb)).sum()
        };
        row.push((Role::Good, number(looked.map(count))));
    }
    let took = Duration::from_millis(store.ms);
    row.push((Role::Faint, format!("{:.1}s", took.as_secs_f64())));
    row.push((Role::Title, state_text(store.state).to_owned()));
    row
}

fn state_text(state: MaintainState) -> &'static str {
    match state {
        MaintainState::Done => "",
        MaintainState::Clean => "nothing to do",
        MaintainState::Skipped => "unchanged since the last run",
        MaintainState::Failed => "failed",
    }
}

/// The memories that were changed.
fn print_done(ui: &mut Ui, report: &StoreMaintenance) -> Result<(), OpError> {
    report.actions.iter().take(MAX_ACTIONS).try_for_each(|action| print_action(ui, action))?;
    match report.actions.len().checked_sub(MAX_ACTIONS).filter(|n_more| *n_more > 0) {
        Some(n_more) => ui.line(format!("  and {n_more} more; `nacre runs show` has them all")),
        None => Ok(()),
    }
}

fn print_action(ui: &mut Ui, action: &MaintainAction) -> Result<(), OpError> {
    let with = action.with.as_ref().map(|with| format!(" → {with}")).unwrap_or_default();
    let line = format!("{} {}{with}: {}", action.action.as_str(), action.target, action.reason);
    ui.line(format!("  {}", Shown(&line).one_line()))
}

fn print_plan(
    ui: &mut Ui,
    store: &MaintainedStore,
    report: &StoreMaintenance,
) -> Result<(), OpError> {
    ui.line(ui.paint(Role::Title, Shown(&store.project).one_line()))?;
    report.actions.iter().try_for_each(|action| print_action(ui, action))?;
    for open in &report.contradictions {
        ui.line(format!("  open: {} may contradict {}: {}", open.newer, open.older, open.reason))?;
    }
    print_changes(ui, store.changes.as_deref().unwrap_or_default())
}
