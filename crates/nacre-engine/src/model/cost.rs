//! Money, counted in whole billionths of a dollar, so that sums are exact.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Billionths of a US dollar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cost(u64);

impl Cost {
    pub fn from_nano_dollars(nano: u64) -> Self {
        Self(nano)
    }

    /// Reads what a provider reports; what is no sensible amount is none.
    pub fn from_dollars(dollars: f64) -> Option<Self> {
        // A million dollars for one answer is a mistake, not a price.
        let is_sensible = dollars.is_finite() && (0.0..1e6).contains(&dollars);
        is_sensible.then(|| Self((dollars * 1e9).round() as u64))
    }

    pub fn nano_dollars(self) -> u64 {
        self.0
    }

    /// For those who read it as a number; sums are made of the exact amounts.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_cost_is_not_shown_as_nothing() {
        assert_eq!(Cost(1).to_string(), "$0.000001");
        assert_eq!(Cost(0).to_string(), "$0.000000");
    }
}
