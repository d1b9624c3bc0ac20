//! Steers and stops a run from outside.
//!
//! When a run is cancelled or reaches its deadline, the work in progress is dropped along with
//! everything it started. Messages for the agent are delivered between steps. Undelivered messages
//! are returned with the outcome.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use crate::model::Cancel;
use crate::record::CancelledBy;

/// Controls a run. Dropping the handle does not stop the run.
#[derive(Debug)]
pub struct RunHandle {
    control: RunControl,
}

#[derive(Clone, Debug)]
pub struct RunControl {
    cancel: Cancel,
    by: Arc<OnceLock<CancelledBy>>,
    /// Messages that have not been delivered yet, or `None` if the run no longer accepts messages.
    steering: Arc<Mutex<Option<Vec<String>>>>,
    deadline: Option<Instant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    Cancelled,
    OutOfTime,
}

impl RunHandle {
    pub fn new() -> Self {
        let control = RunControl {
            cancel: Cancel::new(),
            by: Arc::default(),
            steering: Arc::new(Mutex::new(Some(Vec::new()))),
            deadline: None,
        };
        Self { control }
    }

    /// Drops the model's stream and kills any processes started by tools. Only the first call has
    /// an effect.
    pub fn cancel(&self, by: CancelledBy) {
        self.control.by.get_or_init(|| by);
        self.control.cancel.cancel();
    }

    /// Queues a message for the agent. If the run has ended, the text is returned as the error.
    pub fn steer(&self, text: &str) -> Result<(), String> {
        match &mut *self.control.lock_steering() {
            Some(words) => words.push(text.to_owned()),
            None => return Err(text.to_owned()),
        }
        Ok(())
    }

    pub fn control(&self) -> RunControl {
        self.control.clone()
    }
}

impl Default for RunHandle {
    fn default() -> Self {
        Self::new()
    }
}

impl RunControl {
    /// Returns a control for a run that cannot be steered or cancelled from outside.
    pub fn without_handle() -> Self {
        RunHandle::new().control()
    }

    /// Returns a control for a helper's run, which is cancelled together with its parent.
    pub fn of_child(cancel: Cancel) -> Self {
        let by = Arc::new(OnceLock::from(CancelledBy::Parent));
        Self { cancel, by, ..Self::without_handle() }
    }

    /// Limits the remaining time. An earlier deadline remains in effect.
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

    pub fn cancel_source(&self) -> CancelledBy {
        self.by.get().copied().unwrap_or(CancelledBy::Person)
    }

    pub(super) fn has_steering(&self) -> bool {
        self.lock_steering().as_ref().is_some_and(|words| !words.is_empty())
    }

    pub(super) fn take_steering(&self) -> Vec<String> {
        self.lock_steering().as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Takes the undelivered messages and makes all later calls to `steer` fail.
    pub(super) fn close_steering(&self) -> Vec<String> {
        self.lock_steering().take().unwrap_or_default()
    }

    fn lock_steering(&self) -> MutexGuard<'_, Option<Vec<String>>> {
        self.steering.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn left(&self) -> Option<Duration> {
        self.deadline.map(|end| end.saturating_duration_since(Instant::now()))
    }

    pub fn stop_reason(&self) -> Option<Stopped> {
        if self.cancel.is_cancelled() {
            return Some(Stopped::Cancelled);
        }
        self.left().is_some_and(|left| left.is_zero()).then_some(Stopped::OutOfTime)
    }

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
        assert_eq!(Arc::strong_count(&held), 1, "the work was dropped");
        assert_eq!((short.stop_reason(), control.stop_reason()), (Some(Stopped::OutOfTime), None));
        handle.cancel(CancelledBy::Disconnect);
        handle.cancel(CancelledBy::Person);
        let never = std::future::pending::<()>();
        assert_eq!(control.unless_stopped(never).await, Err(Stopped::Cancelled));
        assert_eq!(control.stop_reason(), Some(Stopped::Cancelled));
        assert_eq!(control.cancel_source(), CancelledBy::Disconnect);
        let child = RunControl::of_child(control.cancel().clone());
        assert_eq!(child.stop_reason(), Some(Stopped::Cancelled));
        assert_eq!(child.cancel_source(), CancelledBy::Parent);
    }

    #[tokio::test(start_paused = true)]
    async fn the_earlier_end_counts() {
        let control = RunControl::without_handle().within(Duration::from_secs(5));
        assert_eq!(control.within(Duration::from_secs(9)).left(), Some(Duration::from_secs(5)));
        assert_eq!(control.within(Duration::from_secs(2)).left(), Some(Duration::from_secs(2)));
        assert_eq!(RunControl::without_handle().within(Duration::MAX).left(), None);
    }
}
