//! What Nacre does with a transcript: candidates and a summary out, each claim with the words that prove it.
//!
//! Extracting and summarising read events and return values. A sync decides what becomes of them, and hands the store
//! one change set. Nothing here asks a clock or the environment.

pub mod candidate;
pub mod evidence;
pub mod extract;
pub mod models;
pub mod run;
mod steps;
pub mod strategy;
pub mod summarize;
pub mod sync;
#[cfg(test)]
mod testing;
pub mod undo;
