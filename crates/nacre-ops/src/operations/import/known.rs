//! What was imported before, found by the quotes that are its evidence.

use std::collections::BTreeSet;

use nacre_core::memory::{Memory, MemoryId, MemoryType, Profile, Status, Store};

use super::sources::SOURCE;
use crate::error::OpError;

/// How much of what two texts say must be the same, so that one is the other after a change.
const SAME_LINE: f32 = 0.5;

/// A memory that came from a file.
pub(super) struct Imported {
    pub(super) id: MemoryId,
    pub(super) status: Status,
    label: String,
    tags: Vec<String>,
    profile: Profile,
    quotes: Vec<String>,
}

/// Every memory of a store that came from a file, whatever became of it.
pub(super) fn imported(store: &Store) -> Result<Vec<Imported>, OpError> {
    let listing = store.list(|at| at.memory_type != MemoryType::Summary)?;
    Ok(listing.memories.iter().filter_map(|memory| of_file(store, memory)).collect())
}

fn of_file(store: &Store, memory: &Memory) -> Option<Imported> {
    let label = memory.source.as_deref()?.strip_prefix(SOURCE)?.to_owned();
    let quotes = store.evidence(&memory.at.id).ok().flatten()?.quotes;
    let is_overturned = memory.says_overturned() || memory.is_archived();
    Some(Imported {
        id: memory.at.id.clone(),
        status: if is_overturned { Status::Superseded } else { memory.status },
        label,
        tags: memory.tags.clone(),
        profile: Profile::of(&memory.title, memory.document.body()),
        quotes: quotes.iter().map(|quote| folded(&quote.text)).collect(),
    })
}

/// A text to compare: its words, whatever the blanks between them.
pub(super) fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Imported {
    pub(super) fn has_quote(&self, quote: &str) -> bool {
        self.quotes.iter().any(|known| known == quote)
    }

    /// Whether its words are no longer among the statements of the file that it came from.
    pub(super) fn is_gone_from(&self, label: &str, quotes: &BTreeSet<String>) -> bool {
        self.label == label && !self.quotes.iter().any(|quote| quotes.contains(quote))
    }

    /// How much a text is the same line after a change; 0 where it is another one.
    pub(super) fn likeness(&self, tags: &[String], profile: &Profile) -> f32 {
        let share = profile.share_held_by(&self.profile).min(self.profile.share_held_by(profile));
        let holds = match self.status {
            Status::Active | Status::Candidate | Status::Stale => true,
            Status::Superseded | Status::Archived => false,
        };
        if holds && self.tags == tags && share >= SAME_LINE { share } else { 0.0 }
    }
}
