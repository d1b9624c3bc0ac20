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

pub use candidates::{Candidates, IndexedTerms, rank_candidates, terms_of_record};
pub use embed::{Builtin, cosine};
pub use index::{Index, KeptSnapshots, News, index_units};
pub use memories::{
    DueLook, Graph, GraphNode, GraphOptions, INDEX_FOLDER, IndexStatus, Interest, Listed,
    MemoryHit, MemoryHits, MemoryIndex, MemoryOptions, Near, SharedUnits, clear_index, files_named,
    index_path, index_scope, index_status, place_of_shared_unit, prune_indexes, purge_index,
    spellings, symbols_named,
};
pub use query::{Query, facet_name, snippet};
pub(crate) use rank::similarities;
pub use rank::{
    Level, Mode, QuestionTerm, RankOptions, Ranked, filter_rows, rank, terms_of_question,
};
pub use recency::{MAX_MESSAGES, order_messages};
pub(crate) use record::DESCRIBED;
pub use record::{Field, Fingerprint, Link, LinkKind, Record, Standing, Unit, Voice, facet_term};
pub(crate) use records::sync_index;
pub use records::{LibraryOptions, Readable, RecordHit, search_snapshot};
pub use settle::{Group, RowFacts, settle};
pub use snapshot::{Corpus, Snapshot};
pub use thesaurus::{near_words, neighbors};
