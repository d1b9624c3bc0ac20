//! What a person should know about the sessions of a sync: those that failed, wait for a model, or were read in another way.

use nacre_api::wire::{PausedSession, SessionRun, SyncResult, SyncedSession};
use nacre_ops::host::raise_limit_hint;

use super::super::ui::Ui;

/// What a person should know about single sessions.
pub(super) fn print_notes(ui: &mut Ui, sessions: &[SyncedSession]) {
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
}

pub(super) fn run(session: &SyncedSession) -> Option<&SessionRun> {
    match &session.result {
        SyncResult::Done { report, .. } => Some(report),
        SyncResult::Failed { .. } => None,
    }
}

/// What waits for a model, and what may help.
pub(super) fn print_paused(ui: &mut Ui, paused: &[PausedSession]) {
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
