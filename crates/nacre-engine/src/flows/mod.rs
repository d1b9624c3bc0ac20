//! What Nacre does with a transcript: candidates and a summary out, each claim with the words that prove it.
//!
//! A flow reads events and returns values. It writes no file and asks no clock; who runs it decides what becomes of
//! the result.

pub mod candidate;
pub mod extract;
mod steps;
pub mod summarize;
