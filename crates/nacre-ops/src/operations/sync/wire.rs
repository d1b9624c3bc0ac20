//! What a sync did, as it goes over the wire.

use std::time::Duration;

use nacre_api::wire::{
    PausedSession, SourceEntry, SourceProblem, SyncReport, SyncResult, SyncTotals, WaitingSessions,
};
use nacre_core::catalog::{self, RefreshReport};
use nacre_core::transcript::Source;
use nacre_engine::flows::sync::{Pause, RunReport};

use super::report::QueueReport;
use crate::operations::run::session_run;

/// What was read and worked off; the caller adds what was learned and what waits.
pub(super) fn sync_report(run: String, refreshed: RefreshReport, queue: QueueReport) -> SyncReport {
    let RefreshReport {
        sources,
        unchanged,
        read,
        resumed,
        bytes,
        reworded,
        readmitted,
        gone,
        problems,
        left,
    } = refreshed;
    SyncReport {
        run,
        sources,
        unchanged,
        read,
        resumed,
        bytes,
        reworded,
        readmitted,
        gone,
        left,
        problems: problems.into_iter().map(problem).collect(),
        sessions: queue.sessions,
        paused: queue.paused,
        busy: queue.is_busy,
        learned: Vec::new(),
        totals: SyncTotals::default(),
        waiting: WaitingSessions::default(),
        not_set_up_here: None,
        looked_in: Vec::new(),
        switched_off: Vec::new(),
        next: None,
    }
}

fn problem(of: catalog::SourceProblem) -> SourceProblem {
    SourceProblem { path: of.path.display().to_string(), reason: of.reason }
}

pub(super) fn source_entry(source: &Source) -> SourceEntry {
    SourceEntry {
        agent: source.agent.as_str().to_owned(),
        path: source.path.display().to_string(),
        bytes: source.stamp.size,
    }
}

pub(super) fn paused(key: &str, pause: &Pause, reason: String) -> PausedSession {
    let limit = match pause {
        Pause::Limit(reached) => Some(reached.key().to_owned()),
        Pause::Model | Pause::Cancelled => None,
    };
    PausedSession { id: key.to_owned(), reason, limit }
}

pub(super) fn done(report: RunReport) -> SyncResult {
    let dropped = report.n_dropped();
    SyncResult::Done { report: Box::new(session_run(report)), dropped }
}

pub(super) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
