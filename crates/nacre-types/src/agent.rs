//! Requests and reports about agent runs, skills and models.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Failure, Outcome, PathProblem, Report, TokenCounts};

/// The result of an agent run, with verified citations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentRunReport {
    pub task: String,
    /// How the task ended, with the reason in parentheses, such as `completed(done)`.
    pub state: String,
    /// The answer, with `[not verified]` after each sentence that its citations do not support.
    pub answer: Option<String>,
    /// Whether every sentence is supported by lines that it cites and that the agent has read.
    pub verified: bool,
    /// The unsupported sentences, each with a reason.
    pub not_verified: Vec<UnprovenSentence>,
    pub citations: Vec<CheckedCitation>,
    /// Why the agent failed.
    pub error: Option<String>,
    pub steps: u32,
    pub tool_calls: u32,
    pub denied_calls: u32,
    pub tokens: TokenCounts,
    pub cost_usd: Option<f64>,
    pub wall_ms: u64,
    /// Why there is no answer, with hints. Also set for a cancelled run.
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

/// An answer sentence that its citations do not support.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnprovenSentence {
    pub text: String,
    pub why: String,
}

/// A citation of lines in the repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedCitation {
    pub file: String,
    pub first_line: u32,
    pub last_line: u32,
    pub quote: String,
    /// Whether the cited lines contain the quote.
    pub verified: bool,
    /// Why verification of the quote failed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub why: Option<String>,
}

/// Available skills, and directories that do not contain a valid skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillListReport {
    pub skills: Vec<SkillEntry>,
    pub problems: Vec<PathProblem>,
}

/// A skill without its instructions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillEntry {
    pub name: String,
    pub description: String,
    pub origin: SkillOrigin,
    /// Path of the skill file; `null` for a bundled skill.
    pub path: Option<String>,
    pub license: Option<String>,
    /// The only tools allowed while the skill is in use; `null` allows all tools.
    pub allowed_tools: Option<Vec<String>>,
}

names! {
    /// Origin of a skill.
    pub enum SkillOrigin {
        /// The skill is in the repository.
        Project = "project",
        /// The skill is in the user's home directory.
        User = "user",
        /// The skill ships with Nacre.
        Bundled = "bundled",
    }
}

/// A skill and its instructions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillShowReport {
    #[serde(flatten)]
    pub skill: SkillEntry,
    pub instructions: String,
}

names! {
    /// A role to which a model can be assigned.
    #[derive(Default)]
    pub enum ModelRole {
        Lead = "lead",
        Explorer = "explorer",
        Extract = "extract",
        Summarize = "summarize",
        #[default]
        Ask = "ask",
        Chat = "chat",
    }
}

/// The configured models, their providers, and the embedding models.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelListReport {
    pub roles: Vec<RoleEntry>,
    /// Providers of the configured models.
    pub providers: Vec<ProviderEntry>,
    /// Installed agents that can be used as models, including agents not assigned to a role.
    pub agents: Vec<InstalledAgent>,
    /// Embedding models.
    pub models: Vec<EmbedderEntry>,
}

/// A role and its models.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RoleEntry {
    /// Name of the role. `default` applies to every role without models of its own.
    pub role: String,
    /// Models in the order in which they are tried.
    pub models: Vec<String>,
    pub origin: String,
    /// Why the role cannot be used with its current settings.
    pub problem: Option<String>,
}

/// A model provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderEntry {
    pub name: String,
    pub address: String,
    /// Name of the environment variable that holds the API key, and whether it is set. Never
    /// contains the key itself.
    pub key: String,
    pub origin: String,
}

/// An installed agent that can be used as a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InstalledAgent {
    /// The agent part of a model name, such as `claude-code`.
    pub name: String,
    /// Display name.
    pub label: String,
    /// Version, or `null` if the agent did not report one.
    pub version: Option<String>,
    /// Path of the agent's executable.
    pub path: String,
    /// A model name for this agent, as accepted by `roles.default.model`.
    pub model: String,
}

/// An embedding model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EmbedderEntry {
    pub name: String,
    /// State of the model, such as `ready`.
    pub state: String,
    /// Identifier derived from the model's name and content. Vectors with different identifiers
    /// cannot be compared.
    pub id: Option<String>,
    pub dims: Option<usize>,
    pub about: String,
}

/// Tests a model by asking it for a one-word response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ModelTestRequest {
    /// The role whose model is tested.
    pub role: ModelRole,
}

/// The tested model's response, with its duration and cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelTestReport {
    pub role: ModelRole,
    /// Name of the model as `provider/model`.
    pub model: String,
    pub text: String,
    pub first_word_ms: Option<u64>,
    pub total_ms: u64,
    pub tokens: TokenCounts,
    /// Cost in US dollars, or `null` if no price is known.
    pub cost_usd: Option<f64>,
}

/// The agent now used to read sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelReaderReport {
    /// The agent part of a model name, such as `claude-code`.
    pub agent: String,
    /// Display name.
    pub label: String,
    /// The model that reads sessions, as accepted by `roles.default.model`.
    pub model: String,
    pub allowed: bool,
}
