//! The memories of a topic that wait for their turn, best first.
//!
//! A brief of ten thousand memories shows thirty, and somebody waits for it. So only what is taken is put in order, and only then it
//! is asked where it came from.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use nacre_core::memory::MemoryType;

use super::open_ends::MAX_SESSIONS;
use super::{Candidate, Topic};

/// What each further memory of a topic loses, so that no topic takes all the room.
const CROWDING: f32 = 0.15;

/// The candidates of one topic.
pub(super) struct Queue<'c> {
    pub(super) topic: Topic,
    waiting: Box<dyn Iterator<Item = &'c Candidate<'c>> + 'c>,
    next: Option<&'c Candidate<'c>>,
    pub(super) n_taken: usize,
    pub(super) n_misfits: usize,
}

impl<'c> Queue<'c> {
    /// Those of the candidates that belong to a topic and came from here.
    pub(super) fn of_topic(
        topic: Topic,
        candidates: &'c [Candidate<'c>],
        is_known: &'c dyn Fn(&Candidate<'_>) -> bool,
    ) -> Self {
        let mut waiting: Box<dyn Iterator<Item = &Candidate<'_>>> = match topic {
            Topic::OpenEnds => Box::new(newest_sessions(candidates, is_known)),
            Topic::Decisions
            | Topic::Preferences
            | Topic::Pitfalls
            | Topic::Knowledge
            | Topic::RecentWork => {
                let is_about = |one: &&Candidate<'_>| Topic::of(&one.listed) == topic;
                let of_topic = candidates.iter().filter(is_about).collect();
                Box::new(best_first(of_topic).filter(move |one| is_known(one)))
            }
        };
        Self { topic, next: waiting.next(), waiting, n_taken: 0, n_misfits: 0 }
    }

    pub(super) fn priority(&self) -> Option<f32> {
        let worth = self.next?.worth * self.topic.weight();
        Some(worth / (1.0 + CROWDING * self.n_taken as f32))
    }

    pub(super) fn take(&mut self) -> Option<&'c Candidate<'c>> {
        std::mem::replace(&mut self.next, self.waiting.next())
    }
}

/// The newest sessions, which may have left something open.
fn newest_sessions<'c>(
    candidates: &'c [Candidate<'c>],
    is_known: &'c dyn Fn(&Candidate<'_>) -> bool,
) -> impl Iterator<Item = &'c Candidate<'c>> {
    let is_session = |one: &&Candidate<'_>| one.listed.memory_type == MemoryType::Summary;
    let mut sessions: Vec<&Candidate<'_>> = candidates.iter().filter(is_session).collect();
    sessions.sort_unstable_by(|a, b| {
        let by_time = b.listed.updated.cmp(&a.listed.updated);
        by_time.then_with(|| a.listed.id.cmp(b.listed.id)).then(a.source.cmp(&b.source))
    });
    sessions.into_iter().filter(move |one| is_known(one)).take(MAX_SESSIONS)
}

/// The candidates in the order of their worth, found as they are asked for.
pub(super) fn best_first<'c>(
    candidates: Vec<&'c Candidate<'c>>,
) -> impl Iterator<Item = &'c Candidate<'c>> {
    let mut waiting: BinaryHeap<ByWorth<'_>> = candidates.into_iter().map(ByWorth).collect();
    std::iter::from_fn(move || waiting.pop().map(|ByWorth(candidate)| candidate))
}

/// The greatest is worth the most; of two that are alike the newer, then the first by its name.
struct ByWorth<'c>(&'c Candidate<'c>);

impl Ord for ByWorth<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let (own, other) = (self.0, other.0);
        let by_time = || own.listed.updated.cmp(&other.listed.updated);
        let by_name = || other.listed.id.cmp(own.listed.id).then(other.source.cmp(&own.source));
        own.worth.total_cmp(&other.worth).then_with(by_time).then_with(by_name)
    }
}

impl PartialOrd for ByWorth<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ByWorth<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for ByWorth<'_> {}
