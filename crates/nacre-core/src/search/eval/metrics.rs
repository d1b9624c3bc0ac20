//! What a ranking is worth: recall, rank and order, averaged over questions.

use std::collections::HashSet;
use std::time::Duration;

use super::Question;

/// Sums over questions; the accessors give means.
#[derive(Clone, Debug, Default)]
pub struct Scores {
    pub n_questions: usize,
    recall_1: f64,
    recall_5: f64,
    recall_10: f64,
    any_5: f64,
    reciprocal_rank: f64,
    ndcg_10: f64,
    /// Questions for which something newer overturned something older.
    pub n_ordered: usize,
    newer_first: f64,
}

impl Scores {
    pub(super) fn add(&mut self, other: &Self) {
        self.n_questions += other.n_questions;
        self.recall_1 += other.recall_1;
        self.recall_5 += other.recall_5;
        self.recall_10 += other.recall_10;
        self.any_5 += other.any_5;
        self.reciprocal_rank += other.reciprocal_rank;
        self.ndcg_10 += other.ndcg_10;
        self.n_ordered += other.n_ordered;
        self.newer_first += other.newer_first;
    }

    fn mean(&self, sum: f64) -> f64 {
        if self.n_questions == 0 { 0.0 } else { sum / self.n_questions as f64 }
    }

    /// The share of the answers among the first result.
    pub fn recall_1(&self) -> f64 {
        self.mean(self.recall_1)
    }

    /// The share of the answers among the first five results.
    pub fn recall_5(&self) -> f64 {
        self.mean(self.recall_5)
    }

    pub fn recall_10(&self) -> f64 {
        self.mean(self.recall_10)
    }

    /// How often at least one answer is among the first five results.
    pub fn any_5(&self) -> f64 {
        self.mean(self.any_5)
    }

    /// The mean of one over the place of the first answer.
    pub fn mrr(&self) -> f64 {
        self.mean(self.reciprocal_rank)
    }

    pub fn ndcg_10(&self) -> f64 {
        self.mean(self.ndcg_10)
    }

    /// How often what is true now stands above what was; `None` when no question asks for it.
    pub fn newer_first(&self) -> Option<f64> {
        (self.n_ordered > 0).then(|| self.newer_first / self.n_ordered as f64)
    }
}

/// Judges one ranking.
pub(super) fn judge(found: &[&str], question: &Question) -> Scores {
    let truth = &question.truth;
    let place = |keys: &HashSet<String>| found.iter().position(|key| keys.contains(*key));
    let mut places: Vec<usize> = truth.iter().filter_map(place).collect();
    places.sort_unstable();
    let recall = |depth: usize| {
        places.iter().filter(|at| **at < depth).count() as f64 / truth.len().max(1) as f64
    };
    let gain = |at: usize| 1.0 / ((at + 2) as f64).log2();
    let ideal: f64 = (0..truth.len().min(10)).map(gain).sum();
    let gained: f64 = places.iter().filter(|at| **at < 10).map(|at| gain(*at)).sum();
    let newer_first = newer_first(found, question);
    Scores {
        n_questions: 1,
        recall_1: recall(1),
        recall_5: recall(5),
        recall_10: recall(10),
        any_5: f64::from(u8::from(places.first().is_some_and(|at| *at < 5))),
        reciprocal_rank: places.first().map_or(0.0, |at| 1.0 / (at + 1) as f64),
        // One record may give several answers.
        ndcg_10: if ideal > 0.0 { (gained / ideal).min(1.0) } else { 0.0 },
        n_ordered: usize::from(newer_first.is_some()),
        newer_first: newer_first.map_or(0.0, |is_first| f64::from(u8::from(is_first))),
    }
}

/// Whether an answer that still holds stands above all outdated ones.
fn newer_first(found: &[&str], question: &Question) -> Option<bool> {
    let Question { outdated, .. } = question;
    if outdated.is_empty() {
        return None;
    }
    let is_current = |key: &str| question.is_answered_by(key) && !outdated.contains(key);
    let newer = found.iter().position(|key| is_current(key));
    let older = found.iter().position(|key| outdated.contains(*key));
    Some(newer.is_some_and(|newer| older.is_none_or(|older| newer < older)))
}

/// How long questions took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Latency {
    pub p50: Duration,
    pub p95: Duration,
    pub p99: Duration,
}

impl Latency {
    pub(super) fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let at = |share: usize| {
            let idx = (times.len() * share / 100).min(times.len().saturating_sub(1));
            times.get(idx).copied().unwrap_or_default()
        };
        Self { p50: at(50), p95: at(95), p99: at(99) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::eval::single_keys;

    fn question(truth: &[&str], outdated: &[&str]) -> Question {
        let owned = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>();
        Question {
            truth: single_keys(owned(truth)),
            outdated: owned(outdated).into_iter().collect(),
            ..Question::default()
        }
    }

    #[test]
    fn a_ranking_is_judged_by_hand() {
        let scores = judge(&["x", "new", "y", "old"], &question(&["new", "gone"], &["old"]));
        assert_eq!((scores.recall_1(), scores.recall_5(), scores.mrr()), (0.0, 0.5, 0.5));
        assert_eq!((scores.any_5(), scores.newer_first()), (1.0, Some(1.0)));
        let ideal = 1.0 + 1.0 / 3_f64.log2();
        assert!((scores.ndcg_10() - (1.0 / 3_f64.log2()) / ideal).abs() < 1e-9);
        assert_eq!(judge(&[], &question(&["a"], &[])).newer_first(), None);
    }
}
