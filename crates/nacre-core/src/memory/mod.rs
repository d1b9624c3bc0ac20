//! Memories as Markdown files: types, records, the store and its check.
//!
//! The only room that writes below `memory/`. It is handed a scope, a time and the words to write;
//! it knows nothing of models, agents, settings or the terminal. Everything it changes goes through
//! one change set, and everything it reads may have been written by a person: a broken file is a
//! value with a line number, never an obstacle to the others.

#[cfg(test)]
mod actor_tests;
mod admission;
mod applies;
mod batch;
mod bring;
mod check;
mod document;
mod draft;
mod hazard;
mod history;
mod id;
mod kinds;
mod layout;
mod ledger;
mod ledger_text;
mod life;
mod listing;
mod mend;
mod origin;
mod overturned;
mod policy;
mod reader;
mod record;
mod redactions;
mod review;
mod revision;
mod sidecar;
mod slug;
mod stage;
mod store;
mod survey;
mod takeback;
#[cfg(test)]
mod tests;
mod tombstone;
mod trust;
mod trusting;
#[cfg(test)]
mod trusting_tests;
mod upkeep;
mod walk;

pub use admission::hazards_of;
pub use applies::{MAX_APPLIES, MAX_APPLIES_CHARS, clean_applies};
pub use batch::Batch;
pub use bring::{Brought, ForeignMemory};
pub use check::{CheckReport, Finding, Severity};
pub use document::{Broken, Document, Fault};
pub use draft::{Change, Draft, SummaryDraft};
pub use hazard::{Hazard, HazardKind, hazards};
pub use history::{Version, VersionSource};
pub use id::{BadId, MemoryId};
pub use kinds::{Basis, Claim, LEARNING_KINDS, LearningKind, MemoryType, Status, TYPES};
pub use layout::{Located, STORE_ACCESS, StoreArea, init};
pub use ledger::LedgerPlace;
pub use ledger_text::KeptLedgers;
pub(crate) use ledger_text::TrustState;
pub use life::{Standing, Vitals};
pub use listing::Listing;
pub use mend::Mended;
pub use origin::{Edit, LastCommit};
pub use overturned::Overturned;
pub use policy::{
    Action, Band, Decision, Judgement, Kinship, Likeness, Measures, NearWords, Neighbour, Profile,
    Proposal, Relation, Scores, decide, judge, kinship, measure, ruled,
};
pub use reader::Reader;
pub use record::{Memory, RecordFault};
pub use redactions::Redactions;
pub use revision::{PlannedChange, UPKEEP_FILE};
pub use sidecar::{Evidence, Feedback, Quote, Speaker, State, Verdict};
pub use slug::slug;
pub use stage::{Life, Stage};
pub use store::{IndexPlace, MemoryError, Rules, Store, Unreadable};
pub use survey::{FileRead, Remembered, Survey, Surveyed, SurveyedFolder};
pub use trust::{Actor, Trust};
pub use upkeep::{Revision, united};
