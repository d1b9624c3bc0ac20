//! The words of a text and how rare each is, for whoever compares two texts.

/// The terms of a text and what each is worth, in the order of the terms, so that sums are the same each time. A snapshot keeps
/// those of the rows that were compared.
#[derive(Debug)]
pub(super) struct Terms {
    weights: Vec<(String, f32)>,
    sum: f32,
}

impl Terms {
    /// Takes terms in their order.
    pub(super) fn new(weights: Vec<(String, f32)>) -> Self {
        Self { sum: weights.iter().map(|(_, weight)| weight).sum(), weights }
    }

    /// The weight of the terms that both hold, as a share of the weight of all.
    pub(super) fn likeness(&self, other: &Self) -> f32 {
        let holds = |term: &str| {
            other.weights.binary_search_by(|(known, _)| known.as_str().cmp(term)).is_ok()
        };
        let shared = self.weights.iter().filter(|(term, _)| holds(term));
        let shared: f32 = shared.map(|(_, weight)| weight).sum();
        let all = self.sum + other.sum - shared;
        if all > 0.0 { shared / all } else { 0.0 }
    }
}
