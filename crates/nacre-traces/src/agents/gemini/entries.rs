//! Collects the final version of each message in a Gemini CLI log.

use crate::transcript::toolkit::*;
use std::collections::HashMap;

use super::message::SessionParser;

/// Maximum number of buffered bytes. Beyond it, messages are emitted early, and later changes to
/// them are lost.
const MAX_HELD: usize = 64 * 1024 * 1024;
const MAX_ENTRIES: usize = 250_000;

struct HeldMessage {
    raw: String,
    place: Position,
    is_undone: bool,
}

#[derive(Default)]
pub(super) struct Entries {
    held: Vec<HeldMessage>,
    /// Indices of messages that were not undone, in order.
    kept: Vec<usize>,
    /// Message indices by ID hash. `None` means that the message has already been emitted.
    places: HashMap<u64, Option<usize>>,
    n_bytes: usize,
    pub(super) talk: SessionParser,
}

impl Entries {
    pub(super) fn put(&mut self, message: &Fields, raw: &str, place: &Position, out: &mut Emitter) {
        let id = message.string("id");
        let known = if id.is_empty() { None } else { self.places.get(&text_hash(&id)).copied() };
        match known {
            None => self.push(&id, raw, place, out),
            Some(Some(at)) if !self.held[at].is_undone => {
                let entry = &mut self.held[at];
                self.n_bytes = self.n_bytes - entry.raw.len() + raw.len();
                raw.clone_into(&mut entry.raw);
                if MAX_HELD < self.n_bytes {
                    self.give(out);
                }
            }
            Some(_) => out.report.repeated += 1,
        }
    }

    pub(super) fn put_new(
        &mut self,
        message: &Fields,
        raw: &str,
        place: &Position,
        out: &mut Emitter,
    ) {
        let id = message.string("id");
        if id.is_empty() || !self.places.contains_key(&text_hash(&id)) {
            self.push(&id, raw, place, out);
        }
    }

    fn push(&mut self, id: &str, raw: &str, place: &Position, out: &mut Emitter) {
        if MAX_HELD < self.n_bytes + raw.len() || self.held.len() == MAX_ENTRIES {
            self.give(out);
        }
        if !id.is_empty() && self.places.len() < MAX_ENTRIES {
            self.places.insert(text_hash(id), Some(self.held.len()));
        }
        self.n_bytes += raw.len();
        self.kept.push(self.held.len());
        self.held.push(HeldMessage { raw: raw.to_owned(), place: place.clone(), is_undone: false });
    }

    /// Marks the message and all later ones as undone, or all messages if the ID is unknown.
    /// Returns how many messages were newly marked.
    pub(super) fn rewind(&mut self, id: &str) -> usize {
        let from = self.places.get(&text_hash(id)).copied().flatten().unwrap_or(0);
        let first = self.kept.partition_point(|at| *at < from);
        let undone = self.kept.split_off(first);
        undone.iter().for_each(|at| self.held[*at].is_undone = true);
        undone.len()
    }

    pub(super) fn give(&mut self, out: &mut Emitter) {
        for entry in std::mem::take(&mut self.held) {
            let from = out.next_sequence();
            self.talk.message(&entry.raw, &entry.place, out);
            let end = out.next_sequence();
            if entry.is_undone && from < end {
                note_undone(Undone { from, to: end - 1 }, out);
            }
        }
        self.kept.clear();
        self.places.values_mut().for_each(|place| *place = None);
        self.n_bytes = 0;
    }
}

/// Merges adjacent ranges.
fn note_undone(undone: Undone, out: &mut Emitter) {
    match out.facts.undone.last_mut() {
        Some(last) if last.to + 1 == undone.from => last.to = undone.to,
        _ => out.facts.undone.push(undone),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_taken_back_is_not_looked_at_again() {
        let mut ignore = |_: TranscriptEvent| {};
        let facts = SessionFacts::new(Agent::Gemini, "s");
        let mut out = Emitter::new(facts, 0, Sink::everything(&mut ignore));
        let mut entries = Entries::default();
        let mut put = |entries: &mut Entries, id: u32| {
            let raw = format!(r#"{{"id":"{id}","type":"user","content":"x"}}"#);
            entries.put(&Fields::of(&raw), &raw, &voice::row("r"), &mut out);
        };
        (0..1000).for_each(|id| put(&mut entries, id));
        assert_eq!(entries.rewind("990"), 10);
        assert_eq!(entries.rewind("unknown"), 990);
        let again: usize = (0..1000).map(|_| entries.rewind("unknown")).sum();
        assert_eq!(again, 0);
        put(&mut entries, 1000);
        assert_eq!((entries.rewind("5"), entries.rewind("1000")), (1, 0));
        entries.give(&mut out);
        assert_eq!(out.facts.undone, [Undone { from: 0, to: 1000 }]);
    }
}
