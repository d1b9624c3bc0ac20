//! Determines a session's queue state and the reason for it.

use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{Transaction, named_params};

use super::*;

use crate::transcript::{SessionFacts, SessionRole, Stamp};

/// Sessions whose project is not registered are skipped for this reason. They are queued once the
/// project is registered.
pub(super) const NO_PROJECT: &str = "no registered project";

/// Sessions are skipped for this reason if their transcript names a project that it is not trusted
/// for.
pub(super) const OUTSIDE: &str = "the trace is outside the project that it names";

/// Sessions are skipped for this reason if their transcript names no directory. The user can assign
/// them to a project.
pub(super) const NO_FOLDER: &str = "the trace does not contain its working directory";

pub(super) const GONE: &str = "the trace is gone";

/// Sessions in which Nacre used the agent as a model are skipped for this reason.
const QUESTION: &str = "the session is a question from Nacre";

/// The reason for skipping a copy consists of this prefix and the best copy's key.
pub(super) const SAME: &str = "same session as ";

#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) now: Timestamp,
    pub(super) quiet: Duration,
}

pub(super) struct Admission {
    pub(super) state: JobState,
    pub(super) reason: Option<String>,
    pub(super) not_before: i64,
}

impl Admission {
    pub(super) fn of(state: JobState, reason: &str) -> Self {
        Self { state, reason: Some(reason.to_owned()), not_before: 0 }
    }

    /// The job becomes due after a quiet period. The last event counts if it is older than the
    /// file, because files are also written when they are copied, and databases by other sessions.
    pub(super) fn pending(last_activity: Option<Timestamp>, stamp: Stamp, moment: Moment) -> Self {
        let quiet_ms = i64::try_from(moment.quiet.as_millis()).unwrap_or(i64::MAX);
        let last = [last_activity, stamp.modified].into_iter().flatten().min();
        let rests_at = last.map_or(0, |last| last.as_millisecond().saturating_add(quiet_ms));
        let not_before = if rests_at > moment.now.as_millisecond() { rests_at } else { 0 };
        Self { state: JobState::Pending, reason: None, not_before }
    }

    pub(super) fn skipped(reason: &str) -> Self {
        Self::of(JobState::Skipped, reason)
    }
}

pub(super) fn admit(
    facts: &SessionFacts,
    placing: &Placing,
    stamp: Stamp,
    moment: Moment,
) -> Admission {
    match facts.role {
        SessionRole::Main => {}
        SessionRole::SubAgent => return Admission::skipped("part of another session"),
        SessionRole::Helper => return Admission::skipped("an internal session of the agent"),
    }
    if facts.counts.user == 0 && 0 < facts.counts.questions {
        return Admission::skipped(QUESTION);
    }
    if facts.counts.user == 0 {
        return Admission::of(JobState::Empty, "the session has no user messages");
    }
    match placing {
        Placing::Project(_) => {}
        Placing::Elsewhere(_) => return Admission::skipped(OUTSIDE),
        Placing::Unregistered(_) => return Admission::skipped(NO_PROJECT),
        Placing::Nowhere => return Admission::skipped(NO_FOLDER),
    }
    Admission::pending(facts.last_activity, stamp, moment)
}

/// Updates a session's queue state, unless its job is running or the user skipped it.
pub(super) fn set_job(
    transaction: &Transaction,
    session: i64,
    admission: &Admission,
    now: Timestamp,
) -> rusqlite::Result<()> {
    transaction
        .prepare_cached(
            "INSERT INTO job (session, state, reason, not_before, changed)
             VALUES (:session, :state, :reason, :due, :now)
             ON CONFLICT (session) DO UPDATE SET state = :state, reason = :reason, not_before = :due,
               attempts = 0, changed = :now
             WHERE state != 'running' AND NOT (state = 'skipped' AND reason = 'by hand')",
        )?
        .execute(named_params! {
            ":session": session, ":state": admission.state.as_str(), ":reason": admission.reason,
            ":due": admission.not_before, ":now": now.as_millisecond(),
        })
        .map(drop)
}
