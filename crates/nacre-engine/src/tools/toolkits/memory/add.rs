//! `memory_add`: one decision or learning, with the words that prove it.

use std::time::Duration;

use jiff::Timestamp;
use nacre_core::memory::{Claim, Draft, LearningKind, MemoryId, Quote, Speaker, Trust};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::super::super::footprint::{Footprint, MemoryUse};
use super::super::super::tool::{Output, Tool, ToolContext, ToolError, ToolSpec};
use super::handle::{MemoryHandle, memory_error};
use crate::record::{Category, Fault};

const MAX_TAGS: usize = 32;
const MAX_RELATED: usize = 32;
const MAX_TEXT_BYTES: usize = 32_000;

/// How sure a model is at most; only a person is sure.
const MAX_CONFIDENCE: f64 = 0.9;
const DEFAULT_CONFIDENCE: f64 = 0.7;

/// Remembers something.
#[derive(Clone)]
pub struct MemoryAdd {
    pub memories: MemoryHandle,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryAddInput {
    r#type: ClaimType,
    /// What kind of learning: insight, procedure, pitfall, friction, preference, convention or context.
    kind: Option<String>,
    /// One line.
    title: String,
    /// Markdown: what it is, and why.
    body: String,
    /// The words of this conversation or of a file that prove it, as they stand there.
    evidence: String,
    #[serde(default)]
    tags: Vec<String>,
    /// Ids of memories that have to do with it.
    #[serde(default)]
    related: Vec<String>,
    /// From 0 to 0.9; 0.7 if left out.
    confidence: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ClaimType {
    Decision,
    Learning,
}

impl Tool for MemoryAdd {
    type Input = MemoryAddInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "memory_add",
        toolkit: "memory",
        category: Category::Write,
        description: "Remembers one decision or learning for later work in this project. Search first: what is known \
            already is not remembered twice. Nothing that the code or git says, no task state, no secrets. Returns the \
            id.",
        time_limit: Duration::from_secs(20),
        shown_bytes: 2_000,
    };

    fn footprint(&self, input: &MemoryAddInput) -> Result<Footprint, ToolError> {
        input.claim()?;
        Ok(Footprint { memory: MemoryUse::Changes, ..Footprint::default() })
    }

    async fn run(&self, input: MemoryAddInput, ctx: &ToolContext) -> Result<Output, ToolError> {
        let now = ctx.now;
        self.memories.work(move |memories| add(memories, input, now)).await
    }
}

impl MemoryAddInput {
    fn claim(&self) -> Result<Claim, ToolError> {
        let refuse = |what: &str, hint: &str| Err(ToolError::new(Fault::Arguments, what, hint));
        if self.evidence.trim().is_empty() {
            return refuse("There is no evidence", "Quote the words that prove it.");
        }
        let n_bytes = self.body.len() + self.evidence.len();
        if n_bytes > MAX_TEXT_BYTES
            || self.tags.len() > MAX_TAGS
            || self.related.len() > MAX_RELATED
        {
            return refuse("That is too much for one memory", "A memory is a page, not a book.");
        }
        match (self.r#type, self.kind.as_deref()) {
            (ClaimType::Decision, None) => Ok(Claim::Decision),
            (ClaimType::Decision, Some(_)) => refuse("A decision has no kind", "Leave `kind` out."),
            (ClaimType::Learning, None) => Ok(Claim::Learning(LearningKind::Insight)),
            (ClaimType::Learning, Some(kind)) => match kind.parse() {
                Ok(kind) => Ok(Claim::Learning(kind)),
                Err(_) => refuse(
                    "That is no kind of learning",
                    "Use insight, procedure, pitfall, friction, preference, convention or context.",
                ),
            },
        }
    }
}

fn add(
    memories: &MemoryHandle,
    input: MemoryAddInput,
    now: Timestamp,
) -> Result<Output, ToolError> {
    let failed = |error| memory_error(&error);
    let claim = input.claim()?;
    if memories.store.is_forgotten(&input.title, &input.body).map_err(failed)? {
        let hint = "A person wanted this forgotten; do not remember it again.";
        return Err(ToolError::new(Fault::Denied, "This was forgotten on purpose", hint));
    }
    let related: Result<Vec<MemoryId>, _> =
        input.related.iter().map(|id| memories.store.locate(id).map(|at| at.id)).collect();
    let draft = Draft {
        claim,
        title: input.title,
        body: input.body,
        tags: input.tags,
        applies: Vec::new(),
        related: related.map_err(failed)?,
        source: memories.source.clone(),
        confidence: input.confidence.unwrap_or(DEFAULT_CONFIDENCE).clamp(0.0, MAX_CONFIDENCE),
        basis: None,
        // Whose words these are is not for the model to say: what it hands in, it has said.
        quotes: vec![Quote {
            text: input.evidence,
            speaker: Speaker::Assistant,
            place: format!("{}: memory_add", memories.source),
            at: now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        }],
        limit: Trust::Assistant,
    };
    let mut batch = memories.store.begin(&memories.owner, memories.patience).map_err(failed)?;
    let id = batch.add(&draft, now).map_err(failed)?;
    let n_redacted: usize = batch.redactions().values().sum();
    batch.commit().map_err(failed)?;
    let note = if n_redacted == 0 { "" } else { "; secrets were taken out" };
    let value = json!({ "id": id.as_str(), "redacted": n_redacted });
    Ok(Output { text: format!("Remembered as {id}{note}."), value, changed: Vec::new() })
}
