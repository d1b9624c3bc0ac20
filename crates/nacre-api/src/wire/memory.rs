//! Memories: as they are listed, found, shown and changed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{OtherPlace, Outcome, Report, Scope, StoreScope};

/// What a memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MemoryType {
    Decision,
    Learning,
    Summary,
}

impl MemoryType {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Decision => "decision",
            Self::Learning => "learning",
            Self::Summary => "summary",
        }
    }
}

/// A memory without its text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryEntry {
    pub id: String,
    pub r#type: MemoryType,
    /// What kind of learning it is.
    pub kind: Option<String>,
    pub title: String,
    pub status: String,
    pub confidence: Option<f64>,
    pub tags: Vec<String>,
    pub related: Vec<String>,
    pub created: Option<String>,
    pub updated: Option<String>,
    pub archived: bool,
    pub scope: StoreScope,
    pub path: String,
}

/// A file that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BrokenFile {
    pub path: String,
    pub line: Option<usize>,
    pub message: String,
}

/// Which memories to list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MemoryListRequest {
    pub r#type: Option<MemoryType>,
    pub tag: Option<String>,
    /// Archived ones instead.
    pub archived: bool,
    /// At most this many; 0 for all. Without it, the setting `memory.max_results`.
    pub limit: Option<usize>,
    pub scope: Option<Scope>,
}

/// Memories, the project's first, the newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryListReport {
    pub memories: Vec<MemoryEntry>,
    /// How many there are, listed or not.
    pub total: usize,
    pub broken: Vec<BrokenFile>,
}

impl Report for MemoryListReport {
    fn outcome(&self) -> Outcome {
        Outcome::partial_if(!self.broken.is_empty())
    }
}

/// Which memory to show, and how much of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryShowRequest {
    /// Its id, or the start of it.
    pub id: String,
    /// With the quotes that prove it.
    #[serde(default)]
    pub evidence: bool,
    /// With how it came to be what it is.
    #[serde(default)]
    pub history: bool,
    #[serde(default)]
    pub scope: Option<Scope>,
}

/// One memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryShowReport {
    #[serde(flatten)]
    pub memory: MemoryEntry,
    /// Where else its id stands.
    pub also_in: Vec<OtherPlace>,
    pub supersedes: Vec<MemoryLink>,
    pub superseded_by: Vec<MemoryLink>,
    pub body: String,
    pub evidence: Option<MemoryEvidence>,
    pub history: Option<Vec<MemoryVersion>>,
}

impl Report for MemoryShowReport {}

/// One end of a link between two memories. It is verified where the older file says it itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryLink {
    pub id: String,
    pub verified: bool,
}

/// What proves a memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryEvidence {
    /// Of the format of the file that holds it.
    pub version: u32,
    pub id: String,
    pub quotes: Vec<MemoryQuote>,
}

/// Whose words a quote holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// A person, to Nacre itself.
    Human,
    /// A person, to their agent.
    User,
    Assistant,
    Tool,
}

/// Words that were said, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryQuote {
    pub text: String,
    pub speaker: Speaker,
    pub place: String,
    pub at: String,
}

/// A memory as it was once: by a commit, or by a run where there is no git.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryVersion {
    pub commit: Option<String>,
    pub run: Option<String>,
    pub when: String,
    pub who: String,
    pub what: String,
}
