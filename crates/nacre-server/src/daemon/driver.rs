//! Runs what is due: one task of the runtime that sleeps until then, and one for each run.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use nacre_api::wire::{ChangedThing, LoopName};
use nacre_ops::service::{self, LogLevel};
use nacre_ops::{Cancel, Events, OpError};

use super::quiet::QuietWatch;
use super::schedule::LoopOutcome;
use super::work::{LoopResult, LoopWork, work};
use super::{BegunRun, Daemon, outcome};
use crate::calls::{Call, CallInfo, Calls};

/// How often traces are looked at, and the clock is compared with the wall's.
const LOOK: Duration = Duration::from_secs(15);

/// Runs a loop's work as a task of the server, to its end.
pub(crate) type Runner = Arc<
    dyn Fn(CallInfo, LoopWork) -> Pin<Box<dyn Future<Output = Result<LoopResult, OpError>> + Send>>
        + Send
        + Sync,
>;

/// What the loops need of the server.
#[derive(Clone)]
pub(crate) struct Driver {
    pub(crate) daemon: Arc<Daemon>,
    pub(crate) calls: Arc<Calls>,
    pub(crate) runner: Runner,
    /// Tells clients what they have to ask for again.
    pub(crate) publish: Arc<dyn Fn(ChangedThing) + Send + Sync>,
}

impl Driver {
    /// Runs the loops until the server stops.
    pub(crate) async fn run(self, stop: Cancel) {
        let mut quiet = QuietWatch::new();
        loop {
            let (begun, wait) = self.daemon.begin_due();
            for run in begun {
                (self.publish)(ChangedThing::Service);
                tokio::spawn(self.clone().run_once(run));
            }
            tokio::select! {
                () = tokio::time::sleep(wait.min(LOOK)) => self.look_at_traces(&mut quiet).await,
                () = self.daemon.changed.notified() => {}
                () = stop.cancelled() => return,
            }
        }
    }

    async fn run_once(self, run: BegunRun) {
        let BegunRun { name, is_woken } = run;
        let info = CallInfo::of_loop(name.as_str());
        let result = (self.runner)(info, work(name, is_woken)).await;
        self.daemon.end(name, &result);
        self.log(name, &result);
        let changed = result.map(|result| result.changed).unwrap_or_default();
        // What a sync learned is searched for soon.
        if changed.contains(&ChangedThing::Memories) {
            self.daemon.wake(&[LoopName::Index]);
        }
        for what in changed.into_iter().chain([ChangedThing::Service]) {
            (self.publish)(what);
        }
    }

    /// Wakes the sync when something was written to traces, and then nothing for a while.
    async fn look_at_traces(&self, quiet: &mut QuietWatch<service::TraceChanges>) {
        if self.daemon.is_paused() {
            return;
        }
        let look = |call: &Call| service::look_at_traces(&call.host);
        let info = CallInfo::of_loop("look");
        let looked = self.calls.run(info, Events::ignored(), std::future::pending(), look).await;
        // The sync itself says what is wrong.
        let Ok(seen) = looked else { return };
        if quiet.look(seen, self.daemon.age()) {
            self.daemon.wake(&[LoopName::Sync]);
        }
    }

    fn log(&self, name: LoopName, result: &Result<LoopResult, OpError>) {
        let (level, fields) = match result {
            Ok(result) => (LogLevel::Info, vec![("result", result.text.clone())]),
            Err(error) if outcome(&Err(error.clone())) != LoopOutcome::Failed => {
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
