//! Compares memories in pairs and derives merges, contradictions, links and life stages. Two
//! memories are merged only if they were compared directly, because the ends of a chain of similar
//! memories can differ in meaning.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use jiff::Timestamp;
use nacre_base::on_all_cores;
use nacre_engine::proof::Sentences;
use nacre_memory::search::{Builtin, Near, cosine, near_words};
use nacre_memory::{
    Kinship, Life, Likeness, LocalState, MemoryId, Profile, Revision, Stage, Standing, Status,
    StoreArea, Vitals, are_opposed, kinship,
};
use nacre_types::MaintainVerb;

use super::gather::{CollectedMemory, Collection, Ledger, Trust, are_kept_apart, pair_key};

/// The merge of one memory into another. `kept` and `gone` are indexes into the collection.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Merge {
    pub(super) kept: usize,
    pub(super) gone: usize,
    pub(super) kinship: Kinship,
    pub(super) likelihood: f32,
}

pub(super) fn merges(
    collection: &Collection,
    compared: &[Compared],
    ledger: &Ledger,
) -> Vec<Merge> {
    let held = &collection.held;
    let mut twins: BTreeMap<usize, Vec<Merge>> = BTreeMap::new();
    let mut add = |a: usize, b: usize, kinship, likelihood| {
        let (kept, gone) = if rank(&held[a]) < rank(&held[b]) { (a, b) } else { (b, a) };
        if may_merge(&held[kept], &held[gone], kinship, ledger) {
            let merge = Merge { kept, gone, kinship, likelihood };
            twins.entry(kept).or_default().push(merge);
        }
    };
    for (a, b) in same_words(held) {
        add(a, b, Kinship::Exact, 1.0);
    }
    for pair in compared.iter().filter(|pair| pair.kinship == Kinship::Twins) {
        add(pair.newer, pair.older, pair.kinship, pair.likelihood);
    }
    let mut best: Vec<usize> = twins.keys().copied().collect();
    best.sort_by(|a, b| rank(&held[*a]).cmp(&rank(&held[*b])));
    let (mut taken, mut chosen) = (BTreeSet::new(), Vec::new());
    for kept in best {
        if taken.contains(&kept) {
            continue;
        }
        for merge in twins.remove(&kept).unwrap_or_default() {
            if taken.insert(merge.gone) {
                chosen.push(merge);
            }
        }
    }
    chosen
}

fn same_words(held: &[CollectedMemory]) -> Vec<(usize, usize)> {
    let mut groups: HashMap<(&str, nacre_memory::MemoryType), Vec<usize>> = HashMap::new();
    for (idx, one) in held.iter().enumerate().filter(|(_, one)| one.is_standing()) {
        let words = one.profile.plain();
        if !words.is_empty() {
            groups.entry((words, one.memory.at.memory_type)).or_default().push(idx);
        }
    }
    let mut pairs = Vec::new();
    for mut group in groups.into_values().filter(|group| group.len() > 1) {
        group.sort_by(|a, b| rank(&held[*a]).cmp(&rank(&held[*b])));
        pairs.extend(group[1..].iter().map(|other| (group[0], *other)));
    }
    pairs.sort_unstable();
    pairs
}

type Rank<'a> = (bool, Reverse<bool>, Reverse<Trust>, Reverse<usize>, Reverse<usize>, &'a MemoryId);

/// Returns the rank of a memory in a merge group, based on status, origin, trust, names, length and
/// age. Ignores usage data, so that every run keeps the same memory.
fn rank(one: &CollectedMemory) -> Rank<'_> {
    (
        one.memory.is_candidate(),
        Reverse(one.is_own),
        Reverse(one.trust),
        Reverse(one.profile.n_named()),
        Reverse(one.profile.plain().len()),
        one.id(),
    )
}

fn may_merge(
    kept: &CollectedMemory,
    gone: &CollectedMemory,
    kinship: Kinship,
    ledger: &Ledger,
) -> bool {
    let is_same_type = kept.memory.at.memory_type == gone.memory.at.memory_type;
    // Text from another machine must not become part of the user's own memories.
    let is_handed_on = takes_text_of(kept, gone) && gone.trust >= kept.trust;
    let is_lossless =
        kinship == Kinship::Exact || is_handed_on || !gone.profile.names_beyond(&kept.profile);
    let is_kept_better = kept.level.can_replace(gone.level)
        && (!kept.memory.is_candidate() || gone.memory.is_candidate());
    is_same_type
        && is_lossless
        && is_kept_better
        && kept.is_standing()
        && gone.is_standing()
        && !are_kept_apart(kept, gone)
        && !ledger.is_refused(&pair_key(MaintainVerb::Merge, kept.id(), gone.id()))
}

/// Returns whether text from `gone` may be added to `kept`. The user's words are never changed.
fn takes_text_of(kept: &CollectedMemory, gone: &CollectedMemory) -> bool {
    kept.is_own == gone.is_own && kept.level < nacre_memory::Trust::User
}

/// Returns the sentences in `gone` that contain names missing from `kept`. Returns nothing if
/// `kept` contains the user's words or either memory was written on another machine.
pub(super) fn beyond(kept: &CollectedMemory, gone: &CollectedMemory) -> Vec<String> {
    if !takes_text_of(kept, gone) {
        return Vec::new();
    }
    let is_new = |sentence: &String| Profile::of("", sentence).names_beyond(&kept.profile);
    let sentences = Sentences::of(&gone.claim()).into_iter();
    sentences.map(|sentence| sentence.text).filter(is_new).collect()
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Contradiction {
    pub(super) newer: usize,
    pub(super) older: usize,
    pub(super) likelihood: f32,
    /// The reason why the user must decide, or `None` if the contradiction is resolved
    /// automatically.
    pub(super) open: Option<&'static str>,
}

/// The likelihood of a contradiction that the scores do not confirm.
const EVEN: f32 = 0.5;

/// Finds contradictions. If several memories contradict the same older one, returns only the most
/// likely contradiction.
pub(super) fn contradictions(
    collection: &Collection,
    compared: &[Compared],
    merged: &BTreeSet<usize>,
    ledger: &Ledger,
) -> Vec<Contradiction> {
    let held = &collection.held;
    let mut found: BTreeMap<usize, Contradiction> = BTreeMap::new();
    let is_free =
        |idx: usize| !merged.contains(&idx) && held[idx].memory.at.area == StoreArea::Active;
    for pair in compared.iter().filter(|pair| is_free(pair.newer) && is_free(pair.older)) {
        let (newer, older) = (&held[pair.newer], &held[pair.older]);
        // The scores miss short rules such as "log in JSON" and "don't log in JSON".
        let is_plain = pair.kinship == Kinship::Apart
            && [newer, older].iter().all(|one| one.memory.status == Status::Active)
            && !are_kept_apart(newer, older)
            && are_opposed(&newer.profile, &older.profile);
        if pair.kinship != Kinship::Against && !is_plain {
            continue;
        }
        if ledger.is_refused(&pair_key(MaintainVerb::Supersede, newer.id(), older.id())) {
            continue;
        }
        let open = if is_plain {
            Some("they name the same things, but differ in a negation or a number")
        } else if newer.memory.claims(older.id()) {
            Some("only the newer memory's file claims that it supersedes the older one")
        } else if !newer.is_own {
            Some("the newer one was not written on this machine")
        } else if newer.said == older.said {
            Some("both were said at the same time")
        } else if newer.memory.is_candidate() && !older.memory.is_candidate() {
            Some("the newer one is in review")
        } else if newer.trust < older.trust || !newer.level.can_replace(older.level) {
            Some("the newer one has weaker evidence than the older one")
        } else {
            None
        };
        let likelihood = if is_plain { EVEN } else { pair.likelihood };
        let (newer, older) = (pair.newer, pair.older);
        let contradiction = Contradiction { newer, older, likelihood, open };
        if found.get(&older).is_none_or(|known| known.likelihood < likelihood) {
            found.insert(older, contradiction);
        }
    }
    found.into_values().collect()
}

pub(super) fn repair_links(
    one: &CollectedMemory,
    collection: &Collection,
    merged: &BTreeMap<MemoryId, MemoryId>,
) -> Option<Vec<MemoryId>> {
    let mut links: Vec<MemoryId> = Vec::new();
    for link in &one.memory.related {
        let to = heir(link, merged);
        let is_there = collection.known.contains(to) && to != one.id();
        if is_there && !links.contains(to) {
            links.push(to.clone());
        }
    }
    (links != one.memory.related).then_some(links)
}

fn heir<'a>(id: &'a MemoryId, merged: &'a BTreeMap<MemoryId, MemoryId>) -> &'a MemoryId {
    let mut heir = id;
    // The number of steps is bounded, because files edited by hand can contain a cycle.
    for _ in 0..merged.len() {
        let Some(next) = merged.get(heir) else { break };
        heir = next;
    }
    heir
}

/// Maximum number of neighbors for each memory, and their minimum similarity.
pub(super) const MAX_NEAR: usize = 12;
pub(super) const MIN_LIKENESS: f32 = 0.35;

const MAX_SHARING: usize = 8;
const MIN_SHARED: usize = 2;

/// Topics that occur in more memories are too common to be useful.
const MAX_HOLDING: usize = 1000;

const MEMORIES_PER_THREAD: usize = 64;

const PAIRS_PER_THREAD: usize = 256;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Compared {
    pub(super) newer: usize,
    pub(super) older: usize,
    pub(super) kinship: Kinship,
    pub(super) likelihood: f32,
}

/// Compares pairs of memories, except those compared by an earlier run.
pub(super) fn compare_pairs(
    collection: &Collection,
    near: &[Near],
    known: &[Compared],
    removed: &BTreeSet<usize>,
) -> Vec<Compared> {
    let held = &collection.held;
    let place = |pair: &Near| {
        let (a, b) = (collection.places.get(&pair.one)?, collection.places.get(&pair.other)?);
        let is_one_type = held[*a].memory.at.memory_type == held[*b].memory.at.memory_type;
        let is_standing = held[*a].is_standing() && held[*b].is_standing();
        (is_one_type && is_standing).then_some((*a, *b))
    };
    let ordered = |a: usize, b: usize| (a.min(b), a.max(b));
    let known: HashSet<(usize, usize)> =
        known.iter().map(|pair| ordered(pair.newer, pair.older)).collect();
    let found = near.iter().filter_map(place).chain(pairs_by_topic(held, removed));
    let mut pairs: Vec<(usize, usize)> = found.map(|(a, b)| ordered(a, b)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs.retain(|pair| !known.contains(pair));
    let vectors = Vectors::of(held, &pairs);
    on_all_cores(&pairs, PAIRS_PER_THREAD, |piece| {
        piece.iter().map(|(a, b)| compare_pair(held, &vectors, *a, *b)).collect()
    })
}

/// Returns pairs of memories whose titles share rare topics. This finds paraphrases that are not
/// among the nearest vectors.
fn pairs_by_topic(held: &[CollectedMemory], removed: &BTreeSet<usize>) -> Vec<(usize, usize)> {
    let mut holding = MemoriesByTopic::new();
    let stays = |idx: &usize| held[*idx].is_standing() && !removed.contains(idx);
    let numbers: Vec<usize> = (0..held.len()).filter(stays).collect();
    for idx in &numbers {
        let one = &held[*idx];
        for topic in one.profile.topics().collect::<BTreeSet<_>>() {
            holding.entry(topic).or_default().push(*idx);
        }
    }
    on_all_cores(&numbers, MEMORIES_PER_THREAD, |piece| {
        piece.iter().flat_map(|idx| neighbors_by_topic(held, &holding, *idx)).collect()
    })
}

type MemoriesByTopic<'a> = HashMap<&'a str, Vec<usize>>;

fn neighbors_by_topic(
    held: &[CollectedMemory],
    holding: &MemoriesByTopic<'_>,
    idx: usize,
) -> Vec<(usize, usize)> {
    let mut shared: HashMap<usize, (usize, f32)> = HashMap::new();
    for topic in held[idx].profile.topics().collect::<BTreeSet<_>>() {
        let others = holding.get(topic).map(Vec::as_slice).unwrap_or_default();
        if others.len() > MAX_HOLDING {
            continue;
        }
        let rarity = (held.len() as f32 / others.len().max(1) as f32).ln_1p();
        for other in others.iter().filter(|other| **other != idx) {
            let (n_shared, sum) = shared.entry(*other).or_default();
            (*n_shared, *sum) = (*n_shared + 1, *sum + rarity);
        }
    }
    let own_type = held[idx].memory.at.memory_type;
    let mut ranked: Vec<(usize, f32)> = shared
        .into_iter()
        .filter(|(_, (n_shared, _))| *n_shared >= MIN_SHARED)
        .filter(|(other, _)| held[*other].memory.at.memory_type == own_type)
        .map(|(other, (_, sum))| (other, sum))
        .collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    ranked.into_iter().take(MAX_SHARING).map(|(other, _)| (idx, other)).collect()
}

fn compare_pair(held: &[CollectedMemory], vectors: &Vectors, a: usize, b: usize) -> Compared {
    let order = |idx: usize| -> (Timestamp, &str) { (held[idx].said, held[idx].id().as_str()) };
    let (newer, older) = if order(a) > order(b) { (a, b) } else { (b, a) };
    let likeness = vectors.likeness(newer, older);
    let (kinship, likelihood) =
        kinship(&held[newer].profile, &held[older].profile, likeness, &near_words);
    Compared { newer, older, kinship, likelihood }
}

/// Vectors from the embedding model that was used to fit the policy. Memories that are not compared
/// have no vectors.
struct Vectors {
    titles: Vec<Vec<f32>>,
    wholes: Vec<Vec<f32>>,
}

impl Vectors {
    fn of(held: &[CollectedMemory], pairs: &[(usize, usize)]) -> Self {
        let mut is_wanted = vec![false; held.len()];
        for (a, b) in pairs {
            (is_wanted[*a], is_wanted[*b]) = (true, true);
        }
        let whole = |one: &CollectedMemory| format!("{}\n{}", one.memory.title, one.claim());
        let embed = |text: &dyn Fn(&CollectedMemory) -> String| -> Vec<Vec<f32>> {
            let vector = |one: &CollectedMemory| Builtin::shipped().embed(&text(one));
            let wanted = held.iter().zip(&is_wanted);
            wanted.map(|(one, is)| if *is { vector(one) } else { Vec::new() }).collect()
        };
        Self { titles: embed(&|one| one.memory.title.clone()), wholes: embed(&whole) }
    }

    fn likeness(&self, a: usize, b: usize) -> Likeness {
        Likeness {
            titles: cosine(&self.titles[a], &self.titles[b]),
            whole: cosine(&self.wholes[a], &self.wholes[b]),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Aging {
    pub(super) from: Stage,
    pub(super) to: Standing,
    pub(super) effective: f64,
    /// The status set by the user or a session, before aging.
    own: Status,
}

impl Aging {
    pub(super) fn verb(&self) -> Option<MaintainVerb> {
        let verb = match (self.from, self.to.stage) {
            (from, to) if from == to => return None,
            (_, Stage::Archived) => MaintainVerb::Archive,
            (_, Stage::Stale) => MaintainVerb::Stale,
            (Stage::Archived, _) => MaintainVerb::Restore,
            (Stage::Stale, _) => MaintainVerb::Freshen,
            (_, Stage::Established) => MaintainVerb::Establish,
            (_, Stage::Validated) => MaintainVerb::Validate,
            (_, Stage::Candidate) => MaintainVerb::Doubt,
        };
        Some(verb)
    }

    fn status(&self) -> Status {
        Status::from_name(self.to.stage.as_str()).unwrap_or(Status::Active)
    }

    fn life(&self) -> Option<Life> {
        let Standing { stage, reason } = self.to.clone();
        let before = match stage {
            Stage::Candidate | Stage::Validated => return None,
            Stage::Stale if self.own == Status::Stale => return None,
            Stage::Established => None,
            Stage::Stale | Stage::Archived => Some(self.own.as_str().to_owned()),
        };
        Some(Life { stage, reason, status_before: before })
    }

    /// Writes the stage to the revision and the state. Revisions that have no effect are later
    /// dropped from the plan.
    pub(super) fn apply(&self, revision: &mut Revision, state: &mut LocalState) {
        let is_put_away = self.to.stage == Stage::Archived;
        revision.status = Some(self.status());
        revision.area = Some(if is_put_away { StoreArea::Archived } else { StoreArea::Active });
        state.status_before_archive = is_put_away.then(|| self.own.as_str().to_owned());
        state.life = self.life();
    }
}

pub(super) fn age(
    one: &CollectedMemory,
    vitals: &Vitals,
    gone: Option<&String>,
    now: Timestamp,
) -> Aging {
    let mut to = vitals.standing(now);
    if let Some(reason) = gone.filter(|_| to.stage < Stage::Stale) {
        to = Standing { stage: Stage::Stale, reason: reason.clone() };
    }
    Aging { from: current(one), to, effective: vitals.effective(now), own: vitals.status }
}

fn current(one: &CollectedMemory) -> Stage {
    let life = one.state.as_ref().and_then(|state| state.life.as_ref());
    let of_status = nacre_memory::stage_of(one.memory.status);
    let is_established = life.is_some_and(|life| life.stage == Stage::Established);
    if is_established && of_status == Stage::Validated { Stage::Established } else { of_status }
}
