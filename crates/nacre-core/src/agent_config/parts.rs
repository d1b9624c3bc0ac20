//! What can be connected of an agent, and when its hooks run.

use serde::{Deserialize, Serialize};

/// A part of the connection that is written into an agent's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The server of tools.
    Mcp,
    Hooks,
    Skill,
    /// That Codex may run the hooks.
    Trust,
}

impl Part {
    /// What is connected unless a person chooses. Trust is never part of it.
    pub const USUAL: [Self; 3] = [Self::Mcp, Self::Hooks, Self::Skill];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mcp => "mcp",
            Self::Hooks => "hooks",
            Self::Skill => "skill",
            Self::Trust => "trust",
        }
    }
}

/// When a hook runs, in the words of `nacre hook`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookEvent {
    Start,
    Prompt,
    /// Only where a person asked for it: it can refuse a tool.
    BeforeTool,
    TurnEnd,
    SessionEnd,
}

impl HookEvent {
    pub const ALL: [Self; 5] =
        [Self::Start, Self::Prompt, Self::BeforeTool, Self::TurnEnd, Self::SessionEnd];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Prompt => "prompt",
            Self::BeforeTool => "before-tool",
            Self::TurnEnd => "turn-end",
            Self::SessionEnd => "session-end",
        }
    }
}
