//! Starts loops when they are due. One task sleeps until the next loop is due, and each run gets
//! its own task.

use nacre_ops::service::LogLevel;
use nacre_ops::{maintain, server, service, sync};
use nacre_types::{
    LoopName, MaintainReport, MaintainRequest, MaintainState, Outcome, Report, SyncMode,
    SyncReport, SyncRequest,
};
use tokio::sync::oneshot;

use super::answer::{Done, to_json};
use super::events::EventSource;
use super::tasks::TaskRunner;
use crate::calls::{Call, CallInfo};
use crate::daemon::{Daemon, LoopResult, QuietWatch, outcome};
use crate::prelude::*;

const LOOK: Duration = Duration::from_secs(15);

#[derive(Clone)]
pub(super) struct LoopRunner {
    pub(super) daemon: Arc<Daemon>,
    pub(super) tasks: TaskRunner,
}

impl LoopRunner {
    pub(super) async fn run(self, stop: Cancel) {
        let mut quiet = QuietWatch::new();
        loop {
            let (begun, wait) = self.daemon.begin_due();
            for (name, is_woken) in begun {
                self.publish(ChangedThing::Service);
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
        let (sender, receiver) = oneshot::channel();
        let work = Box::new(move |call: &Call| {
            let (json, result) = run_loop(call, name, is_woken)?;
            let done = Done { json, outcome: result.outcome, version: None };
            // Sending fails if the receiver was dropped because the server is stopping.
            let _ = sender.send(result);
            Ok(done)
        });
        let result = match self.tasks.wait(CallInfo::of_loop(name.as_str()), work).await {
            Ok(_) => receiver.await.map_err(|_| OpError::failed("The loop ended without a result")),
            Err(error) => Err(error),
        };
        self.daemon.end(name, &result);
        self.log(name, &result);
        let changed = result.map(|result| result.changed).unwrap_or_default();
        // New memories should be indexed soon.
        if changed.contains(&ChangedThing::Memories) {
            self.daemon.wake(&[LoopName::Index]);
        }
        for what in changed.into_iter().chain([ChangedThing::Service]) {
            self.publish(what);
        }
    }

    fn publish(&self, what: ChangedThing) {
        self.tasks.hub.publish_change(&EventSource::default(), what);
    }

    async fn look_at_traces(&self, quiet: &mut QuietWatch<service::TraceGlance>) {
        if self.daemon.is_paused() {
            return;
        }
        let look = |call: &Call| service::look_at_traces(&call.host);
        let info = CallInfo::of_loop("look");
        let looked =
            self.tasks.calls.run(info, Events::discard(), std::future::pending(), look).await;
        // The sync reports such errors itself.
        let Ok(seen) = looked else { return };
        if quiet.look(seen, (self.daemon.environment.uptime)()) {
            self.daemon.wake(&[LoopName::Sync]);
        }
    }

    fn log(&self, name: LoopName, result: &Result<LoopResult>) {
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

/// A loop's report as JSON, and the result of the run.
type Ran = (Vec<u8>, LoopResult);

/// Runs a loop. A sync that was woken also reads sessions that only just ended.
fn run_loop(call: &Call, name: LoopName, is_woken: bool) -> Result<Ran> {
    let text = match name {
        LoopName::Sync => return run_sync(call, is_woken),
        // Among servers that share a database, only the leader runs this loop.
        LoopName::Maintain if call.host.is_leader()? => return run_maintain(call),
        LoopName::Maintain => "Another server does this".to_owned(),
        LoopName::Index => {
            let n_kept = service::keep_indexes(&call.host, &call.events)?;
            let shared = match server::feed_shared_index(&call.host, &call.events)? {
                Some(n_fed) => format!(", {n_fed} memories added to the shared index"),
                None => String::new(),
            };
            format!("{n_kept} indexes are up to date{shared}")
        }
        LoopName::Map => {
            let n_kept = service::keep_maps(&call.host, &call.events)?;
            format!("{n_kept} maps are up to date")
        }
        LoopName::Prune => format!("{} old tasks removed", service::prune(&call.host)?),
    };
    let result = LoopResult { outcome: Outcome::Done, text, changed: Vec::new() };
    Ok((b"{}".to_vec(), result))
}

fn run_sync(call: &Call, is_woken: bool) -> Result<Ran> {
    let mode = if is_woken { SyncMode::Hot } else { SyncMode::Sync };
    let request = SyncRequest { mode, ..SyncRequest::default() };
    let report = sync::sync(&call.host, &request, &call.events)?;
    let SyncReport { read, sessions, learned, waiting, .. } = &report;
    let (n_done, n_learned, ready) = (sessions.len(), learned.len(), waiting.ready);
    let text =
        format!("{read} sessions read, {n_done} processed, {n_learned} memories; {ready} wait");
    let mut changed = Vec::new();
    if *read > 0 || !sessions.is_empty() {
        changed.push(ChangedThing::Queue);
    }
    if !learned.is_empty() {
        changed.push(ChangedThing::Memories);
    }
    Ok((to_json(&report)?, LoopResult { outcome: report.outcome(), text, changed }))
}

fn run_maintain(call: &Call) -> Result<Ran> {
    let request = MaintainRequest { all: true, ..MaintainRequest::default() };
    let report = maintain::maintain(&call.host, &request, &call.events)?;
    let MaintainReport { projects, .. } = &report;
    let count = |state| projects.iter().filter(|store| store.state == state).count();
    let (n_done, n_failed) = (count(MaintainState::Done), count(MaintainState::Failed));
    let n_unchanged = count(MaintainState::Clean) + count(MaintainState::Skipped);
    let text = format!("{n_done} stores changed, {n_unchanged} unchanged, {n_failed} failed");
    let changed = if n_done > 0 { vec![ChangedThing::Memories] } else { Vec::new() };
    Ok((to_json(&report)?, LoopResult { outcome: report.outcome(), text, changed }))
}
