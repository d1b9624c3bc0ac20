//! Token usage, prices and costs. Costs are integers in billionths of a dollar, so that sums are
//! exact.
//!
//! If a model's price is unknown, its cost is unknown, not zero.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::model::roles::ModelRef;

/// A model's prices in thousandths of a dollar per million tokens, which equals billionths of a
/// dollar per token.
#[derive(Clone, Copy)]
struct Price {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
}

impl Price {
    const fn new(input: u64, output: u64, cache_read: u64, cache_write: u64) -> Self {
        Self { input, output, cache_read, cache_write }
    }

    fn cost(self, usage: &Usage) -> Cost {
        let parts = [
            (usage.input, self.input),
            (usage.output, self.output),
            (usage.cache_read, self.cache_read),
            (usage.cache_write, self.cache_write),
        ];
        let part = |(tokens, price): (u64, u64)| Cost(tokens.saturating_mul(price));
        parts.into_iter().map(part).fold(Cost::default(), Cost::plus)
    }
}

/// Name prefixes of models with public prices and of models that run on the user's own machine.
const PRICES: &[(&str, Price)] = &[
    ("anthropic/claude-haiku-4", Price::new(1000, 5000, 100, 1250)),
    ("anthropic/claude-opus-4", Price::new(5000, 25_000, 500, 6250)),
    ("anthropic/claude-opus-4-0", Price::new(15_000, 75_000, 1500, 18_750)),
    ("anthropic/claude-opus-4-1", Price::new(15_000, 75_000, 1500, 18_750)),
    ("anthropic/claude-opus-4-20250514", Price::new(15_000, 75_000, 1500, 18_750)),
    ("anthropic/claude-sonnet-4", Price::new(3000, 15_000, 300, 3750)),
    ("llamacpp/", Price::new(0, 0, 0, 0)),
    ("openai/gpt-4.1", Price::new(2000, 8000, 500, 2000)),
    ("openai/gpt-4.1-mini", Price::new(400, 1600, 100, 400)),
    ("openai/gpt-4.1-nano", Price::new(100, 400, 25, 100)),
    ("openai/gpt-4o", Price::new(2500, 10_000, 1250, 2500)),
    ("openai/gpt-4o-mini", Price::new(150, 600, 75, 150)),
    ("openai/gpt-5", Price::new(1250, 10_000, 125, 1250)),
    ("openai/gpt-5-mini", Price::new(250, 2000, 25, 250)),
    ("openai/gpt-5-nano", Price::new(50, 400, 5, 50)),
    ("scripted", Price::new(0, 0, 0, 0)),
];

/// Returns the price for the longest matching prefix, which must end at a component boundary.
fn price(model: &ModelRef) -> Option<Price> {
    let name = model.to_string();
    let is_end = |rest: &str| rest.is_empty() || rest.starts_with(['-', ':', '@']);
    let fits = |prefix: &str| {
        name.strip_prefix(prefix).is_some_and(|rest| prefix.ends_with('/') || is_end(rest))
    };
    let rows = PRICES.iter().filter(|(prefix, _)| fits(prefix));
    rows.max_by_key(|(prefix, _)| prefix.len()).map(|row| row.1)
}

/// An amount in billionths of a US dollar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cost(u64);

impl Cost {
    pub fn from_nano_dollars(nano: u64) -> Self {
        Self(nano)
    }

    /// Converts a cost reported by a provider. Returns `None` if it is implausible.
    pub fn from_dollars(dollars: f64) -> Option<Self> {
        // Reject implausible values, such as a million dollars for one answer.
        let is_sensible = dollars.is_finite() && (0.0..1e6).contains(&dollars);
        is_sensible.then(|| Self((dollars * 1e9).round() as u64))
    }

    pub fn nano_dollars(self) -> u64 {
        self.0
    }

    /// Returns the amount in dollars, for display only. Use the exact amounts for sums.
    pub fn dollars(self) -> f64 {
        self.0 as f64 / 1e9
    }

    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micro = self.0.div_ceil(1000);
        write!(f, "${}.{:06}", micro / 1_000_000, micro % 1_000_000)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Input tokens that were neither read from the cache nor written to it.
    pub input: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    /// Output tokens, including reasoning.
    pub output: u64,
    pub reasoning: u64,
    pub reported: Option<Cost>,
}

/// Maximum number of tokens that a provider may add to a call, for example for tool instructions
/// and a prompt template.
const ADDED_TOKENS: u64 = 100_000;

/// Upper bound for a token's price in dollars: a hundred times the highest known price.
const DEAREST_TOKEN: f64 = 0.1;

impl Usage {
    /// Caps the reported counts at the number of tokens that the transferred bytes can contain,
    /// assuming at least one byte per token.
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
        #[expect(clippy::cast_precision_loss, reason = "an upper bound, not a price")]
        let dearest = Cost::from_dollars(cut.total() as f64 * DEAREST_TOKEN);
        Self {
            reported: self.reported.map(|told| dearest.map_or(told, |most| told.min(most))),
            ..cut
        }
    }

    pub fn cost(&self, model: &ModelRef) -> Option<Cost> {
        self.reported.or_else(|| price(model).map(|price| price.cost(self)))
    }

    pub fn total(&self) -> u64 {
        self.input
            .saturating_add(self.cache_read)
            .saturating_add(self.cache_write)
            .saturating_add(self.output)
    }

    /// Returns the sum. The sum's reported cost is known only if both reported costs are known.
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
mod tests {
    use super::*;

    fn usage(input: u64, output: u64) -> Usage {
        Usage { input, output, ..Usage::default() }
    }

    #[test]
    fn cost_is_exact_and_unknown_is_not_zero() {
        let cost = |name: &str| usage(1_000_000, 100_000).cost(&name.parse().unwrap());
        for (name, dollars) in [
            ("anthropic/claude-sonnet-4-6", Some("$4.500000")),
            ("anthropic/claude-opus-4-1-20250805", Some("$22.500000")),
            ("anthropic/claude-opus-4-20250514", Some("$22.500000")),
            ("anthropic/claude-opus-4-7", Some("$7.500000")),
            ("openai/gpt-4o-mini-2024-07-18", Some("$0.210000")),
            ("openai/gpt-5-mini", Some("$0.450000")),
            ("openai/gpt-5.4", None),
            ("scripted", Some("$0.000000")),
            ("llamacpp/qwen", Some("$0.000000")),
            ("custom/qwen", None),
        ] {
            assert_eq!(cost(name).map(|cost| cost.to_string()).as_deref(), dollars, "{name}");
        }
    }

    #[test]
    fn the_providers_word_wins() {
        let model = "openai/gpt-4o".parse().unwrap();
        let reported = Usage { reported: Cost::from_dollars(0.25), ..usage(3, 2) };
        assert_eq!(reported.cost(&model), Some(Cost::from_nano_dollars(250_000_000)));
        assert_eq!(Cost::from_dollars(f64::NAN), None);
        assert_eq!(Cost::from_dollars(-1.0), None);
    }
}

#[cfg(test)]
mod cost_tests {
    use super::*;

    #[test]
    fn the_smallest_cost_is_not_shown_as_nothing() {
        assert_eq!(Cost(1).to_string(), "$0.000001");
        assert_eq!(Cost(0).to_string(), "$0.000000");
    }
}

#[cfg(test)]
mod usage_tests {
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
