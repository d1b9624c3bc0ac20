//! What an agent was shown that it may cite: by id, with the words it was shown.
//!
//! Tools note here what they hand out. Whoever checks an answer asks here, and does not believe the answer: an id that
//! stands in a memory's text was not shown as a memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// More than this was not read by any model.
const MAX_SEEN: usize = 10_000;

/// What was shown in one run. Clones are the same list.
#[derive(Clone, Debug, Default)]
pub struct Seen(Arc<Mutex<BTreeMap<String, String>>>);

impl Seen {
    /// Notes that something was shown under an id.
    pub fn note(&self, id: &str, text: &str) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() < MAX_SEEN {
            seen.insert(id.to_owned(), text.to_owned());
        }
    }

    /// The words that were shown under exactly this id.
    pub fn text(&self, id: &str) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }
}
