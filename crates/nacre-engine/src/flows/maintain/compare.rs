//! The nearest memories, two by two, and how each pair stands.

use std::collections::{BTreeSet, HashMap, HashSet};

use jiff::Timestamp;
use nacre_core::base::on_all_cores;
use nacre_core::memory::{Kinship, Likeness, kinship};
use nacre_core::search::{Builtin, EmbedError, Embedder as _, Near, near_words};

use super::gather::{Collection, Held};

/// How many of its nearest each memory is compared with, and how near they must be.
pub(super) const MAX_NEAR: usize = 12;
pub(super) const MIN_LIKENESS: f32 = 0.35;

/// How many of those that share its title's topics, and how many they must share.
const MAX_SHARING: usize = 8;
const MIN_SHARED: usize = 2;

/// A topic that more memories have tells nothing.
const MAX_HOLDING: usize = 1000;

/// Fewer memories are not worth a thread.
const MEMORIES_PER_THREAD: usize = 64;

/// Fewer pairs are not worth a thread.
const PAIRS_PER_THREAD: usize = 256;

/// A pair that was compared; places in the collection.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Compared {
    pub(super) newer: usize,
    pub(super) older: usize,
    pub(super) kinship: Kinship,
    pub(super) likelihood: f32,
}

/// Compares every pair of memories of one type that both hold and were not compared before: those that are near, and
/// those that share their topics with fewer than any other that stays.
pub(super) fn compare(
    collection: &Collection,
    near: &[Near],
    (known, removed): (&[Compared], &BTreeSet<usize>),
    embedder: &Builtin,
) -> Result<Vec<Compared>, EmbedError> {
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
    let found = near.iter().filter_map(place).chain(sharing(held, removed));
    let mut pairs: Vec<(usize, usize)> = found.map(|(a, b)| ordered(a, b)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs.retain(|pair| !known.contains(pair));
    let vectors = Vectors::of(held, &pairs, embedder)?;
    Ok(on_all_cores(&pairs, PAIRS_PER_THREAD, |piece| {
        piece.iter().map(|(a, b)| one(held, &vectors, *a, *b)).collect()
    }))
}

/// Pairs whose titles share the rarest topics: what says the same in other words may be far in meaning from it, where
/// dozens say other things in the same words.
fn sharing(held: &[Held], removed: &BTreeSet<usize>) -> Vec<(usize, usize)> {
    let mut holding = Holding::new();
    let stays = |idx: &usize| held[*idx].is_standing() && !removed.contains(idx);
    let numbers: Vec<usize> = (0..held.len()).filter(stays).collect();
    for idx in &numbers {
        let one = &held[*idx];
        for topic in one.profile.topics().collect::<BTreeSet<_>>() {
            holding.entry(topic).or_default().push(*idx);
        }
    }
    on_all_cores(&numbers, MEMORIES_PER_THREAD, |piece| {
        piece.iter().flat_map(|idx| sharing_with(held, &holding, *idx)).collect()
    })
}

/// Which memories have a topic in their title.
type Holding<'a> = HashMap<&'a str, Vec<usize>>;

/// The memories that share most with one.
fn sharing_with(held: &[Held], holding: &Holding<'_>, idx: usize) -> Vec<(usize, usize)> {
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

fn one(held: &[Held], vectors: &Vectors, a: usize, b: usize) -> Compared {
    let order = |idx: usize| -> (Timestamp, &str) { (held[idx].said, held[idx].id().as_str()) };
    let (newer, older) = if order(a) > order(b) { (a, b) } else { (b, a) };
    let likeness = vectors.likeness(newer, older);
    let (kinship, likelihood) =
        kinship(&held[newer].profile, &held[older].profile, likeness, &near_words);
    Compared { newer, older, kinship, likelihood }
}

/// The vectors that the policy was fitted with, of those that are compared.
struct Vectors {
    titles: Vec<Vec<f32>>,
    wholes: Vec<Vec<f32>>,
}

impl Vectors {
    fn of(held: &[Held], pairs: &[(usize, usize)], embedder: &Builtin) -> Result<Self, EmbedError> {
        let mut is_wanted = vec![false; held.len()];
        for (a, b) in pairs {
            (is_wanted[*a], is_wanted[*b]) = (true, true);
        }
        let whole = |one: &Held| format!("{}\n{}", one.memory.title, one.claimed());
        let texts = |text: &dyn Fn(&Held) -> String| -> Vec<String> {
            let wanted = held.iter().zip(&is_wanted);
            wanted.map(|(one, is)| if *is { text(one) } else { String::new() }).collect()
        };
        let embed = |texts: &[String]| {
            embedder.embed(&texts.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let titles = embed(&texts(&|one| one.memory.title.clone()))?;
        Ok(Self { titles, wholes: embed(&texts(&whole))? })
    }

    fn likeness(&self, a: usize, b: usize) -> Likeness {
        Likeness {
            titles: cosine(&self.titles[a], &self.titles[b]),
            whole: cosine(&self.wholes[a], &self.wholes[b]),
        }
    }
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>().clamp(0.0, 1.0)
}
