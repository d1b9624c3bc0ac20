//! Prints the results of a sync, or of its preview.

use std::path::Path;

use nacre_ops::connect::lacks_hooks;
use nacre_ops::host::{raise_limit_hint, short};
use nacre_types::{
    DropReason, LearnedChange, LearnedMemory, PausedSession, PlannedSession, SessionOutcome,
    SessionRun, Strategy, SyncPreviewReport, SyncReport, SyncResult, SyncTotals, SyncTraceReport,
    SyncedSession,
};

use crate::cli::prelude::*;
use crate::cli::render::{count, memories_text, parenthesize, print_changes, print_undo};
use crate::cli::sessions::{describe_disconnected, print_waiting, sessions_text};

const MAX_PLACES: usize = 5;

const MAX_LEARNED: usize = 10;

pub(super) fn print(ui: &mut Ui, host: &Host, report: &SyncReport) {
    let off = describe_disconnected(&report.switched_off);
    if report.sources > 0 || off.is_none() {
        ui.status(read_text(report));
    }
    if let Some(off) = off {
        ui.status(off);
    }
    let SyncReport { readmitted, reworded, gone, left, .. } = report;
    let text = |n: &u64| sessions_text(*n);
    for (n, line) in [
        (readmitted, format!("Queued {} of newly set up projects.", text(readmitted))),
        (reworded, format!("Redacted `redact.extra` words in {} read earlier.", text(reworded))),
        (gone, format!("{} can no longer be read: the files are missing.", text(gone))),
        (left, format!("{left} files are left for the next sync.")),
    ] {
        if *n > 0 {
            ui.status(line);
        }
    }
    for problem in &report.problems {
        let path = short(host, Path::new(&problem.path));
        ui.warning(format!("Skipped {path}: {}", problem.reason), None);
    }
    print_learned(ui, &report.learned);
    print_totals(ui, report.totals);
    print_notes(ui, &report.sessions);
    for PausedSession { id, reason, limit } in &report.paused {
        let hint = match limit {
            Some(key) => raise_limit_hint(key),
            None => "`nacre model test` tests the model; --strategy offline does not need one"
                .to_owned(),
        };
        ui.warning(
            format!("Model work is paused: {id} and later sessions stay in the queue: {reason}"),
            Some(&hint),
        );
    }
    if report.busy {
        ui.warning(
            "Another process is writing to a store; the other sessions stay in the queue",
            Some("nacre sync"),
        );
    }
    print_waiting(ui, host, &report.waiting);
    if let Some(here) = &report.not_set_up_here {
        let path = short(host, Path::new(&here.path));
        ui.status(match here.sessions {
            0 => format!("{path} is not set up: its sessions are not turned into memories."),
            n => format!(
                "{path} is not set up: its {} are not turned into memories.",
                sessions_text(n)
            ),
        });
    }
    // If no session was written, there is nothing to undo.
    let has_written = report.sessions.iter().filter_map(run).any(|run| !is_unchanged(run));
    print_undo(ui, has_written.then_some(report.run.as_str()));
    let connect = || lacks_hooks(host).then_some("nacre connect auto");
    if let Some(next) = report.next.as_deref().or_else(connect) {
        ui.status(format!("Next: {}", ui.paint(Role::Title, next)));
    }
}

fn read_text(report: &SyncReport) -> String {
    let SyncReport { sources, unchanged, read, looked_in, .. } = report;
    let paths = |exists: bool| {
        let places = looked_in.iter().filter(|place| place.exists == exists);
        let paths: Vec<String> = places.map(|place| Shown(&place.path).one_line()).collect();
        let mut named = paths[..paths.len().min(MAX_PLACES)].join(", ");
        if paths.len() > MAX_PLACES {
            let n_more = paths.len() - MAX_PLACES;
            named.push_str(&format!(" and {n_more} more locations (`nacre connect list`)"));
        }
        named
    };
    let sessions = sessions_text(*read);
    match (*sources, *read) {
        (0, _) if looked_in.iter().any(|place| place.exists) => {
            format!("Found no sessions in {}.", paths(true))
        }
        (0, _) => format!("No coding agent found in: {}.", paths(false)),
        (_, 0) => format!("No new content in {}.", count(*sources as usize, "session file")),
        (_, _) if *unchanged == 0 => format!("Read {sessions}."),
        (_, _) => format!("Read {sessions}; {} unchanged.", count(*unchanged as usize, "file")),
    }
}

pub(super) fn print_trace(ui: &mut Ui, report: &SyncTraceReport) {
    print_learned(ui, &report.learned);
    if report.sessions.iter().filter_map(run).any(is_unchanged) {
        ui.status("The session has not changed since the last sync; `--force` reads it again.");
    } else {
        print_totals(ui, report.totals);
    }
    print_notes(ui, &report.sessions);
    print_undo(ui, report.change.as_deref());
}

fn run(session: &SyncedSession) -> Option<&SessionRun> {
    match &session.result {
        SyncResult::Done { report, .. } => Some(report),
        SyncResult::Failed { .. } => None,
    }
}

fn is_unchanged(run: &SessionRun) -> bool {
    run.outcome == SessionOutcome::Unchanged
}

fn print_learned(ui: &mut Ui, learned: &[LearnedMemory]) {
    let has_projects = learned.iter().any(|memory| memory.project != learned[0].project);
    for memory in learned.iter().take(MAX_LEARNED) {
        let mut notes = Vec::new();
        notes.extend((memory.change == LearnedChange::Updated).then_some("updated"));
        notes.extend(memory.is_candidate.then_some("to review"));
        notes.extend(has_projects.then_some(memory.project.as_str()));
        let notes = ui.paint(Role::Faint, parenthesize(" ", &notes));
        let title = ui.paint(Role::Title, Shown(&memory.title).one_line());
        ui.line(format!("  {:<8}  {title}{notes}", memory.r#type.as_str()));
    }
    if learned.len() > MAX_LEARNED {
        ui.line(format!("  and {} more", learned.len() - MAX_LEARNED));
    }
}

fn print_totals(ui: &mut Ui, totals: SyncTotals) {
    let SyncTotals { sessions, failed, added, to_review, updated, superseded, .. } = totals;
    let SyncTotals { active, summaries, cost_usd, .. } = totals;
    if sessions + failed == 0 {
        return;
    }
    let learned = memories_text(added as usize);
    let mut parts = vec![match (added, to_review) {
        (0, _) => "no new memory".to_owned(),
        (_, 0) => format!("{learned} learned"),
        (_, _) => format!("{learned} learned ({active} active, {to_review} to review)"),
    }];
    parts.extend((updated > 0).then(|| format!("{updated} updated")));
    parts.extend((superseded > 0).then(|| format!("{superseded} superseded")));
    parts.extend((summaries > 0).then(|| count(summaries as usize, "summary")));
    parts.extend((cost_usd > 0.0).then(|| format!("${cost_usd:.2} for models")));
    parts.extend((failed > 0).then(|| format!("{failed} failed")));
    ui.status(format!("{}: {}.", sessions_text(sessions + failed), parts.join(", ")));
}

fn print_notes(ui: &mut Ui, sessions: &[SyncedSession]) {
    let runs = || sessions.iter().filter_map(|session| Some((&session.id, run(session)?)));
    for (id, run) in runs() {
        let n_lost = [DropReason::LeftOut, DropReason::OverCap];
        let n_lost: u64 = n_lost.iter().filter_map(|reason| run.dropped.get(reason)).sum();
        if n_lost > 0 {
            let claims = count(n_lost as usize, "claim");
            let path = format!("{}/extract.json", run.run_folder);
            ui.status(format!("Left out {claims} of {id}: {}", Shown(&path).one_line()));
        }
    }
    for (id, run) in runs() {
        if let SessionRun { strategy: Strategy::Offline, fallback: Some(why), limit, .. } = run {
            let message = format!("{id} was read only by rules: {why}");
            let set = limit.as_ref().map(|key| format!("nacre config set {key} N"));
            let set = set.unwrap_or_else(|| "Set another model".to_owned());
            ui.warning(message, Some(&format!("{set}, then nacre sync --force --trace {id}")));
        }
    }
    for (id, run) in runs() {
        if let Some(why) = &run.lead_error {
            let message = format!("The lead failed on parts of {id}, so rules were used: {why}");
            let hint = "`nacre events` shows what the lead did; `nacre model test --role lead` \
             tests it";
            ui.warning(message, Some(hint));
        }
    }
    for SyncedSession { id, result, .. } in sessions {
        if let SyncResult::Failed { reason } = result {
            ui.warning(
                format!("Could not sync {id}: {reason}"),
                Some("`nacre queue` shows when it is retried; `nacre queue --retry ID` retries it now"),
            );
        }
    }
}

pub(super) fn print_preview(ui: &mut Ui, host: &Host, report: &SyncPreviewReport) {
    let SyncPreviewReport { would_read, sources, unchanged: _, sessions, waiting } = report;
    ui.table(would_read.iter().map(|source| {
        let path = short(host, Path::new(&source.path));
        [id(&source.agent), faint(path)]
    }));
    ui.status(format!("Would read {} of {sources} sources.", would_read.len()));
    print_planned(ui, sessions);
    if let Some(waiting) = waiting {
        print_waiting(ui, host, waiting);
    }
}

pub(super) fn print_planned(ui: &mut Ui, sessions: &[PlannedSession]) {
    for PlannedSession { report, changes } in sessions {
        ui.note(0, Role::Title, &report.trace_path);
        for action in &report.actions {
            let line = format!("{}: {} ({})", action.action.as_str(), action.title, action.reason);
            ui.line(format!("  {}", Shown(&line).one_line()));
        }
        print_changes(ui, changes);
    }
}
