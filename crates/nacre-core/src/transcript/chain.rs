//! Records that hang on earlier records: finds what a person took back.
//!
//! Agents that keep their talk as a tree append a new branch to the file and leave the old one in
//! place. A prompt that hangs on a record before earlier prompts means that those were taken back.

use super::calls::{RecentMap, text_hash};
use super::emit::Emitter;
use super::facts::Undone;

const MAX_CHAIN: usize = 16 * 1024;
const MAX_PROMPTS: usize = 1024;
const MAX_UNDONE: usize = 1024;
/// Of each of the above, what a watermark holds.
const CARRIED: usize = 128;

/// The records and prompts of the main lane.
pub(super) struct Chain {
    /// The next sequence after each record.
    ends: RecentMap<u64>,
    /// Sequences at which the person's prompts start.
    prompts: Vec<u64>,
}

impl Chain {
    pub(super) fn restore(ends: Vec<(u64, u64)>, prompts: Vec<u64>) -> Self {
        Self { ends: RecentMap::restore(MAX_CHAIN, ends), prompts }
    }

    /// What a watermark must hold: records and prompts.
    pub(super) fn carry(&self) -> (Vec<(u64, u64)>, Vec<u64>) {
        let from = self.prompts.len().saturating_sub(CARRIED);
        (self.ends.youngest(CARRIED), self.prompts[from..].to_vec())
    }

    /// Remembers where a record ended.
    pub(super) fn note(&mut self, id: &str, out: &Emitter<'_>) {
        if !id.is_empty() {
            self.ends.insert(text_hash(id), out.next_sequence());
        }
    }

    /// Notes that a prompt of the person starts here, which hangs on the record `parent`.
    pub(super) fn note_prompt(&mut self, parent: &str, out: &mut Emitter<'_>) {
        let now = out.next_sequence();
        if let Some(parent) = self.end_of(parent) {
            let first = self.prompts.partition_point(|prompt| *prompt < parent);
            if let Some(from) = self.prompts.get(first).copied() {
                self.prompts.truncate(first);
                note_undone(from, out);
            }
        }
        if self.prompts.len() == MAX_PROMPTS {
            self.prompts.drain(..MAX_PROMPTS / 2);
        }
        self.prompts.push(now);
    }

    /// Notes that all after the record `to` was taken back; after nothing where `to` is empty.
    pub(super) fn rewind(&mut self, to: &str, out: &mut Emitter<'_>) {
        let Some(from) = (if to.is_empty() { Some(0) } else { self.end_of(to) }) else { return };
        self.prompts.retain(|prompt| *prompt < from);
        note_undone(from, out);
    }

    fn end_of(&self, id: &str) -> Option<u64> {
        if id.is_empty() { None } else { self.ends.get(text_hash(id)).copied() }
    }
}

/// Notes that all events from `from` on were taken back.
fn note_undone(from: u64, out: &mut Emitter<'_>) {
    let now = out.next_sequence();
    if from < now && out.facts.undone.len() < MAX_UNDONE {
        out.facts.undone.push(Undone { from, to: now - 1 });
    }
}
