//! Requests and reports about connected agents and their hooks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Outcome, Report};

/// A change of the connected agents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "action", rename_all = "snake_case", deny_unknown_fields)]
pub enum ConnectRequest {
    /// List all agents without changing anything.
    #[default]
    List,
    /// Connect every agent used on this machine. No agent is disconnected.
    Auto {
        #[serde(default)]
        wiring: WiringOptions,
    },
    /// Connect the given agents.
    Add {
        agents: Vec<String>,
        /// Paths of the agent's transcripts. Defaults to its usual paths. If given, only the
        /// transcripts are connected.
        #[serde(default)]
        paths: Vec<String>,
        #[serde(default)]
        wiring: WiringOptions,
    },
    /// Disconnect agents and remove Nacre's entries from their settings.
    Remove {
        agents: Vec<String>,
        #[serde(default)]
        wiring: WiringOptions,
    },
    /// Allow Codex to run its Nacre hooks.
    Trust {
        #[serde(default)]
        wiring: WiringOptions,
    },
}

/// Which parts are written to an agent's settings, and whether they are written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WiringOptions {
    /// Only these parts. Defaults to the transcripts and all parts that the agent supports.
    pub parts: Vec<WiringPart>,
    /// Also run a guard hook before each tool call. An enabled guard stays enabled.
    pub guard: bool,
    /// Report the changes without making them.
    pub dry_run: bool,
    /// The `plan` of the dry run that the user approved. If the changes differ, the request is
    /// rejected.
    pub plan: Option<String>,
}

names! {
    /// A part of the connection in an agent's settings.
    pub enum ConnectedPart {
        /// The MCP server.
        Mcp = "mcp",
        Hooks = "hooks",
        Skill = "skill",
        /// Permission for Codex to run the hooks.
        Trust = "trust",
    }

    /// Event at which a hook runs, as named by `nacre hook`.
    pub enum HookEvent {
        Start = "start",
        Prompt = "prompt",
        /// Only if requested by the user, because the hook can deny a tool call.
        BeforeTool = "before-tool",
        TurnEnd = "turn-end",
        SessionEnd = "session-end",
    }

    /// A part that can be written to an agent's settings.
    pub enum WiringPart {
        /// The MCP server, `nacre mcp`.
        Mcp = "mcp",
        /// Hooks that run `nacre hook` at the agent's events.
        Hooks = "hooks",
        /// The Nacre skill.
        Skill = "skill",
    }
}

/// All supported agents, and the changes made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectReport {
    pub agents: Vec<AgentEntry>,
    /// Files that were changed, or would be changed by a dry run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<FileChange>,
    /// Identifier of the planned changes, used to approve them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// Agents that were not connected, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// Steps that the user must take to complete the connection.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Agents whose sessions are read from now on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub now_read: Vec<String>,
    /// Agents whose sessions are no longer read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub no_longer_read: Vec<String>,
    /// ID for `nacre undo`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

/// A changed file of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileChange {
    pub path: String,
    pub change: ChangeKind,
    /// The change as a unified diff with redacted secrets.
    pub diff: String,
}

names! {
    /// Kind of a file change.
    pub enum ChangeKind {
        Create = "create",
        Change = "change",
        Remove = "remove",
    }
}

/// An agent, its transcripts, and Nacre's entries in its settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentEntry {
    pub agent: String,
    /// Whether its transcripts are read.
    pub connected: bool,
    /// Number of files and databases with its transcripts.
    pub sources: u64,
    pub roots: Vec<String>,
    /// Paths that could not be read.
    pub problems: Vec<String>,
    pub traces: WiringState,
    pub mcp: WiringState,
    pub hooks: WiringState,
    pub skill: WiringState,
}

names! {
    /// State of a part of the connection.
    pub enum WiringState {
        On = "on",
        Off = "off",
        /// Present, but different from what this version would write.
        Outdated = "outdated",
        /// The agent does not support it, or support was never observed.
        NotPossible = "not_possible",
    }
}

/// The results of testing each connected agent.
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

/// The results for one agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentCheck {
    pub agent: String,
    pub checks: Vec<PartCheck>,
}

/// The result of starting one part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PartCheck {
    pub part: WiringPart,
    pub state: CheckState,
    /// What the agent would receive, or an error message.
    pub detail: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

names! {
    /// Result of a check.
    pub enum CheckState {
        Ok = "ok",
        Off = "off",
        Failed = "failed",
    }
}

/// The session in which a hook was called.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HookSession {
    /// Name of the agent, as in `nacre hook`.
    pub agent: String,
    /// The agent's ID of the session. Without it, all sessions of one day in one folder count as
    /// one.
    pub id: Option<String>,
}

names! {
    /// How a session starts.
    #[derive(Default)]
    pub enum HookSource {
        #[default]
        Startup = "startup",
        /// It continues an earlier conversation.
        Resume = "resume",
        /// The agent lost its earlier context.
        Forgotten = "forgotten",
    }
}

names! {
    /// How a tool accesses its paths.
    #[derive(Default)]
    pub enum ToolAccess {
        #[default]
        Read = "read",
        Write = "write",
    }
}

/// An agent is about to use a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HookToolRequest {
    pub session: HookSession,
    pub tool: String,
    pub access: ToolAccess,
    pub paths: Vec<String>,
    /// Command line of a shell tool.
    pub command: Option<String>,
    /// Whether there are more paths.
    pub has_more: bool,
}

names! {
    /// Whether a turn or a session ended.
    #[derive(Default)]
    pub enum HookEnd {
        #[default]
        Turn = "turn",
        Session = "session",
    }
}

/// A turn or a session ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HookEndRequest {
    pub session: HookSession,
    pub end: HookEnd,
    /// Path of the session's transcript, if the agent provides it.
    pub trace: Option<String>,
    /// Whether the agent can be asked to continue.
    pub can_ask: bool,
}

/// The event of a hook call and its data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum HookQuestion {
    /// A session starts.
    Start {
        session: HookSession,
        #[serde(default)]
        source: HookSource,
    },
    /// The user sends a prompt to the agent.
    Prompt {
        session: HookSession,
        prompt: String,
        /// The agent's trace of the session, where it says so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trace: Option<String>,
    },
    BeforeTool(HookToolRequest),
    /// Like `BeforeTool`, for an agent that accepts a denial but no context.
    Guard(HookToolRequest),
    End(HookEndRequest),
}

/// A hook call sent to the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HookRequest {
    /// Version of the hook program. A server of another version rejects the request, so that a hook
    /// behaves the same with and without a server.
    pub version: String,
    /// Folder of the agent's session.
    pub folder: String,
    pub question: HookQuestion,
}

/// The output of a hook, and the background work to start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookReport {
    /// Context for the agent in Nacre's tags; empty if there is none.
    pub text: String,
    /// Why the tool call is denied.
    pub denied: Option<String>,
    /// Question for the agent before it stops; empty if there is none.
    pub ask: String,
    /// Whether the index is stale, so that a background process should update it.
    pub is_behind: bool,
    /// Whether a background process should read new sessions.
    pub is_due: bool,
}

impl ConnectedPart {
    /// Parts that are connected by default. `Trust` is never included.
    pub const USUAL: [Self; 3] = [Self::Mcp, Self::Hooks, Self::Skill];
}
