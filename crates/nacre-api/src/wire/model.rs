//! Models: those that answer, by role, and those that search by meaning.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Report;

/// A job that a model can be set for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModelRole {
    Lead,
    Explorer,
    Extract,
    Summarize,
    #[default]
    Ask,
    Chat,
}

/// Lists models. None of them is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelListRequest {}

/// The models that are set, who serves them, and those that search by meaning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelListReport {
    pub roles: Vec<RoleEntry>,
    /// Those that serve the models of the roles.
    pub providers: Vec<ProviderEntry>,
    /// The agents on this machine that can answer, whether or not a role uses them.
    pub agents: Vec<InstalledAgent>,
    /// Those that search by meaning.
    pub models: Vec<EmbedderEntry>,
}

impl Report for ModelListReport {}

/// A role and the models that do its job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RoleEntry {
    /// `default` is for all that are not set.
    pub role: String,
    /// In the order in which they are asked.
    pub models: Vec<String>,
    pub origin: String,
    /// Why the role cannot be used, as far as the settings tell.
    pub problem: Option<String>,
}

/// A service that answers for models.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderEntry {
    pub name: String,
    pub address: String,
    /// Whether there is a key and in which variable; never the key.
    pub key: String,
    pub origin: String,
}

/// An agent that is installed and can answer as a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InstalledAgent {
    /// As in the name of a model: `claude-code`.
    pub name: String,
    /// What people call it.
    pub label: String,
    /// `null` where it did not say.
    pub version: Option<String>,
    /// Where its command lies.
    pub path: String,
    /// A model of it, as `roles.default.model` takes it.
    pub model: String,
}

/// A model that turns texts into vectors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EmbedderEntry {
    pub name: String,
    pub state: EmbedderState,
    /// The name and the content: vectors of another id cannot be compared with its own.
    pub id: Option<String>,
    pub dims: Option<usize>,
    pub about: String,
}

/// Whether a model can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EmbedderState {
    Ready,
}

impl EmbedderState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
        }
    }
}

/// Asks a model for one word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ModelTestRequest {
    /// The model of this role.
    pub role: ModelRole,
}

/// What the model answered, how long it took and what it cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelTestReport {
    pub role: ModelRole,
    /// As `provider/model`.
    pub model: String,
    pub text: String,
    pub first_word_ms: Option<u64>,
    pub total_ms: u64,
    pub tokens: ModelTestTokens,
    /// `null` when no price is known.
    pub cost_usd: Option<f64>,
}

impl Report for ModelTestReport {}

/// What one call used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelTestTokens {
    pub input: u64,
    pub output: u64,
}

/// Says whether the first installed agent may read sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelReaderRequest {
    pub allowed: bool,
}

/// Who may read sessions from now on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelReaderReport {
    /// As in the name of a model: `claude-code`.
    pub agent: String,
    /// What people call it.
    pub label: String,
    /// The model that reads, as `roles.default.model` takes it.
    pub model: String,
    pub allowed: bool,
}

impl Report for ModelReaderReport {}
