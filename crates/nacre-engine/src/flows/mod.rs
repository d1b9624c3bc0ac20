//! What Nacre does with transcripts and memories: candidates and a summary out of the ones, each claim with the words
//! that prove it; and the others kept few and true.
//!
//! Extracting and summarising read events and return values. A sync decides what becomes of them, and hands the store
//! one change set. Nothing here asks a clock or the environment.

pub mod across;
pub mod ask;
pub mod brief;
pub mod candidate;
pub mod change;
pub mod cited;
pub mod evidence;
pub mod extract;
pub mod maintain;
pub mod messages;
pub mod models;
pub mod prompted;
pub mod record;
pub mod report;
pub mod run;
pub mod scrub;
mod steps;
pub mod strategy;
pub mod summarize;
pub mod sync;
#[cfg(test)]
mod testing;
pub mod undo;
