//! Finding: an index of records, and the ranking that puts the right one first.
//!
//! One engine serves memories and transcripts. Everything in `index/` is derived: deleting it loses
//! nothing, a damaged file is rebuilt, and a question that comes while another process writes sees the
//! index before the change or after it. A search changes no memory.

mod alike;
mod answers;
mod candidates;
mod container;
mod corpus;
mod embed;
pub mod eval;
mod group;
mod held;
mod index;
mod kept;
mod kin;
mod layout;
mod left;
mod library;
mod manifest;
mod memories;
mod query;
mod rank;
mod record;
mod record_index;
mod segment;
mod settle;
mod snapshot;
mod snippet;
mod spoken;
mod terms;
mod thesaurus;
mod traits;
mod weights;
mod words;

pub use candidates::{
    Candidates, IndexedTerms, QuestionTerm, embedded_text, facet_term, rank_candidates,
    terms_of_question, terms_of_record,
};
pub use corpus::Corpus;
pub use embed::{Builtin, EmbedError, Embedder, ModelId, TokenCounter, normalize};
pub use index::{Index, IndexError};
pub use kept::KeptSnapshots;
pub use kin::{Kin, KinKind};
pub use library::{Library, LibraryOptions, News, RecordHit};
pub use memories::mentions::{files as files_named, symbols as symbols_named};
pub use memories::{
    DueLook, Fit, FitSignals, Fitting, Graph, GraphNode, GraphOptions, INDEX_FOLDER, IndexStatus,
    Interest, Listed, MemoryHit, MemoryHits, MemoryIndex, MemoryOptions, Near, ProjectNews,
    SearchError, SharedUnits, Tie, Why, Wording, clear_index, index_path, index_scope,
    index_status, place_of_shared_unit, prune_indexes, purge_index, spellings,
};
pub use query::{Query, facet_name};
pub use rank::{Level, Mode};
pub use record::{Field, Fingerprint, Link, LinkKind, Record, Standing, Unit, Voice};
pub use record_index::{LocalRecords, Readable, RecordIndex, RecordIndexError, RecordTexts};
pub use snapshot::Snapshot;
pub use snippet::of as snippet;
pub use thesaurus::{near_words, neighbors};
pub use words::{is_stop_word, shared as shared_words, stem as word_stem};

pub use crate::base::parse_time;
