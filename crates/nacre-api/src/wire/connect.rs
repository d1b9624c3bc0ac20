//! The agents whose sessions are read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Report;

/// What to change about the connected agents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "action", rename_all = "snake_case", deny_unknown_fields)]
pub enum ConnectRequest {
    /// Nothing: list them.
    #[default]
    List,
    /// Connect every agent that has traces on this machine.
    Auto,
    /// Connect one agent.
    Add {
        agent: String,
        /// Where it keeps its traces; none for its usual places.
        #[serde(default)]
        paths: Vec<String>,
    },
    /// No longer read one agent.
    Remove { agent: String },
}

/// Every agent that can be read, and whether it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectReport {
    pub agents: Vec<AgentEntry>,
}

impl Report for ConnectReport {}

/// An agent and its traces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentEntry {
    pub agent: String,
    pub connected: bool,
    /// How many files and databases hold its traces.
    pub sources: u64,
    pub roots: Vec<String>,
    /// Places that could not be looked into.
    pub problems: Vec<String>,
}
