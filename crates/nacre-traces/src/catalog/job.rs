//! The session queue interface: jobs, leases and outcomes.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
pub use nacre_types::{JobState, QueueJob};

use super::*;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done {
        run: String,
    },
    Empty {
        reason: String,
    },
    /// The job is retried later or, once it has used up its attempts, marked dead.
    Failed {
        reason: String,
    },
    /// The job returns to the queue, and the attempt does not count.
    Released,
}

/// A job is marked dead after this many failed attempts.
pub const MAX_ATTEMPTS: u32 = 5;

const FIRST_WAIT: Duration = Duration::from_secs(30);
const LONGEST_WAIT: Duration = Duration::from_secs(3600);

/// Returns the delay before a failed job is retried, which doubles with each failure.
pub fn wait_after(n_failures: u32) -> Duration {
    let factor = 2_u32.saturating_pow(n_failures.saturating_sub(1).min(30));
    FIRST_WAIT.saturating_mul(factor).min(LONGEST_WAIT)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimOrder {
    NewestFirst,
    OldestFirst,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    pub key: String,
    pub lease: String,
    pub attempts: u32,
    pub project: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub struct QueueFilter {
    pub state: Option<JobState>,
    pub project: Option<String>,
    pub limit: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceRun {
    pub id: String,
    /// Missing if the run is in progress or was interrupted.
    pub finished: Option<Timestamp>,
    pub outcome: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateCounts {
    /// Total number of sessions. It is counted separately, as a check on the sum of `by_state`.
    pub seen: u64,
    pub by_state: BTreeMap<JobState, u64>,
    pub skipped: BTreeMap<String, u64>,
}

impl StateCounts {
    pub fn adds_up(&self) -> bool {
        self.by_state.values().sum::<u64>() == self.seen
    }
}

/// A queue of sessions to process. A job is claimed with a lease and then finished, retried or
/// skipped.
///
/// A lease is a token that its holder must still own when it finishes the job. Only one job per
/// project runs at a time. `now` is the caller's clock; clocks on different machines must agree to
/// within the length of a lease.
pub trait JobQueue {
    /// Claims the next due job with the caller's `token`. The lease expires after `length`.
    fn claim(
        &mut self,
        token: &str,
        now: Timestamp,
        length: Duration,
        order: ClaimOrder,
    ) -> Result<Option<Claim>>;

    /// Extends the lease so that it expires `length` after `now`.
    fn heartbeat(&mut self, claim: &Claim, now: Timestamp, length: Duration) -> Result<()>;

    /// Returns the new state if the lease is still held.
    fn finish(&mut self, claim: &Claim, outcome: &Outcome, now: Timestamp) -> Result<JobState>;

    /// Ends all leases whose token begins with `prefix`, and returns the number of jobs affected.
    fn give_back(&mut self, prefix: &str, now: Timestamp) -> Result<usize>;

    fn jobs(&self, filter: &QueueFilter) -> Result<Vec<QueueJob>>;

    /// Queues jobs again, resets their attempt counts, and returns the keys of the changed jobs.
    fn retry(&mut self, keys: &[String], now: Timestamp) -> Result<Vec<String>>;

    /// Skips jobs for the given reason, and returns the keys of the changed jobs.
    fn skip(&mut self, keys: &[String], reason: &str, now: Timestamp) -> Result<Vec<String>>;

    fn counts(&self) -> Result<BTreeMap<(Option<String>, String), StateCounts>>;

    /// Records the start of a service run, overwriting an earlier run with the same ID.
    fn begin_run(&mut self, id: &str, what: &str, now: Timestamp) -> Result<()>;

    fn end_run(&mut self, id: &str, outcome: &str, now: Timestamp) -> Result<()>;

    fn last_run(&self, what: &str) -> Result<Option<ServiceRun>>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_an_hour() {
        let waits: Vec<u64> = (1..=9).map(|n| wait_after(n).as_secs()).collect();
        assert_eq!(waits, [30, 60, 120, 240, 480, 960, 1920, 3600, 3600]);
        assert_eq!(wait_after(u32::MAX).as_secs(), 3600);
    }

    #[test]
    fn every_state_reads_back() {
        for state in JobState::ALL {
            assert_eq!(JobState::from_name(state.as_str()), Some(state));
        }
        assert_eq!(JobState::from_name("failed"), None);
    }
}
