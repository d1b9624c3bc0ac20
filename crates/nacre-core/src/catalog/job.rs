//! What can become of a session that waits for a run.

use std::time::Duration;

use jiff::Timestamp;

/// Where a session stands; exactly one of these at any time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum JobState {
    /// Waits for a run, maybe for a retry.
    Pending,
    /// A worker holds its lease.
    Running,
    /// A run kept what was worth keeping.
    Done,
    /// There was nothing in it to keep.
    Empty,
    /// It is not to be run, for a reason that can change.
    Skipped,
    /// It failed too often.
    Dead,
}

impl JobState {
    /// Every state, in the order they are shown.
    pub const ALL: [Self; 6] =
        [Self::Pending, Self::Running, Self::Done, Self::Empty, Self::Skipped, Self::Dead];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Done => "done",
            Self::Empty => "empty",
            Self::Skipped => "skipped",
            Self::Dead => "dead",
        }
    }

    /// The state of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

/// A session's place in the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The session's short key.
    pub key: String,
    pub state: JobState,
    pub reason: Option<String>,
    pub attempts: u32,
    pub not_before: Option<Timestamp>,
    pub run: Option<String>,
    pub changed: Timestamp,
    pub agent: String,
    pub title: Option<String>,
    pub project: Option<String>,
}

/// How a claimed job ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done {
        run: String,
    },
    Empty {
        reason: String,
    },
    /// Try again later, or give up after too many tries.
    Failed {
        reason: String,
    },
    /// Give it back untouched, without counting a try.
    Released,
}

/// How failures are retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    pub first_wait: Duration,
    pub longest_wait: Duration,
    /// The last try's number; after it the job is dead.
    pub max_attempts: u32,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            first_wait: Duration::from_secs(30),
            longest_wait: Duration::from_secs(3600),
            max_attempts: 5,
        }
    }
}

impl RetryPolicy {
    /// The wait after the given number of failures: doubling, up to the longest.
    pub fn wait_after(&self, n_failures: u32) -> Duration {
        let factor = 2_u32.saturating_pow(n_failures.saturating_sub(1).min(30));
        self.first_wait.saturating_mul(factor).min(self.longest_wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_an_hour() {
        let policy = RetryPolicy::default();
        let waits: Vec<u64> = (1..=9).map(|n| policy.wait_after(n).as_secs()).collect();
        assert_eq!(waits, [30, 60, 120, 240, 480, 960, 1920, 3600, 3600]);
        assert_eq!(policy.wait_after(u32::MAX).as_secs(), 3600);
    }

    #[test]
    fn every_state_reads_back() {
        for state in JobState::ALL {
            assert_eq!(JobState::from_name(state.as_str()), Some(state));
        }
        assert_eq!(JobState::from_name("failed"), None);
    }
}
