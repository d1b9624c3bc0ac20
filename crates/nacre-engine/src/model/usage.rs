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

/// What a provider adds to a call of its own: instructions for tools, the frame of a template.
const ADDED_TOKENS: u64 = 100_000;

/// What a token costs at most, in dollars: a hundred times the dearest price known.
const DEAREST_TOKEN: f64 = 0.1;

impl Usage {
    /// Cuts counts that the bytes sent and received cannot hold, one token a byte. A server that tells more would otherwise use
    /// up the limits of a month with one answer.
    #[must_use]
    pub(super) fn within(self, n_sent: usize, n_received: usize, max_tokens: u32) -> Self {
        let tokens = |n_bytes: usize| ADDED_TOKENS.saturating_add(n_bytes as u64);
        let (sent, received) = (tokens(n_sent), tokens(n_received) + u64::from(max_tokens));
        let cut = Self {
            input: self.input.min(sent),
            cache_read: self.cache_read.min(sent),
            cache_write: self.cache_write.min(sent),
            output: self.output.min(received),
            reasoning: self.reasoning.min(received),
            reported: self.reported,
        };
        #[expect(clippy::cast_precision_loss, reason = "a bound, not a price")]
        let dearest = Cost::from_dollars(cut.total() as f64 * DEAREST_TOKEN);
        Self {
            reported: self.reported.map(|told| dearest.map_or(told, |most| told.min(most))),
            ..cut
        }
    }

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

#[cfg(test)]
mod within_tests {
    use super::*;

    #[test]
    fn counts_that_no_bytes_hold_are_cut() {
        let told = Usage {
            input: u64::MAX,
            cache_read: 9_000_000_000_000_000_000,
            output: u64::MAX,
            reported: Cost::from_dollars(9e5),
            ..Usage::default()
        };
        let cut = told.within(1000, 1000, 4096);
        assert_eq!((cut.input, cut.cache_read, cut.output), (101_000, 101_000, 105_096));
        assert!(cut.reported < told.reported);
        let honest = Usage { input: 700, output: 90, reported: Cost::from_dollars(0.01), ..told };
        let honest = Usage { cache_read: 0, ..honest };
        assert_eq!(honest.within(3000, 400, 4096), honest);
    }
}
