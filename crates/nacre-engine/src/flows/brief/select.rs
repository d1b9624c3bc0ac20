//! Which memories are told: one after the other by what they are worth, as long as there is room.

use std::collections::BTreeSet;

use nacre_core::memory::MemoryType;
use nacre_core::search::{Listed, TokenCounter};

use super::item::{Backing, Item, backing, forms};
use super::open_ends::{MAX_SESSIONS, open_end};
use super::{Brief, Candidate, OPENING, Section, Source, Topic, Wish};

/// After so many days a memory counts half as fresh; a session sooner.
const HALF_LIFE_DAYS: f64 = 90.0;
const SESSION_HALF_LIFE_DAYS: f64 = 14.0;

/// What each further memory of a topic loses, so that no topic takes all the room.
const CROWDING: f32 = 0.15;

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

    /// Takes candidates, which come best first, until nothing more fits.
    pub(super) fn fill(&mut self, candidates: &[Candidate<'_>]) {
        let mut queues: Vec<Queue<'_>> = Topic::ALL.map(Queue::new).into();
        for candidate in candidates {
            let topic = Topic::of(&candidate.listed);
            let of_topic = queues.iter_mut().find(|queue| queue.topic == topic);
            of_topic.into_iter().for_each(|queue| queue.waiting.push(candidate));
        }
        self.queue_open_ends(candidates, &mut queues);
        for _ in 0..MAX_READS {
            let best = queues
                .iter_mut()
                .filter(|queue| queue.n_misfits < MAX_MISFITS)
                .filter_map(|queue| Some((queue.priority()?, queue)))
                // Of two that are worth the same, the first topic comes first.
                .reduce(|best, other| if other.0 > best.0 { other } else { best });
            let Some((_, queue)) = best else { break };
            let Some(candidate) = queue.next() else { break };
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
        for candidate in candidates.iter().take(MAX_NOTED) {
            self.forms(Topic::of(&candidate.listed), candidate);
        }
    }

    /// The newest sessions may have left something open.
    fn queue_open_ends<'c>(&self, candidates: &'c [Candidate<'c>], queues: &mut [Queue<'c>]) {
        let is_session = |one: &&Candidate<'_>| one.listed.memory_type == MemoryType::Summary;
        let mut sessions: Vec<&Candidate<'_>> = candidates.iter().filter(is_session).collect();
        sessions.sort_by(|a, b| {
            let by_time = b.listed.updated.cmp(&a.listed.updated);
            by_time.then_with(|| a.listed.id.cmp(b.listed.id)).then(a.source.cmp(&b.source))
        });
        sessions.truncate(MAX_SESSIONS);
        let open = queues.iter_mut().find(|queue| queue.topic == Topic::OpenEnds);
        open.into_iter().for_each(|queue| queue.waiting.clone_from(&sessions));
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

/// The memories of a topic that wait for their turn, best first.
struct Queue<'c> {
    topic: Topic,
    waiting: Vec<&'c Candidate<'c>>,
    n_seen: usize,
    n_taken: usize,
    n_misfits: usize,
}

impl<'c> Queue<'c> {
    fn new(topic: Topic) -> Self {
        Self { topic, waiting: Vec::new(), n_seen: 0, n_taken: 0, n_misfits: 0 }
    }

    fn priority(&self) -> Option<f32> {
        let next = self.waiting.get(self.n_seen)?;
        Some(next.worth * self.topic.weight() / (1.0 + CROWDING * self.n_taken as f32))
    }

    fn next(&mut self) -> Option<&'c Candidate<'c>> {
        let next = self.waiting.get(self.n_seen).copied();
        self.n_seen += 1;
        next
    }
}
