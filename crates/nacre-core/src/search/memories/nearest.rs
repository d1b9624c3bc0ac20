//! Which memories of a store are nearest to each other, for whoever looks for those that say the same.
//!
//! Every vector is compared with every other, in the bytes that the index holds anyway: for five thousand memories
//! that is less work than one look at their files.

use simsimd::SpatialSimilarity as _;

use super::MemoryIndex;
use crate::base::on_all_cores;
use crate::memory::{Located, MemoryId, MemoryType};

/// Fewer memories are not worth a thread.
const ROWS_PER_THREAD: usize = 64;

/// Two memories and how near they are in meaning, from 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Near {
    pub one: MemoryId,
    pub other: MemoryId,
    pub likeness: f32,
}

/// What the index holds of one memory.
struct Placed<'a> {
    id: MemoryId,
    vector: &'a [i8],
    scale: f32,
}

impl MemoryIndex<'_> {
    /// For each decision and learning the `limit` others nearest to it that are at least `least` alike; each pair once.
    pub fn nearest(&self, limit: usize, least: f32) -> Vec<Near> {
        let placed = self.placed();
        let numbers: Vec<usize> = (0..placed.len()).collect();
        let found = on_all_cores(&numbers, ROWS_PER_THREAD, |piece| {
            piece.iter().flat_map(|one| nearest_of(&placed, *one, limit, least)).collect()
        });
        let mut pairs: Vec<(usize, usize, f32)> =
            found.into_iter().map(|(a, b, likeness)| (a.min(b), a.max(b), likeness)).collect();
        pairs.sort_by_key(|(a, b, _)| (*a, *b));
        pairs.dedup_by_key(|(a, b, _)| (*a, *b));
        let near = |(a, b, likeness): (usize, usize, f32)| Near {
            one: placed[a].id.clone(),
            other: placed[b].id.clone(),
            likeness,
        };
        pairs.into_iter().map(near).collect()
    }

    fn placed(&self) -> Vec<Placed<'_>> {
        let mut placed = Vec::new();
        let mut first = 0;
        for segment in self.snapshot.segments() {
            let dims = segment.dims();
            let vectors = segment.vectors().chunks_exact(dims.max(1));
            for (local, vector) in vectors.enumerate() {
                let row = first + local;
                let at = Located::from_path(self.snapshot.unit_key(row));
                let claim = at.filter(|at| at.memory_type != MemoryType::Summary);
                if let Some(at) = claim.filter(|_| self.snapshot.is_live(row)) {
                    placed.push(Placed { id: at.id, vector, scale: segment.scale(local) });
                }
            }
            first += segment.n_rows();
        }
        placed
    }
}

fn nearest_of(
    placed: &[Placed<'_>],
    one: usize,
    limit: usize,
    least: f32,
) -> Vec<(usize, usize, f32)> {
    let own = &placed[one];
    let likeness = |other: &Placed<'_>| {
        i8::dot(own.vector, other.vector).unwrap_or(0.0) as f32 * own.scale * other.scale
    };
    let others = placed.iter().enumerate().filter(|(other, _)| *other != one);
    let mut near: Vec<(usize, usize, f32)> = others
        .map(|(idx, other)| (one, idx, likeness(other)))
        .filter(|(_, _, likeness)| *likeness >= least)
        .collect();
    near.sort_by(|a, b| b.2.total_cmp(&a.2).then_with(|| a.1.cmp(&b.1)));
    near.truncate(limit);
    near
}
