//! The resolved settings, as plain structs: one for each part of the program, which is given its own and no more.

use std::collections::BTreeMap;
use std::time::Duration;

use super::choices::{
    ApiChoice, AtRest, ColorChoice, EffortChoice, EmbeddingChoice, LeadRuntime, PlainHttpChoice,
    ScopeMode, StrategyChoice, ThemeChoice,
};

/// Everything that can be configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    pub memory: MemorySettings,
    pub ui: UiSettings,
    pub lock: LockSettings,
    pub safe: SafeSettings,
    pub redact: RedactSettings,
    pub share: ShareSettings,
    pub map: MapSettings,
    pub search: SearchSettings,
    pub server: ServerSettings,
    pub push: PushSettings,
    pub telemetry: TelemetrySettings,
    pub reading: ReadingSettings,
    pub lead: LeadSettings,
    pub hooks: HookSettings,
    pub runs: RunSettings,
    pub limits: LimitSettings,
    /// By the name that a person gave it.
    pub providers: BTreeMap<String, ProviderTable>,
    /// By role; `default` is for all that are not set.
    pub roles: BTreeMap<String, RoleTable>,
}

/// Which installed agent reads sessions, and how many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadingSettings {
    /// The name of an agent, `none`, or nothing while nobody was asked.
    pub agent: String,
    pub sessions_per_day: u64,
}

/// What the lead of a sync is run with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeadSettings {
    pub runtime: LeadRuntime,
    /// Whether a run keeps the session of a lead that another program ran.
    pub persist_sessions_in_workspace: bool,
}

/// What is set about a provider of models.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProviderTable {
    pub api: Option<ApiChoice>,
    pub base_url: Option<String>,
    /// The name of the variable that holds the key, never the key.
    pub key_variable: Option<String>,
    pub plain_http: Option<PlainHttpChoice>,
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
    pub effort: Option<EffortChoice>,
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
    /// Of the chat's screen.
    pub theme: ThemeChoice,
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
    /// Of repositories: full paths, or `*`.
    pub memories: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedactSettings {
    /// Literal texts, each once, in the order of the layers.
    pub extra: Vec<String>,
}

/// What git shares of a project's store beside decisions and learnings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShareSettings {
    pub summaries: bool,
}

/// What is sent to a server of a team.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushSettings {
    /// Its URL; empty for none.
    pub to: String,
    /// Whether transcripts go there, too.
    pub transcripts: bool,
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

/// What servers share. No password stands here, and nothing of it is looked at before it is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSettings {
    /// The URL of a PostgreSQL; empty for none.
    pub database: String,
    /// Full paths; empty for none.
    pub database_password_file: String,
    pub database_certificates: String,
    pub database_connections: usize,
    /// The address that a proxy connects from; empty for none.
    pub trusted_proxy: String,
    /// The header in which it names a person; empty for none.
    pub trusted_proxy_header: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TelemetrySettings {
    /// Where spans are sent; empty for nowhere.
    pub otlp_endpoint: String,
}

/// What the hooks of agents may say and do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookSettings {
    pub start_tokens: usize,
    pub prompt_tokens: usize,
    pub pitfalls: bool,
    pub guard: bool,
    /// Full paths.
    pub guard_folders: Vec<String>,
    pub sync: bool,
    pub ask_to_record: bool,
    pub deadline: Duration,
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
