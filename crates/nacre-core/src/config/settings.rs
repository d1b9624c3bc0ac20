//! The resolved settings, as plain structs: one for each part of the program, which is given its own and no more.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::time::Duration;

/// Everything that can be configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    pub memory: MemorySettings,
    pub ui: UiSettings,
    pub lock: LockSettings,
    pub safe: SafeSettings,
    pub redact: RedactSettings,
    pub map: MapSettings,
    pub search: SearchSettings,
    pub telemetry: TelemetrySettings,
    pub runs: RunSettings,
    pub limits: LimitSettings,
    /// By the name that a person gave it.
    pub providers: BTreeMap<String, ProviderTable>,
    /// By role; `default` is for all that are not set.
    pub roles: BTreeMap<String, RoleTable>,
}

/// What is set about a provider of models.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProviderTable {
    /// `anthropic` or `openai`.
    pub api: Option<String>,
    pub base_url: Option<String>,
    /// The name of the variable that holds the key, never the key.
    pub key_variable: Option<String>,
    /// `this_machine` or `anywhere`.
    pub plain_http: Option<String>,
}

/// What is set about a role.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RoleTable {
    pub model: Option<String>,
    pub fallbacks: Vec<String>,
    pub max_tokens: Option<u32>,
    pub context_tokens: Option<usize>,
    /// In thousandths.
    pub temperature: Option<u32>,
    pub effort: Option<String>,
    /// Of the role `extract` alone.
    pub strategy: Option<StrategyChoice>,
    /// Of the role `extract` alone.
    pub rlm_above_tokens: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemorySettings {
    pub scope: ScopeMode,
    pub max_results: usize,
    pub max_file_bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UiSettings {
    pub color: ColorChoice,
    /// A command line; `None` leaves the choice to `VISUAL` and `EDITOR`.
    pub editor: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockSettings {
    /// How long to wait for another writer.
    pub wait: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SafeSettings {
    /// Full paths, or `*`.
    pub folders: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedactSettings {
    /// Literal texts, each once, in the order of the layers.
    pub extra: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapSettings {
    /// Globs.
    pub deny: Vec<String>,
    pub at_rest: AtRest,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchSettings {
    pub embedding: EmbeddingChoice,
    /// The base address of an embeddings service, and the model to ask it for.
    pub endpoint_url: String,
    pub endpoint_model: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TelemetrySettings {
    /// Where spans are sent; empty for nowhere.
    pub otlp_endpoint: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSettings {
    /// Run folders of each mode that are kept.
    pub keep: usize,
}

/// What models may cost, money in thousandths of a dollar, and how long work may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitSettings {
    pub session_tokens: u64,
    pub session_usd: u64,
    pub day_tokens: u64,
    pub day_usd: u64,
    pub project_tokens: u64,
    pub project_usd: u64,
    /// For one question to a model.
    pub model_time: Duration,
    /// For one look at the files of a project.
    pub map_time: Duration,
}

/// Where recall looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScopeMode {
    /// In the project, then in the global memory.
    ProjectFallbackGlobal,
    ProjectOnly,
    GlobalOnly,
}

impl ScopeMode {
    pub const ALL: &[Self] = &[Self::ProjectFallbackGlobal, Self::ProjectOnly, Self::GlobalOnly];
    pub const NAMES: &[&str] = &[
        Self::ProjectFallbackGlobal.as_str(),
        Self::ProjectOnly.as_str(),
        Self::GlobalOnly.as_str(),
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ProjectFallbackGlobal => "project_fallback_global",
            Self::ProjectOnly => "project_only",
            Self::GlobalOnly => "global_only",
        }
    }
}

impl FromStr for ScopeMode {
    type Err = UnknownChoice;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.iter().copied().find(|mode| mode.as_str() == text).ok_or(UnknownChoice)
    }
}

/// When output is colored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    Always,
    Never,
}

impl ColorChoice {
    pub const ALL: &[Self] = &[Self::Auto, Self::Always, Self::Never];
    pub const NAMES: &[&str] = &[Self::Auto.as_str(), Self::Always.as_str(), Self::Never.as_str()];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Always => "always",
            Self::Never => "never",
        }
    }
}

impl FromStr for ColorChoice {
    type Err = UnknownChoice;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.iter().copied().find(|choice| choice.as_str() == text).ok_or(UnknownChoice)
    }
}

/// How files are kept that can be made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtRest {
    Plain,
    /// With a key of the person's own.
    Encrypted,
}

impl AtRest {
    pub const ALL: &[Self] = &[Self::Plain, Self::Encrypted];
    pub const NAMES: &[&str] = &[Self::Plain.as_str(), Self::Encrypted.as_str()];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Encrypted => "encrypted",
        }
    }
}

impl FromStr for AtRest {
    type Err = UnknownChoice;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.iter().copied().find(|choice| choice.as_str() == text).ok_or(UnknownChoice)
    }
}

/// What turns texts into vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbeddingChoice {
    /// The table inside the program.
    Builtin,
    /// A service that texts are sent to.
    Endpoint,
}

impl EmbeddingChoice {
    pub const ALL: &[Self] = &[Self::Builtin, Self::Endpoint];
    pub const NAMES: &[&str] = &[Self::Builtin.as_str(), Self::Endpoint.as_str()];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Builtin => "builtin",
            Self::Endpoint => "endpoint",
        }
    }
}

impl FromStr for EmbeddingChoice {
    type Err = UnknownChoice;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.iter().copied().find(|choice| choice.as_str() == text).ok_or(UnknownChoice)
    }
}

/// How a session is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StrategyChoice {
    /// By what there is: without a model by rules, else in windows, and by code where it is long.
    #[default]
    Auto,
    /// By rules alone.
    Offline,
    /// A model reads it, window by window.
    Windows,
    /// A model explores it by code.
    Rlm,
}

impl StrategyChoice {
    pub const ALL: &[Self] = &[Self::Auto, Self::Offline, Self::Windows, Self::Rlm];
    pub const NAMES: &[&str] =
        &[Self::Auto.as_str(), Self::Offline.as_str(), Self::Windows.as_str(), Self::Rlm.as_str()];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Offline => "offline",
            Self::Windows => "windows",
            Self::Rlm => "rlm",
        }
    }

    /// Whether nothing but a model will do.
    pub fn demands_a_model(self) -> bool {
        matches!(self, Self::Windows | Self::Rlm)
    }
}

impl FromStr for StrategyChoice {
    type Err = UnknownChoice;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.iter().copied().find(|choice| choice.as_str() == text).ok_or(UnknownChoice)
    }
}

/// A word that is none of the choices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("Unknown choice")]
pub struct UnknownChoice;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_and_their_names_agree() {
        let names: Vec<&str> = ScopeMode::ALL.iter().map(|mode| mode.as_str()).collect();
        assert_eq!(names, ScopeMode::NAMES);
        let parsed: Vec<ScopeMode> = names.iter().map(|name| name.parse().unwrap()).collect();
        assert_eq!(parsed, ScopeMode::ALL);
        let names: Vec<&str> = ColorChoice::ALL.iter().map(|choice| choice.as_str()).collect();
        assert_eq!(names, ColorChoice::NAMES);
        let parsed: Vec<ColorChoice> = names.iter().map(|name| name.parse().unwrap()).collect();
        assert_eq!(parsed, ColorChoice::ALL);
        let names: Vec<&str> = AtRest::ALL.iter().map(|choice| choice.as_str()).collect();
        assert_eq!(names, AtRest::NAMES);
        let names: Vec<&str> = EmbeddingChoice::ALL.iter().map(|choice| choice.as_str()).collect();
        assert_eq!(names, EmbeddingChoice::NAMES);
        let names: Vec<&str> = StrategyChoice::ALL.iter().map(|choice| choice.as_str()).collect();
        assert_eq!(names, StrategyChoice::NAMES);
        assert_eq!("Auto".parse::<ColorChoice>(), Err(UnknownChoice));
    }
}
