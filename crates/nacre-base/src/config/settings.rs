//! Resolved settings as plain structs, one per part of the program.
//!
//! Fields have the same names as their keys, so that serde can fill in the structs from the merged
//! values.

use std::collections::BTreeMap;
use std::time::Duration;

pub use nacre_types::{Scope as ScopeMode, StrategyChoice};
use serde::{Deserialize, Deserializer};

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Settings {
    pub memory: MemorySettings,
    pub ui: UiSettings,
    pub lock: LockSettings,
    pub safe: SafeSettings,
    pub redact: RedactSettings,
    pub share: ShareSettings,
    pub map: MapSettings,
    pub server: ServerSettings,
    pub push: PushSettings,
    pub telemetry: TelemetrySettings,
    pub reading: ReadingSettings,
    pub hooks: HookSettings,
    pub runs: RunSettings,
    pub limits: LimitSettings,
    #[serde(default)]
    pub providers: BTreeMap<String, ProviderTable>,
    #[serde(default)]
    pub roles: BTreeMap<String, RoleTable>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ReadingSettings {
    /// An agent's name, `none`, or empty if the user has not chosen yet.
    pub agent: String,
    pub sessions_per_day: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ProviderTable {
    pub api: Option<ApiChoice>,
    #[serde(deserialize_with = "non_empty")]
    pub base_url: Option<String>,
    /// The name of the environment variable that contains the API key, not the key itself.
    #[serde(deserialize_with = "non_empty")]
    pub key_variable: Option<String>,
    pub plain_http: Option<PlainHttpChoice>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct RoleTable {
    #[serde(deserialize_with = "non_empty")]
    pub model: Option<String>,
    pub fallbacks: Vec<String>,
    pub max_tokens: Option<u32>,
    pub context_tokens: Option<usize>,
    /// The temperature multiplied by 1000.
    pub temperature: Option<u32>,
    pub effort: Option<EffortChoice>,
    /// Only valid for the `extract` role.
    pub strategy: Option<StrategyChoice>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct MemorySettings {
    pub scope: ScopeMode,
    pub max_results: usize,
    pub max_file_bytes: u64,
    pub format: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct UiSettings {
    pub color: ColorChoice,
    #[serde(deserialize_with = "non_empty")]
    pub editor: Option<String>,
    pub theme: ThemeChoice,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct LockSettings {
    /// Maximum time to wait for another writer.
    #[serde(rename = "wait_ms", deserialize_with = "milliseconds")]
    pub wait: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct SafeSettings {
    /// Absolute paths, or `*` for all.
    pub folders: Vec<String>,
    /// Absolute paths of repositories, or `*` for all.
    pub memories: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RedactSettings {
    /// Literal strings, deduplicated and in layer order.
    pub extra: Vec<String>,
}

/// Which files of a project's store are committed to git in addition to decisions and learnings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct ShareSettings {
    pub summaries: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PushSettings {
    /// The server's URL; empty if not set.
    pub to: String,
    pub transcripts: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct MapSettings {
    pub deny: Vec<String>,
    pub at_rest: AtRest,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ServerSettings {
    /// The PostgreSQL URL; empty if not set.
    pub database: String,
    /// An absolute path; empty if not set.
    pub database_password_file: String,
    pub database_certificates: String,
    pub database_connections: usize,
    /// The IP address that the proxy connects from; empty if not set.
    pub trusted_proxy: String,
    /// The header that contains the signed-in user's name; empty if not set.
    pub trusted_proxy_header: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct TelemetrySettings {
    /// The URL that traces are exported to; empty if not set.
    pub otlp_endpoint: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct HookSettings {
    pub start_tokens: usize,
    pub prompt_tokens: usize,
    pub pitfalls: bool,
    pub guard: bool,
    pub guard_folders: Vec<String>,
    pub sync: bool,
    #[serde(rename = "deadline_ms", deserialize_with = "milliseconds")]
    pub deadline: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RunSettings {
    pub keep: usize,
}

/// Limits on the cost and duration of model requests. Costs are in thousandths of a dollar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct LimitSettings {
    pub session_tokens: u64,
    pub session_usd: u64,
    pub day_tokens: u64,
    pub day_usd: u64,
    pub project_tokens: u64,
    pub project_usd: u64,
    /// Maximum time for one model request.
    #[serde(rename = "model_seconds", deserialize_with = "seconds")]
    pub model_time: Duration,
    /// Maximum time for one scan of a project's files.
    #[serde(rename = "map_seconds", deserialize_with = "seconds")]
    pub map_time: Duration,
}

fn milliseconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    u64::deserialize(deserializer).map(Duration::from_millis)
}

fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    u64::deserialize(deserializer).map(Duration::from_secs)
}

fn non_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(deserializer)?;
    Ok(Some(text).filter(|text| !text.is_empty()))
}

crate::words! {
    ColorChoice {
        Auto = "auto",
        Always = "always",
        Never = "never",
    }

    ThemeChoice {
        Dark = "dark",
        Light = "light",
        Plain = "plain",
    }

    /// How derived files are stored on disk.
    AtRest {
        Plain = "plain",
        /// Encrypted with the user's key.
        Encrypted = "encrypted",
    }

    ApiChoice {
        Anthropic = "anthropic",
        OpenAi = "openai",
    }

    /// The addresses to which API keys may be sent over unencrypted HTTP.
    PlainHttpChoice {
        ThisMachine = "this_machine",
        Anywhere = "anywhere",
    }

    EffortChoice {
        Off = "off",
        Low = "low",
        Medium = "medium",
        High = "high",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! check {
        ($($choice:ident),+) => {
            $(
                let names: Vec<&str> = $choice::ALL.iter().map(|choice| choice.as_str()).collect();
                assert_eq!(names, $choice::NAMES);
                let read: Vec<$choice> = names.iter().map(|name| name.parse().unwrap()).collect();
                assert_eq!(read, $choice::ALL);
            )+
        };
    }

    #[test]
    fn choices_and_their_names_agree() {
        check!(ColorChoice, AtRest);
        check!(ThemeChoice, ApiChoice, PlainHttpChoice, EffortChoice);
        assert!("Auto".parse::<ColorChoice>().is_err());
        assert!("".parse::<ApiChoice>().is_err());
    }
}
