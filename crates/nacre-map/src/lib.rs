//! A map of code: what is in it, what changed, and the part of it that a task needs.
//!
//! The only crate that knows tree-sitter. It reads the tree of a project and writes nothing but its own cache.

pub mod artifact;
pub mod indexer;
pub mod languages;
pub mod resolve;
pub mod search;
mod shares;
pub mod slices;
pub mod watch;
pub mod words;
