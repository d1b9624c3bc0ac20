//! Searches a project's files for words, literal text or a regular expression.
//!
//! Words are ranked the same way as for a task (`slices`). For a pattern, files that cannot match
//! are excluded by their trigrams (`needs`), and the rest are matched line by line, so the result
//! is the same as that of a full scan. This module reads no files, and all output is redacted.

mod filter;
mod find;
mod lines;
mod needs;
mod pattern;
mod pick;
mod query;
mod show;
#[cfg(test)]
mod tests;

pub use filter::{FileFilter, FilterError};
pub use find::{CodeHits, SearchedFiles, find};
pub use pattern::PatternError;
pub use pick::{PickRequest, PickedLines, pick};
pub use query::{CodeQuery, QueryError};
pub use show::matches_text;
