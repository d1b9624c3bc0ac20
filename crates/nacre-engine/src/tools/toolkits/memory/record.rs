//! `memory_add` where a host looks the words up: who said them decides whether a claim holds or waits for a person.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use nacre_core::memory::LearningKind;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::super::super::footprint::{Footprint, MemoryUse};
use super::super::super::tool::{Output, Tool, ToolContext, ToolError, ToolSpec};
use crate::record::{Category, Fault};

/// Keeps a claim, or says why not; returns what the model is told.
pub type RecordClaim = dyn Fn(AgentRecord) -> RecordingClaim + Send + Sync;

/// A claim on its way.
pub type RecordingClaim = Pin<Box<dyn Future<Output = Result<String, ToolError>> + Send>>;

/// What an agent wants remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentRecord {
    pub title: String,
    pub body: String,
    /// Of a learning; a decision has none.
    pub kind: Option<LearningKind>,
    /// Words of the conversation that prove it.
    pub quote: String,
    pub tags: Vec<String>,
    /// Situations in which it should be told.
    pub applies: Vec<String>,
    /// The memory that it takes the place of.
    pub supersedes: Option<String>,
}

/// Remembers something.
#[derive(Clone)]
pub struct MemoryRecord {
    pub record: Arc<RecordClaim>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryRecordInput {
    /// What was decided or learned: one sentence that a stranger understands in a year.
    #[schemars(length(min = 1, max = 200))]
    title: String,
    /// Markdown: why, and what follows from it.
    #[schemars(length(max = 4000))]
    body: String,
    /// For a learning: insight, procedure, pitfall, friction, preference, convention or context. Leave it out for a
    /// decision.
    kind: Option<String>,
    /// The words of this conversation that prove it, exactly as they were said: the person's own where they decided it.
    #[schemars(length(min = 8, max = 600))]
    quote: String,
    #[serde(default)]
    #[schemars(length(max = 12))]
    tags: Vec<String>,
    /// Situations in which a later agent should be told it, in the words of a prompt or an error message.
    #[serde(default)]
    #[schemars(length(max = 8))]
    applies: Vec<String>,
    /// The id of a memory that does not hold any more because of this one.
    supersedes: Option<String>,
}

impl Tool for MemoryRecord {
    type Input = MemoryRecordInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "memory_add",
        toolkit: "memory",
        category: Category::Write,
        description: "Remembers one decision or learning for later sessions. Search first. Nothing that the code or git says, \
            no task state, no secrets. The words that you quote are looked up in this conversation; what nobody said waits \
            for the person's yes. Returns the id.",
        time_limit: Duration::from_secs(30),
        shown_bytes: 2_000,
    };

    fn footprint(&self, input: &MemoryRecordInput) -> Result<Footprint, ToolError> {
        input.kind()?;
        Ok(Footprint { memory: MemoryUse::Changes, ..Footprint::default() })
    }

    async fn run(&self, input: MemoryRecordInput, _: &ToolContext) -> Result<Output, ToolError> {
        let kind = input.kind()?;
        let MemoryRecordInput { title, body, quote, tags, applies, supersedes, .. } = input;
        let claim = AgentRecord { title, body, kind, quote, tags, applies, supersedes };
        let text = (self.record)(claim).await?;
        Ok(Output { value: json!({ "told": text }), text, changed: Vec::new() })
    }
}

impl MemoryRecordInput {
    fn kind(&self) -> Result<Option<LearningKind>, ToolError> {
        let refuse = || {
            let hint = "Use insight, procedure, pitfall, friction, preference, convention or context, or leave it out.";
            ToolError::new(Fault::Arguments, "That is no kind of learning", hint)
        };
        self.kind.as_deref().map(|kind| kind.parse().map_err(|_| refuse())).transpose()
    }
}
