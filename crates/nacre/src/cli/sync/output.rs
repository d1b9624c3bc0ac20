//! What a sync did: the sums, one row a session, and what went wrong.

use std::path::Path;
use std::time::Duration;

use nacre_api::wire::{
    PausedSession, SessionOutcome, SessionRun, SyncReport, SyncResult, SyncedSession,
};
use nacre_ops::host::{raise_limit_hint, short};
use nacre_ops::text::Shown;
use nacre_ops::{Host, OpError};

use super::super::ui::{Role, Ui};

pub(super) fn print(ui: &mut Ui, host: &Host, report: &SyncReport) -> Result<(), OpError> {
    print_sums(ui, report)?;
    for problem in &report.problems {
        let path = short(host, Path::new(&problem.path));
        ui.warning(format!("Skipped {path}: {}", problem.reason), None);
    }
    print_sessions(ui, &report.sessions)?;
    print_paused(ui, &report.paused);
    if report.busy {
        ui.warning(
            "Another process is writing to a store; the rest waits in the queue",
            Some("nacre sync"),
        );
    }
    ui.status(format!("Run: {}", report.run))
}

fn print_sums(ui: &mut Ui, report: &SyncReport) -> Result<(), OpError> {
    ui.status(format!(
        "Read {} sessions of {} sources ({} unchanged, {} went on where they had ended).",
        report.read, report.sources, report.unchanged, report.resumed
    ))?;
    let SyncReport { readmitted, reworded, gone, left, .. } = report;
    let sums = [
        (readmitted, format!("Admitted {readmitted} sessions of projects registered since.")),
        (
            reworded,
            format!(
                "Took words of `redact.extra` out of {reworded} sessions that were read before."
            ),
        ),
        (gone, format!("{gone} waiting sessions are gone.")),
        (left, format!("{left} sources are left for the next sync.")),
    ];
    sums.iter().filter(|(sum, _)| **sum > 0).try_for_each(|(_, line)| ui.status(line))
}

/// The table of what was worked off, and what a person should know about it.
pub(super) fn print_sessions(ui: &mut Ui, sessions: &[SyncedSession]) -> Result<(), OpError> {
    if sessions.is_empty() {
        return Ok(());
    }
    let head = ["session", "agent", "added", "updated", "no-op", "dropped", "time", "cost", ""];
    let mut rows = vec![head.map(|cell| (Role::Faint, cell.to_owned())).to_vec()];
    rows.extend(sessions.iter().map(row));
    ui.table(&rows)?;
    let runs = || sessions.iter().filter_map(|session| Some((&session.id, run(session)?)));
    for (id, run) in runs() {
        if let SessionRun { limit: Some(key), fallback: Some(why), .. } = run {
            let message = format!("{id} was read by the rules alone: {why}");
            let hint = format!("nacre config set {key} N, then nacre sync --force --trace {id}");
            ui.warning(message, Some(&hint));
        }
    }
    for (id, run) in runs() {
        if let Some(why) = &run.lead_error {
            let message = format!("The lead could not settle all of {id}, so the rule did: {why}");
            ui.warning(message, Some("`nacre events` shows what it did; `nacre model test --role lead` asks for one word"));
        }
    }
    for SyncedSession { id, result, .. } in sessions {
        if let SyncResult::Failed { reason } = result {
            ui.warning(
                format!("{id} could not be synced: {reason}"),
                Some("`nacre queue` shows when it is tried again; `nacre retry ID` does it now"),
            );
        }
    }
    Ok(())
}

fn run(session: &SyncedSession) -> Option<&SessionRun> {
    match &session.result {
        SyncResult::Done { report, .. } => Some(report),
        SyncResult::Failed { .. } => None,
    }
}

/// What waits for a model, and what may help.
fn print_paused(ui: &mut Ui, paused: &[PausedSession]) {
    for PausedSession { id, reason, limit } in paused {
        let hint = match limit {
            Some(key) => raise_limit_hint(key),
            None => "`nacre model test` asks the model for one word; --strategy offline needs none"
                .to_owned(),
        };
        ui.warning(
            format!("Model work is paused: {id} and what follows it stay in the queue: {reason}"),
            Some(&hint),
        );
    }
}

fn row(session: &SyncedSession) -> Vec<(Role, String)> {
    let none = || "-".to_owned();
    let (added, updated, no_op, n_dropped, cost, note) = match &session.result {
        SyncResult::Done { report, dropped } => {
            let counts = report.counts;
            let note = match report.outcome {
                SessionOutcome::Unchanged => "unchanged".to_owned(),
                SessionOutcome::Done => Shown(&session.title).one_line(),
            };
            let added = counts.add + counts.supersede;
            let [added, updated, no_op, dropped] =
                [added, counts.update, counts.no_op, *dropped].map(|count| count.to_string());
            (added, updated, no_op, dropped, report.cost_usd, note)
        }
        SyncResult::Failed { .. } => (none(), none(), none(), none(), 0.0, "failed".to_owned()),
    };
    vec![
        (Role::Id, session.id.clone()),
        (Role::Faint, session.agent.clone()),
        (Role::Good, added),
        (Role::Good, updated),
        (Role::Faint, no_op),
        (Role::Faint, n_dropped),
        (Role::Faint, format!("{:.1}s", Duration::from_millis(session.ms).as_secs_f64())),
        (Role::Faint, format!("${cost:.2}")),
        (Role::Title, note),
    ]
}
