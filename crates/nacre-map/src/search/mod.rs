//! Search in the texts of a project by words, by a piece of text, or by a regular expression.
//!
//! Words are ranked as a task's are (`slices`). A pattern is first asked what every match must contain (`needs`); files whose trigrams
//! rule that out are not read. What is left is read and matched line by line, so an answer is that of a scan of every file.
//!
//! This room reads no file: texts come in. Every text passes the redactor on its way out.

mod filter;
mod find;
mod lines;
mod matched;
mod needs;
mod pattern;
mod pick;
mod query;
mod show;
#[cfg(test)]
mod tests;
mod word_lines;

pub use filter::{FileFilter, FilterError};
pub use find::{CodeHits, SearchedFiles, find};
pub use matched::{CodeMatches, MatchGroup, MatchSymbol, MatchedFile, MatchedLine};
pub use pattern::PatternError;
pub use pick::{PickRequest, PickedLines, TextAndSymbols, pick};
pub use query::{CodeQuery, LetterCase, QueryError, SearchMode};
