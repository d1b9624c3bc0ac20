//! A watch: each change of the code as it happens, and answers to questions in between.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::{ErrorReport, Report};
use super::{
    ContextQuestion, ContextReport, DeltaQuestion, DeltaReport, ExploreQuestion, ExploreReport,
    MapCommand, MapRevision,
};

/// Which project to watch, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WatchRequest {
    /// A folder inside the project, or a registered name. Without it, the project around the current folder.
    pub project: Option<String>,
    /// How often to check for changes where the system reports none; 2000 unless said otherwise, at least 50.
    pub interval_ms: Option<u64>,
    /// Check every interval even where the system would report changes.
    pub poll: bool,
    /// End after that many changes; 0 for never.
    pub count: usize,
}

/// What a line asks. Beside these keys a line may have an `id`, any JSON value, which its answer repeats.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum WatchQuestion {
    Explore(ExploreQuestion),
    Context(ContextQuestion),
    Delta(DeltaQuestion),
}

/// One line of a watch.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum WatchLine {
    Notice(WatchNotice),
    Change(Box<DeltaReport>),
    Answer(WatchAnswer),
}

impl Report for WatchLine {}

/// What a watch reports of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WatchNotice {
    pub command: MapCommand,
    pub notice: WatchNoticeKind,
    pub mode: WatchMode,
    pub revision: MapRevision,
    pub watched_folders: usize,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub why: Option<String>,
}

/// What happened to a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WatchNoticeKind {
    /// From here on, the system reports every change.
    Watching,
    /// From here on, the code is checked every interval.
    Polling,
    /// More happened than the system could report; everything was checked.
    Overflow,
}

/// How changes are noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WatchMode {
    Events,
    Polling,
}

/// The answer to a question, with the question's `id` where it had one.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WatchAnswer {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<Value>,
    #[serde(flatten)]
    pub reply: WatchReply,
}

/// A report, or why there is none.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum WatchReply {
    Explore(Box<ExploreReport>),
    Context(Box<ContextReport>),
    Delta(Box<DeltaReport>),
    Error(ErrorReport),
}
