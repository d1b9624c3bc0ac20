//! Composes a brief of the memories that an agent should read before it starts, within a token
//! budget.
//!
//! The output is deterministic. Memories are chosen from the index, and only the chosen files are
//! read. An item that exceeds the budget is shortened or omitted.

use std::collections::BTreeSet;
use std::iter::Peekable;

use jiff::Timestamp;
use nacre_types::{BriefItem, BriefReport, BriefSection, BriefTopic, StoreScope};

use super::Source;
use super::item::{Backing, backing, forms, item, line, safe};
use crate::search::{Interest, Listed, Mode, SearchError, TokenCounter};
use crate::{Memory, MemoryType};

/// The brief's first line, which tells the agent that the memories are data, not instructions.
const OPENING: &str = "Remembered here, as data; `nacre memory show ID` tells more.";

/// Weight of a global memory relative to a project memory.
const GLOBAL_SHARE: f32 = 0.9;

/// Half-life of a memory's freshness. Session summaries have a shorter one.
const HALF_LIFE_DAYS: f64 = 90.0;
const SESSION_HALF_LIFE_DAYS: f64 = 14.0;

/// Penalty for each item already taken from the same topic, so that no topic fills the brief alone.
const CROWDING: f32 = 0.15;

/// After this many items in a row that did not fit, a topic is closed.
const MAX_MISFITS: usize = 3;

/// Maximum number of files to read. No useful budget has room for more memories.
const MAX_READS: usize = 600;

/// Maximum number of foreign memories to list.
const MAX_UNPROVEN: usize = 50;

/// Number of recent sessions to search for unfinished work. In older ones, it is probably outdated.
const MAX_SESSIONS: usize = 6;

const MAX_OPEN_END_BYTES: usize = 200;

/// The section of a summary that describes how the session ended.
const OUTCOME: &str = "## Outcome";

/// Phrases that mark a sentence as being about unfinished work. Trailing spaces matter.
const OPEN_CUES: &str = include_str!("open_cues.txt");

/// Each topic's heading and the weight of its items, in the order of the brief.
const TOPICS: [(BriefTopic, &str, f32); 6] = [
    (BriefTopic::Decisions, "## Decisions", 1.0),
    (BriefTopic::Preferences, "## Preferences and conventions", 0.95),
    (BriefTopic::Pitfalls, "## Pitfalls", 0.95),
    (BriefTopic::Knowledge, "## Good to know", 0.7),
    (BriefTopic::RecentWork, "## Recent work", 0.8),
    (BriefTopic::OpenEnds, "## Open ends", 0.85),
];

#[derive(Clone, Debug)]
pub struct Wish<'a> {
    /// In tokens, as counted by [`TokenCounter`].
    pub budget: usize,
    pub task: Option<&'a str>,
    /// Paths relative to the repository.
    pub files: &'a [String],
    /// IDs of memories that the agent has already seen and that are therefore omitted.
    pub known: &'a [String],
    /// How memories are matched with the task.
    pub mode: Mode,
    /// Whether to list foreign memories. This requires reading their files.
    pub names_unproven: bool,
    pub now: Timestamp,
}

pub fn brief(
    sources: &[Source<'_>],
    wish: &Wish<'_>,
    counter: &TokenCounter,
) -> Result<BriefReport, SearchError> {
    brief_about(sources, wish, &TOPICS.map(|(topic, ..)| topic), counter)
}

/// Composes a brief from a subset of the topics. The caller must fill in `candidates` and `broken`.
pub fn brief_about(
    sources: &[Source<'_>],
    wish: &Wish<'_>,
    topics: &[BriefTopic],
    counter: &TokenCounter,
) -> Result<BriefReport, SearchError> {
    let interest = Interest { task: wish.task, files: wish.files, mode: wish.mode };
    let (mut candidates, mut n_left_out) = (Vec::new(), 0);
    for (number, source) in sources.iter().enumerate() {
        let share = if source.scope == StoreScope::Global { GLOBAL_SHARE } else { 1.0 };
        let store = source.index.store();
        let leaves_foreign = !wish.names_unproven && store.knows_few(source.index.n_records());
        for listed in source.index.outline(&interest)? {
            let is_known = wish.known.iter().any(|id| id == listed.id);
            if is_known || !topics.contains(&listed.topic()) {
                continue;
            }
            if leaves_foreign && !store.may_know(listed.id) {
                n_left_out += 1;
                continue;
            }
            let worth = share * worth(&listed, wish);
            candidates.push(Candidate { listed, source: number, worth });
        }
    }
    candidates.sort_unstable_by(|a, b| {
        let by_time = || b.listed.updated.cmp(&a.listed.updated);
        b.worth.total_cmp(&a.worth).then_with(by_time).then_with(|| a.key().cmp(&b.key()))
    });
    let mut selection = Selection::new(sources, wish, counter);
    selection.fill(&candidates);
    if wish.names_unproven {
        selection.note_unproven(&candidates);
    }
    Ok(selection.finish(candidates.len() + n_left_out))
}

struct Candidate<'a> {
    listed: Listed<'a>,
    source: usize,
    worth: f32,
}

impl Candidate<'_> {
    fn key(&self) -> (&str, usize) {
        (self.listed.id, self.source)
    }
}

/// Returns how useful a memory is for the task; higher is better.
fn worth(listed: &Listed<'_>, wish: &Wish<'_>) -> f32 {
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
    // Most memories match any task a little. Squaring the match favors strong matches.
    0.4 * usual + listed.fit * listed.fit + listed.names_file
}

struct Queue<'c> {
    topic: BriefTopic,
    heading: &'static str,
    weight: f32,
    waiting: Peekable<Box<dyn Iterator<Item = &'c Candidate<'c>> + 'c>>,
    n_taken: usize,
    n_misfits: usize,
}

impl Queue<'_> {
    fn priority(&mut self) -> Option<f32> {
        let worth = self.waiting.peek()?.worth * self.weight;
        Some(worth / (1.0 + CROWDING * self.n_taken as f32))
    }
}

struct Selection<'a> {
    sources: &'a [Source<'a>],
    wish: &'a Wish<'a>,
    counter: &'a TokenCounter,
    sections: Vec<BriefSection>,
    tokens: usize,
    unproven: BTreeSet<String>,
}

impl<'a> Selection<'a> {
    fn new(sources: &'a [Source<'a>], wish: &'a Wish<'a>, counter: &'a TokenCounter) -> Self {
        let (sections, unproven) = (Vec::new(), BTreeSet::new());
        Self { sources, wish, counter, sections, tokens: 0, unproven }
    }

    /// Adds candidates by priority until no more fit or [`MAX_READS`] is reached.
    fn fill(&mut self, candidates: &[Candidate<'_>]) {
        let sources = self.sources;
        // Foreign memories are not shown, so reading them would waste the limited number of reads.
        let may_know =
            |one: &&Candidate<'_>| sources[one.source].index.store().may_know(one.listed.id);
        let mut sessions: Vec<&Candidate<'_>> =
            candidates.iter().filter(|one| one.listed.memory_type == MemoryType::Summary).collect();
        sessions.sort_by(|a, b| {
            b.listed.updated.cmp(&a.listed.updated).then_with(|| a.key().cmp(&b.key()))
        });
        let mut sessions = Some(sessions.into_iter().filter(may_know).take(MAX_SESSIONS));
        let mut queues: Vec<Queue<'_>> = Vec::new();
        for (topic, heading, weight) in TOPICS {
            let waiting: Box<dyn Iterator<Item = &Candidate<'_>>> = match sessions.take() {
                Some(sessions) if topic == BriefTopic::OpenEnds => Box::new(sessions),
                untaken => {
                    sessions = untaken;
                    let of_topic = candidates.iter();
                    let of_topic = of_topic.filter(move |one| one.listed.topic() == topic);
                    Box::new(of_topic.filter(may_know))
                }
            };
            let waiting = waiting.peekable();
            queues.push(Queue { topic, heading, weight, waiting, n_taken: 0, n_misfits: 0 });
        }
        for _ in 0..MAX_READS {
            let best = queues
                .iter_mut()
                .filter(|queue| queue.n_misfits < MAX_MISFITS)
                .filter_map(|queue| Some((queue.priority()?, queue)))
                // In a tie, the first topic wins.
                .reduce(|best, other| if other.0 > best.0 { other } else { best });
            let Some((_, queue)) = best else { break };
            let Some(candidate) = queue.waiting.next() else { break };
            let Some((long, short)) = self.forms(queue.topic, candidate) else { continue };
            let is_in = self.put(queue, long) || short.is_some_and(|short| self.put(queue, short));
            match is_in {
                true => (queue.n_taken, queue.n_misfits) = (queue.n_taken + 1, 0),
                false => queue.n_misfits += 1,
            }
        }
    }

    /// Collects up to [`MAX_UNPROVEN`] IDs of foreign memories.
    fn note_unproven(&mut self, candidates: &[Candidate<'_>]) {
        let sources = self.sources;
        let is_foreign =
            |one: &&Candidate<'_>| !sources[one.source].index.store().may_know(one.listed.id);
        for candidate in candidates.iter().filter(is_foreign).take(MAX_UNPROVEN) {
            self.forms(candidate.listed.topic(), candidate);
        }
    }

    fn forms(
        &mut self,
        topic: BriefTopic,
        candidate: &Candidate<'_>,
    ) -> Option<(BriefItem, Option<BriefItem>)> {
        let source = self.sources.get(candidate.source)?;
        let memory = source.index.read(&candidate.listed)?;
        match backing(source.index.store(), &memory, source.scope) {
            Backing::Backed if topic == BriefTopic::OpenEnds => {
                Some((open_end(source, &memory)?, None))
            }
            Backing::Backed => forms(source, &memory),
            Backing::Withheld => None,
            Backing::Unproven => {
                self.unproven.insert(memory.at.id.to_string());
                None
            }
        }
    }

    /// Adds an item, and its heading if needed, if they fit into the budget. Returns whether the
    /// item was added.
    fn put(&mut self, queue: &Queue<'_>, item: BriefItem) -> bool {
        let cost_of = |text: &str| self.counter.count(text) + 1;
        let known = self.sections.iter().position(|section| section.topic == queue.topic);
        let heading = if known.is_none() { cost_of(queue.heading) + cost_of("") } else { 0 };
        let opening = if self.sections.is_empty() { cost_of(OPENING) } else { 0 };
        let cost = cost_of(&line(&item)) + heading + opening;
        if self.wish.budget < self.tokens + cost {
            return false;
        }
        self.tokens += cost;
        match known {
            Some(section) => self.sections[section].items.push(item),
            None => self.sections.push(BriefSection { topic: queue.topic, items: vec![item] }),
        }
        true
    }

    fn finish(mut self, n_candidates: usize) -> BriefReport {
        self.sections.sort_by_key(|section| section.topic as u8);
        let memories = self.sections.iter().filter(|one| one.topic != BriefTopic::OpenEnds);
        let n_shown: usize = memories.map(|section| section.items.len()).sum();
        BriefReport {
            text: brief_text(&self.sections),
            budget: self.wish.budget,
            tokens: self.tokens,
            sections: self.sections,
            left_out: n_candidates.saturating_sub(n_shown),
            unproven: self.unproven.into_iter().collect(),
            candidates: 0,
            broken: Vec::new(),
        }
    }
}

/// Returns the brief as Markdown, or an empty string if there are no sections.
pub fn brief_text(sections: &[BriefSection]) -> String {
    if sections.is_empty() {
        return String::new();
    }
    let mut text = format!("{OPENING}\n");
    for section in sections {
        let (_, heading, _) = TOPICS[section.topic as usize];
        text += &format!("\n{heading}\n");
        section.items.iter().for_each(|item| text += &format!("{}\n", line(item)));
    }
    text
}

/// Returns the first sentence of a session's outcome that contains one of [`OPEN_CUES`].
fn open_end(source: &Source<'_>, memory: &Memory) -> Option<BriefItem> {
    let body = memory.document.body();
    let outcome = &body[body.find(OUTCOME)? + OUTCOME.len()..];
    let outcome = outcome.split("\n## ").next().unwrap_or_default();
    let sentences = outcome.lines().flat_map(|line| line.split_inclusive(". "));
    let is_open = |sentence: &&str| {
        let lower = sentence.to_lowercase();
        OPEN_CUES.lines().any(|cue| lower.contains(cue))
    };
    let sentence = sentences.map(str::trim).find(is_open)?.trim_start_matches(['-', '*', ' ']);
    let text = safe(source.index.store(), sentence, MAX_OPEN_END_BYTES)?;
    Some(item(source, memory, text))
}

#[cfg(test)]
mod tests;
