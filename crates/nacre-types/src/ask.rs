//! Requests and reports for questions and briefs.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Failure, Outcome, Report, Scope, Speaker, StoreScope, TokenCounts, TrustLevel};

/// A question to answer from stored memories.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskRequest {
    pub question: String,
    /// Maximum number of memories, from 1 to 20. Defaults to 5.
    pub limit: Option<usize>,
    /// Answer with memories only, even if a model is configured.
    #[serde(default)]
    pub no_model: bool,
    /// Path of a file with scripted model responses, for tests.
    pub scripted: Option<String>,
    pub scope: Option<Scope>,
    /// Search all readable registered projects instead of the current one.
    #[serde(default)]
    pub all_projects: bool,
}

/// An answer written by a model, or the matching memories.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum AskReport {
    /// An answer written by a model. Each sentence cites its sources.
    Model(ModelAnswer),
    /// The matching memories, if no model was used.
    Memories(MemoryAnswer),
}

impl Report for AskReport {
    fn outcome(&self) -> Outcome {
        let (broken, error) = match self {
            Self::Model(answer) => (answer.broken, &answer.error),
            Self::Memories(answer) => (answer.broken, &answer.error),
        };
        Outcome::partial_if(broken > 0 || error.is_some())
    }
}

/// A model's answer, excluding sentences that cite no valid source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelAnswer {
    pub question: String,
    pub known: bool,
    /// The sentences joined into one string, with `[not verified]` after each sentence whose
    /// wording is not supported by its sources.
    pub answer: Option<String>,
    pub sentences: Vec<AnswerSentence>,
    /// The memories that the sentences cite.
    pub memories: Vec<CitedMemory>,
    /// The session messages that the sentences cite.
    pub messages: Vec<String>,
    /// Number of removed sentences, by reason.
    pub left_out: BTreeMap<SentenceDoubt, usize>,
    /// Number of unreadable files.
    pub broken: usize,
    /// Why the answer is incomplete.
    pub error: Option<String>,
    pub steps: u32,
    pub tool_calls: u32,
    pub tokens: TokenCounts,
    pub cost_usd: Option<f64>,
    /// The same error as in `error`, with hints.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failure: Option<Failure>,
}

/// A sentence that cites valid sources.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AnswerSentence {
    /// The sentence as the model wrote it, with the IDs of its sources.
    pub text: String,
    /// Whether the sentence's names and numbers, and most of its words, occur in the cited sources.
    #[serde(default)]
    pub verified: bool,
    /// IDs of the supporting memories.
    pub ids: Vec<String>,
    /// The supporting session messages.
    pub messages: Vec<String>,
    /// The supporting passage from each source.
    pub quotes: Vec<SourceQuote>,
}

/// The part of a source that best matches a sentence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceQuote {
    /// A memory ID, or the position of a session message.
    pub source: String,
    pub text: String,
}

names! {
    /// Why a sentence was removed.
    pub enum SentenceDoubt {
        /// The sentence cites no source.
        NoSource = "no_source",
        /// The sentence cites a source that the model was not given.
        NotShown = "not_shown",
        /// The cited memory no longer exists or is unreadable.
        Gone = "gone",
        Archived = "archived",
        /// The cited memory was superseded, and the sentence does not cite its replacement.
        Overturned = "overturned",
        /// The cited source does not support the sentence.
        Unrelated = "unrelated",
    }
}

impl SentenceDoubt {
    pub fn reason(self) -> &'static str {
        match self {
            Self::NoSource => "named no source",
            Self::NotShown => "cited an unknown source",
            Self::Gone => "cited a memory that no longer exists",
            Self::Archived => "cited an archived memory",
            Self::Overturned => "cited a superseded memory without citing its replacement",
            Self::Unrelated => "cited an unrelated source",
        }
    }
}

/// The current state of a memory cited by an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CitedMemory {
    pub id: String,
    /// The memory's type or, for a learning, its kind.
    pub r#type: String,
    pub title: String,
    pub status: String,
    pub scope: StoreScope,
    /// The memory's project, if all projects were searched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    pub path: String,
    /// When the memory was stated or last changed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub updated: Option<String>,
    pub quote: Option<String>,
    /// Who made the statement.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub speaker: Option<Speaker>,
    /// The message, or the line of an imported file, that the quote comes from.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub place: Option<String>,
    /// IDs of memories that this one claims to supersede, but whose own files do not confirm it.
    pub not_verified: Vec<String>,
    /// Other stores that contain the same ID.
    pub also_in: Vec<StoreScope>,
}

/// Memories that answer a question or are close to it, best match first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryAnswer {
    pub question: String,
    /// Whether the first memory answers the question. Otherwise, the memories are only close to it.
    pub known: bool,
    /// A short version of the first memory, if it answers the question.
    pub answer: Option<String>,
    pub memories: Vec<RecalledMemory>,
    /// What the user said in a session, if no memory answers the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<SaidInSession>,
    /// Number of unreadable files.
    pub broken: usize,
    /// Why the configured model did not answer.
    pub error: Option<String>,
}

/// A user message that matches a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SaidInSession {
    pub text: String,
    /// The position of the message, as `SESSION:SEQUENCE`.
    pub place: String,
    pub at: Option<String>,
}

/// A memory that matches a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecalledMemory {
    pub id: String,
    /// The memory type, or the kind for a learning.
    pub r#type: String,
    pub title: String,
    pub status: String,
    pub scope: StoreScope,
    /// The memory's project, if all projects were searched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    pub score: f32,
    /// When the memory was stated or last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated: Option<String>,
    /// ID of a later memory that contradicts this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced_by: Option<String>,
    /// The line of the memory's text that matches best; empty if the title is sufficient.
    pub line: String,
    pub quote: Option<String>,
    /// The first quote that adds something to the memory's text.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub proof: Option<RecalledQuote>,
    /// IDs of memories that this memory claims to supersede, although their own files do not
    /// confirm it.
    pub not_verified: Vec<String>,
    /// Other stores that contain the same ID.
    pub also_in: Vec<StoreScope>,
    /// Trust level on this machine, if it is lower than that of an agent's own statements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<TrustLevel>,
}

/// A quote that supports a memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecalledQuote {
    pub text: String,
    pub speaker: Speaker,
    /// The message, or the line of an imported file, that the quote comes from.
    pub place: String,
    pub at: String,
}

/// The purpose and the maximum length of a brief.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BriefRequest {
    /// Maximum number of tokens. Defaults to 2000.
    pub budget: Option<usize>,
    /// Description of the task.
    pub task: Option<String>,
    /// Files affected by the task.
    pub files: Vec<String>,
    pub scope: Option<Scope>,
}

/// A brief, both as sections and as Markdown text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BriefReport {
    pub budget: usize,
    /// Number of tokens in the text.
    pub tokens: usize,
    pub sections: Vec<BriefSection>,
    /// Number of valid memories that are not included.
    pub left_out: usize,
    /// IDs of memories excluded because their author could not be verified.
    pub unproven: Vec<String>,
    /// Number of candidates excluded because they are pending in `nacre review`.
    #[serde(default)]
    pub candidates: usize,
    /// Paths of unreadable files.
    #[serde(default)]
    pub broken: Vec<String>,
    /// The brief as Markdown; empty if no memory is relevant or fits.
    pub text: String,
}

/// Memories on one topic, best first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BriefSection {
    pub topic: BriefTopic,
    pub items: Vec<BriefItem>,
}

names! {
    /// Topic of a section.
    pub enum BriefTopic {
        Decisions = "decisions",
        Preferences = "preferences",
        Pitfalls = "pitfalls",
        Knowledge = "knowledge",
        RecentWork = "recent_work",
        OpenEnds = "open_ends",
    }
}

/// A one-line summary of a memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BriefItem {
    pub id: String,
    pub scope: StoreScope,
    pub text: String,
}
