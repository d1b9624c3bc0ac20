//! Requests and reports for importing from and exporting to instruction files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{MemoryType, Scope};

/// The files to import statements from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ImportRequest {
    /// Files and directories. Defaults to the project's instruction files and Claude Code's project
    /// memory.
    pub paths: Vec<String>,
    pub scope: Option<Scope>,
    /// Show what would be imported, without changing anything.
    pub dry_run: bool,
}

/// The files found, the candidates created, and the text skipped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportReport {
    pub dry_run: bool,
    pub files: Vec<ImportedFile>,
    pub candidates: Vec<ImportedCandidate>,
    pub skipped: Vec<SkippedText>,
    /// The change ID to pass to `nacre undo`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

/// A file that was examined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportedFile {
    /// Path relative to the project, or the bare file name.
    pub file: String,
    /// Number of statements found in the file.
    pub found: usize,
    /// Number of candidates created from the file.
    pub added: usize,
    /// Why the file was skipped.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub skipped: Option<FileFault>,
}

names! {
    /// Why a file was skipped.
    pub enum FileFault {
        /// The path is a link or not a regular file.
        NotPlain = "not_plain",
        TooLarge = "too_large",
        /// The file is not valid UTF-8.
        NotText = "not_text",
        Unreadable = "unreadable",
        /// The limit on the number of files was reached.
        OverLimit = "over_limit",
    }
}

/// An imported statement that is pending review.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportedCandidate {
    /// The ID of the candidate. Absent in a dry run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub id: Option<String>,
    pub title: String,
    pub r#type: MemoryType,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub kind: Option<String>,
    pub file: String,
    pub line: usize,
    /// The memory imported earlier from the same line, when its text was different.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub replaces: Option<ReplacedMemory>,
}

/// A memory whose source line has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReplacedMemory {
    pub id: String,
    /// Whether the memory is already superseded. Candidates are superseded immediately; an active
    /// memory is superseded when a user accepts the new one.
    pub done: bool,
}

/// Text that was not imported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedText {
    pub file: String,
    pub line: usize,
    pub reason: ImportSkip,
    /// The beginning of the text.
    pub text: String,
    /// The existing memory with the same content.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub known: Option<String>,
}

names! {
    /// Why text was not imported.
    pub enum ImportSkip {
        /// The text was imported before.
        Imported = "imported",
        /// A memory with the same content exists.
        Known = "known",
        /// A user rejected this text before.
        Rejected = "rejected",
        /// The same content occurs earlier in this import.
        Repeated = "repeated",
        TooLong = "too_long",
        NotAStatement = "not_a_statement",
        /// The text is part of a block that Nacre exported.
        OwnBlock = "own_block",
        /// The text contains a secret.
        Secret = "secret",
        /// The limit on the number of statements was reached.
        OverLimit = "over_limit",
    }
}

/// The target file of an export, and the size limit of the exported block.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ExportRequest {
    /// A path relative to the project. Defaults to an existing `AGENTS.md` or `CLAUDE.md`, and
    /// otherwise to a new `AGENTS.md`.
    pub file: Option<String>,
    /// Maximum number of tokens, including the block markers. Defaults to 1500.
    pub budget: Option<usize>,
    /// Remove the block and leave the rest of the file unchanged.
    pub remove: bool,
    /// Overwrite manual changes inside the block.
    pub force: bool,
    /// Show the changes without making them.
    pub dry_run: bool,
}

/// The result of an export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExportReport {
    /// Path relative to the project.
    pub file: String,
    pub state: ExportState,
    pub dry_run: bool,
    /// Whether the text inside the block was changed manually.
    pub edited: bool,
    /// The exported memories.
    pub memories: Vec<String>,
    /// Number of current decisions and conventions that were not exported.
    pub left_out: usize,
    /// IDs of memories that were not exported because their author could not be verified.
    pub unproven: Vec<String>,
    pub budget: usize,
    /// Number of tokens in the block.
    pub tokens: usize,
    /// The change as a unified diff; empty if nothing changed.
    pub diff: String,
    /// The change ID to pass to `nacre undo`. Absent if nothing changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

names! {
    /// The change made to the block, or the planned change in a dry run.
    pub enum ExportState {
        /// The file had no block.
        Added = "added",
        Updated = "updated",
        /// The block was already up to date.
        Unchanged = "unchanged",
        Removed = "removed",
        /// The file has no block, and no memory can be exported.
        Absent = "absent",
    }
}
