//! The agents whose sessions are read, and what is written into their files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Outcome, Report};

/// What to change about the connected agents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "action", rename_all = "snake_case", deny_unknown_fields)]
pub enum ConnectRequest {
    /// Nothing: list them.
    #[default]
    List,
    /// Connect every agent that is used on this machine. It turns nothing off.
    Auto {
        #[serde(default)]
        wiring: WiringOptions,
    },
    /// Connect agents.
    Add {
        agents: Vec<String>,
        /// Where the agent keeps its traces; none for its usual places. With a path only the traces are connected.
        #[serde(default)]
        paths: Vec<String>,
        #[serde(default)]
        wiring: WiringOptions,
    },
    /// No longer read agents, and take out of their files what was written.
    Remove {
        agents: Vec<String>,
        #[serde(default)]
        wiring: WiringOptions,
    },
    /// Let Codex run the hooks that were written for it.
    Trust {
        #[serde(default)]
        wiring: WiringOptions,
    },
}

/// What is written into an agent's files, and whether it is written at all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WiringOptions {
    /// Only these parts; none for all that the agent can take, and its traces.
    pub parts: Vec<WiringPart>,
    /// Hooks also look at tools before they run. A guard that is on stays on.
    pub guard: bool,
    /// Say what would change, and change nothing.
    pub dry_run: bool,
    /// The `plan` of a dry run that a person agreed to; another one is refused.
    pub plan: Option<String>,
}

/// A part of what is written into an agent's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WiringPart {
    /// The server of tools, `nacre mcp`.
    Mcp,
    /// `nacre hook` at the agent's events.
    Hooks,
    /// The skill.
    Skill,
}

/// Every agent that can be connected, and what changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectReport {
    pub agents: Vec<AgentEntry>,
    /// The files that were changed, or would be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<FileChange>,
    /// Names what would change, for agreeing to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// Agents that were left out, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// What the person has to do for it to work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Agents whose sessions are read since this change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub now_read: Vec<String>,
    /// Agents whose sessions are no longer read since this change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub no_longer_read: Vec<String>,
    /// The id that `nacre undo` takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

impl Report for ConnectReport {
    fn outcome(&self) -> Outcome {
        if self.left_out.is_empty() { Outcome::Done } else { Outcome::Partial }
    }
}

/// A file of an agent that changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileChange {
    pub path: String,
    pub change: ChangeKind,
    /// What changes, as a unified diff. Secrets around it are redacted.
    pub diff: String,
}

/// What happens to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    Create,
    Change,
    Remove,
}

/// An agent, its traces and what its files have of Nacre.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentEntry {
    pub agent: String,
    /// Whether its traces are read.
    pub connected: bool,
    /// How many files and databases hold its traces.
    pub sources: u64,
    pub roots: Vec<String>,
    /// Places that could not be looked into.
    pub problems: Vec<String>,
    pub traces: WiringState,
    pub mcp: WiringState,
    pub hooks: WiringState,
    pub skill: WiringState,
}

/// Whether a part of the connection is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WiringState {
    On,
    Off,
    /// It is there, but not as this program would write it.
    Outdated,
    /// The agent cannot take it, or nobody has seen it do so.
    NotPossible,
}

impl WiringState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Off => "off",
            Self::Outdated => "outdated",
            Self::NotPossible => "not possible",
        }
    }
}

/// Start what is configured, and say what the agents would see.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ConnectDoctorRequest {
    /// Only these agents; none for all that have something configured.
    pub agents: Vec<String>,
}

/// What the agents would see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectDoctorReport {
    pub agents: Vec<AgentCheck>,
}

impl Report for ConnectDoctorReport {
    fn outcome(&self) -> Outcome {
        let checks = self.agents.iter().flat_map(|agent| &agent.checks);
        let has_failed = checks.into_iter().any(|check| check.state == CheckState::Failed);
        if has_failed { Outcome::Failed } else { Outcome::Done }
    }
}

/// What one agent would see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentCheck {
    pub agent: String,
    pub checks: Vec<PartCheck>,
}

/// What came of starting one part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PartCheck {
    pub part: WiringPart,
    pub state: CheckState,
    /// What the agent would see, or what went wrong.
    pub detail: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    Ok,
    Off,
    Failed,
}
