//! Which memories are told: one after the other by what they are worth, as long as there is room.

use std::collections::BTreeSet;

use nacre_core::memory::MemoryType;
use nacre_core::search::{Listed, TokenCounter};

use super::item::{Backing, Item, backing, forms};
use super::open_ends::open_end;
use super::queue::{Queue, best_first};
use super::{Brief, Candidate, OPENING, Section, Source, Topic, Wish};

/// After so many days a memory counts half as fresh; a session sooner.
const HALF_LIFE_DAYS: f64 = 90.0;
const SESSION_HALF_LIFE_DAYS: f64 = 14.0;

/// A topic in which so many did not fit one after the other is full.
const MAX_MISFITS: usize = 3;

/// Memories from elsewhere that are named.
const MAX_NOTED: usize = 50;

/// Files that are read at most; more would not fit into any budget that somebody reads.
const MAX_READS: usize = 600;

/// What a memory is worth to who is about to do what the wish says.
pub(super) fn worth(listed: &Listed<'_>, wish: &Wish<'_>) -> f32 {
    let days = wish.now.duration_since(listed.updated).as_secs_f64() / 86_400.0;
    let half_life = match listed.memory_type {
        MemoryType::Summary => SESSION_HALF_LIFE_DAYS,
        MemoryType::Decision | MemoryType::Learning => HALF_LIFE_DAYS,
    };
    let fresh = 0.5_f64.powf(days.max(0.0) / half_life) as f32;
    let usual = 0.6 * listed.confidence + 0.4 * fresh;
    if wish.task.is_none() && wish.files.is_empty() {
        return usual;
    }
    // Most memories fit any task a little; only those that fit well are meant.
    0.4 * usual + listed.fit * listed.fit + listed.names_file
}

/// A brief being filled.
pub(super) struct Selection<'a> {
    sources: &'a [Source<'a>],
    wish: &'a Wish<'a>,
    counter: &'a TokenCounter,
    sections: Vec<Section>,
    tokens: usize,
    /// Memories that nothing shows the writer of.
    unproven: BTreeSet<String>,
}

impl<'a> Selection<'a> {
    pub(super) fn new(
        sources: &'a [Source<'a>],
        wish: &'a Wish<'a>,
        counter: &'a TokenCounter,
    ) -> Self {
        let (sections, unproven) = (Vec::new(), BTreeSet::new());
        Self { sources, wish, counter, sections, tokens: 0, unproven }
    }

    /// Takes candidates, the best first, until nothing more fits.
    pub(super) fn fill(&mut self, candidates: &[Candidate<'_>]) {
        let sources = self.sources;
        // What came from elsewhere is not told, so it must not use up what may be read.
        let is_known = |one: &Candidate<'_>| sources[one.source].store.may_know(one.listed.id);
        let mut queues: Vec<Queue<'_>> =
            Topic::ALL.map(|topic| Queue::of_topic(topic, candidates, &is_known)).into();
        for _ in 0..MAX_READS {
            let best = queues
                .iter_mut()
                .filter(|queue| queue.n_misfits < MAX_MISFITS)
                .filter_map(|queue| Some((queue.priority()?, queue)))
                // Of two that are worth the same, the first topic comes first.
                .reduce(|best, other| if other.0 > best.0 { other } else { best });
            let Some((_, queue)) = best else { break };
            let Some(candidate) = queue.take() else { break };
            let Some((long, short)) = self.forms(queue.topic, candidate) else { continue };
            let is_in = self.put(queue.topic, long)
                || short.is_some_and(|short| self.put(queue.topic, short));
            match is_in {
                true => (queue.n_taken, queue.n_misfits) = (queue.n_taken + 1, 0),
                false => queue.n_misfits += 1,
            }
        }
    }

    /// Names what came from elsewhere, as far as somebody reads such a list.
    pub(super) fn note_unproven(&mut self, candidates: &[Candidate<'_>]) {
        let sources = self.sources;
        let is_foreign = |one: &&Candidate<'_>| !sources[one.source].store.may_know(one.listed.id);
        let best_first = best_first(candidates.iter().collect());
        for candidate in best_first.filter(is_foreign).take(MAX_NOTED) {
            self.forms(Topic::of(&candidate.listed), candidate);
        }
    }

    fn forms(&mut self, topic: Topic, candidate: &Candidate<'_>) -> Option<(Item, Option<Item>)> {
        let source = self.sources.get(candidate.source)?;
        let memory = source.index.read(&candidate.listed)?;
        match backing(source.store, &memory, source.scope) {
            Backing::Backed => {}
            Backing::Withheld => return None,
            Backing::Unproven => {
                self.unproven.insert(memory.at.id.to_string());
                return None;
            }
        }
        match topic {
            Topic::OpenEnds => {
                open_end(source.store, &memory, source.scope).map(|item| (item, None))
            }
            Topic::Decisions
            | Topic::Preferences
            | Topic::Pitfalls
            | Topic::Knowledge
            | Topic::RecentWork => forms(source.store, &memory, source.scope),
        }
    }

    /// Adds an item if there is room for it and for whatever it needs around it.
    fn put(&mut self, topic: Topic, item: Item) -> bool {
        let line = |text: &str| self.counter.count(text) + 1;
        let is_new = !self.sections.iter().any(|section| section.topic == topic);
        let heading = if is_new { line(topic.heading()) + line("") } else { 0 };
        let opening = if self.sections.is_empty() { line(OPENING) } else { 0 };
        let cost = line(&item.line()) + heading + opening;
        if self.wish.budget < self.tokens + cost {
            return false;
        }
        self.tokens += cost;
        match self.sections.iter_mut().find(|section| section.topic == topic) {
            Some(section) => section.items.push(item),
            None => self.sections.push(Section { topic, items: vec![item] }),
        }
        true
    }

    pub(super) fn finish(mut self, n_candidates: usize) -> Brief {
        self.sections.sort_by_key(|section| section.topic);
        let told = self.sections.iter().filter(|section| section.topic != Topic::OpenEnds);
        let n_told: usize = told.map(|section| section.items.len()).sum();
        Brief {
            budget: self.wish.budget,
            tokens: self.tokens,
            sections: self.sections,
            n_left_out: n_candidates.saturating_sub(n_told),
            unproven: self.unproven.into_iter().collect(),
        }
    }
}
