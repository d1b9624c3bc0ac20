//! An index of a complete data set in memory, searched with the product's ranking.

use std::collections::HashMap;

use nacre_memory::search::{
    Level, LibraryOptions, MAX_MESSAGES, Mode, Query, RankOptions, RecordHit, RowFacts, Snapshot,
    Unit, filter_rows, index_units, order_messages, rank, search_snapshot, settle,
};

#[derive(Debug)]
pub(crate) struct InMemoryIndex {
    snapshot: Snapshot,
    texts: HashMap<String, String>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct InMemoryOptions {
    pub(crate) mode: Mode,
    pub(crate) level: Level,
    /// Whether the records are messages. Other records may be superseded by newer ones.
    pub(crate) is_conversation: bool,
    pub(crate) limit: usize,
    pub(crate) now_ms: i64,
}

impl InMemoryIndex {
    pub(crate) fn new(units: &[Unit]) -> Self {
        let records = units.iter().flat_map(|unit| &unit.records);
        Self {
            snapshot: index_units(units),
            texts: records.map(|record| (record.key.clone(), record.text_to_embed())).collect(),
        }
    }

    pub(crate) fn n_records(&self) -> usize {
        self.snapshot.n_records()
    }

    /// Returns the keys of the best records or units, best first. A superseded record comes after
    /// its successor.
    pub(crate) fn search(&self, question: &str, options: InMemoryOptions) -> Vec<&str> {
        let Self { snapshot, texts } = self;
        let InMemoryOptions { mode, level, is_conversation, limit, now_ms } = options;
        let rank_options = RankOptions { mode, level, limit: limit.max(MAX_MESSAGES), now_ms };
        let query = Query::plain(question);
        let allowed = filter_rows(snapshot, &query, false);
        let ranked = rank(snapshot, &query, &allowed, &rank_options);
        let text_of = |row: usize| texts.get(snapshot.key(row)).cloned();
        let mut found: Vec<&str> = match level {
            Level::Units => ranked.iter().map(|hit| snapshot.unit_key(hit.row)).collect(),
            Level::Records if is_conversation => {
                let ranked = order_messages(snapshot, &query, ranked, &text_of);
                ranked.iter().map(|hit| snapshot.key(hit.row)).collect()
            }
            Level::Records => {
                let (is_wanted, is_foreign) = (&|_| true, &|_| false);
                let facts = RowFacts { is_wanted, text_of: &text_of, is_foreign };
                let groups = settle(snapshot, ranked, &facts);
                let rows = groups.iter().flat_map(|group| {
                    [group.best.row].into_iter().chain(group.older.iter().copied())
                });
                rows.map(|row| snapshot.key(row)).collect()
            }
        };
        found.truncate(limit);
        found
    }

    /// Searches in the same way as a team's database.
    pub(crate) fn search_records(&self, query: &Query, options: LibraryOptions) -> Vec<RecordHit> {
        let allowed = filter_rows(&self.snapshot, query, true);
        let text_of = |_: &str, record: &str| self.texts.get(record).cloned();
        search_snapshot(&self.snapshot, query, &allowed, options, &text_of)
    }
}
