//! The order of messages: what was said twice counts once, and what was said later goes above what it changed.
//!
//! Messages overturn each other without a link. A later message of the same session that shares rare words with an
//! earlier one is usually the later word on the same thing, so it goes first, unless the question asks about the past
//! or it was the person who spoke first and the agent who answered. `docs/ranking.md` tells what each rule gave.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

use super::query::Query;
use super::rank::{Ranked, asks_about_past};
use super::record::Voice;
use super::snapshot::Snapshot;
use super::words;

/// As many of the best messages are compared.
pub(super) const N_COMPARED: usize = 100;

/// From this likeness on two messages say the same.
const COPY: f32 = 0.7;

/// What the newest of the compared messages gains over the oldest, as a share of its score.
const RECENCY: f32 = 0.1;

/// When a later message is the later word on the same thing.
#[derive(Clone, Copy)]
struct Bounds {
    /// The share of their words, weighed by rarity, that both hold.
    alike: f32,
    /// How well it must match the question, as a share of the earlier one's score.
    share: f32,
}

const SAME_SESSION: Bounds = Bounds { alike: 0.08, share: 0.8 };
const OTHER_SESSION: Bounds = Bounds { alike: 0.2, share: 0.9 };

/// Puts the best of `ranked` in the order in which messages are shown. `text_of` gives a row's text.
pub(super) fn settle(
    snapshot: &Snapshot,
    query: &Query,
    mut ranked: Vec<Ranked>,
    text_of: &dyn Fn(usize) -> Option<String>,
) -> Vec<Ranked> {
    if !snapshot.layout().has_voices || query.is_filter_only() {
        return ranked;
    }
    let rest = ranked.split_off(ranked.len().min(N_COMPARED));
    let asks_past = asks_about_past(&query.text);
    if !asks_past {
        favour_recent(snapshot, &mut ranked);
    }
    let mut reader = Reader { snapshot, text_of, rarity: HashMap::new() };
    let said = ranked.into_iter().map(|hit| reader.read(hit)).collect();
    let (mut said, copies) = without_copies(said);
    if !asks_past {
        newer_first(&mut said);
    }
    let least = said.last().map_or(0.0, |last| last.hit.score);
    let copies = copies.into_iter().map(|copy| {
        let score = copy.hit.score.min(least);
        Ranked { score, ..copy.hit }
    });
    said.into_iter().map(|said| said.hit).chain(copies).chain(rest).collect()
}

/// Messages that score alike are ordered by their time.
fn favour_recent(snapshot: &Snapshot, ranked: &mut [Ranked]) {
    let mut by_time: Vec<usize> = (0..ranked.len()).collect();
    by_time.sort_by_key(|idx| (snapshot.row(ranked[*idx].row).time_ms, ranked[*idx].row));
    let n_older = ranked.len().saturating_sub(1).max(1) as f32;
    for (place, idx) in by_time.into_iter().enumerate() {
        ranked[idx].score *= 1.0 + RECENCY * place as f32 / n_older;
    }
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.row.cmp(&b.row)));
}

/// A message that is compared with others.
struct Said {
    hit: Ranked,
    time_ms: i64,
    voice: Voice,
    session: u32,
    /// Hashes of its terms with their rarity, ascending.
    terms: Vec<(u64, f32)>,
    sum: f32,
}

impl Said {
    /// The weight of the terms that both hold, as a share of the weight of all; 0 where it cannot reach `least`.
    fn likeness(&self, other: &Self, least: f32) -> f32 {
        if self.sum.min(other.sum) < least * self.sum.max(other.sum) {
            return 0.0;
        }
        let (mut own, mut others) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        let mut shared = 0.0;
        while let (Some((term, weight)), Some((with, _))) = (own.peek(), others.peek()) {
            match term.cmp(with) {
                std::cmp::Ordering::Less => drop(own.next()),
                std::cmp::Ordering::Greater => drop(others.next()),
                std::cmp::Ordering::Equal => {
                    shared += weight;
                    own.next();
                    others.next();
                }
            }
        }
        let all = self.sum + other.sum - shared;
        if all > 0.0 { shared / all } else { 0.0 }
    }

    /// Whether `later` is the later word on what this message says.
    fn is_changed_by(&self, later: &Self) -> bool {
        let Bounds { alike, share } =
            if self.session == later.session { SAME_SESSION } else { OTHER_SESSION };
        // What the agent says does not change what the person said.
        let may_change = self.voice != Voice::User || later.voice == Voice::User;
        later.time_ms > self.time_ms
            && may_change
            && later.hit.score >= share * self.hit.score
            && self.likeness(later, alike) >= alike
    }
}

/// Reads messages and weighs their words.
struct Reader<'a> {
    snapshot: &'a Snapshot,
    text_of: &'a dyn Fn(usize) -> Option<String>,
    /// Messages on one thing share most words: each is looked up once.
    rarity: HashMap<u64, f32>,
}

impl Reader<'_> {
    fn read(&mut self, hit: Ranked) -> Said {
        let Self { snapshot, text_of, rarity } = self;
        let layout = snapshot.layout();
        let text = text_of(hit.row).unwrap_or_default();
        let mut terms: Vec<(u64, f32)> = Vec::new();
        words::each_term(&text, |term| {
            let hash = xxh3_64(term.as_bytes());
            let weigh = || layout.rows.rarity(snapshot.n_holding(term.as_bytes()) as usize);
            terms.push((hash, *rarity.entry(hash).or_insert_with(weigh)));
        });
        terms.sort_unstable_by_key(|(hash, _)| *hash);
        terms.dedup_by_key(|(hash, _)| *hash);
        let numbers = snapshot.row(hit.row);
        Said {
            time_ms: numbers.time_ms,
            voice: numbers.voice,
            session: layout.unit_of[hit.row],
            sum: terms.iter().map(|(_, weight)| weight).sum(),
            terms,
            hit,
        }
    }
}

/// Keeps the newest of messages that say the same, in the place of the best of them. Returns the others apart.
fn without_copies(said: Vec<Said>) -> (Vec<Said>, Vec<Said>) {
    let (mut kept, mut copies): (Vec<Said>, Vec<Said>) = (Vec::new(), Vec::new());
    for mut one in said {
        let is_copy =
            |known: &&mut Said| known.voice == one.voice && known.likeness(&one, COPY) >= COPY;
        match kept.iter_mut().find(is_copy) {
            Some(known) if one.time_ms > known.time_ms => {
                one.hit.score = known.hit.score;
                copies.push(std::mem::replace(known, one));
            }
            Some(_) => copies.push(one),
            None => kept.push(one),
        }
    }
    (kept, copies)
}

/// Puts messages above those that they change.
fn newer_first(said: &mut Vec<Said>) {
    for upper in 0..said.len() {
        // Each move puts a later one here, so there are at most as many as there are below.
        while let Some(lower) =
            (upper + 1..said.len()).find(|lower| said[upper].is_changed_by(&said[*lower]))
        {
            let mut later = said.remove(lower);
            later.hit.score = said[upper].hit.score;
            said.insert(upper, later);
        }
    }
}

#[cfg(test)]
mod tests;
