//! Stores memories as Markdown files: types, records, the store and its checks.
//!
//! Only this crate writes below `memory/`. This crate does not depend on models, agents, settings
//! or the terminal. Every change to a store goes through a single change set. Users edit the files
//! by hand, so a broken file is reported with a line number and does not affect other files.

#[cfg(test)]
mod actor_tests;
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
mod ledger_entries;
mod life;
mod listing;
pub mod messages;
mod policy;
mod prelude;
pub mod recall;
mod record;
mod review;
mod revision;
mod runs;
pub mod search;
mod sidecar;
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

pub use batch::Batch;
pub use bring::{Brought, ForeignMemory};
pub use check::CheckReport;
pub use document::{Broken, Document, Fault};
pub use draft::{Draft, MAX_APPLIES, MAX_APPLIES_CHARS, SummaryDraft, clean_applies, hazards_of};
pub use hazard::{Hazard, HazardKind, hazards};
pub use history::{Edit, LastCommit};
pub use id::{BadId, MemoryId, ShortIds, slug};
pub use kinds::{Basis, Claim, LEARNING_KINDS, LearningKind, MemoryType, Status, TYPES, type_spec};
pub use layout::{Located, STORE_ACCESS, StoreArea, id_at, init};
pub use ledger::LedgerPlace;
pub use ledger_entries::KeptLedgers;
pub use life::{Standing, Vitals};
pub use listing::{IMPORTED, Listing, Overturned, Reader};
pub use policy::{
    Action, Band, Decision, Judgement, Kinship, Likeness, Measures, NearWords, Neighbour, Profile,
    Proposal, Relation, Scores, are_opposed, decide, is_amendment, judge, kinship, leave_recorded,
    may_repeat, measure, settle_with_ruling,
};
pub use record::{Memory, RecordFault};
pub use revision::{PlannedChange, Revision, UPKEEP_FILE, unite};
pub use runs::{RunNote, RunNotes};
pub use sidecar::{Evidence, Feedback, Life, LocalState, Quote, Speaker, Stage, Verdict, stage_of};
pub use store::{IndexPlace, MemoryError, Redactions, Result, Rules, Store, Unreadable};
pub use survey::{FileRead, Remembered, Survey, Surveyed, SurveyedFolder};
pub use trust::{Actor, Trust};
