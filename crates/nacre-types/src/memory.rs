//! Requests and reports for memory operations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    CheckedCopy, ErrorCode, Failure, OtherPlace, Outcome, Report, Scope, StoreScope, TrustLevel,
};

names! {
    /// The type of a memory.
    pub enum MemoryType {
        Decision = "decision",
        Learning = "learning",
        Summary = "summary",
    }

    /// The status of a memory.
    pub enum MemoryStatus {
        Active = "active",
        Candidate = "candidate",
        Superseded = "superseded",
        Stale = "stale",
        Archived = "archived",
    }
}

/// A memory without its text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryEntry {
    pub id: String,
    pub r#type: MemoryType,
    /// The kind of learning.
    pub kind: Option<String>,
    pub title: String,
    pub status: String,
    pub confidence: Option<f64>,
    pub tags: Vec<String>,
    /// Situations in which the memory is relevant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub applies: Vec<String>,
    pub related: Vec<String>,
    pub created: Option<String>,
    pub updated: Option<String>,
    pub archived: bool,
    pub scope: StoreScope,
    pub path: String,
    /// The trust level on this machine, if lower than the level of an agent's own statements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<TrustLevel>,
    /// ID of the later memory that replaced this one. If the status is not `superseded`, no link
    /// records the replacement, but the later memory contradicts this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced_by: Option<String>,
}

impl MemoryEntry {
    /// Returns when the memory was stated or changed. For a summary, that is when the session was
    /// read.
    pub fn stated(&self) -> Option<&str> {
        let changed = self.updated.as_deref().filter(|_| self.r#type != MemoryType::Summary);
        changed.or(self.created.as_deref())
    }
}

/// A file that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BrokenFile {
    pub path: String,
    pub line: Option<usize>,
    pub message: String,
}

/// Selects the memories to list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MemoryListRequest {
    pub r#type: Option<MemoryType>,
    /// Only learnings of this kind.
    pub kind: Option<LearningKind>,
    pub status: Option<MemoryStatus>,
    pub tag: Option<String>,
    /// List archived memories instead of current ones.
    pub archived: bool,
    /// Include summaries. By default, summaries are excluded unless `type` selects them.
    pub all: bool,
    /// The sort order. By default, project memories come first, and memories within each store are
    /// sorted newest first.
    pub sort: Option<MemorySort>,
    /// Number of memories to skip.
    pub offset: usize,
    /// Maximum number of results; 0 means no limit. Defaults to the `memory.max_results` setting.
    pub limit: Option<usize>,
    pub scope: Option<Scope>,
}

names! {
    /// The sort key of a list. Memories that have no value for this key come last.
    pub enum MemorySort {
        Updated = "updated",
        UpdatedDescending = "-updated",
        Created = "created",
        CreatedDescending = "-created",
        Title = "title",
        TitleDescending = "-title",
        Confidence = "confidence",
        ConfidenceDescending = "-confidence",
    }
}

/// The listed memories.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryListReport {
    pub memories: Vec<MemoryEntry>,
    /// Total number of matching memories, including those not listed.
    pub total: usize,
    /// Number of summaries left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden_summaries: Option<usize>,
    pub broken: Vec<BrokenFile>,
}

/// The memory to show, and which details to include.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryShowRequest {
    /// The memory's ID or a prefix of it.
    pub id: String,
    /// Include the quotes that support the memory.
    #[serde(default)]
    pub evidence: bool,
    /// Include the earlier versions.
    #[serde(default)]
    pub history: bool,
    /// Include the whole Markdown file, with frontmatter and body.
    #[serde(default)]
    pub text: bool,
    pub scope: Option<Scope>,
}

/// A memory with its details.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryShowReport {
    #[serde(flatten)]
    pub memory: MemoryEntry,
    /// The trust level, shown in text output. In JSON, `trust` is included only if it is low.
    #[serde(skip)]
    pub level: Option<TrustLevel>,
    /// The session from which the memory was created, as `AGENT:SESSION`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Other memory files with the same ID.
    pub also_in: Vec<OtherPlace>,
    pub supersedes: Vec<MemoryLink>,
    pub superseded_by: Vec<MemoryLink>,
    pub body: String,
    /// The version of the file's content. Pass it back in a write request to detect conflicting
    /// changes.
    pub version: String,
    /// The whole Markdown file, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The latest user feedback on this memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<MemoryFeedback>,
    pub evidence: Option<MemoryEvidence>,
    pub history: Option<Vec<MemoryVersion>>,
}

/// A link between this memory and another one. The link is verified if the older memory's file also
/// records it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryLink {
    pub id: String,
    pub verified: bool,
}

/// The quotes that support a memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryEvidence {
    /// Format version of the evidence file.
    pub version: u32,
    pub id: String,
    pub quotes: Vec<MemoryQuote>,
    /// Whether a program other than Nacre changed the memory file. If so, the quotes no longer
    /// prove its content.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unproven: bool,
}

names! {
    /// The speaker of a quote.
    pub enum Speaker {
        /// The user, in direct input to Nacre.
        Human = "human",
        /// The user, in a conversation with a coding agent.
        User = "user",
        Assistant = "assistant",
        Tool = "tool",
    }
}

impl Speaker {
    /// Returns how to introduce a quote. Quotes from a file are attributed to its line, for example
    /// `AGENTS.md:21`, because it is unknown who wrote it.
    pub fn introduce(self, place: &str) -> &str {
        match self {
            _ if place.contains('.') => place,
            Self::Human | Self::User => "a person said",
            Self::Assistant => "an agent said",
            Self::Tool => "a tool said",
        }
    }
}

/// A quote from a session, and its source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryQuote {
    pub text: String,
    pub speaker: Speaker,
    pub place: String,
    pub at: String,
}

/// An earlier version of a memory, from a Git commit or a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryVersion {
    pub commit: Option<String>,
    pub run: Option<String>,
    pub when: String,
    pub who: String,
    pub what: String,
}

names! {
    /// How the content of a memory was established.
    pub enum Basis {
        /// The user stated it.
        Stated = "stated",
        /// The user agreed to it or chose it.
        Accepted = "accepted",
        /// It was found by trial and error.
        Found = "found",
        /// It was proposed or planned, but has not been agreed to yet.
        Planned = "planned",
        /// It was inferred.
        Inferred = "inferred",
    }

    /// The lifecycle stage of a memory.
    pub enum Stage {
        Candidate = "candidate",
        /// Proven, but not yet used often.
        Validated = "validated",
        /// Used repeatedly.
        Established = "established",
        Stale = "stale",
        Archived = "archived",
    }

    /// The kind of learning.
    #[derive(Default)]
    pub enum LearningKind {
        #[default]
        Insight = "insight",
        Procedure = "procedure",
        Pitfall = "pitfall",
        Friction = "friction",
        Preference = "preference",
        Convention = "convention",
        Context = "context",
    }
}

/// A new memory written by the user.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryAddRequest {
    /// A one-line statement of the decision or learning.
    pub title: String,
    /// The reason and details in Markdown.
    #[serde(default)]
    pub body: String,
    /// The type: a decision or a learning. Defaults to decision.
    pub r#type: Option<MemoryType>,
    /// The kind of learning. Defaults to insight.
    pub kind: Option<LearningKind>,
    #[serde(default)]
    pub tags: Vec<String>,
    /// Situations in which the memory is relevant, one line each.
    #[serde(default)]
    pub applies: Vec<String>,
    /// IDs of related memories, or prefixes of them.
    #[serde(default)]
    pub related: Vec<String>,
    /// ID of the memory that this one supersedes, or a prefix of that ID.
    pub supersedes: Option<String>,
    /// Confidence from 0 to 1. By default, the user's statements have full confidence.
    pub confidence: Option<f64>,
    pub scope: Option<Scope>,
}

/// The memories that were added from the lines of a file, as one change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryAddLinesReport {
    /// IDs of the new memories, in the order of their lines.
    pub ids: Vec<String>,
    pub skipped: Vec<SkippedLine>,
    /// The change ID to pass to `nacre undo`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

/// A line from which no memory was added, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedLine {
    /// The number of the line, starting at 1.
    pub line: usize,
    #[serde(flatten)]
    pub failure: Failure,
}

/// A memory that an agent records while it works, with a quote as evidence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryRecordRequest {
    /// A one-line statement of the decision or learning.
    pub title: String,
    /// The reason and details in Markdown.
    pub body: String,
    /// The type: a decision or a learning. Defaults to decision.
    pub r#type: Option<MemoryType>,
    /// The kind of learning. Defaults to insight.
    pub kind: Option<LearningKind>,
    #[serde(default)]
    pub tags: Vec<String>,
    /// Situations in which the memory is relevant, one line each.
    #[serde(default)]
    pub applies: Vec<String>,
    /// ID of the memory that this one supersedes, or a prefix of that ID.
    pub supersedes: Option<String>,
    /// A verbatim session quote that supports the memory.
    pub quote: String,
    /// The agent's session ID. By default, the project's newest sessions are searched.
    pub session: Option<String>,
    pub scope: Option<Scope>,
}

/// The result of recording a memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryRecordReport {
    /// `added`, or `unchanged` if an existing memory has the same content.
    pub done: MemoryChange,
    /// The ID of the new memory, or of the existing one with the same content.
    pub id: String,
    /// The path of the memory file, if it is new.
    pub path: Option<String>,
    /// `active`, or `candidate` if a user must accept the memory first.
    pub status: Option<String>,
    /// The speaker of the quote. Absent if no trace on this machine contains the quote.
    pub speaker: Option<Speaker>,
    /// The position of the quote, as `SESSION:SEQUENCE`.
    pub place: Option<String>,
    /// The change ID to pass to `nacre undo`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

/// The memory to edit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryEditRequest {
    /// The memory's ID or a prefix of it.
    pub id: String,
    /// Discard the draft of an earlier edit and start from the current memory.
    #[serde(default)]
    pub discard: bool,
    pub scope: Option<Scope>,
}

/// The new content of a memory file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryWriteRequest {
    /// The memory's ID or a prefix of it.
    pub id: String,
    /// The whole Markdown file, with frontmatter and body.
    pub text: String,
    /// The version that was read. The write fails if the file has changed since that version.
    pub version: Option<String>,
    pub scope: Option<Scope>,
}

/// The memories to archive, restore or forget.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryIdsRequest {
    /// IDs of memories. Prefixes are accepted, except when forgetting.
    pub ids: Vec<String>,
    pub scope: Option<Scope>,
}

names! {
    /// The change made to a memory.
    pub enum MemoryChange {
        Added = "added",
        Edited = "edited",
        LeftUnchanged = "left unchanged",
        Archived = "archived",
        Restored = "restored",
        Forgotten = "forgot",
        Accepted = "accepted",
        Rejected = "rejected",
    }
}

/// The result of changing a memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryChangeReport {
    pub done: MemoryChange,
    pub id: String,
    /// The path of the memory file, if it is new.
    pub path: Option<String>,
    /// The change ID to pass to `nacre undo`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

/// The changes made to several memories. Each memory has its own change set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryChangesReport {
    pub done: MemoryChange,
    pub ids: Vec<String>,
    pub failed: Vec<MemoryFailure>,
    /// The change ID to pass to `nacre undo`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
    /// Other locations that were checked for remaining copies after a memory was forgotten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<CheckedCopy>,
}

impl Report for MemoryChangesReport {
    fn outcome(&self) -> Outcome {
        let Some(first) = self.failed.first() else { return Outcome::Done };
        let is_busy = first.failure.code == ErrorCode::Busy;
        match self.ids.is_empty() {
            false => Outcome::Partial,
            true if is_busy => Outcome::Busy,
            true => Outcome::Failed,
        }
    }
}

/// A memory that could not be changed, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryFailure {
    /// The ID from the request.
    pub id: String,
    #[serde(flatten)]
    pub failure: Failure,
}

/// The memories that a reset set aside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryResetReport {
    /// Number of memories set aside.
    pub set_aside: usize,
    /// The directory to which they were moved.
    pub path: String,
    /// Files that could not be moved.
    pub left: Vec<String>,
    /// The change ID to pass to `nacre undo`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

names! {
    /// A user's verdict on how useful a memory is.
    pub enum Verdict {
        Useful = "useful",
        /// The memory was never true.
        Wrong = "wrong",
        /// The memory is no longer true.
        Outdated = "outdated",
    }
}

/// Feedback on a memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryFeedback {
    pub verdict: Verdict,
    pub by: SaidBy,
    pub note: Option<String>,
    pub at: String,
}

names! {
    /// The author of feedback.
    pub enum SaidBy {
        /// The user of this machine.
        Owner = "owner",
        /// A coding agent.
        Agent = "agent",
        /// Another user, authenticated by a token.
        Person = "person",
        /// The author was not recorded, because the feedback is from an older version of Nacre.
        Unknown = "unknown",
    }
}

/// Feedback from a user on a memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FeedbackRequest {
    /// The memory's ID or a prefix of it.
    pub id: String,
    pub verdict: Verdict,
    /// A one-sentence reason. It is stored only on this machine.
    pub note: Option<String>,
    pub scope: Option<Scope>,
}

/// The changes that resulted from the feedback.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FeedbackReport {
    pub id: String,
    pub verdict: Verdict,
    pub confidence_before: f64,
    pub confidence: f64,
    pub scope: StoreScope,
    /// Other memory files with the same ID.
    pub also_in: Vec<OtherPlace>,
    /// The change ID to pass to `nacre undo`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_from_a_file_names_its_line() {
        for (place, expected) in [
            ("AGENTS.md:21", "AGENTS.md:21"),
            ("0b0d7f0c-6f2d-4b0e-9f0a-1f2e3d4c5b6a:7", "a person said"),
            ("nacre memory add", "a person said"),
        ] {
            assert_eq!(Speaker::User.introduce(place), expected);
        }
    }
}
