//! Whether quotes occur where they say they do: read the transcript once more and look.

use std::collections::HashMap;

use nacre_core::memory::Quote;
use nacre_core::transcript::{BoundedText, Event};

/// Looks for quotes in the events of a session.
#[derive(Debug)]
pub struct Verbatim<'q> {
    /// By the event that they are said to stand in.
    wanted: HashMap<u64, Vec<&'q Quote>>,
    missing: Vec<&'q Quote>,
}

impl<'q> Verbatim<'q> {
    pub fn new(quotes: impl IntoIterator<Item = &'q Quote>) -> Self {
        let mut wanted: HashMap<u64, Vec<&'q Quote>> = HashMap::new();
        let mut missing = Vec::new();
        for quote in quotes {
            match sequence_of(&quote.place) {
                Some(sequence) => wanted.entry(sequence).or_default().push(quote),
                None => missing.push(quote),
            }
        }
        Self { wanted, missing }
    }

    pub fn take(&mut self, event: &Event) {
        let quotes = self.wanted.remove(&event.sequence).unwrap_or_default();
        self.missing.extend(quotes.into_iter().filter(|quote| !occurs(&quote.text, &event.text)));
    }

    /// The quotes that do not occur.
    pub fn missing(self) -> Vec<&'q Quote> {
        self.missing.into_iter().chain(self.wanted.into_values().flatten()).collect()
    }
}

/// Whether a text holds a quote, word for word.
pub(super) fn occurs(quote: &str, text: &BoundedText) -> bool {
    !quote.trim().is_empty() && (text.head().contains(quote) || text.tail().contains(quote))
}

/// The event that a place like `SESSION:SEQUENCE` names.
fn sequence_of(place: &str) -> Option<u64> {
    place.rsplit_once(':')?.1.parse().ok()
}
