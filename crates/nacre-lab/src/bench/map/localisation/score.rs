//! Scores how many of the changed files were found, and at which rank.

use std::collections::BTreeSet;

use crate::bench::map::repo_report::share;
use crate::bench::map::report::LocalisationScore;

#[derive(Debug, Default)]
pub(super) struct Scores {
    sum: LocalisationScore,
    n_tasks: usize,
}

impl Scores {
    /// Counts one task and returns the rank of its first changed file, starting at 1.
    pub(super) fn add(&mut self, named: &[&str], changed: &BTreeSet<String>) -> Option<usize> {
        let recall = |limit: usize| {
            let n_found = named.iter().take(limit).filter(|path| changed.contains(**path)).count();
            share(n_found, changed.len())
        };
        let first = named.iter().position(|path| changed.contains(*path)).map(|at| at + 1);
        self.n_tasks += 1;
        self.sum.recall_5 += recall(5);
        self.sum.recall_10 += recall(10);
        self.sum.recall_any += recall(named.len());
        self.sum.tasks_5 += usize::from(first.is_some_and(|first| first <= 5));
        first
    }

    pub(super) fn means(&self) -> LocalisationScore {
        let one = share(1, self.n_tasks);
        let mean = |sum: f64| (sum * one * 10_000.0).round() / 10_000.0;
        LocalisationScore {
            recall_5: mean(self.sum.recall_5),
            recall_10: mean(self.sum.recall_10),
            recall_any: mean(self.sum.recall_any),
            tasks_5: self.sum.tasks_5,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_means_over_tasks() {
        let mut scores = Scores::default();
        let changed = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect();
        let named = ["a", "b", "c", "d", "e", "f"];
        assert_eq!(scores.add(&named, &changed(&["b", "f"])), Some(2));
        assert_eq!(scores.add(&named, &changed(&["f"])), Some(6));
        assert_eq!(scores.add(&[], &changed(&["x"])), None);
        let expected = LocalisationScore {
            recall_5: 0.1667,
            recall_10: 0.6667,
            recall_any: 0.6667,
            tasks_5: 1,
        };
        assert_eq!(scores.means(), expected);
        assert_eq!(Scores::default().means(), LocalisationScore::default());
    }
}
