//! Which rows may be found at all.

use jiff::Timestamp;

use crate::search::query::Query;
use crate::search::snapshot::Snapshot;
use crate::search::words;

/// A yes or no for every row: alive, not put away, with every property that the question asks for.
pub(in crate::search) fn allowed(
    snapshot: &Snapshot,
    query: &Query,
    with_archived: bool,
) -> Vec<bool> {
    let layout = snapshot.layout();
    let shown = if with_archived { &layout.is_live } else { &layout.is_shown };
    let mut allowed = match facet_rows(snapshot, query) {
        Some(rows) => {
            rows.iter().zip(shown).map(|(is_held, is_shown)| *is_held && *is_shown).collect()
        }
        None => shown.clone(),
    };
    if query.after.is_none() && query.before.is_none() {
        return allowed;
    }
    let after = query.after.map_or(i64::MIN, Timestamp::as_millisecond);
    let before = query.before.map_or(i64::MAX, Timestamp::as_millisecond);
    for (row, is_allowed) in allowed.iter_mut().enumerate().filter(|(_, allowed)| **allowed) {
        *is_allowed = (after..before).contains(&snapshot.row(row).time_ms);
    }
    allowed
}

/// The rows with all properties; `None` when none is asked for. Of several values for one name any will do.
fn facet_rows(snapshot: &Snapshot, query: &Query) -> Option<Vec<bool>> {
    let mut names: Vec<&str> = query.facets.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let mut rows: Option<Vec<bool>> = None;
    for name in names {
        let mut held = vec![false; snapshot.n_rows()];
        for (_, value) in query.facets.iter().filter(|(of, _)| of == name) {
            for (row, _) in snapshot.postings(&words::facet(name, value)) {
                held[row] = rows.as_ref().is_none_or(|rows| rows[row]);
            }
        }
        rows = Some(held);
    }
    rows
}
