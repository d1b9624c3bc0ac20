//! The time a hook has. When it is over the process ends, without a word and with 0: whoever waits goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use nacre_ops::hook::{HookFailure, log_failure};
use nacre_ops::host::Environment;
use nacre_ops::{OpError, hook_deadline};

/// The share of the time after which it ends: what is left is for the log and for the end itself.
const SHARE: f64 = 0.8;

/// How long the log may take.
const FOR_THE_LOG: Duration = Duration::from_millis(10);

/// A time that runs from the start of the process.
pub(super) struct Deadline {
    times: Sender<Duration>,
    is_taken: Arc<AtomicBool>,
}

impl Deadline {
    /// Starts to watch. Until the settings are read, the environment says how long it is, or the default does.
    pub(super) fn start(environment: &Environment, agent: &str, event: &str) -> Self {
        let (times, changed) = channel::<Duration>();
        let is_taken = Arc::new(AtomicBool::new(false));
        let taken = Arc::clone(&is_taken);
        let mut time = hook_deadline(environment);
        let (environment, agent, event) = (environment.clone(), agent.to_owned(), event.to_owned());
        let watch = move || {
            loop {
                let left = time.mul_f64(SHARE).saturating_sub((environment.uptime)());
                match changed.recv_timeout(left) {
                    Ok(other) => time = other,
                    Err(RecvTimeoutError::Disconnected) => return,
                    Err(RecvTimeoutError::Timeout) => break,
                }
            }
            if !taken.swap(true, Ordering::SeqCst) {
                log_late(environment, agent, event);
                end_process();
            }
        };
        // Where no thread can be started there is no deadline; the agent has its own.
        let _ = std::thread::Builder::new().spawn(watch);
        Self { times, is_taken }
    }

    /// Takes over what the settings say.
    pub(super) fn set(&self, time: Duration) {
        let _ = self.times.send(time);
    }

    /// Stops the watch; `false` when the time was over before.
    pub(super) fn finish(self) -> bool {
        !self.is_taken.swap(true, Ordering::SeqCst)
    }
}

/// Writes down that it took too long, unless that takes too long itself.
fn log_late(environment: Environment, agent: String, event: String) {
    let (done, is_done) = channel::<()>();
    let write = move || {
        let error = OpError::failed("The hook took too long, and said nothing");
        log_failure(&environment, &HookFailure { agent: &agent, event: &event, error: &error });
        let _ = done.send(());
    };
    if std::thread::Builder::new().spawn(write).is_ok() {
        let _ = is_done.recv_timeout(FOR_THE_LOG);
    }
}

/// A mistake of ours must not reach the agent, not even as words on standard error.
pub(super) fn end_silently_on_panic() {
    std::panic::set_hook(Box::new(|_| end_process()));
}

#[expect(clippy::exit, clippy::disallowed_methods, reason = "nobody is left who could return")]
fn end_process() {
    std::process::exit(0);
}
