//! The form of a script.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::super::error::{ErrorKind, Fault, Wait};
use super::super::names::Role;
use super::super::response::StopReason;
use super::super::usage::Usage;

/// A script that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    #[error("Cannot read the script as JSON")]
    Json(#[from] serde_json::Error),
    #[error("Cannot read the script as TOML")]
    Toml(#[from] toml::de::Error),
}

/// Turns in the order in which they are played.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Script {
    #[serde(default)]
    pub(super) order: Order,
    pub(super) turns: Vec<Turn>,
}

/// Which turn answers a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Order {
    /// The next one; if it does not fit, the run is wrong.
    #[default]
    Strict,
    /// The first unplayed one that fits, for agents that run side by side.
    Any,
}

/// One answer, and what must be asked to get it.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Turn {
    pub(super) expect: Expect,
    pub(super) reasoning: Option<String>,
    pub(super) say: Option<String>,
    pub(super) calls: Vec<ScriptedCall>,
    pub(super) usage: Option<ScriptedUsage>,
    pub(super) stop: Option<StopReason>,
    /// Fails after what was said.
    pub(super) error: Option<ScriptedError>,
    /// Never answers.
    pub(super) hang: bool,
    /// Milliseconds after each word of what is said, as from a server that streams.
    pub(super) word_ms: u64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Expect {
    pub(super) role: Option<Role>,
    pub(super) system_contains: Vec<String>,
    pub(super) last_contains: Vec<String>,
    /// Tools that must be offered; others may be.
    pub(super) tools: Vec<String>,
    /// The name of the shape that must be asked for.
    pub(super) output: Option<String>,
    pub(super) n_messages: Option<usize>,
}

/// A call; arguments that are a text are sent as they are, malformed ones too.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptedCall {
    pub(super) id: Option<String>,
    pub(super) name: String,
    #[serde(default)]
    pub(super) arguments: Value,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ScriptedUsage {
    input: u64,
    cache_read: u64,
    cache_write: u64,
    output: u64,
    reasoning: u64,
}

impl From<ScriptedUsage> for Usage {
    fn from(usage: ScriptedUsage) -> Self {
        let ScriptedUsage { input, cache_read, cache_write, output, reasoning } = usage;
        Self { input, cache_read, cache_write, output, reasoning, reported: None }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptedError {
    kind: String,
    retry_after_ms: Option<u64>,
    pub(super) message: Option<String>,
}

impl ScriptedError {
    pub(super) fn kind(&self) -> Result<ErrorKind, Fault> {
        let retry_after = self.retry_after_ms.map(Duration::from_millis);
        let kinds = [
            ErrorKind::Auth,
            ErrorKind::Quota,
            ErrorKind::RateLimited { retry_after },
            ErrorKind::Overloaded { retry_after },
            ErrorKind::Timeout(Wait::FirstToken),
            ErrorKind::CutStream,
            ErrorKind::BadRequest,
            ErrorKind::UnknownModel,
            ErrorKind::ContextTooLong,
            ErrorKind::Refused,
            ErrorKind::Unavailable { status: None },
            ErrorKind::Protocol,
        ];
        let found = kinds.into_iter().find(|kind| kind.as_str() == self.kind);
        found.ok_or_else(|| Fault {
            kind: ErrorKind::ScriptMismatch,
            said: Some(format!("the script names the unknown error `{}`", self.kind)),
        })
    }
}

impl Script {
    pub(super) fn parse(text: &str) -> Result<Self, ScriptError> {
        if text.trim_start().starts_with('{') {
            Ok(serde_json::from_str(text)?)
        } else {
            Ok(toml::from_str(text)?)
        }
    }
}
