//! Lists that say how long they are.

use serde::{Deserialize, Serialize};

/// A list that may be shown in part; the total is of all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed<T> {
    pub total: usize,
    pub items: Vec<T>,
}

impl<T> Listed<T> {
    /// The first of `all`, made from what stands for each.
    pub(super) fn first<A>(all: &[A], limit: usize, make: impl FnMut(&A) -> T) -> Self {
        Self { total: all.len(), items: all.iter().take(limit).map(make).collect() }
    }
}
