//! Starts the loops that are due. A single task sleeps until the next loop is due, and each run is
//! a separate task.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use nacre_ops::service::LogLevel;
use nacre_ops::{Cancel, Events, OpError, maintain, server, service, sync};
use nacre_types::{
    ChangedThing, LoopName, MaintainReport, MaintainRequest, MaintainState, Outcome, Report,
    SyncMode, SyncReport, SyncRequest,
};
use serde::Serialize;

use super::clock::QuietWatch;
use super::{Daemon, outcome};
use crate::calls::{Call, CallInfo, Calls};

const LOOK: Duration = Duration::from_secs(15);

pub(crate) type Runner = Arc<
    dyn Fn(CallInfo, LoopWork) -> Pin<Box<dyn Future<Output = Result<LoopResult, OpError>> + Send>>
        + Send
        + Sync,
>;

#[derive(Clone)]
pub(crate) struct Driver {
    pub(crate) daemon: Arc<Daemon>,
    pub(crate) calls: Arc<Calls>,
    pub(crate) runner: Runner,
    pub(crate) publish: Arc<dyn Fn(ChangedThing) + Send + Sync>,
}

impl Driver {
    pub(crate) async fn run(self, stop: Cancel) {
        let mut quiet = QuietWatch::new();
        loop {
            let (begun, wait) = self.daemon.begin_due();
            for (name, is_woken) in begun {
                (self.publish)(ChangedThing::Service);
                tokio::spawn(self.clone().run_once(name, is_woken));
            }
            tokio::select! {
                () = tokio::time::sleep(wait.min(LOOK)) => self.look_at_traces(&mut quiet).await,
                () = self.daemon.changed.notified() => {}
                () = stop.cancelled() => return,
            }
        }
    }

    async fn run_once(self, name: LoopName, is_woken: bool) {
        let info = CallInfo::of_loop(name.as_str());
        let result = (self.runner)(info, work(name, is_woken)).await;
        self.daemon.end(name, &result);
        self.log(name, &result);
        let changed = result.map(|result| result.changed).unwrap_or_default();
        // Index new memories soon.
        if changed.contains(&ChangedThing::Memories) {
            self.daemon.wake(&[LoopName::Index]);
        }
        for what in changed.into_iter().chain([ChangedThing::Service]) {
            (self.publish)(what);
        }
    }

    async fn look_at_traces(&self, quiet: &mut QuietWatch<service::TraceGlance>) {
        if self.daemon.is_paused() {
            return;
        }
        let look = |call: &Call| service::look_at_traces(&call.host);
        let info = CallInfo::of_loop("look");
        let looked = self.calls.run(info, Events::ignored(), std::future::pending(), look).await;
        // The sync itself reports such errors.
        let Ok(seen) = looked else { return };
        if quiet.look(seen, (self.daemon.environment.uptime)()) {
            self.daemon.wake(&[LoopName::Sync]);
        }
    }

    fn log(&self, name: LoopName, result: &Result<LoopResult, OpError>) {
        let (level, fields) = match result {
            Ok(result) => (LogLevel::Info, vec![("result", result.text.clone())]),
            Err(error) if outcome(&Err(error.clone())) != Outcome::Failed => {
                (LogLevel::Info, vec![("result", error.message.clone())])
            }
            Err(error) => {
                let causes = error.causes.join(": ");
                (LogLevel::Error, vec![("error", error.message.clone()), ("causes", causes)])
            }
        };
        let environment = self.daemon.environment.clone();
        tokio::task::spawn_blocking(move || {
            let mut shown = vec![("loop", name.as_str())];
            shown.extend(fields.iter().map(|(key, value)| (*key, value.as_str())));
            service::log(&environment, level, "loop", &shown);
        });
    }
}

pub(super) const LOOPS: &[LoopName] =
    &[LoopName::Sync, LoopName::Maintain, LoopName::Index, LoopName::Map, LoopName::Prune];

#[derive(Clone, Debug)]
pub(crate) struct LoopResult {
    pub(crate) json: Vec<u8>,
    pub(crate) outcome: Outcome,
    pub(crate) text: String,
    pub(crate) changed: Vec<ChangedThing>,
}

pub(crate) type LoopWork = Box<dyn FnOnce(&Call) -> Result<LoopResult, OpError> + Send>;

const MINUTE: Duration = Duration::from_secs(60);

/// Returns the interval between runs, and the delay of the first run after the server starts.
pub(super) fn rhythm(name: LoopName) -> (Duration, Duration) {
    match name {
        LoopName::Sync => (10 * MINUTE, MINUTE / 2),
        LoopName::Maintain => (60 * MINUTE, 15 * MINUTE),
        LoopName::Index => (5 * MINUTE, MINUTE),
        LoopName::Map => (5 * MINUTE, 2 * MINUTE),
        LoopName::Prune => (6 * 60 * MINUTE, 5 * MINUTE),
    }
}

/// If the sync was woken, it also reads sessions that ended very recently.
pub(super) fn work(name: LoopName, is_woken: bool) -> LoopWork {
    match name {
        LoopName::Sync => Box::new(move |call| run_sync(call, is_woken)),
        LoopName::Maintain => Box::new(|call| by_leader(call, run_maintain)),
        LoopName::Index => Box::new(|call| {
            let n_kept = service::keep_indexes(&call.host, &call.events)?;
            let shared = match server::feed_shared_index(&call.host, &call.events)? {
                Some(n_fed) => format!(", {n_fed} memories into the shared one"),
                None => String::new(),
            };
            Ok(result_without_report(format!("{n_kept} indexes are up to date{shared}")))
        }),
        LoopName::Map => Box::new(|call| {
            let n_kept = service::keep_maps(&call.host, &call.events)?;
            Ok(result_without_report(format!("{n_kept} maps are up to date")))
        }),
        LoopName::Prune => Box::new(|call| {
            let n_tasks = service::prune(&call.host)?;
            Ok(result_without_report(format!("{n_tasks} old tasks removed")))
        }),
    }
}

/// Runs the work only on the leader, which is one of the servers that share a database.
fn by_leader(
    call: &Call,
    work: fn(&Call) -> Result<LoopResult, OpError>,
) -> Result<LoopResult, OpError> {
    if call.host.is_leader()? {
        return work(call);
    }
    Ok(result_without_report("Another server does it".to_owned()))
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
    result_of(&report, text, changed)
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
    result_of(&report, text, changed)
}

fn result_of<R: Report + Serialize>(
    report: &R,
    text: String,
    changed: Vec<ChangedThing>,
) -> Result<LoopResult, OpError> {
    let json = serde_json::to_vec(report)
        .map_err(|error| OpError::failed(format!("The report could not be written: {error}")))?;
    Ok(LoopResult { json, outcome: report.outcome(), text, changed })
}

fn result_without_report(text: String) -> LoopResult {
    LoopResult { json: b"{}".to_vec(), outcome: Outcome::Done, text, changed: Vec::new() }
}
