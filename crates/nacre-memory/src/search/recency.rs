//! Ranks newer records above similar older ones.
//!
//! The similarity of two records is the share of terms they have in common, weighted by rarity in
//! the index. No embedding model is needed.

use std::collections::HashMap;

use nacre_base::text::each_term;
use xxhash_rust::xxh3::xxh3_64;

use super::query::Query;
use super::rank::{Ranked, asks_about_past};
use super::record::Voice;
use super::snapshot::Snapshot;

/// Number of messages to compare with each other.
pub const MAX_MESSAGES: usize = 100;

/// Minimum similarity for two messages to be treated as duplicates.
const COPY: f32 = 0.7;

/// Bonus for the newest compared message over the oldest, as a share of the newest message's score.
const RECENCY: f32 = 0.1;

/// How similar two messages must be for the later one to replace the earlier one, and how much of
/// the earlier one's score it must have.
#[derive(Clone, Copy)]
struct AlikeLimits {
    alike: f32,
    share: f32,
}

const SAME_SESSION: AlikeLimits = AlikeLimits { alike: 0.08, share: 0.8 };
const OTHER_SESSION: AlikeLimits = AlikeLimits { alike: 0.2, share: 0.9 };

/// Hashes of a text's terms and how rare each one is, in ascending order.
#[derive(Debug)]
pub(super) struct Terms {
    weights: Vec<(u64, f32)>,
    sum: f32,
}

impl Terms {
    pub(super) fn of(snapshot: &Snapshot, text: &str, rarities: &mut HashMap<u64, f32>) -> Self {
        let rows = &snapshot.layout().rows;
        let mut weights: Vec<(u64, f32)> = Vec::new();
        each_term(text, |term| {
            let hash = xxh3_64(term.as_bytes());
            let rarity = || rows.rarity(snapshot.n_holding(term));
            weights.push((hash, *rarities.entry(hash).or_insert_with(rarity)));
        });
        weights.sort_unstable_by_key(|(hash, _)| *hash);
        weights.dedup_by_key(|(hash, _)| *hash);
        Self { sum: weights.iter().map(|(_, weight)| weight).sum(), weights }
    }

    /// Returns the weighted share of common terms, or 0 if it cannot reach `least`.
    pub(super) fn likeness(&self, other: &Self, least: f32) -> f32 {
        if self.sum.min(other.sum) < least * self.sum.max(other.sum) {
            return 0.0;
        }
        let mut others = other.weights.iter().peekable();
        let mut shared = 0.0;
        for (term, weight) in &self.weights {
            while others.next_if(|(with, _)| with < term).is_some() {}
            if others.next_if(|(with, _)| with == term).is_some() {
                shared += weight;
            }
        }
        let all = self.sum + other.sum - shared;
        if all > 0.0 { shared / all } else { 0.0 }
    }
}

/// Sorts the best messages for display.
///
/// Messages do not link to the messages that they replace. A later message in the same session that
/// shares rare words with an earlier one is probably an update, so it is ranked first. Queries
/// about the past and an agent's replies to a user are exceptions. `docs/ranking.md` lists the
/// effect of each rule.
pub fn order_messages(
    snapshot: &Snapshot,
    query: &Query,
    mut ranked: Vec<Ranked>,
    text_of: &dyn Fn(usize) -> Option<String>,
) -> Vec<Ranked> {
    let layout = snapshot.layout();
    if !layout.has_voices || query.is_filter_only() {
        return ranked;
    }
    let rest = ranked.split_off(ranked.len().min(MAX_MESSAGES));
    let asks_past = asks_about_past(&query.text);
    if !asks_past {
        favor_recent(snapshot, &mut ranked);
    }
    let mut rarities = HashMap::new();
    let mut read = |hit: Ranked| {
        let row = snapshot.row(hit.row);
        let text = text_of(hit.row).unwrap_or_default();
        Message {
            time_ms: row.time_ms,
            voice: row.voice,
            session: layout.unit_of[hit.row],
            terms: Terms::of(snapshot, &text, &mut rarities),
            hit,
        }
    };
    let messages = ranked.into_iter().map(&mut read).collect();
    let (mut messages, copies) = without_copies(messages);
    if !asks_past {
        put_later_first(&mut messages);
    }
    let least = messages.last().map_or(0.0, |last| last.hit.score);
    let copies = copies.into_iter().map(|copy| {
        let score = copy.hit.score.min(least);
        Ranked { score, ..copy.hit }
    });
    messages.into_iter().map(|message| message.hit).chain(copies).chain(rest).collect()
}

fn favor_recent(snapshot: &Snapshot, ranked: &mut [Ranked]) {
    let mut by_time: Vec<usize> = (0..ranked.len()).collect();
    by_time.sort_by_key(|idx| (snapshot.row(ranked[*idx].row).time_ms, ranked[*idx].row));
    let n_older = ranked.len().saturating_sub(1).max(1) as f32;
    for (place, idx) in by_time.into_iter().enumerate() {
        ranked[idx].score *= 1.0 + RECENCY * place as f32 / n_older;
    }
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.row.cmp(&b.row)));
}

struct Message {
    hit: Ranked,
    time_ms: i64,
    voice: Voice,
    session: u32,
    terms: Terms,
}

impl Message {
    fn is_changed_by(&self, later: &Self) -> bool {
        let AlikeLimits { alike, share } =
            if self.session == later.session { SAME_SESSION } else { OTHER_SESSION };
        // An agent's message does not update a user's message.
        let may_change = self.voice != Voice::User || later.voice == Voice::User;
        later.time_ms > self.time_ms
            && may_change
            && later.hit.score >= share * self.hit.score
            && self.terms.likeness(&later.terms, alike) >= alike
    }
}

/// Keeps the newest duplicate in each group, at the position of the group's best message. Returns
/// the other messages separately.
fn without_copies(messages: Vec<Message>) -> (Vec<Message>, Vec<Message>) {
    let (mut kept, mut copies): (Vec<Message>, Vec<Message>) = (Vec::new(), Vec::new());
    for mut message in messages {
        let is_copy = |known: &&mut Message| {
            known.voice == message.voice && known.terms.likeness(&message.terms, COPY) >= COPY
        };
        match kept.iter_mut().find(is_copy) {
            Some(known) if message.time_ms > known.time_ms => {
                message.hit.score = known.hit.score;
                copies.push(std::mem::replace(known, message));
            }
            Some(_) => copies.push(message),
            None => kept.push(message),
        }
    }
    (kept, copies)
}

fn put_later_first(messages: &mut Vec<Message>) {
    for upper in 0..messages.len() {
        // The loop ends because each move puts a later message in this position.
        while let Some(lower) = (upper + 1..messages.len())
            .find(|lower| messages[upper].is_changed_by(&messages[*lower]))
        {
            let mut later = messages.remove(lower);
            later.hit.score = messages[upper].hit.score;
            messages.insert(upper, later);
        }
    }
}

#[cfg(test)]
mod tests;
