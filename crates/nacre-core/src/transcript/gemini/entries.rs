//! The messages of a session as they stand at the end of its log.

use std::collections::HashMap;

use super::super::calls::text_hash;
use super::super::emit::Emitter;
use super::super::event::Place;
use super::super::facts::Undone;
use super::super::view::Fields;
use super::message::Talk;

/// What is held before it is given; beyond it a message that changes is given as it was.
const MAX_HELD: usize = 64 * 1024 * 1024;
const MAX_ENTRIES: usize = 250_000;

/// One message, with its last content.
struct Entry {
    raw: String,
    place: Place,
    is_squeezed: bool,
    is_undone: bool,
}

/// All messages, in the order in which they came first.
#[derive(Default)]
pub(super) struct Entries {
    held: Vec<Entry>,
    /// Where those stand that nobody took back, in their order.
    standing: Vec<usize>,
    /// Where each message is held, by its id; `None` where it was given already.
    places: HashMap<u64, Option<usize>>,
    n_bytes: usize,
    talk: Talk,
}

impl Entries {
    /// A message: a new one, or one that is known with more in it.
    pub(super) fn put(
        &mut self,
        message: &Fields<'_>,
        raw: &str,
        place: &Place,
        out: &mut Emitter<'_>,
    ) {
        let id = message.string("id");
        let known = if id.is_empty() { None } else { self.places.get(&text_hash(&id)).copied() };
        match known {
            None => self.push(&id, raw, place, out),
            Some(Some(at)) if !self.held[at].is_undone => {
                let entry = &mut self.held[at];
                self.n_bytes = self.n_bytes - entry.raw.len() + raw.len();
                raw.clone_into(&mut entry.raw);
                entry.is_squeezed = out.squeezed;
                if MAX_HELD < self.n_bytes {
                    self.give(out);
                }
            }
            Some(_) => out.report.repeated += 1,
        }
    }

    /// A message of the model's context: given only where it is not known.
    pub(super) fn put_new(
        &mut self,
        message: &Fields<'_>,
        raw: &str,
        place: &Place,
        out: &mut Emitter<'_>,
    ) {
        let id = message.string("id");
        if id.is_empty() || !self.places.contains_key(&text_hash(&id)) {
            self.push(&id, raw, place, out);
        }
    }

    fn push(&mut self, id: &str, raw: &str, place: &Place, out: &mut Emitter<'_>) {
        if MAX_HELD < self.n_bytes + raw.len() || self.held.len() == MAX_ENTRIES {
            self.give(out);
        }
        if !id.is_empty() && self.places.len() < MAX_ENTRIES {
            self.places.insert(text_hash(id), Some(self.held.len()));
        }
        self.n_bytes += raw.len();
        self.standing.push(self.held.len());
        self.held.push(Entry {
            raw: raw.to_owned(),
            place: place.clone(),
            is_squeezed: out.squeezed,
            is_undone: false,
        });
    }

    /// The person took back this message and all after it; all of them where it is not known. What was taken back before is
    /// not looked at again: it returns how many were.
    pub(super) fn rewind(&mut self, id: &str) -> usize {
        let from = self.places.get(&text_hash(id)).copied().flatten().unwrap_or(0);
        let first = self.standing.partition_point(|at| *at < from);
        let undone = self.standing.split_off(first);
        undone.iter().for_each(|at| self.held[*at].is_undone = true);
        undone.len()
    }

    /// Gives what is held.
    fn give(&mut self, out: &mut Emitter<'_>) {
        let was_squeezed = out.squeezed;
        for entry in std::mem::take(&mut self.held) {
            let from = out.next_sequence();
            out.squeezed = entry.is_squeezed;
            self.talk.message(&entry.raw, &entry.place, out);
            let end = out.next_sequence();
            if entry.is_undone && from < end {
                note_undone(Undone { from, to: end - 1 }, out);
            }
        }
        out.squeezed = was_squeezed;
        self.standing.clear();
        self.places.values_mut().for_each(|place| *place = None);
        self.n_bytes = 0;
    }

    /// Gives all that is left.
    pub(super) fn finish(&mut self, out: &mut Emitter<'_>) {
        self.give(out);
        out.facts.ending = self.talk.ending();
    }
}

/// Notes events that were taken back, as one range where they follow each other.
fn note_undone(undone: Undone, out: &mut Emitter<'_>) {
    match out.facts.undone.last_mut() {
        Some(last) if last.to + 1 == undone.from => last.to = undone.to,
        _ => out.facts.undone.push(undone),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::event::Event;
    use super::super::super::facts::{Agent, SessionFacts};
    use super::super::super::sink::Sink;
    use super::super::super::voice;
    use super::*;

    #[test]
    fn what_was_taken_back_is_not_looked_at_again() {
        let mut ignore = |_: Event| {};
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
        entries.finish(&mut out);
        assert_eq!(out.facts.undone, [Undone { from: 0, to: 1000 }]);
    }
}
