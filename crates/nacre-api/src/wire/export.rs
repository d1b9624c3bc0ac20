//! What a project remembers, as a block in the instruction file that its agents read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Report;

/// Which file gets the block, and how long it may be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ExportRequest {
    /// A path below the project. Without it, `AGENTS.md` or `CLAUDE.md`, whichever is there, else `AGENTS.md`.
    pub file: Option<String>,
    /// At most this many tokens, marks included. Without it, 1500.
    pub budget: Option<usize>,
    /// Take the block out, and leave the file as it was before.
    pub remove: bool,
    /// Write also over what somebody changed inside the block.
    pub force: bool,
    /// Say what would change, and change nothing.
    pub dry_run: bool,
}

/// What became of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExportReport {
    /// Below the project.
    pub file: String,
    pub state: ExportState,
    pub dry_run: bool,
    /// Whether somebody had changed the text inside the block.
    pub edited: bool,
    /// The memories in the block.
    pub memories: Vec<String>,
    /// How many decisions and conventions hold and are not in it.
    pub left_out: usize,
    /// Those that are not in it because nothing shows who wrote them.
    pub unproven: Vec<String>,
    pub budget: usize,
    /// How many of them the block counts.
    pub tokens: usize,
    /// The change as a unified diff; empty where nothing changes.
    pub diff: String,
    /// The id that `nacre undo` takes; nothing where nothing changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

impl Report for ExportReport {}

/// What became of the block of a file; of a dry run, what would.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExportState {
    /// The file had none.
    Added,
    Updated,
    /// It is as it should be.
    Unchanged,
    Removed,
    /// There is no block, and nothing to write into one.
    Absent,
}
