//! A question, answered from memory with proof.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Failure, Outcome, Report, Scope, Speaker, StoreScope, TokenUse, TrustLevel};

/// What is asked, and what it may be answered from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskRequest {
    pub question: String,
    /// At most this many memories, 1 to 20. Without it, 5.
    #[serde(default)]
    pub limit: Option<usize>,
    /// Answer with the memories themselves, also where a model is set.
    #[serde(default)]
    pub no_model: bool,
    /// A file with the model's answers, for tests.
    #[serde(default)]
    pub scripted: Option<String>,
    #[serde(default)]
    pub scope: Option<Scope>,
    /// Answer from every registered project that may be read, instead of this one.
    #[serde(default)]
    pub all_projects: bool,
}

/// An answer, by who gave it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum AskReport {
    /// A model wrote it, and each of its sentences was checked.
    Model(ModelAnswer),
    /// The memories that fit the question are the answer.
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

/// What a model wrote, as far as it holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelAnswer {
    pub question: String,
    pub known: bool,
    /// The sentences as one text.
    pub answer: Option<String>,
    pub sentences: Vec<AnswerSentence>,
    /// The memories that the sentences cite.
    pub memories: Vec<CitedMemory>,
    /// The messages of sessions that they cite.
    pub messages: Vec<String>,
    /// How many sentences were left out, by reason.
    pub left_out: BTreeMap<SentenceDoubt, usize>,
    /// How many files could not be read.
    pub broken: usize,
    /// Why the answer is not whole.
    pub error: Option<String>,
    pub steps: u32,
    pub tool_calls: u32,
    pub tokens: TokenUse,
    pub cost_usd: Option<f64>,
    /// The same with what may help.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failure: Option<Failure>,
}

/// A sentence that holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AnswerSentence {
    /// What its sources say, each with its id.
    pub text: String,
    /// The memories that prove it.
    pub ids: Vec<String>,
    /// The messages of sessions that do.
    pub messages: Vec<String>,
    /// The words of each source, as they stand there.
    pub quotes: Vec<SourceQuote>,
}

/// Words of a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceQuote {
    /// The id of a memory, or the place of a message.
    pub source: String,
    pub text: String,
}

/// Why a sentence was left out.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum SentenceDoubt {
    /// It names no source.
    NoSource,
    /// It names one that the model was not shown.
    NotShown,
    /// The memory is not there any more, or cannot be read.
    Gone,
    Archived,
    /// The memory was overturned, and the sentence does not name by what.
    Overturned,
    /// The source is about something else.
    Unrelated,
}

impl SentenceDoubt {
    /// What the sentence did, in the words of a person.
    pub fn reason(self) -> &'static str {
        match self {
            Self::NoSource => "named no source",
            Self::NotShown => "named a source that was not found",
            Self::Gone => "named a memory that is gone",
            Self::Archived => "named a memory that is archived",
            Self::Overturned => "named an overturned memory without what overturned it",
            Self::Unrelated => "named a source that is about something else",
        }
    }
}

/// A memory that an answer cites, as it is now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CitedMemory {
    pub id: String,
    /// Its type; of a learning, its kind.
    pub r#type: String,
    pub title: String,
    pub status: String,
    pub scope: StoreScope,
    /// Its project, where all projects were asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    pub path: String,
    pub quote: Option<String>,
    /// Who said that.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub speaker: Option<Speaker>,
    /// What it overturned by nothing but its own claim.
    pub not_verified: Vec<String>,
    /// Which other stores have the same id.
    pub also_in: Vec<StoreScope>,
}

/// Memories as the answer: the first answers, the others are near it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryAnswer {
    pub question: String,
    pub known: bool,
    /// The first memory in a few words.
    pub answer: Option<String>,
    pub memories: Vec<RecalledMemory>,
    /// How many files could not be read.
    pub broken: usize,
    /// Why no model answered, where one should have.
    pub error: Option<String>,
}

/// A memory that fits a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecalledMemory {
    pub id: String,
    /// Its type; of a learning, its kind.
    pub r#type: String,
    pub title: String,
    pub status: String,
    pub scope: StoreScope,
    /// Its project, where all projects were asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    pub score: f32,
    /// The line of its text that is nearest to the question; empty where the title says it all.
    pub line: String,
    pub quote: Option<String>,
    /// The first quote that says more than the memory itself.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub proof: Option<RecalledQuote>,
    /// What it overturned by nothing but its own claim.
    pub not_verified: Vec<String>,
    /// Which other stores have the same id.
    pub also_in: Vec<StoreScope>,
    /// How far it is trusted on this machine, where it is less than the agent's own word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<TrustLevel>,
}

/// What proves a memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecalledQuote {
    pub text: String,
    pub speaker: Speaker,
    pub at: String,
}
