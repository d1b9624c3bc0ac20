//! Helpers for truncated lists.

use nacre_types::Listed;

pub(super) fn list_first<A, T>(all: &[A], limit: usize, make: impl FnMut(&A) -> T) -> Listed<T> {
    Listed { total: all.len(), items: all.iter().take(limit).map(make).collect() }
}

/// Moves the first `limit` items in sort order to the front of a list, and sorts only those.
pub(super) fn first_by<T>(
    all: &mut [T],
    limit: usize,
    mut compare: impl FnMut(&T, &T) -> std::cmp::Ordering,
) {
    let first = match limit.checked_sub(1).filter(|last| *last < all.len()) {
        Some(last) => {
            all.select_nth_unstable_by(last, &mut compare);
            &mut all[..limit]
        }
        None if limit == 0 => return,
        None => all,
    };
    first.sort_unstable_by(compare);
}

pub(super) fn as_number(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}
