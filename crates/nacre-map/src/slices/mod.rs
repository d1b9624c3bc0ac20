//! Extracts of the map that fit a budget: what the project is, and what a task needs of it.
//!
//! Facts come in and payloads go out: this room reads no file and asks no clock. What is listed is ordered by numbers that depend
//! on the facts alone, with the path as the last word, so that the same state gives the same bytes. Nothing is left out
//! silently: each list says how long it is, and a budget says what did not fit. All texts pass the redactor on their way out.

mod areas;
mod asides;
mod carried;
mod churn;
mod commands;
mod context;
mod context_slice;
mod declared;
mod entries;
mod entry_kind;
mod generated;
mod kept_survey;
mod listed;
mod made_paths;
mod matching;
mod overview;
mod pack;
mod passages;
mod places;
mod rank;
mod readme;
mod relevance;
mod show;
mod sketch;
mod surface;
mod survey;
#[cfg(test)]
mod tests;
mod text_facts;
mod tokens;
mod weights;
mod word_scores;

pub use areas::{Area, CodeApart};
pub use carried::{Edits, OverviewBasis};
pub use churn::{Churn, churn_of_log};
pub use commands::{ProjectCommand, Purpose};
pub use context::context;
pub use context_slice::{ContextFile, ContextRequest, ContextSlice, ContextSymbol, Form, LeftOut};
pub use entries::EntryPoint;
pub use entry_kind::EntryKind;
pub use listed::Listed;
pub use made_paths::MadePaths;
pub use overview::{
    Detail, HotPath, LanguageCount, ModuleGraph, ModuleNode, OVERVIEW_FORMAT, Overview,
    OverviewRequest, TooSmall, TopImport, overview, surface_paths,
};
pub use places::is_own_source;
pub use relevance::{Evidence, Ranked, Why, rank};
pub use sketch::Sketch;
pub use surface::{Surface, SurfaceSymbol};
pub use survey::{Survey, SurveyState};
pub use tokens::tokens;
pub use weights::{WEIGHTS, Weights};
pub use word_scores::{WordScores, path_worth, word_scores};
