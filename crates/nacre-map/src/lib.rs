//! A map of a code base: its symbols, its changes, and the parts that are relevant to a task.
//!
//! This is the only crate that depends on tree-sitter. It writes only to its own cache.

pub mod artifact;
pub mod indexer;
pub mod languages;
pub mod resolve;
pub mod search;
mod shares;
pub mod slices;
pub mod watch;
pub mod words;
