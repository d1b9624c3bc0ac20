//! Cancellation inside one process: who stops a task stops everything that it started.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::id::TaskId;
use super::state::CancelledBy;
use crate::model::{Cancel, CancelSource};

/// The tasks that run in this process, each under the one that started it.
#[derive(Debug, Default)]
pub struct CancelTree(Mutex<HashMap<TaskId, Node>>);

#[derive(Debug)]
struct Node {
    source: CancelSource,
    parent: Option<TaskId>,
    by: Option<CancelledBy>,
}

impl CancelTree {
    /// Enters a task and returns what it listens to. Below a cancelled parent it begins cancelled.
    pub fn enter(&self, task: &TaskId, parent: Option<&TaskId>) -> Cancel {
        let mut nodes = self.lock();
        let source = CancelSource::new();
        let token = source.token();
        let is_late =
            parent.and_then(|parent| nodes.get(parent)).is_some_and(|node| node.by.is_some());
        let by = is_late.then_some(CancelledBy::Parent);
        if is_late {
            source.cancel();
        }
        nodes.insert(task.clone(), Node { source, parent: parent.cloned(), by });
        token
    }

    /// Cancels the task and all below it; returns those that were not cancelled before.
    pub fn cancel(&self, task: &TaskId, by: CancelledBy) -> Vec<TaskId> {
        let mut nodes = self.lock();
        let mut reached = vec![(task.clone(), by)];
        let mut cancelled = Vec::new();
        while let Some((task, by)) = reached.pop() {
            let children = nodes.iter().filter(|(_, node)| node.parent.as_ref() == Some(&task));
            reached.extend(children.map(|(child, _)| (child.clone(), CancelledBy::Parent)));
            if let Some(node) = nodes.get_mut(&task).filter(|node| node.by.is_none()) {
                node.by = Some(by);
                node.source.cancel();
                cancelled.push(task);
            }
        }
        cancelled
    }

    /// Who cancelled the task, if anybody did.
    pub fn cancelled_by(&self, task: &TaskId) -> Option<CancelledBy> {
        self.lock().get(task).and_then(|node| node.by)
    }

    /// Takes out a task that is over.
    pub fn leave(&self, task: &TaskId) {
        self.lock().remove(task);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TaskId, Node>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn id(number: usize) -> TaskId {
        TaskId::from_random(number as u64)
    }

    #[test]
    fn children_stop_with_their_parent_and_siblings_go_on() {
        let tree = CancelTree::default();
        let tokens =
            [tree.enter(&id(1), None), tree.enter(&id(2), Some(&id(1))), tree.enter(&id(3), None)];
        assert_eq!(tree.cancel(&id(1), CancelledBy::Person), [id(1), id(2)]);
        assert_eq!(tokens.map(|token| token.is_cancelled()), [true, true, false]);
        assert_eq!(tree.cancelled_by(&id(1)), Some(CancelledBy::Person));
        assert_eq!(tree.cancelled_by(&id(2)), Some(CancelledBy::Parent));
        assert!(tree.enter(&id(4), Some(&id(2))).is_cancelled(), "born too late");
        assert_eq!(tree.cancel(&id(1), CancelledBy::Shutdown), []);
    }

    proptest! {
        /// In any forest, exactly the task and what is below it are cancelled.
        #[test]
        fn exactly_the_tree_below_is_cancelled(
            parents in proptest::collection::vec(any::<proptest::sample::Index>(), 1..40),
            victim in any::<proptest::sample::Index>(),
        ) {
            let tree = CancelTree::default();
            // Task n hangs under an earlier one, or under none when its own number is drawn.
            let parent = |n: usize| Some(parents[n].index(n + 1)).filter(|parent| *parent != n);
            let tokens: Vec<Cancel> =
                (0..parents.len()).map(|n| tree.enter(&id(n), parent(n).map(id).as_ref())).collect();
            let victim = victim.index(parents.len());
            let cancelled: BTreeSet<TaskId> = tree.cancel(&id(victim), CancelledBy::Person).into_iter().collect();
            for (n, token) in tokens.iter().enumerate() {
                let is_below = std::iter::successors(Some(n), |n| parent(*n)).any(|above| above == victim);
                prop_assert_eq!(token.is_cancelled(), is_below);
                prop_assert_eq!(cancelled.contains(&id(n)), is_below);
            }
        }
    }
}
