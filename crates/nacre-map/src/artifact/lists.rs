//! Many short lists of numbers in two long ones: no list costs an allocation of its own.

use super::codec::{Decoder, Encoder};

/// Lists, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lists {
    /// Where each list ends.
    ends: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// How many numbers there are in all lists.
    pub fn n_items(&self) -> usize {
        self.items.len()
    }

    pub fn items(&self) -> &[u32] {
        &self.items
    }

    pub fn push(&mut self, list: impl IntoIterator<Item = u32>) {
        self.items.extend(list);
        self.ends.push(u32::try_from(self.items.len()).unwrap_or(u32::MAX));
    }

    /// The list at a place; empty where there is none.
    pub fn of(&self, idx: usize) -> &[u32] {
        let Some(end) = self.ends.get(idx) else { return &[] };
        let start = idx.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.items[start as usize..*end as usize]
    }

    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.len()).map(|idx| self.of(idx))
    }

    /// For each number below `n_lists` the places of the lists that have it, in order.
    pub fn inverted(&self, n_lists: usize) -> Self {
        let mut ends = vec![0_u32; n_lists];
        for item in &self.items {
            if let Some(count) = ends.get_mut(*item as usize) {
                *count += 1;
            }
        }
        // Where each list begins; filling it moves that to its end.
        let mut n_items = 0;
        for count in &mut ends {
            n_items += std::mem::replace(count, n_items);
        }
        let mut items = vec![0; n_items as usize];
        for (place, list) in (0..).zip(self.iter()) {
            for item in list {
                if let Some(next) = ends.get_mut(*item as usize) {
                    items[*next as usize] = place;
                    *next += 1;
                }
            }
        }
        Self { ends, items }
    }

    pub(crate) fn encode(&self, to: &mut Encoder) {
        to.number(self.len() as u64);
        for list in self.iter() {
            to.list(list, |to, item| to.number(u64::from(*item)));
        }
    }

    /// Reads lists of numbers below `limit`.
    pub(crate) fn decode(from: &mut Decoder<'_>, limit: usize) -> Option<Self> {
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

impl<L: IntoIterator<Item = u32>> FromIterator<L> for Lists {
    fn from_iter<I: IntoIterator<Item = L>>(all: I) -> Self {
        let mut lists = Self::default();
        all.into_iter().for_each(|list| lists.push(list));
        lists
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_a_number_is_found_by_it() {
        let lists = Lists::from_iter([vec![1, 2], vec![], vec![2, 9], vec![0, 1, 2]]);
        let expected = Lists::from_iter([vec![3], vec![0, 3], vec![0, 2, 3]]);
        assert_eq!(lists.inverted(3), expected);
        assert_eq!((lists.of(2), lists.of(4)), (&[2, 9][..], &[][..]));
    }
}
