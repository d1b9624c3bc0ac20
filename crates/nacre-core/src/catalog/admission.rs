//! Where a session stands in the queue, and why.

use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{Transaction, named_params};

use super::job::JobState;
use super::place::Placing;
use crate::transcript::{SessionFacts, SessionRole, Stamp};

/// The reason of sessions that a registration admits.
pub(super) const NO_PROJECT: &str = "no registered project";

/// The reason of sessions that name a project which their trace may not speak for.
pub(super) const OUTSIDE: &str = "the trace lies outside the project that it names";

/// The reason of sessions whose trace is no longer there.
pub(super) const GONE: &str = "the trace is gone";

/// The reason of what an agent kept of a question that Nacre asked it as a model.
const QUESTION: &str = "a question of Nacre's own";

/// How the reason of a copy begins.
pub(super) const SAME: &str = "same session as ";

/// What a decision must know of the refresh it is part of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) now: Timestamp,
    pub(super) quiet: Duration,
}

/// Where a session stands in the queue after it was read.
pub(super) struct Admission {
    pub(super) state: JobState,
    pub(super) reason: Option<String>,
    pub(super) not_before: i64,
}

impl Admission {
    pub(super) fn dead(reason: &str) -> Self {
        Self { state: JobState::Dead, reason: Some(reason.to_owned()), not_before: 0 }
    }

    /// Waits for a run, which begins no earlier than the trace has been quiet for a while.
    pub(super) fn pending(stamp: Stamp, moment: Moment) -> Self {
        let quiet_ms = i64::try_from(moment.quiet.as_millis()).unwrap_or(i64::MAX);
        let rests_at =
            stamp.modified.map_or(0, |modified| modified.as_millisecond().saturating_add(quiet_ms));
        let not_before = if rests_at > moment.now.as_millisecond() { rests_at } else { 0 };
        Self { state: JobState::Pending, reason: None, not_before }
    }

    pub(super) fn skipped(reason: &str) -> Self {
        Self { state: JobState::Skipped, reason: Some(reason.to_owned()), not_before: 0 }
    }
}

/// Decides what a session waits for.
pub(super) fn admit(
    facts: &SessionFacts,
    placing: &Placing,
    stamp: Stamp,
    moment: Moment,
) -> Admission {
    match facts.role {
        SessionRole::Main => {}
        SessionRole::SubAgent => return Admission::skipped("part of another session"),
        SessionRole::Helper => return Admission::skipped("the agent's own housekeeping"),
    }
    if facts.counts.user == 0 && 0 < facts.counts.questions {
        return Admission::skipped(QUESTION);
    }
    if facts.counts.user == 0 {
        let reason = Some("nobody said anything".to_owned());
        return Admission { state: JobState::Empty, reason, not_before: 0 };
    }
    match placing {
        Placing::Project(_) => {}
        Placing::Elsewhere(_) => return Admission::skipped(OUTSIDE),
        Placing::Unregistered(_) => return Admission::skipped(NO_PROJECT),
        Placing::Nowhere => return Admission::skipped("the trace does not say where it was"),
    }
    Admission::pending(stamp, moment)
}

/// Puts a session where it belongs in the queue. A running one stays its worker's, and what a person
/// skipped stays skipped.
pub(super) fn set_job(
    transaction: &Transaction<'_>,
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
