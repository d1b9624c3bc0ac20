//! How a search ranks what it finds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What to rank by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchMode {
    /// By words and by meaning.
    #[default]
    Hybrid,
    /// By words.
    Lexical,
    /// By meaning.
    Semantic,
}
