//! Tools that change memories. Models supply only text; the store adds IDs, times and sources.

use std::pin::Pin;

use nacre_memory::LearningKind;

use crate::tools::toolkits::memory::{MemoryHandle, memory_error};
use crate::tools::toolkits::prelude::*;

/// Stores a claim and returns the text to show to the model.
pub type RecordClaim = dyn Fn(MemoryRecord) -> RecordingClaim + Send + Sync;

pub type RecordingClaim = Pin<Box<dyn Future<Output = Result<String>> + Send>>;

/// Stores a decision or a learning.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryRecord {
    /// What was decided or learned: one sentence that is clear without this conversation.
    #[schemars(length(min = 1, max = 200))]
    pub title: String,
    /// Markdown: the reasons and the consequences.
    #[schemars(length(max = 4000))]
    pub body: String,
    /// Only for a learning. Leave it out for a decision.
    pub kind: Option<LearningKind>,
    /// The words from this conversation that prove it, quoted verbatim; if the user decided it, the
    /// user's own words.
    #[schemars(length(min = 8, max = 600))]
    pub quote: String,
    #[serde(default)]
    #[schemars(length(max = 12))]
    pub tags: Vec<String>,
    /// Situations in which a later agent should see this memory, worded like a prompt or an error
    /// message.
    #[serde(default)]
    #[schemars(length(max = 8))]
    pub applies: Vec<String>,
    /// The id of a memory that no longer holds because of this one.
    pub supersedes: Option<String>,
}

impl Tool for MemoryRecord {
    type With = Arc<RecordClaim>;

    const SPEC: ToolSpec = ToolSpec {
        name: "memory_add",
        category: Category::Write,
        description: "Remembers one decision or learning for later sessions. Search first. Nothing \
            that the code or git says, no task state, no secrets. The words that you quote are \
            looked up in this conversation; what nobody said needs the person's approval. Returns \
            the id.",
        time_limit: Duration::from_secs(30),
        shown_bytes: 2_000,
    };

    fn footprint(&self, _: &Arc<RecordClaim>) -> Result<Footprint> {
        Ok(Footprint { memory: MemoryUse::Changes, ..Footprint::default() })
    }

    fn preview(&self, _: &Arc<RecordClaim>) -> Result<Preview> {
        let Self { title, body, kind, quote, tags, applies, supersedes } = self;
        let kind = kind.map(|kind| kind.to_string());
        let mut text = format!("{title}\n\n{body}\n\n> {quote}\n");
        for (name, values) in [
            ("kind", kind.as_slice()),
            ("tags", tags),
            ("applies", applies),
            ("supersedes", supersedes.as_slice()),
        ] {
            if !values.is_empty() {
                text += &format!("{name}: {}\n", values.join(", "));
            }
        }
        Ok(Preview { memory: Some(text), ..Preview::default() })
    }

    async fn run(self, record: &Arc<RecordClaim>, _: &ToolContext) -> Result<Output> {
        record(self).await.map(Output::text)
    }
}

/// Archives a memory.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryRemove {
    /// The full id, as shown by `memory_search`.
    id: String,
}

impl Tool for MemoryRemove {
    type With = MemoryHandle;

    const SPEC: ToolSpec = ToolSpec {
        name: "memory_remove",
        category: Category::Write,
        description: "Archives a decision or learning that no longer holds, so that searches leave \
            it out. A person can restore it.",
        time_limit: Duration::from_secs(20),
        shown_bytes: 2_000,
    };

    fn footprint(&self, _: &MemoryHandle) -> Result<Footprint> {
        Ok(Footprint { memory: MemoryUse::Changes, ..Footprint::default() })
    }

    fn preview(&self, memories: &MemoryHandle) -> Result<Preview> {
        let at = memories.store.locate(&self.id).map_err(|error| memory_error(&error))?;
        Ok(Preview { memory: Some(format!("Put away {}", at.id)), ..Preview::default() })
    }

    async fn run(self, memories: &MemoryHandle, ctx: &ToolContext) -> Result<Output> {
        let (memories, now) = (memories.clone(), ctx.now);
        off_thread(move || {
            let archive = || {
                let mut batch = memories.store.begin(&memories.owner, memories.patience)?;
                let id = batch.archive(&self.id, now)?;
                batch.commit()?;
                Ok(id)
            };
            let id = archive().map_err(|error| memory_error(&error))?;
            let text = format!("{id} was archived; `nacre memory restore {id}` restores it.");
            Ok(Output::text(text))
        })
        .await
    }
}
