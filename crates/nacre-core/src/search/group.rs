//! A line of records of which the newest holds.

use super::kin::{self, Kin, KinKind};
use super::rank::Ranked;
use super::record::{LinkKind, Standing};
use super::snapshot::Snapshot;

/// A line of decisions longer than this is a loop or a joke.
pub(super) const MAX_LINE: usize = 16;

/// The memory that holds now, and what it overturned.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) best: Ranked,
    /// Rows, newest first.
    pub(super) older: Vec<usize>,
    pub(super) edges: Vec<Kin>,
}

impl Group {
    /// A group with its first row.
    pub(super) fn new(snapshot: &Snapshot, hit: Ranked, head: usize) -> Self {
        let mut group = Self { best: hit, older: older_of(snapshot, head), edges: Vec::new() };
        if group.best.row != head {
            group.note_older(snapshot, group.best.row);
            group.best.row = head;
        }
        group
    }

    /// A further row of the same line; the first one's score was at least as good.
    pub(super) fn take(&mut self, snapshot: &Snapshot, hit: Ranked, head: usize) {
        if hit.row == head {
            self.best = Ranked { score: self.best.score, ..hit };
        } else {
            self.note_older(snapshot, hit.row);
        }
    }

    fn note_older(&mut self, snapshot: &Snapshot, row: usize) {
        // One file may claim to overturn a thousand.
        if !self.older.contains(&row) && self.older.len() < MAX_LINE {
            self.older.push(row);
        }
        let id = snapshot.key(row).to_owned();
        self.edges.push(Kin { kind: KinKind::Supersedes, id, shared: None });
    }
}

/// Everything that a row overturned, directly or not, newest first. What is archived overturns nothing.
fn older_of(snapshot: &Snapshot, head: usize) -> Vec<usize> {
    if snapshot.row(head).standing == Standing::Archived {
        return Vec::new();
    }
    let mut line = vec![head];
    let mut next = 0;
    while next < line.len() && line.len() < MAX_LINE {
        for id in snapshot.links_of(line[next], LinkKind::Supersedes) {
            let older = kin::row_of(snapshot, id).filter(|row| !line.contains(row));
            line.extend(older);
        }
        next += 1;
    }
    line.remove(0);
    line.sort_by_key(|row| std::cmp::Reverse(snapshot.row(*row).time_ms));
    line
}
