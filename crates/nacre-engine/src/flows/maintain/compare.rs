//! The nearest memories, two by two, and how each pair stands.

use jiff::Timestamp;
use nacre_core::base::on_all_cores;
use nacre_core::memory::{Kinship, Likeness, kinship};
use nacre_core::search::{Builtin, EmbedError, Embedder as _, Near, are_near};

use super::gather::{Collection, Held};

/// How many of its nearest each memory is compared with, and how near they must be.
pub(super) const MAX_NEAR: usize = 12;
pub(super) const MIN_LIKENESS: f32 = 0.35;

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

/// Compares every pair of near memories of one type that both hold.
pub(super) fn compare(
    collection: &Collection,
    near: &[Near],
    embedder: &Builtin,
) -> Result<Vec<Compared>, EmbedError> {
    let held = &collection.held;
    let place = |pair: &Near| {
        let (a, b) = (collection.places.get(&pair.one)?, collection.places.get(&pair.other)?);
        let is_one_type = held[*a].memory.at.memory_type == held[*b].memory.at.memory_type;
        let is_standing = held[*a].is_standing() && held[*b].is_standing();
        (is_one_type && is_standing).then_some((*a, *b))
    };
    let pairs: Vec<(usize, usize)> = near.iter().filter_map(place).collect();
    let vectors = Vectors::of(held, &pairs, embedder)?;
    Ok(on_all_cores(&pairs, PAIRS_PER_THREAD, |piece| {
        piece.iter().map(|(a, b)| one(held, &vectors, *a, *b)).collect()
    }))
}

fn one(held: &[Held], vectors: &Vectors, a: usize, b: usize) -> Compared {
    let order = |idx: usize| -> (Timestamp, &str) { (held[idx].said, held[idx].id().as_str()) };
    let (newer, older) = if order(a) > order(b) { (a, b) } else { (b, a) };
    let likeness = vectors.likeness(newer, older);
    let (kinship, likelihood) =
        kinship(&held[newer].profile, &held[older].profile, likeness, &are_near);
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
