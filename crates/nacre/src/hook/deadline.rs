//! A hook's deadline. When the deadline passes, the process exits with 0 and prints nothing, so
//! that the agent continues.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use nacre_ops::hook::log_failure;
use nacre_ops::host::Environment;
use nacre_ops::{OpError, hook_deadline};

/// The fraction of the time limit after which the process exits. The rest of the time is for
/// writing the log.
const SHARE: f64 = 0.8;

/// Maximum time for writing the log.
const FOR_THE_LOG: Duration = Duration::from_millis(10);

/// A deadline that is measured from the start of the process.
pub(super) struct Deadline {
    times: Sender<Duration>,
    is_taken: Arc<AtomicBool>,
}

impl Deadline {
    /// Starts the thread that enforces the deadline. Until the settings have been read, the
    /// deadline comes from the environment or is the default.
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
                let (done, is_done) = channel::<()>();
                let write = move || {
                    let error =
                        OpError::failed("The hook exceeded its deadline; nothing was printed");
                    log_failure(&environment, &agent, &event, &error);
                    let _ = done.send(());
                };
                if std::thread::Builder::new().spawn(write).is_ok() {
                    let _ = is_done.recv_timeout(FOR_THE_LOG);
                }
                end_process();
            }
        };
        // Without the thread there is no deadline, but the agent has its own timeout.
        let _ = std::thread::Builder::new().spawn(watch);
        Self { times, is_taken }
    }

    /// Replaces the deadline with the one from the settings.
    pub(super) fn set(&self, time: Duration) {
        let _ = self.times.send(time);
    }

    /// Stops enforcing the deadline. Returns `false` if the deadline has already passed.
    pub(super) fn finish(self) -> bool {
        !self.is_taken.swap(true, Ordering::SeqCst)
    }
}

/// Suppresses panic messages, because a panic in Nacre must not affect the agent.
pub(super) fn end_silently_on_panic() {
    std::panic::set_hook(Box::new(|_| end_process()));
}

#[expect(
    clippy::exit,
    clippy::disallowed_methods,
    reason = "the process exits, so there is no \
 caller to return to"
)]
fn end_process() {
    std::process::exit(0);
}
