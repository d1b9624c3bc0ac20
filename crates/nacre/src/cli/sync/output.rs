//! What a sync did: what was read, what was learned, what waits, and what to type next.

use std::path::Path;

use nacre_api::wire::{SessionOutcome, SyncReport, SyncTraceReport, SyncedSession};
use nacre_ops::host::short;
use nacre_ops::text::Shown;
use nacre_ops::{Host, OpError};

use super::super::intake::{print_waiting, sessions_text, switched_off_text};
use super::super::memory::print_undo;
use super::super::ui::{Role, Ui};
use super::learned::{print_learned, print_totals};
use super::notes::{print_notes, print_paused, run};

/// How many places are named where no sessions were found.
const MAX_PLACES: usize = 5;

pub(super) fn print(ui: &mut Ui, host: &Host, report: &SyncReport) -> Result<(), OpError> {
    let off = switched_off_text(&report.switched_off);
    if report.sources > 0 || off.is_none() {
        ui.status(read_text(report))?;
    }
    if let Some(off) = off {
        ui.status(off)?;
    }
    print_sums(ui, report)?;
    for problem in &report.problems {
        let path = short(host, Path::new(&problem.path));
        ui.warning(format!("Skipped {path}: {}", problem.reason), None);
    }
    print_learned(ui, &report.learned)?;
    print_totals(ui, &report.totals)?;
    print_notes(ui, &report.sessions);
    print_paused(ui, &report.paused);
    if report.busy {
        ui.warning(
            "Another process is writing to a store; the rest waits in the queue",
            Some("nacre sync"),
        );
    }
    print_waiting(ui, host, &report.waiting)?;
    if let Some(here) = &report.not_set_up_here {
        let path = short(host, Path::new(&here.path));
        ui.status(match here.sessions {
            0 => format!("{path} is not set up: nothing is kept of its sessions."),
            n => format!("{path} is not set up: nothing is kept of its {}.", sessions_text(n)),
        })?;
    }
    // A sync that did nothing left nothing to show or to undo.
    let is_done = report.sessions.iter().any(has_written);
    print_undo(ui, is_done.then_some(report.run.as_str()))?;
    match &report.next {
        Some(next) => ui.status(format!("Next: {}", ui.paint(Role::Title, next))),
        None => Ok(()),
    }
}

/// Whether a session left a run folder.
fn has_written(session: &SyncedSession) -> bool {
    run(session).is_some_and(|run| run.outcome != SessionOutcome::Unchanged)
}

/// What was read, or why nothing was.
fn read_text(report: &SyncReport) -> String {
    let SyncReport { sources, unchanged, read, looked_in, .. } = report;
    let paths = |exists: bool| {
        let places = looked_in.iter().filter(|place| place.exists == exists);
        let paths: Vec<String> = places.map(|place| Shown(&place.path).one_line()).collect();
        let mut named = paths[..paths.len().min(MAX_PLACES)].join(", ");
        if paths.len() > MAX_PLACES {
            let n_more = paths.len() - MAX_PLACES;
            named.push_str(&format!(" and {n_more} more places (`nacre connect list`)"));
        }
        named
    };
    match (*sources, *read) {
        (0, _) if looked_in.iter().any(|place| place.exists) => {
            format!("Found no sessions in {}.", paths(true))
        }
        (0, _) => format!("Found no coding agent: there is none of {}.", paths(false)),
        (1, 0) => "Nothing new to read in 1 file of sessions.".to_owned(),
        (_, 0) => format!("Nothing new to read in {sources} files of sessions."),
        (_, _) if *unchanged == 1 => {
            format!("Read {}; 1 file has not changed.", sessions_text(*read))
        }
        (_, _) if *unchanged > 1 => {
            format!("Read {}; {unchanged} files have not changed.", sessions_text(*read))
        }
        (_, _) => format!("Read {}.", sessions_text(*read)),
    }
}

fn print_sums(ui: &mut Ui, report: &SyncReport) -> Result<(), OpError> {
    let SyncReport { readmitted, reworded, gone, left, .. } = report;
    let sums = [
        (
            readmitted,
            format!("Queued {} of projects that were set up since.", sessions_text(*readmitted)),
        ),
        (
            reworded,
            format!(
                "Took words of `redact.extra` out of {} that were read before.",
                sessions_text(*reworded)
            ),
        ),
        (gone, format!("{} can no longer be read: the files are gone.", sessions_text(*gone))),
        (left, format!("{left} files are left for the next sync.")),
    ];
    sums.iter().filter(|(sum, _)| **sum > 0).try_for_each(|(_, line)| ui.status(line))
}

/// What a sync of one session did.
pub(super) fn print_trace(ui: &mut Ui, report: &SyncTraceReport) -> Result<(), OpError> {
    print_learned(ui, &report.learned)?;
    let is_unchanged = |session: &SyncedSession| {
        run(session).is_some_and(|run| run.outcome == SessionOutcome::Unchanged)
    };
    if report.sessions.iter().any(is_unchanged) {
        ui.status("The session has not changed since it was read; `--force` reads it again.")?;
    } else {
        print_totals(ui, &report.totals)?;
    }
    print_notes(ui, &report.sessions);
    print_undo(ui, report.change.as_deref())
}
