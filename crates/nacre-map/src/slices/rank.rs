//! How much of a project rests on each file: `PageRank` over its imports.

const DAMPING: f64 = 0.85;
const ROUNDS: usize = 20;

/// One number a file; they add up to the number of files, so that 1 is an average one.
///
/// `imported` tells what a file imports, by its place.
pub(super) fn ranks<I: ExactSizeIterator<Item = usize>>(
    n_files: usize,
    imported: impl Fn(usize) -> I,
) -> Vec<f64> {
    let mut ranks = vec![1.0; n_files];
    let mut next = vec![0.0; n_files];
    for _ in 0..ROUNDS {
        next.fill(0.0);
        let mut loose = 0.0;
        for (from, rank) in ranks.iter().enumerate() {
            let all = imported(from);
            match all.len() {
                0 => loose += rank,
                n_imported => {
                    let share = rank / as_number(n_imported);
                    for to in all {
                        next[to] += share;
                    }
                }
            }
        }
        // What rests on nothing rests on everything a little.
        let spread = loose / as_number(n_files.max(1));
        for rank in &mut next {
            *rank = (1.0 - DAMPING) + DAMPING * (*rank + spread);
        }
        std::mem::swap(&mut ranks, &mut next);
    }
    ranks
}

pub(super) fn as_number(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}
