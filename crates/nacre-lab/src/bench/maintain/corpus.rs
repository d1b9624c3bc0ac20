//! A synthetic store with planted duplicates, contradictions and stale memories.
//!
//! The other memories must be kept and are hard to tell apart. Each one shares its wording and the
//! individual words of its names with hundreds of others, and differs only in a full name or a
//! number.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use nacre_memory::{
    Batch, Claim, Draft, LearningKind, MemoryError, MemoryId, Quote, Speaker, Trust,
};

use super::frames::{ASIDES, DAYS, DOMAINS, FRAMES, PEOPLE, ROLES, TOOLS};

/// Why a memory was planted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Purpose {
    /// A distinct memory, which must be kept.
    Stays,
    /// A duplicate that differs only in case and punctuation.
    Copy,
    /// A duplicate with different wording.
    Paraphrase,
    /// The older of two contradicting memories.
    Overturned,
    /// A memory that refers to a deleted file.
    Stale,
}

#[derive(Debug, Default)]
pub(crate) struct Corpus {
    pub(crate) purposes: BTreeMap<MemoryId, Purpose>,
    /// Maps a copy or paraphrase to its original, and a superseded memory to its replacement.
    pub(crate) partners: BTreeMap<MemoryId, MemoryId>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) stay: usize,
    pub(crate) copies: usize,
    pub(crate) paraphrases: usize,
    pub(crate) contradictions: usize,
    pub(crate) stale: usize,
}

/// A small random number generator with a fixed algorithm, so that the store is the same on every
/// machine.
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 11) % n.max(1) as u64).unwrap_or(0)
    }

    fn pick(&mut self, from: &[&'static str]) -> &'static str {
        from[self.below(from.len())]
    }
}

#[derive(Clone, Debug)]
struct Values {
    frame: usize,
    part: String,
    tool: &'static str,
    other: &'static str,
    person: &'static str,
    day: &'static str,
    number: usize,
    changed: usize,
    asides: Vec<&'static str>,
}

impl Values {
    fn roll(dice: &mut Dice) -> Self {
        let number = 2 + dice.below(21);
        Self {
            frame: dice.below(FRAMES.len()),
            part: format!("the {} {}", dice.pick(DOMAINS), dice.pick(ROLES)),
            tool: dice.pick(&TOOLS[..25]),
            other: dice.pick(&TOOLS[25..]),
            person: dice.pick(PEOPLE),
            day: dice.pick(DAYS),
            number,
            changed: number + 1 + dice.below(40),
            asides: (0..dice.below(3)).map(|_| dice.pick(ASIDES)).collect(),
        }
    }

    /// Identifies the claim. Two claims with the same identity are duplicates or contradict each
    /// other.
    fn identity(&self) -> (usize, String) {
        (self.frame, self.part.clone())
    }

    fn fill(&self, text: &str) -> String {
        let filled = text
            .replace("{c}", &self.part)
            .replace("{t}", self.tool)
            .replace("{u}", self.other)
            .replace("{p}", self.person)
            .replace("{d}", self.day)
            .replace("{n}", &self.number.to_string())
            .replace("{m}", &self.changed.to_string());
        let mut chars = filled.chars();
        chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
    }

    fn text(&self, wording: usize) -> (String, String) {
        let frame = &FRAMES[self.frame];
        let reason = self.fill(frame.bodies[wording % 3]);
        let body = std::iter::once(reason.as_str()).chain(self.asides.iter().copied());
        (self.fill(frame.titles[wording % 3]), body.collect::<Vec<_>>().join(" "))
    }
}

pub(crate) fn gone_path(n: usize) -> String {
    let folder = ["parser", "queue", "billing", "search"][n % 4];
    let name = ["lexer", "retry", "ledger", "ranker", "buffer"][n % 5];
    format!("src/{folder}/{name}_{n}.rs")
}

/// Creates the memories. Memories are spaced half an hour apart, beginning at `start`.
pub(crate) fn plant(
    batch: &mut Batch<'_>,
    sizes: Sizes,
    seed: u64,
    start: Timestamp,
) -> Result<Corpus, MemoryError> {
    let mut dice = Dice::new(seed);
    let (mut seen, mut tools) = (BTreeSet::new(), BTreeSet::new());
    let mut roll = || loop {
        let values = Values::roll(&mut dice);
        // Combine each part with a tool only once, so that two memories never describe the same
        // thing.
        let is_new = !tools.contains(&(values.part.clone(), values.tool));
        if is_new && seen.insert(values.identity()) {
            tools.insert((values.part.clone(), values.tool));
            return (values, dice.below(3));
        }
    };
    let mut planter = Planter { batch, corpus: Corpus::default(), now: start };
    for n in 0..sizes.stay.saturating_sub(sizes.contradictions) {
        let (values, wording) = roll();
        let original = planter.add(values.text(wording), Purpose::Stays)?;
        if n < sizes.copies {
            planter.copy(&values, wording, original)?;
        } else if n < sizes.copies + sizes.paraphrases {
            let again = planter.add(values.text(wording + 1), Purpose::Paraphrase)?;
            planter.corpus.partners.insert(again, original);
        }
    }
    for _ in 0..sizes.contradictions {
        let (values, wording) = roll();
        let older = planter.add(values.text(wording), Purpose::Overturned)?;
        let (title, body) = FRAMES[values.frame].contrary;
        let newer = planter.add((values.fill(title), values.fill(body)), Purpose::Stays)?;
        planter.corpus.partners.insert(older, newer);
    }
    for n in 0..sizes.stale {
        let (values, _) = roll();
        let title = format!(
            "{} of {} is in {}",
            ["The hot loop", "The entry point"][n % 2],
            values.part,
            gone_path(n)
        );
        planter.add((title, values.asides.join(" ")), Purpose::Stale)?;
    }
    Ok(planter.corpus)
}

struct Planter<'a, 'b> {
    batch: &'a mut Batch<'b>,
    corpus: Corpus,
    now: Timestamp,
}

impl Planter<'_, '_> {
    fn copy(
        &mut self,
        values: &Values,
        wording: usize,
        original: MemoryId,
    ) -> Result<(), MemoryError> {
        let (title, body) = values.text(wording);
        let copied = match wording % 2 {
            0 => (title.to_uppercase(), body.replace('.', "!")),
            _ => (format!("{title}."), body.replace(". ", ".\n\n").replace(',', " ")),
        };
        let id = self.add(copied, Purpose::Copy)?;
        self.corpus.partners.insert(id, original);
        Ok(())
    }

    fn add(
        &mut self,
        (title, body): (String, String),
        purpose: Purpose,
    ) -> Result<MemoryId, MemoryError> {
        self.now += SignedDuration::from_mins(30);
        let said = Quote {
            text: format!("{title}. {body}"),
            speaker: Speaker::User,
            place: format!("sessions/one.jsonl:{}", self.corpus.purposes.len()),
            at: self.now.to_string(),
        };
        let draft = Draft {
            claim: Claim::Learning(LearningKind::Context),
            title,
            body,
            tags: Vec::new(),
            applies: Vec::new(),
            related: Vec::new(),
            source: "sync".to_owned(),
            confidence: 0.9,
            basis: None,
            importance: None,
            quotes: vec![said],
            limit: Trust::Human,
        };
        let id = self.batch.add(&draft, self.now)?;
        self.corpus.purposes.insert(id.clone(), purpose);
        Ok(id)
    }
}
