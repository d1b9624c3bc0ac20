//! How a run is steered and ended from outside: told something between two steps, cancelled at once, asked to yield
//! between steps, or out of time.
//!
//! Cancelling and running out of time drop the work in progress, and whatever it had started dies with it. A wish to
//! yield is only ever looked at between two steps, so that a finished answer is never thrown away for it. Words for the
//! agent wait until a step is over; those that it is not told any more go back to whoever waits for the run.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::model::{Cancel, CancelSource};
use crate::record::CancelledBy;

/// Ends a run. Dropping it ends nothing.
#[derive(Debug)]
pub struct RunHandle {
    cancel: CancelSource,
    by: Arc<OnceLock<CancelledBy>>,
    yielding: watch::Sender<bool>,
    steering: Arc<Mutex<Steering>>,
}

/// What a person said and the agent was not told yet.
#[derive(Debug, Default)]
struct Steering {
    words: Vec<String>,
    /// The run takes no more.
    is_closed: bool,
}

/// Hears from a `RunHandle`.
#[derive(Clone, Debug)]
pub struct RunControl {
    cancel: Cancel,
    by: Arc<OnceLock<CancelledBy>>,
    yielding: watch::Receiver<bool>,
    steering: Arc<Mutex<Steering>>,
    deadline: Option<Instant>,
}

/// Why work was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    Cancelled,
    OutOfTime,
}

impl RunHandle {
    pub fn new() -> Self {
        let yielding = watch::Sender::new(false);
        let steering = Arc::default();
        Self { cancel: CancelSource::new(), by: Arc::default(), yielding, steering }
    }

    /// Drops the model's stream and kills what tools started. Who came first is who did it.
    pub fn cancel(&self, by: CancelledBy) {
        self.by.get_or_init(|| by);
        self.cancel.cancel();
    }

    /// Lets the step in progress come to its end, and the run end there.
    pub fn ask_to_yield(&self) {
        self.yielding.send_replace(true);
    }

    /// Tells the agent something when the step in progress is over. A run that is over gives the words back.
    pub fn steer(&self, text: &str) -> Result<(), String> {
        let mut steering = self.steering.lock().unwrap_or_else(PoisonError::into_inner);
        if steering.is_closed {
            return Err(text.to_owned());
        }
        steering.words.push(text.to_owned());
        Ok(())
    }

    pub fn control(&self) -> RunControl {
        let yielding = self.yielding.subscribe();
        let (cancel, by) = (self.cancel.token(), Arc::clone(&self.by));
        let steering = Arc::clone(&self.steering);
        RunControl { cancel, by, yielding, steering, deadline: None }
    }
}

impl Default for RunHandle {
    fn default() -> Self {
        Self::new()
    }
}

impl RunControl {
    /// A run that ends by itself only.
    pub fn unattended() -> Self {
        RunHandle::new().control()
    }

    /// The run of a helper: it is cancelled with the one that started it, and yields to nobody.
    pub fn of_child(cancel: Cancel) -> Self {
        let by = Arc::new(OnceLock::from(CancelledBy::Parent));
        Self { cancel, by, ..Self::unattended() }
    }

    /// The same with at most this much time from now; an earlier end stays.
    #[must_use]
    pub fn within(&self, wall: Duration) -> Self {
        let end = Instant::now().checked_add(wall);
        let deadline = match (self.deadline, end) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        };
        Self { deadline, ..self.clone() }
    }

    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// Who cancelled it, once somebody did.
    pub fn cancelled_by(&self) -> CancelledBy {
        self.by.get().copied().unwrap_or(CancelledBy::Person)
    }

    pub fn should_yield(&self) -> bool {
        *self.yielding.borrow()
    }

    /// Whether the agent has something to be told.
    pub(super) fn has_steering(&self) -> bool {
        !self.lock_steering().words.is_empty()
    }

    /// Takes what the agent is told now.
    pub(super) fn take_steering(&self) -> Vec<String> {
        std::mem::take(&mut self.lock_steering().words)
    }

    /// Takes what is left; from now on `steer` refuses.
    pub(super) fn close_steering(&self) -> Vec<String> {
        let mut steering = self.lock_steering();
        steering.is_closed = true;
        std::mem::take(&mut steering.words)
    }

    fn lock_steering(&self) -> MutexGuard<'_, Steering> {
        self.steering.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long there is left; `None` is without end.
    pub fn left(&self) -> Option<Duration> {
        self.deadline.map(|end| end.saturating_duration_since(Instant::now()))
    }

    /// Whether the run is over already.
    pub fn stopped(&self) -> Option<Stopped> {
        if self.cancel.is_cancelled() {
            return Some(Stopped::Cancelled);
        }
        self.left().is_some_and(|left| left.is_zero()).then_some(Stopped::OutOfTime)
    }

    /// Does the work, or drops it when the run is over.
    pub async fn unless_stopped<T>(&self, work: impl Future<Output = T>) -> Result<T, Stopped> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(Stopped::Cancelled),
            () = self.out_of_time() => Err(Stopped::OutOfTime),
            done = work => Ok(done),
        }
    }

    async fn out_of_time(&self) {
        match self.deadline {
            Some(end) => sleep_until(end).await,
            None => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn work_is_dropped_when_it_is_cancelled_or_out_of_time() {
        let handle = RunHandle::new();
        let control = handle.control();
        assert_eq!(control.unless_stopped(async { 1 }).await, Ok(1));
        let held = Arc::new(());
        let holder = Arc::clone(&held);
        let hangs = async move {
            let _held = holder;
            std::future::pending::<()>().await;
        };
        let short = control.within(Duration::from_secs(5));
        assert_eq!(short.unless_stopped(hangs).await, Err(Stopped::OutOfTime));
        assert_eq!(Arc::strong_count(&held), 1, "the work is gone");
        assert_eq!((short.stopped(), control.stopped()), (Some(Stopped::OutOfTime), None));
        handle.cancel(CancelledBy::Disconnect);
        handle.cancel(CancelledBy::Person);
        let never = std::future::pending::<()>();
        assert_eq!(control.unless_stopped(never).await, Err(Stopped::Cancelled));
        assert_eq!(control.stopped(), Some(Stopped::Cancelled));
        assert_eq!(control.cancelled_by(), CancelledBy::Disconnect);
        let child = RunControl::of_child(control.cancel().clone());
        assert_eq!(child.stopped(), Some(Stopped::Cancelled));
        assert_eq!(child.cancelled_by(), CancelledBy::Parent);
    }

    #[tokio::test(start_paused = true)]
    async fn the_earlier_end_counts() {
        let control = RunControl::unattended().within(Duration::from_secs(5));
        assert_eq!(control.within(Duration::from_secs(9)).left(), Some(Duration::from_secs(5)));
        assert_eq!(control.within(Duration::from_secs(2)).left(), Some(Duration::from_secs(2)));
        assert_eq!(RunControl::unattended().within(Duration::MAX).left(), None);
    }

    #[tokio::test]
    async fn a_wish_to_yield_drops_nothing() {
        let handle = RunHandle::new();
        let control = handle.control();
        handle.ask_to_yield();
        assert!(control.should_yield());
        assert_eq!(control.unless_stopped(async { 1 }).await, Ok(1));
    }
}
