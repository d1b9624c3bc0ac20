//! Requests that are not answered yet.

use std::collections::BTreeMap;

/// What an answer is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Hello,
    /// The session that is to be shown.
    Open,
    /// Its items.
    Items,
    /// Items before those that are shown.
    EarlierItems,
    Rename,
    Change,
    List,
    Search {
        query: String,
    },
    Export,
    Start,
    Steer {
        text: String,
    },
    Abort,
    Undo,
    Follow,
    Skills {
        is_asked: bool,
    },
    Answer,
}

/// Requests that are not answered yet, by their ids.
#[derive(Clone, Debug, Default)]
pub(crate) struct Requests {
    last: u64,
    open: BTreeMap<u64, Purpose>,
}

impl Requests {
    pub(crate) fn add(&mut self, purpose: Purpose) -> u64 {
        self.last += 1;
        self.open.insert(self.last, purpose);
        self.last
    }

    /// What an answer is for; `None` for one that nobody waits for.
    pub(crate) fn take(&mut self, id: u64) -> Option<Purpose> {
        self.open.remove(&id)
    }

    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    pub(crate) fn is_open(&self, purpose: &Purpose) -> bool {
        self.open.values().any(|open| open == purpose)
    }
}
