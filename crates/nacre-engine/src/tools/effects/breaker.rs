//! A tool that failed three times in a row is left alone, and that is said once.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

const MAX_FAILURES: u32 = 3;

/// Failures in a row, by tool.
#[derive(Debug, Default)]
pub(super) struct Breaker(Mutex<BTreeMap<&'static str, u32>>);

/// What a failure means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BreakerVerdict {
    Again,
    /// That was the last time.
    GivenUp,
}

impl Breaker {
    pub(super) fn is_open(&self, tool: &'static str) -> bool {
        self.failures(|failures| {
            failures.get(tool).is_some_and(|n_failed| *n_failed >= MAX_FAILURES)
        })
    }

    pub(super) fn worked(&self, tool: &'static str) {
        self.failures(|failures| failures.remove(tool));
    }

    pub(super) fn failed(&self, tool: &'static str) -> BreakerVerdict {
        let n_failed = self.failures(|failures| {
            let n_failed = failures.entry(tool).or_default();
            *n_failed += 1;
            *n_failed
        });
        if n_failed < MAX_FAILURES { BreakerVerdict::Again } else { BreakerVerdict::GivenUp }
    }

    fn failures<T>(&self, with: impl FnOnce(&mut BTreeMap<&'static str, u32>) -> T) -> T {
        with(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_failures_in_a_row_are_enough_and_a_success_starts_anew() {
        let breaker = Breaker::default();
        assert_eq!(breaker.failed("a"), BreakerVerdict::Again);
        assert_eq!(breaker.failed("a"), BreakerVerdict::Again);
        breaker.worked("a");
        assert_eq!(breaker.failed("a"), BreakerVerdict::Again);
        assert_eq!(breaker.failed("a"), BreakerVerdict::Again);
        assert!(!breaker.is_open("a"));
        assert_eq!(breaker.failed("a"), BreakerVerdict::GivenUp);
        assert!(breaker.is_open("a") && !breaker.is_open("b"));
    }
}
