//! Averages the ranking metrics over the questions: recall, reciprocal rank and order.

use std::collections::HashSet;

use serde::Serialize;

use crate::eval::datasets::Question;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scores {
    pub(super) n_questions: usize,
    recall_1: f64,
    pub(super) recall_5: f64,
    recall_10: f64,
    any_5: f64,
    reciprocal_rank: f64,
    ndcg_10: f64,
    /// Number of questions that have both current and outdated answers.
    n_ordered: usize,
    newer_first: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Means {
    pub(super) questions: usize,
    /// Share of answers contained in the first result.
    pub(super) recall_1: f64,
    pub(super) recall_5: f64,
    pub(super) recall_10: f64,
    /// Share of questions with at least one answer in the first five results.
    any_5: f64,
    /// Mean reciprocal rank of the first answer.
    mrr: f64,
    ndcg_10: f64,
    /// Share of questions for which a current answer ranks above all outdated ones. `None` if no
    /// question has outdated answers.
    pub(super) newer_first: Option<f64>,
    pub(super) ordered: usize,
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

    pub(super) fn means(&self) -> Means {
        let mean =
            |sum: f64| if self.n_questions == 0 { 0.0 } else { sum / self.n_questions as f64 };
        Means {
            questions: self.n_questions,
            recall_1: mean(self.recall_1),
            recall_5: mean(self.recall_5),
            recall_10: mean(self.recall_10),
            any_5: mean(self.any_5),
            mrr: mean(self.reciprocal_rank),
            ndcg_10: mean(self.ndcg_10),
            newer_first: (self.n_ordered > 0).then(|| self.newer_first / self.n_ordered as f64),
            ordered: self.n_ordered,
        }
    }
}

impl Means {
    pub(super) fn row(&self, name: &str) -> Vec<String> {
        let percent = |share: f64| format!("{:.1}", share * 100.0);
        let newer = self.newer_first.map(|share| format!("{} ({})", percent(share), self.ordered));
        let Self { recall_1, recall_5, recall_10, any_5, mrr, ndcg_10, .. } = *self;
        let mut row = vec![name.to_owned(), self.questions.to_string()];
        row.extend([recall_1, recall_5, recall_10, any_5, mrr, ndcg_10].map(percent));
        row.push(newer.unwrap_or_default());
        row
    }
}

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
        // One record may contain several answers, so the gain can exceed the ideal.
        ndcg_10: if ideal > 0.0 { (gained / ideal).min(1.0) } else { 0.0 },
        n_ordered: usize::from(newer_first.is_some()),
        newer_first: newer_first.map_or(0.0, |is_first| f64::from(u8::from(is_first))),
    }
}

/// Returns whether a current answer ranks above all outdated ones.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::datasets::single_keys;

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
        let means = scores.means();
        assert_eq!((means.recall_1, means.recall_5, means.mrr), (0.0, 0.5, 0.5));
        assert_eq!((means.any_5, means.newer_first), (1.0, Some(1.0)));
        let ideal = 1.0 + 1.0 / 3_f64.log2();
        assert!((means.ndcg_10 - (1.0 / 3_f64.log2()) / ideal).abs() < 1e-9);
        assert_eq!(judge(&[], &question(&["a"], &[])).means().newer_first, None);
    }
}
