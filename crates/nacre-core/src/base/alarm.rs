//! Tells when some time is over, without a clock: a thread waits for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// A time that ends. The thread that waits for it goes when this is dropped.
#[derive(Debug)]
pub(crate) struct Alarm {
    is_over: Arc<AtomicBool>,
    _waiting: Sender<()>,
}

impl Alarm {
    /// One that is over after `time`, and calls `ring` then.
    pub(crate) fn ringing(time: Duration, ring: impl FnOnce() + Send + 'static) -> Self {
        let (waiting, dropped) = channel();
        let is_over = Arc::new(AtomicBool::new(time.is_zero()));
        let set = Arc::clone(&is_over);
        let wait = move || {
            if dropped.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
                set.store(true, Ordering::Relaxed);
                ring();
            }
        };
        // Where no thread can be started, the other bounds hold all the same.
        let _ = thread::Builder::new().spawn(wait);
        Self { is_over, _waiting: waiting }
    }

    pub(crate) fn after(time: Duration) -> Self {
        Self::ringing(time, || {})
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_rings_once_and_says_so() {
        let (rang, heard) = channel();
        let alarm = Alarm::ringing(Duration::ZERO, move || rang.send(()).unwrap());
        heard.recv().unwrap();
        assert!(alarm.is_over());
        assert!(!Alarm::after(Duration::MAX).is_over());
    }
}
