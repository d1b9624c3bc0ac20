//! What each loop does: one operation of `nacre-ops`, and what it came to in a few words.

use std::time::Duration;

use nacre_api::wire::{
    ChangedThing, LoopName, MaintainReport, MaintainRequest, MaintainState, Outcome, Report,
    SyncMode, SyncReport, SyncRequest,
};
use nacre_ops::{OpError, maintain, service, shared_index, sync};
use serde::Serialize;

use super::schedule::Rhythm;
use crate::calls::Call;

/// Every loop, in the order in which they are listed.
pub(super) const LOOPS: &[LoopName] =
    &[LoopName::Sync, LoopName::Maintain, LoopName::Index, LoopName::Map, LoopName::Prune];

/// What one run came to.
#[derive(Clone, Debug)]
pub(crate) struct LoopResult {
    /// The report of its operation.
    pub(crate) json: Vec<u8>,
    pub(crate) outcome: Outcome,
    /// In a few words.
    pub(crate) text: String,
    /// What others have to ask for again.
    pub(crate) changed: Vec<ChangedThing>,
}

/// A run of a loop, on a thread that may block.
pub(crate) type LoopWork = Box<dyn FnOnce(&Call) -> Result<LoopResult, OpError> + Send>;

const MINUTE: Duration = Duration::from_secs(60);

pub(super) fn rhythm(name: LoopName) -> Rhythm {
    let (every, first) = match name {
        LoopName::Sync => (10 * MINUTE, MINUTE / 2),
        LoopName::Maintain => (60 * MINUTE, 15 * MINUTE),
        LoopName::Index => (5 * MINUTE, MINUTE),
        LoopName::Map => (5 * MINUTE, 2 * MINUTE),
        LoopName::Prune => (6 * 60 * MINUTE, 5 * MINUTE),
    };
    Rhythm { every, first }
}

/// What a run does. One that was woken reads sessions that just ended.
pub(super) fn work(name: LoopName, is_woken: bool) -> LoopWork {
    match name {
        LoopName::Sync => Box::new(move |call| run_sync(call, is_woken)),
        LoopName::Maintain => Box::new(|call| by_leader(call, run_maintain)),
        LoopName::Index => Box::new(|call| {
            let n_kept = service::keep_indexes(&call.host, &call.events)?;
            let shared = match shared_index::feed_shared_index(&call.host, &call.events)? {
                Some(n_fed) => format!(", {n_fed} memories into the shared one"),
                None => String::new(),
            };
            Ok(plain(format!("{n_kept} indexes are up to date{shared}")))
        }),
        LoopName::Map => Box::new(|call| {
            let n_kept = service::keep_maps(&call.host, &call.events)?;
            Ok(plain(format!("{n_kept} maps are up to date")))
        }),
        LoopName::Prune => Box::new(|call| {
            let n_tasks = service::prune(&call.host)?;
            Ok(plain(format!("{n_tasks} old tasks removed")))
        }),
    }
}

/// Does what one server is to do for all that share a database.
fn by_leader(
    call: &Call,
    work: fn(&Call) -> Result<LoopResult, OpError>,
) -> Result<LoopResult, OpError> {
    if call.host.is_leader()? {
        return work(call);
    }
    Ok(plain("Another server does it".to_owned()))
}

fn run_sync(call: &Call, is_woken: bool) -> Result<LoopResult, OpError> {
    let mode = if is_woken { SyncMode::Hot } else { SyncMode::Sync };
    let request = SyncRequest { mode, ..SyncRequest::default() };
    let report = sync::sync(&call.host, &request, &call.events)?;
    let SyncReport { read, sessions, learned, waiting, .. } = &report;
    let text = format!(
        "{read} sessions read, {} processed, {} memories; {} wait",
        sessions.len(),
        learned.len(),
        waiting.ready
    );
    let mut changed = Vec::new();
    if *read > 0 || !sessions.is_empty() {
        changed.push(ChangedThing::Queue);
    }
    if !learned.is_empty() {
        changed.push(ChangedThing::Memories);
    }
    reported(&report, text, changed)
}

fn run_maintain(call: &Call) -> Result<LoopResult, OpError> {
    let request = MaintainRequest { all: true, ..MaintainRequest::default() };
    let report = maintain::maintain(&call.host, &request, &call.events)?;
    let MaintainReport { projects, .. } = &report;
    let count = |state| projects.iter().filter(|store| store.state == state).count();
    let (n_done, n_failed) = (count(MaintainState::Done), count(MaintainState::Failed));
    let n_unchanged = count(MaintainState::Clean) + count(MaintainState::Skipped);
    let text = format!("{n_done} stores changed, {n_unchanged} unchanged, {n_failed} failed");
    let changed = if n_done > 0 { vec![ChangedThing::Memories] } else { Vec::new() };
    reported(&report, text, changed)
}

fn reported<R: Report + Serialize>(
    report: &R,
    text: String,
    changed: Vec<ChangedThing>,
) -> Result<LoopResult, OpError> {
    let json = serde_json::to_vec(report)
        .map_err(|error| OpError::failed(format!("The report could not be written: {error}")))?;
    Ok(LoopResult { json, outcome: report.outcome(), text, changed })
}

/// The result of a loop that has no report.
fn plain(text: String) -> LoopResult {
    LoopResult { json: b"{}".to_vec(), outcome: Outcome::Done, text, changed: Vec::new() }
}
