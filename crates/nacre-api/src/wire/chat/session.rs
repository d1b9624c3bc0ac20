//! Sessions: found, made, forked, renamed, searched, exported.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::Report;
use super::{ApprovalPolicy, ChatItem};

/// A conversation without what was said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChatSession {
    pub id: String,
    /// The first words of the person, until somebody renames it.
    pub title: String,
    /// The folder that it works in.
    pub workspace: String,
    pub model: Option<String>,
    pub policy: ApprovalPolicy,
    /// The session that it was forked from.
    pub parent: Option<String>,
    pub created: String,
    pub updated: String,
    pub items: u64,
    /// The task that runs in it.
    pub running: Option<String>,
    pub waiting: u32,
}

/// A new session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SessionCreateRequest {
    /// The folder to work in; without it the one of the request.
    pub workspace: Option<String>,
    pub title: Option<String>,
    /// A model instead of the one that is set for `chat`.
    pub model: Option<String>,
    pub policy: Option<ApprovalPolicy>,
}

/// Which sessions to list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SessionListRequest {
    /// Only those of this folder.
    pub workspace: Option<String>,
    /// At most this many; 0 for all. Without it, 20.
    pub limit: Option<usize>,
}

/// Sessions, the latest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionListReport {
    pub sessions: Vec<ChatSession>,
}

impl Report for SessionListReport {}

/// Which session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SessionRequest {
    /// Its id, or the start of it; without it the latest of the folder.
    pub session: Option<String>,
    pub workspace: Option<String>,
}

/// One session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionReport {
    pub session: ChatSession,
}

impl Report for SessionReport {}

/// Which items of which session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionItemsRequest {
    pub session: String,
    /// Only items with a higher number.
    #[serde(default)]
    pub after: u64,
    /// At most this many; 0 for all. Without it, 1000.
    #[serde(default)]
    pub limit: Option<usize>,
}

/// Items, in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionItemsReport {
    pub session: ChatSession,
    pub items: Vec<ChatItem>,
    /// Whether there are more behind them.
    pub more: bool,
}

impl Report for SessionItemsReport {}

/// A copy that goes on by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionForkRequest {
    pub session: String,
    /// The last item that is copied; without it the last of all.
    #[serde(default)]
    pub until: Option<u64>,
}

/// Another title.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionRenameRequest {
    pub session: String,
    pub title: String,
}

/// What to change in a session; what is absent stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionChangeRequest {
    pub session: String,
    #[serde(default)]
    pub model: Option<String>,
    #[serde(default)]
    pub policy: Option<ApprovalPolicy>,
}

/// What is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionRemoveReport {
    pub session: String,
    pub items: u64,
}

impl Report for SessionRemoveReport {}

/// What to look for in what was said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionSearchRequest {
    pub query: String,
    /// Only in this session.
    #[serde(default)]
    pub session: Option<String>,
    #[serde(default)]
    pub workspace: Option<String>,
    /// At most this many. Without it, 20.
    #[serde(default)]
    pub limit: Option<usize>,
}

/// Where it was found, the latest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionSearchReport {
    pub hits: Vec<SessionSearchHit>,
}

impl Report for SessionSearchReport {}

/// One place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionSearchHit {
    pub session: String,
    pub title: String,
    pub sequence: u64,
    pub at: String,
    /// The words around it.
    pub excerpt: String,
}

/// A session in the form that `sync` reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionExportReport {
    pub session: String,
    /// Lines of JSON.
    pub transcript: String,
}

impl Report for SessionExportReport {}
