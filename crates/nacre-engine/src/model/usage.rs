//! How many tokens calls took.

use serde::{Deserialize, Serialize};

use super::cost::Cost;

/// Tokens of one or more calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Input that came neither from the cache nor went into it.
    pub input: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    /// Output, reasoning included.
    pub output: u64,
    pub reasoning: u64,
    /// What the provider itself says it costs, where it says so.
    pub reported: Option<Cost>,
}

impl Usage {
    pub fn total(&self) -> u64 {
        self.input
            .saturating_add(self.cache_read)
            .saturating_add(self.cache_write)
            .saturating_add(self.output)
    }

    /// Returns the sum; the reported cost is known only when both are.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write: self.cache_write.saturating_add(other.cache_write),
            output: self.output.saturating_add(other.output),
            reasoning: self.reasoning.saturating_add(other.reasoning),
            reported: self.reported.zip(other.reported).map(|(one, two)| one.plus(two)),
        }
    }
}
