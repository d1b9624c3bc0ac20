//! What instruction files say already, taken over as candidates.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{MemoryType, Report, Scope};

/// Which files to take statements from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ImportRequest {
    /// Files and folders. Without any, the instruction files of the project and what Claude Code remembers of it.
    pub paths: Vec<String>,
    pub scope: Option<Scope>,
    /// Say what would be taken over, and change nothing.
    pub dry_run: bool,
}

/// What was found, what waits for review now, and what was left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportReport {
    pub dry_run: bool,
    pub files: Vec<ImportedFile>,
    pub candidates: Vec<ImportedCandidate>,
    pub skipped: Vec<SkippedText>,
    /// The id that `nacre undo` takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

impl Report for ImportReport {}

/// A file that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportedFile {
    /// Below the project, or its name alone.
    pub file: String,
    /// How many statements were found in it.
    pub found: usize,
    /// How many of them are candidates now.
    pub added: usize,
    /// Why it was not read.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub skipped: Option<FileFault>,
}

/// Why a file was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileFault {
    /// It is a link, or something else than a file.
    NotPlain,
    TooLarge,
    /// It is not valid UTF-8.
    NotText,
    Unreadable,
    /// There were too many files before it.
    OverLimit,
}

/// A statement that waits for review.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportedCandidate {
    /// Its id; of a dry run, none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub id: Option<String>,
    pub title: String,
    pub r#type: MemoryType,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub kind: Option<String>,
    pub file: String,
    pub line: usize,
    /// The memory that was imported from the same place and says something else.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub replaces: Option<ReplacedMemory>,
}

/// A memory whose line in its file changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReplacedMemory {
    pub id: String,
    /// Whether it is superseded already: only one that waited itself is. Another one holds until a person agrees.
    pub done: bool,
}

/// A text that was not taken over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedText {
    pub file: String,
    pub line: usize,
    pub reason: ImportSkip,
    /// How it begins.
    pub text: String,
    /// The memory that says it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub known: Option<String>,
}

/// Why a text was not taken over.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ImportSkip {
    /// It was imported before, whatever became of it.
    Imported,
    /// A memory says it already.
    Known,
    /// A person threw it away.
    Rejected,
    /// Another text of this import says it.
    Repeated,
    TooLong,
    NotAStatement,
    /// Nacre wrote it.
    OwnBlock,
    /// A secret is in it.
    Secret,
    /// There were too many before it.
    OverLimit,
}
