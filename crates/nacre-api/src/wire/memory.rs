//! Memories: as they are listed, found, shown and changed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    CheckedCopy, ErrorCode, Failure, OtherPlace, Outcome, Report, Scope, StoreScope, TrustLevel,
};

/// What a memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MemoryType {
    Decision,
    Learning,
    Summary,
}

impl MemoryType {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Decision => "decision",
            Self::Learning => "learning",
            Self::Summary => "summary",
        }
    }
}

/// How a memory stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MemoryStatus {
    Active,
    Candidate,
    Superseded,
    Stale,
    Archived,
}

impl MemoryStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Candidate => "candidate",
            Self::Superseded => "superseded",
            Self::Stale => "stale",
            Self::Archived => "archived",
        }
    }
}

/// A memory without its text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryEntry {
    pub id: String,
    pub r#type: MemoryType,
    /// What kind of learning it is.
    pub kind: Option<String>,
    pub title: String,
    pub status: String,
    pub confidence: Option<f64>,
    pub tags: Vec<String>,
    /// Situations in which it should be told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub applies: Vec<String>,
    pub related: Vec<String>,
    pub created: Option<String>,
    pub updated: Option<String>,
    pub archived: bool,
    pub scope: StoreScope,
    pub path: String,
    /// How far it is trusted on this machine, where it is less than the agent's own word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<TrustLevel>,
}

/// A file that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BrokenFile {
    pub path: String,
    pub line: Option<usize>,
    pub message: String,
}

/// Which memories to list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MemoryListRequest {
    pub r#type: Option<MemoryType>,
    /// Only learnings of this kind.
    pub kind: Option<LearningKind>,
    pub status: Option<MemoryStatus>,
    pub tag: Option<String>,
    /// Archived ones instead.
    pub archived: bool,
    /// Summaries too, which are left out unless `type` asks for them.
    pub all: bool,
    /// Without it, the project's first, and of each store the newest first.
    pub sort: Option<MemorySort>,
    /// How many to pass over.
    pub offset: usize,
    /// At most this many; 0 for all. Without it, the setting `memory.max_results`.
    pub limit: Option<usize>,
    pub scope: Option<Scope>,
}

/// By what memories are put in order, over all stores. What has no such value comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum MemorySort {
    #[serde(rename = "updated")]
    Updated,
    #[serde(rename = "-updated")]
    UpdatedDescending,
    #[serde(rename = "created")]
    Created,
    #[serde(rename = "-created")]
    CreatedDescending,
    #[serde(rename = "title")]
    Title,
    #[serde(rename = "-title")]
    TitleDescending,
    #[serde(rename = "confidence")]
    Confidence,
    #[serde(rename = "-confidence")]
    ConfidenceDescending,
}

impl MemorySort {
    pub const ALL: [Self; 8] = [
        Self::Updated,
        Self::UpdatedDescending,
        Self::Created,
        Self::CreatedDescending,
        Self::Title,
        Self::TitleDescending,
        Self::Confidence,
        Self::ConfidenceDescending,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Updated => "updated",
            Self::UpdatedDescending => "-updated",
            Self::Created => "created",
            Self::CreatedDescending => "-created",
            Self::Title => "title",
            Self::TitleDescending => "-title",
            Self::Confidence => "confidence",
            Self::ConfidenceDescending => "-confidence",
        }
    }
}

/// Memories, in the order that was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryListReport {
    pub memories: Vec<MemoryEntry>,
    /// How many there are, listed or not.
    pub total: usize,
    /// How many summaries were left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden_summaries: Option<usize>,
    pub broken: Vec<BrokenFile>,
}

impl Report for MemoryListReport {
    fn outcome(&self) -> Outcome {
        Outcome::partial_if(!self.broken.is_empty())
    }
}

/// Which memory to show, and how much of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryShowRequest {
    /// Its id, or the start of it.
    pub id: String,
    /// With the quotes that prove it.
    #[serde(default)]
    pub evidence: bool,
    /// With how it came to be what it is.
    #[serde(default)]
    pub history: bool,
    /// With the whole Markdown file, frontmatter and body.
    #[serde(default)]
    pub text: bool,
    #[serde(default)]
    pub scope: Option<Scope>,
}

/// One memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryShowReport {
    #[serde(flatten)]
    pub memory: MemoryEntry,
    /// Where else its id stands.
    pub also_in: Vec<OtherPlace>,
    pub supersedes: Vec<MemoryLink>,
    pub superseded_by: Vec<MemoryLink>,
    pub body: String,
    /// Names the content of its file: whoever writes it back says which content they read.
    pub version: String,
    /// The whole Markdown file, where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// A person's last word on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<MemoryFeedback>,
    pub evidence: Option<MemoryEvidence>,
    pub history: Option<Vec<MemoryVersion>>,
}

impl Report for MemoryShowReport {}

/// One end of a link between two memories. It is verified where the older file says it itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryLink {
    pub id: String,
    pub verified: bool,
}

/// What proves a memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryEvidence {
    /// Of the format of the file that holds it.
    pub version: u32,
    pub id: String,
    pub quotes: Vec<MemoryQuote>,
    /// The file was changed by something else than Nacre since this machine last knew it: its quotes prove nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unproven: bool,
}

/// Whose words a quote holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// A person, to Nacre itself.
    Human,
    /// A person, to their agent.
    User,
    Assistant,
    Tool,
}

/// Words that were said, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryQuote {
    pub text: String,
    pub speaker: Speaker,
    pub place: String,
    pub at: String,
}

/// A memory as it was once: by a commit, or by a run where there is no git.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryVersion {
    pub commit: Option<String>,
    pub run: Option<String>,
    pub when: String,
    pub who: String,
    pub what: String,
}

/// What kind of learning a memory is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LearningKind {
    #[default]
    Insight,
    Procedure,
    Pitfall,
    Friction,
    Preference,
    Convention,
    Context,
}

impl LearningKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Insight => "insight",
            Self::Procedure => "procedure",
            Self::Pitfall => "pitfall",
            Self::Friction => "friction",
            Self::Preference => "preference",
            Self::Convention => "convention",
            Self::Context => "context",
        }
    }
}

/// A memory in a person's own words.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryAddRequest {
    /// What was decided or learned, in one line.
    pub title: String,
    /// The reason and the details, as Markdown.
    #[serde(default)]
    pub body: String,
    /// A decision or a learning. Without it, a decision.
    #[serde(default)]
    pub r#type: Option<MemoryType>,
    /// Only of a learning; without it, an insight.
    #[serde(default)]
    pub kind: Option<LearningKind>,
    #[serde(default)]
    pub tags: Vec<String>,
    /// Situations in which it should be told, each in one line.
    #[serde(default)]
    pub applies: Vec<String>,
    /// The ids of related memories, or the starts of them.
    #[serde(default)]
    pub related: Vec<String>,
    /// The memory that it supersedes, by its id or the start of it.
    #[serde(default)]
    pub supersedes: Option<String>,
    /// From 0 to 1. Without it, what a person says is trusted.
    #[serde(default)]
    pub confidence: Option<f64>,
    #[serde(default)]
    pub scope: Option<Scope>,
}

/// A memory that an agent records while it works, with the words that prove it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryRecordRequest {
    /// What was decided or learned, in one line.
    pub title: String,
    /// The reason and the details, as Markdown.
    pub body: String,
    /// A decision or a learning. Without it, a decision.
    #[serde(default)]
    pub r#type: Option<MemoryType>,
    /// Only of a learning; without it, an insight.
    #[serde(default)]
    pub kind: Option<LearningKind>,
    #[serde(default)]
    pub tags: Vec<String>,
    /// Situations in which it should be told, each in one line.
    #[serde(default)]
    pub applies: Vec<String>,
    /// The memory that it supersedes, by its id or the start of it.
    #[serde(default)]
    pub supersedes: Option<String>,
    /// Words of the session that prove it, as they were said.
    pub quote: String,
    /// The agent's id of its session. Without it, the newest sessions of the project are searched.
    #[serde(default)]
    pub session: Option<String>,
    #[serde(default)]
    pub scope: Option<Scope>,
}

/// What became of what an agent recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryRecordReport {
    /// Added, or left unchanged where a memory says it already.
    pub done: MemoryChange,
    /// The new memory, or the one that says it already.
    pub id: String,
    /// Its file, where it is new.
    pub path: Option<String>,
    /// `active`, or `candidate` where it waits for a person.
    pub status: Option<String>,
    /// Who said the words; nobody where they stand in no trace of this machine.
    pub speaker: Option<Speaker>,
    /// Where they stand, as `SESSION:SEQUENCE`.
    pub place: Option<String>,
    /// The id that `nacre undo` takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

impl Report for MemoryRecordReport {}

/// Which memory to edit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryEditRequest {
    /// Its id, or the start of it.
    pub id: String,
    /// Throw away the draft of an earlier edit and start from the memory.
    #[serde(default)]
    pub discard: bool,
    #[serde(default)]
    pub scope: Option<Scope>,
}

/// A text that takes the place of a memory's file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryWriteRequest {
    /// Its id, or the start of it.
    pub id: String,
    /// The whole Markdown file, frontmatter and body.
    pub text: String,
    /// The version that was read; where the file has another now, nothing is written.
    #[serde(default)]
    pub version: Option<String>,
    #[serde(default)]
    pub scope: Option<Scope>,
}

/// Which memories to archive, restore or forget.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryIdsRequest {
    /// To forget, whole ids; else the starts of them will do.
    pub ids: Vec<String>,
    #[serde(default)]
    pub scope: Option<Scope>,
}

/// What was done to a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MemoryChange {
    Added,
    Edited,
    #[serde(rename = "left unchanged")]
    LeftUnchanged,
    Archived,
    Restored,
    #[serde(rename = "forgot")]
    Forgotten,
    Accepted,
    Rejected,
}

impl MemoryChange {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Edited => "edited",
            Self::LeftUnchanged => "left unchanged",
            Self::Archived => "archived",
            Self::Restored => "restored",
            Self::Forgotten => "forgot",
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
        }
    }
}

/// What was done to one memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryChangeReport {
    pub done: MemoryChange,
    pub id: String,
    /// Its file, where it is new.
    pub path: Option<String>,
    /// The id that `nacre undo` takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

impl Report for MemoryChangeReport {}

/// What was done to several memories, each in a change set of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryChangesReport {
    pub done: MemoryChange,
    pub ids: Vec<String>,
    pub failed: Vec<MemoryFailure>,
    /// The id that `nacre undo` takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
    /// Of what was forgotten: each place that may hold a copy, as it was found afterwards.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<CheckedCopy>,
}

impl Report for MemoryChangesReport {
    fn outcome(&self) -> Outcome {
        match self.failed.first() {
            None => Outcome::Done,
            Some(_) if !self.ids.is_empty() => Outcome::Partial,
            Some(first) if first.failure.code == ErrorCode::Busy => Outcome::Busy,
            Some(_) => Outcome::Failed,
        }
    }
}

/// A memory that nothing was done to, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryFailure {
    /// As it was named.
    pub id: String,
    #[serde(flatten)]
    pub failure: Failure,
}

/// Which store to empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MemoryResetRequest {
    pub scope: Option<Scope>,
}

/// What was set aside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryResetReport {
    /// How many memories.
    pub set_aside: usize,
    /// The folder that holds them now.
    pub path: String,
    /// Files that could not be moved.
    pub left: Vec<String>,
    /// The id that `nacre undo` takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

impl Report for MemoryResetReport {
    fn outcome(&self) -> Outcome {
        Outcome::partial_if(!self.left.is_empty())
    }
}

/// How a memory served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Useful,
    /// It was never true.
    Wrong,
    /// It is no longer true.
    Outdated,
}

impl Verdict {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Useful => "useful",
            Self::Wrong => "wrong",
            Self::Outdated => "outdated",
        }
    }
}

/// What a person said of a memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryFeedback {
    pub verdict: Verdict,
    pub note: Option<String>,
    pub at: String,
}

/// A person's word on a memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FeedbackRequest {
    /// Its id, or the start of it.
    pub id: String,
    pub verdict: Verdict,
    /// Why, in a sentence; kept on this machine.
    #[serde(default)]
    pub note: Option<String>,
    #[serde(default)]
    pub scope: Option<Scope>,
}

/// What the verdict changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FeedbackReport {
    pub id: String,
    pub verdict: Verdict,
    pub confidence_before: f64,
    pub confidence: f64,
    pub scope: StoreScope,
    /// Where else its id stands.
    pub also_in: Vec<OtherPlace>,
    /// The id that `nacre undo` takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

impl Report for FeedbackReport {}
