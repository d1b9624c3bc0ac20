//! Orders of rows that were found for a question, kept with the snapshot that they were found in.
//!
//! People and programs ask a server the same again: a page that is looked at twice, a word typed back and forth. What is kept is where
//! the rows stand. What is shown of them is read anew each time, so that an answer is never older than its files.

use std::sync::{Arc, Mutex, PoisonError};

use super::group::Group;
use super::query::Query;
use super::rank::Mode;
use crate::memory::TrustState;

/// So many questions are remembered at most.
const MAX_ANSWERS: usize = 64;

/// So many more rows than were asked for are kept, for files that went away meanwhile.
const N_SPARE: usize = 16;

/// Everything that an order follows from, beside the snapshot.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct AnswerKey {
    pub(super) query: Query,
    pub(super) mode: Mode,
    pub(super) limit: usize,
    pub(super) archived: bool,
    /// Whether it was made for a reader, who gets what holds first.
    pub(super) is_offer: bool,
    /// "Last week" is another one a week later.
    pub(super) minute: i64,
    pub(super) trust: TrustState,
}

/// The best rows in their order, and how many others there were.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) groups: Vec<Group>,
    pub(super) n_more: usize,
}

impl Order {
    /// Leaves out what would not be shown. Phrases are looked for in the files, so that each row may count.
    pub(super) fn new(mut groups: Vec<Group>, query: &Query, limit: usize) -> Self {
        let n_groups = groups.len();
        if query.phrases.is_empty() {
            groups.truncate(limit.saturating_add(N_SPARE));
        }
        Self { n_more: n_groups - groups.len(), groups }
    }
}

/// The orders that are kept, the latest last.
#[derive(Debug, Default)]
pub(super) struct KeptAnswers(Mutex<Vec<(AnswerKey, Arc<Order>)>>);

impl KeptAnswers {
    pub(super) fn get(&self, key: &AnswerKey) -> Option<Arc<Order>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().rev().find(|(of, _)| of == key).map(|(_, order)| Arc::clone(order))
    }

    pub(super) fn keep(&self, key: AnswerKey, order: &Arc<Order>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MAX_ANSWERS {
            kept.remove(0);
        }
        kept.push((key, Arc::clone(order)));
    }
}
