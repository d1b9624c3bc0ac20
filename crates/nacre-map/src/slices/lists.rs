//! Many short lists of numbers in two long ones: no list costs an allocation of its own.

use crate::artifact::{Decoder, Encoder};

/// Lists, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lists {
    /// Where each list ends.
    ends: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// How many numbers there are in all lists.
    pub(super) fn n_items(&self) -> usize {
        self.items.len()
    }

    pub(super) fn items(&self) -> &[u32] {
        &self.items
    }

    pub(super) fn push(&mut self, list: impl IntoIterator<Item = u32>) {
        self.items.extend(list);
        self.ends.push(u32::try_from(self.items.len()).unwrap_or(u32::MAX));
    }

    pub(super) fn of(&self, idx: usize) -> &[u32] {
        let start = idx.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.items[start as usize..self.ends[idx] as usize]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.len()).map(|idx| self.of(idx))
    }

    pub(super) fn encode(&self, to: &mut Encoder) {
        to.number(self.len() as u64);
        for list in self.iter() {
            to.list(list, |to, item| to.number(u64::from(*item)));
        }
    }

    /// Reads lists of numbers below `limit`.
    pub(super) fn decode(from: &mut Decoder<'_>, limit: usize) -> Option<Self> {
        let mut lists = Self::default();
        for _ in 0..from.number()? {
            for _ in 0..from.number()? {
                lists.items.push(from.small().filter(|item| (*item as usize) < limit)?);
            }
            lists.ends.push(u32::try_from(lists.items.len()).ok()?);
        }
        Some(lists)
    }
}
