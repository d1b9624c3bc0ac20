//! `memory_add`

use nacre_api::wire::{
    LearningKind, MemoryChange, MemoryRecordReport, MemoryRecordRequest, MemoryType, Speaker,
};
use nacre_ops::host::Tolerance;
use nacre_ops::{OpError, memory};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Effect, Output, ToolSpec, parse};
use crate::calls::Call;

pub(super) const TOOL: ToolSpec = ToolSpec {
    name: "memory_add",
    title: "Remember",
    description: "Record what later sessions of this project must know: a decision of the person, a correction, a \
                  preference, a pitfall that cost time, how something is really done. Not what code or git already says, and \
                  not the state of a task. Needs a verbatim quote from this session as evidence. Use the person's \
                  own sentence as title and body where you can: what you phrase is recorded as your words. What contradicts the \
                  quote, or would replace the person's words, waits for their review. What is known already is not added twice.",
    effect: Effect::Adds,
    is_always_loaded: true,
    tolerance: Tolerance::None,
    call,
};

/// What an agent may record. A summary is written by a sync alone.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum RecordedType {
    Decision,
    Learning,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The claim in one sentence that a stranger understands in a year, 10 to 200 characters.
    title: String,
    /// Why, and what follows from it; 30 to 4000 characters of Markdown.
    body: String,
    /// The sentence of this session that proves it, word for word, 8 to 600 characters; best the person's own.
    quote: String,
    /// decision (default): what was chosen. learning: what was found out.
    #[serde(default)]
    r#type: Option<RecordedType>,
    /// Only of a learning. Default insight.
    #[serde(default)]
    kind: Option<LearningKind>,
    /// Words to find it by.
    #[serde(default)]
    tags: Vec<String>,
    /// Up to 6 situations in which a later agent should be told it before it starts, in the words of a prompt or an error message: a
    /// task that would go against it, a symptom, a proposal of what was decided against. 4 to 14 words each.
    #[serde(default)]
    applies: Vec<String>,
    /// The id of the memory that this one replaces.
    #[serde(default)]
    supersedes: Option<String>,
    /// The id of this session, if you know it.
    #[serde(default)]
    session: Option<String>,
}

fn call(call: &Call, arguments: JsonObject) -> Result<Output, OpError> {
    let Arguments { title, body, quote, r#type, kind, tags, applies, supersedes, session } =
        parse(arguments)?;
    // Only a learning has a kind, so who names one means a learning.
    let recorded = match (r#type, kind) {
        (Some(RecordedType::Decision), _) | (None, None) => MemoryType::Decision,
        (Some(RecordedType::Learning), _) | (None, Some(_)) => MemoryType::Learning,
    };
    let request = MemoryRecordRequest {
        title,
        body,
        r#type: Some(recorded),
        kind,
        tags,
        applies,
        supersedes,
        quote,
        session: session.or_else(|| call.session.clone()),
        scope: None,
    };
    let report = memory::record(&call.host, &request, "mcp", &call.events)?;
    let text = render(&report);
    // Some agents show their model this part alone.
    let mut structured = serde_json::to_value(&report).ok();
    if let Some(Value::Object(fields)) = &mut structured {
        fields.insert("message".to_owned(), text.clone().into());
    }
    Ok(Output { text, structured })
}

fn render(report: &MemoryRecordReport) -> String {
    let MemoryRecordReport { done, id, status, speaker, place, .. } = report;
    if *done != MemoryChange::Added {
        return format!("Nothing added: [{id}] says this already.");
    }
    let place = place.as_deref().unwrap_or_default();
    let evidence = match speaker {
        Some(Speaker::Human | Speaker::User) => format!("The quote is the person's ({place})."),
        Some(Speaker::Assistant) => format!("The quote is an agent's ({place})."),
        Some(Speaker::Tool) => format!("The quote is a tool's ({place})."),
        None => "The quote stands in no session of this project that can be read here.".to_owned(),
    };
    match status.as_deref() {
        Some("active") => format!("Added [{id}]. {evidence}"),
        _ => format!(
            "Added [{id}] as a candidate. {evidence} The person accepts it with `nacre review accept {id}`."
        ),
    }
}
