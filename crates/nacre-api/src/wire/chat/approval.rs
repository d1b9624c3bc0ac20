//! What an agent may do without being asked about, and what it asks a person for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::Report;

/// What needs a person's yes. Whatever it says, programs run confined, and what is protected stays so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalPolicy {
    /// Every change of a file, every program and every address.
    #[default]
    Ask,
    /// Programs and addresses; files of the workspace are changed without asking.
    AutoEdit,
    /// Nothing.
    Full,
}

impl ApprovalPolicy {
    pub const ALL: [Self; 3] = [Self::Ask, Self::AutoEdit, Self::Full];

    /// Its name, as a person types it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::AutoEdit => "auto-edit",
            Self::Full => "full",
        }
    }
}

/// A question to the person. The call waits for the answer; five minutes without one count as a no.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalRequest {
    pub approval: String,
    /// The call that waits.
    pub call: String,
    pub tool: String,
    /// What it is about to do, in one line.
    pub summary: String,
    /// What it would touch, a sentence each.
    pub touches: Vec<String>,
    /// What would change in files, as a unified diff.
    pub diff: Option<String>,
    /// Whether the diff is only the beginning of it.
    pub is_diff_cut: bool,
    /// The program that it would start.
    pub command: Option<String>,
    /// The host that it would reach.
    pub host: Option<String>,
}

/// What the person says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum ApprovalAnswer {
    /// This once.
    Once,
    /// This, and the like of it until the session ends.
    Session,
    /// No; the agent is told why.
    Deny {
        #[serde(default)]
        reason: String,
    },
}

/// An answer to a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalAnswerRequest {
    pub approval: String,
    #[serde(flatten)]
    pub answer: ApprovalAnswer,
}

/// The answer was the first, and counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalAnswerReport {
    pub approval: String,
}

impl Report for ApprovalAnswerReport {}

/// Whose word it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnsweredBy {
    Person,
    /// Nobody answered in time.
    Timeout,
    /// Nobody was there to ask.
    Nobody,
}
