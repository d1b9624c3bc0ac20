//! An agent that works on a question: what it is asked, what it answers, and what that used up.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Failure, Outcome, Report};

/// The agents that can be run by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgentName {
    /// Reads the repository and answers with citations.
    #[default]
    Explorer,
}

/// What an agent is to find out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentRunRequest {
    pub question: String,
    #[serde(default)]
    pub agent: AgentName,
    /// A file with the model's answers, for tests.
    #[serde(default)]
    pub scripted: Option<String>,
}

/// What an agent answered, and what of it holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentRunReport {
    pub task: String,
    /// How the task ended, with the reason in brackets: `completed(done)`.
    pub state: String,
    /// With `[not verified]` behind every sentence that the cited lines do not prove.
    pub answer: Option<String>,
    /// Whether every sentence is proven by lines that it cites and that the agent read.
    pub verified: bool,
    /// The sentences that are not proven, with the reason.
    pub not_verified: Vec<UnprovenSentence>,
    pub citations: Vec<CheckedCitation>,
    /// Why the agent failed.
    pub error: Option<String>,
    pub steps: u32,
    pub tool_calls: u32,
    pub denied_calls: u32,
    pub tokens: TokenUse,
    pub cost_usd: Option<f64>,
    pub wall_ms: u64,
    /// Why there is no answer, with what may help. Also where the run was cancelled.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failure: Option<Failure>,
}

impl Report for AgentRunReport {
    fn outcome(&self) -> Outcome {
        match &self.failure {
            Some(_) => Outcome::Failed,
            None => Outcome::partial_if(!self.verified),
        }
    }
}

/// A sentence of an answer that its citations do not prove.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnprovenSentence {
    pub text: String,
    pub why: String,
}

/// A place in the repository, as an agent cites it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedCitation {
    pub file: String,
    pub first_line: u32,
    pub last_line: u32,
    pub quote: String,
    /// Whether the quote stands there.
    pub verified: bool,
    /// Why it could not be verified.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub why: Option<String>,
}

/// How many tokens models read and wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenUse {
    pub input: u64,
    pub output: u64,
}
