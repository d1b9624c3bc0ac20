//! What models charge for their tokens.
//!
//! A model that is not in the table costs an unknown amount, which is not the same as nothing.

use serde::{Deserialize, Serialize};

use super::cost::Cost;
use super::names::ModelRef;
use super::usage::Usage;

/// The price of a model in thousandths of a dollar for a million tokens, which are also billionths for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
}

impl Price {
    const fn new(input: u64, output: u64, cache_read: u64, cache_write: u64) -> Self {
        Self { input, output, cache_read, cache_write }
    }

    fn cost(self, usage: &Usage) -> Cost {
        let part = |tokens: u64, price: u64| tokens.saturating_mul(price);
        Cost::from_nano_dollars(
            part(usage.input, self.input)
                .saturating_add(part(usage.output, self.output))
                .saturating_add(part(usage.cache_read, self.cache_read))
                .saturating_add(part(usage.cache_write, self.cache_write)),
        )
    }
}

/// The beginnings of names whose prices are public, and models that run on the user's own machine.
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

/// Prices by the beginning of a model's name; the longest beginning wins, and a person's rows come first.
#[derive(Clone, Debug, Default)]
pub struct PriceTable {
    own: Vec<(String, Price)>,
}

impl PriceTable {
    pub fn with_own(own: Vec<(String, Price)>) -> Self {
        Self { own }
    }

    pub fn price(&self, model: &ModelRef) -> Option<Price> {
        let name = model.to_string();
        let own = self.own.iter().map(|(prefix, price)| (prefix.as_str(), *price));
        longest(&name, own).or_else(|| longest(&name, PRICES.iter().copied()))
    }

    /// Returns what the provider reported, else what the table says, else nothing.
    pub fn cost(&self, model: &ModelRef, usage: &Usage) -> Option<Cost> {
        usage.reported.or_else(|| self.price(model).map(|price| price.cost(usage)))
    }
}

/// Returns the price of the longest beginning that ends where a part of the name ends.
fn longest<'a>(name: &str, rows: impl Iterator<Item = (&'a str, Price)>) -> Option<Price> {
    let fits = |prefix: &str| match name.strip_prefix(prefix) {
        Some(rest) => prefix.ends_with('/') || rest.is_empty() || rest.starts_with(['-', ':', '@']),
        None => false,
    };
    rows.filter(|(prefix, _)| fits(prefix)).max_by_key(|(prefix, _)| prefix.len()).map(|row| row.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input: u64, output: u64) -> Usage {
        Usage { input, output, ..Usage::default() }
    }

    #[test]
    fn cost_is_exact_and_unknown_is_not_zero() {
        let table = PriceTable::default();
        let cost = |name: &str| table.cost(&name.parse().unwrap(), &usage(1_000_000, 100_000));
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
    fn a_persons_row_and_the_providers_word_win() {
        let own = vec![("custom/qwen".to_owned(), Price::new(10, 20, 0, 0))];
        let table = PriceTable::with_own(own);
        let model = "custom/qwen".parse().unwrap();
        assert_eq!(table.cost(&model, &usage(3, 2)), Some(Cost::from_nano_dollars(70)));
        let reported = Usage { reported: Cost::from_dollars(0.25), ..usage(3, 2) };
        assert_eq!(table.cost(&model, &reported), Some(Cost::from_nano_dollars(250_000_000)));
        assert_eq!(Cost::from_dollars(f64::NAN), None);
        assert_eq!(Cost::from_dollars(-1.0), None);
    }
}
