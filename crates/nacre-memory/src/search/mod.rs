//! The search engine for memories and transcripts: an index of records, and their ranking.
//!
//! Everything in `index/` is derived data, and a damaged index is rebuilt. A concurrent search sees
//! the index either before or after a change, never in between.

mod candidates;
mod draft;
mod embed;
mod index;
mod memories;
mod query;
mod rank;
mod recency;
mod record;
mod records;
mod segment;
mod settle;
mod snapshot;
mod thesaurus;

pub use candidates::{
    Candidates, InMemoryIndex, InMemoryOptions, IndexedTerms, rank_candidates, terms_of_record,
};
pub use embed::{Builtin, EmbedError, Embedder, ModelId};
pub use index::{Index, IndexError, KeptSnapshots, News};
pub use memories::{
    DueLook, Graph, GraphNode, GraphOptions, INDEX_FOLDER, IndexStatus, Interest, Listed,
    MemoryHit, MemoryHits, MemoryIndex, MemoryOptions, Near, SearchError, SharedUnits, clear_index,
    files_named, index_path, index_scope, index_status, place_of_shared_unit, prune_indexes,
    purge_index, spellings, symbols_named,
};
pub use query::{Query, facet_name, snippet};
pub use rank::{Level, Mode, QuestionTerm, terms_of_question};
pub(crate) use rank::{filter_rows, similarities};
pub(crate) use record::DESCRIBED;
pub use record::{Field, Fingerprint, Link, LinkKind, Record, Standing, Unit, Voice, facet_term};
pub use records::{
    LibraryOptions, LocalRecords, Readable, RecordHit, RecordIndex, RecordIndexError, RecordTexts,
};
pub(crate) use records::{search_snapshot, sync_index};
pub use snapshot::Corpus;
pub(crate) use snapshot::Snapshot;
pub use thesaurus::{near_words, neighbors};
