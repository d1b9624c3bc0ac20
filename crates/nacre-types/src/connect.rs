//! Requests and reports about connected agents and their hooks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{LoopName, Outcome, Report};

/// A request to list, connect or disconnect agents.
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
        /// Paths of the agent's transcripts. Defaults to the paths where the agent stores them. If
        /// paths are given, only transcripts are connected.
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

/// Which parts to write to an agent's settings, and whether this is a dry run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WiringOptions {
    /// Parts to connect. Defaults to the transcripts and all parts that the agent supports.
    pub parts: Vec<WiringPart>,
    /// Also run a guard hook before each tool call. An existing guard stays enabled.
    pub guard: bool,
    /// Report the changes without making them.
    pub dry_run: bool,
    /// The `plan` from the dry run that the user approved. The request is rejected if the changes
    /// no longer match the plan.
    pub plan: Option<String>,
}

names! {
    /// A part of an agent's connection to Nacre.
    pub enum ConnectedPart {
        /// The MCP server.
        Mcp = "mcp",
        Hooks = "hooks",
        Skill = "skill",
        /// Permission for Codex to run the hooks.
        Trust = "trust",
    }

    /// Event that triggers a hook, as named by `nacre hook`.
    pub enum HookEvent {
        Start = "start",
        Prompt = "prompt",
        BeforeTool = "before-tool",
        AfterTool = "after-tool",
        Subagent = "subagent",
        TurnEnd = "turn-end",
        SessionEnd = "session-end",
    }

    /// A part that can be written to an agent's settings.
    pub enum WiringPart {
        /// The MCP server, `nacre mcp`.
        Mcp = "mcp",
        /// Hooks that run `nacre hook` on agent events.
        Hooks = "hooks",
        /// The Nacre skill.
        Skill = "skill",
    }
}

/// All supported agents, and the changes made to their settings.
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
    /// Agents whose sessions will be read from now on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub now_read: Vec<String>,
    /// Agents whose sessions will no longer be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub no_longer_read: Vec<String>,
    /// The change ID to pass to `nacre undo`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

/// A changed agent settings file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileChange {
    pub path: String,
    pub change: ChangeKind,
    /// Agents with entries in the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<String>,
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentEntry {
    pub agent: String,
    /// Whether the agent's transcripts are read.
    pub connected: bool,
    /// Number of files and databases that contain the agent's transcripts.
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
    #[derive(Default)]
    pub enum WiringState {
        On = "on",
        Off = "off",
        /// Present, but different from the entry that this version would write.
        Outdated = "outdated",
        /// The agent does not support this part, or support has not been confirmed.
        #[default]
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

/// The result of testing one part.
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

/// The session in which the hook was called.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HookSession {
    /// Name of the agent, as in `nacre hook`.
    pub agent: String,
    /// The agent's session ID. If absent, all sessions in one directory on the same day count as
    /// one session.
    pub id: Option<String>,
}

names! {
    /// How a session started.
    #[derive(Default)]
    pub enum HookSource {
        #[default]
        Startup = "startup",
        /// The session continues an earlier conversation.
        Resume = "resume",
        /// The agent lost its earlier context.
        Forgotten = "forgotten",
        /// A subagent starts without its parent's context.
        Subagent = "subagent",
    }

    /// How a tool accesses the given paths.
    #[derive(Default)]
    pub enum ToolAccess {
        #[default]
        Read = "read",
        Write = "write",
    }
}

/// A tool call that the agent is about to make.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HookToolRequest {
    pub session: HookSession,
    pub tool: String,
    pub access: ToolAccess,
    pub paths: Vec<String>,
    /// Command line of a shell tool.
    pub command: Option<String>,
    /// Whether the tool call affects more paths than those listed.
    pub has_more: bool,
    /// Whether the agent accepts context in the hook's response, as well as a denial.
    pub hears: bool,
}

/// A prompt that the user sent to the agent, or a shell command that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HookPromptRequest {
    pub session: HookSession,
    /// The prompt, or the command and the end of its output.
    pub prompt: String,
    /// Path of the session's transcript, if the agent provides it.
    pub trace: Option<String>,
    pub is_failure: bool,
}

/// The end of a turn or a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HookEndRequest {
    pub session: HookSession,
    /// Whether the whole session has ended, rather than just a turn.
    pub is_session: bool,
}

/// The event that triggered a hook call, and its data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum HookQuestion {
    /// A session starts.
    Start {
        session: HookSession,
        #[serde(default)]
        source: HookSource,
    },
    Prompt(HookPromptRequest),
    BeforeTool(HookToolRequest),
    End(HookEndRequest),
}

/// A hook call sent to the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HookRequest {
    /// Version of the hook program. The server rejects requests from other versions, because a hook
    /// must behave the same with and without a server.
    pub version: String,
    /// Working directory of the agent's session.
    pub folder: String,
    pub question: HookQuestion,
}

/// The hook's output, and the background work to start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookReport {
    /// Context for the agent, wrapped in Nacre's tags. May be empty.
    pub text: String,
    /// Why the tool call is denied.
    pub denied: Option<String>,
    /// What a background process should do: update a stale index, or read new sessions.
    pub work: Option<LoopName>,
}

impl ConnectedPart {
    /// Parts connected by default. `Trust` is never included.
    pub const USUAL: [Self; 3] = [Self::Mcp, Self::Hooks, Self::Skill];
}
