//! What the hooks of agents ask, and what they may say.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Report;

/// The session that a hook was called in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HookSession {
    /// The agent, as `nacre hook` names it.
    pub agent: String,
    /// The agent's own name of the session; without it, all of a day in one folder are one.
    pub id: Option<String>,
}

/// How a session starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HookSource {
    #[default]
    Startup,
    /// It goes on, with what was said before.
    Resume,
    /// The agent forgot what was said before.
    Forgotten,
}

/// A session starts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HookStartRequest {
    pub session: HookSession,
    pub source: HookSource,
}

/// A person asks something of the agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HookPromptRequest {
    pub session: HookSession,
    pub prompt: String,
}

/// What to add to what the agent is told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookContextReport {
    /// Between marks of our own; empty when there is nothing to tell.
    pub text: String,
    /// The memories in it.
    pub memories: Vec<String>,
    /// What the text counts without its marks.
    pub tokens: usize,
    /// Whether the index is behind, and a process in the background should bring it up to date.
    pub is_behind: bool,
}

impl Report for HookContextReport {}

/// What a tool does with the paths it is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolAccess {
    #[default]
    Read,
    Write,
}

/// An agent is about to use a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HookToolRequest {
    pub session: HookSession,
    pub tool: String,
    pub access: ToolAccess,
    pub paths: Vec<String>,
    /// Of a shell.
    pub command: Option<String>,
    /// There are more paths than these.
    pub has_more: bool,
}

/// Whether the tool may run, and what the agent should know before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookToolReport {
    /// Why it may not run.
    pub denied: Option<String>,
    /// Between marks of our own; empty when there is nothing to tell.
    pub text: String,
    pub memories: Vec<String>,
}

impl Report for HookToolReport {}

/// What ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HookEnd {
    #[default]
    Turn,
    Session,
}

/// A turn or a session ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HookEndRequest {
    pub session: HookSession,
    pub end: HookEnd,
    /// The agent's trace of the session, where it says so.
    pub trace: Option<String>,
    /// Whether the agent can be asked to go on.
    pub can_ask: bool,
}

/// What to do at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookEndReport {
    /// What to ask the agent before it stops; empty when there is nothing to ask.
    pub ask: String,
    /// Whether a process in the background should read what is new.
    pub is_due: bool,
}

impl Report for HookEndReport {}

/// What a hook asks, whichever moment it was called at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum HookQuestion {
    Start(HookStartRequest),
    Prompt(HookPromptRequest),
    BeforeTool(HookToolRequest),
    /// The same for an agent that takes a refusal and no text.
    Guard(HookToolRequest),
    End(HookEndRequest),
}

/// A hook that asks the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HookRequest {
    /// The version of the program that asks. A server of another version refuses, so that a hook says the same with and without a
    /// server.
    pub version: String,
    /// The folder of the agent's session.
    pub folder: String,
    pub question: HookQuestion,
}

/// What a hook says to its agent, and what it leaves to the background.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookReport {
    /// Between marks of our own; empty when there is nothing to tell.
    pub text: String,
    /// Why a tool may not run.
    pub denied: Option<String>,
    /// What to ask the agent before it stops; empty when there is nothing to ask.
    pub ask: String,
    /// Whether the index is behind, and a process in the background should bring it up to date.
    pub is_behind: bool,
    /// Whether a process in the background should read what is new.
    pub is_due: bool,
}

impl Report for HookReport {}

/// Work that a hook left to a process in the background.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HookUpkeepRequest {}

/// What was done in the background.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookUpkeepReport {
    /// Memories that are in the indexes now.
    pub indexed: usize,
}

impl Report for HookUpkeepReport {}
