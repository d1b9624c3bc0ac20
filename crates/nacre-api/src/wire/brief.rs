//! What an agent should know before it starts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Outcome, Report, Scope, StoreScope};

/// What a brief is for, and how long it may be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BriefRequest {
    /// At most this many tokens. Without it, 2000.
    pub budget: Option<usize>,
    /// What is to be done, in words.
    pub task: Option<String>,
    /// Files that it is about.
    pub files: Vec<String>,
    pub scope: Option<Scope>,
}

/// A brief, by topic and as one text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BriefReport {
    pub budget: usize,
    /// How many of them the text counts.
    pub tokens: usize,
    pub sections: Vec<BriefSection>,
    /// How many memories hold and are not in it.
    pub left_out: usize,
    /// Those that are not in it because nothing shows who wrote them.
    pub unproven: Vec<String>,
    /// How many candidates are not in it because they wait for `nacre review`.
    #[serde(default)]
    pub candidates: usize,
    /// Files that could not be read, by path.
    #[serde(default)]
    pub broken: Vec<String>,
    /// The brief as Markdown; empty when there is nothing to tell or no room for it.
    pub text: String,
}

impl Report for BriefReport {
    fn outcome(&self) -> Outcome {
        Outcome::partial_if(!self.broken.is_empty())
    }
}

/// The memories of one topic, best first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BriefSection {
    pub topic: BriefTopic,
    pub items: Vec<BriefItem>,
}

/// What a section tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BriefTopic {
    Decisions,
    Preferences,
    Pitfalls,
    Knowledge,
    RecentWork,
    OpenEnds,
}

/// A memory in a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BriefItem {
    pub id: String,
    pub scope: StoreScope,
    pub text: String,
}
