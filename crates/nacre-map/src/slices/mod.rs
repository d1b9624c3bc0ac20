//! Extracts from the map within a token budget: a project overview, or the code relevant to a task.
//!
//! The output is deterministic: this module reads neither files nor the clock, and all sorting
//! breaks ties by path. Truncated lists state their full length, and all output is redacted.

mod areas;
mod commands;
mod context;
mod declared;
mod entries;
mod made_paths;
mod matching;
mod overview;
mod pack;
mod places;
mod readme;
mod relevance;
mod show;
mod survey;
#[cfg(test)]
mod tests;
mod text_facts;
mod tokens;
mod weights;

pub use context::context;
pub use made_paths::MadePaths;
pub use matching::{Sketch, WordScores, path_worth, word_scores};
pub use overview::{OVERVIEW_FORMAT, OverviewRequest, TooSmall, overview, surface_paths};
pub use pack::ContextRequest;
pub use places::is_own_source;
pub use relevance::{Evidence, Ranked, rank};
pub use show::{context_text, overview_text};
pub use survey::Survey;
pub use tokens::tokens;
pub use weights::{WEIGHTS, Weights};
