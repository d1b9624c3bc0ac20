//! `ask`

use nacre_api::wire::{AskReport, AskRequest, MemoryAnswer, ModelAnswer};
use nacre_ops::host::Tolerance;
use nacre_ops::{OpError, ask as ops};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::text::{SNIPPET_CHARS, line, page, shown};
use super::{Effect, Output, ToolSpec, parse};
use crate::calls::Call;

pub(super) const TOOL: ToolSpec = ToolSpec {
    name: "ask",
    title: "Ask project memory",
    description: "Answer one question from this project's memory, with proof: the memory that answers it, the line of it \
                  that does, and the quote behind it; or that nothing is known. Use it for a question such as why is the \
                  queue in SQLite; for a topic use memory_search.",
    effect: Effect::ReadsAndAsks,
    is_always_loaded: false,
    tolerance: Tolerance::None,
    call,
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// One question, in a sentence.
    question: String,
    /// Let the model that the person configured write the answer; slower and not free. Default false.
    #[serde(default)]
    use_model: bool,
    /// The character to go on from, as the part before named it.
    #[serde(default)]
    offset: Option<usize>,
}

fn call(call: &Call, arguments: JsonObject) -> Result<Output, OpError> {
    let Arguments { question, use_model, offset } = parse(arguments)?;
    let request = AskRequest { question, no_model: !use_model, ..AskRequest::default() };
    let text = match ops::ask(&call.host, &request, &call.events)? {
        AskReport::Model(answer) => by_model(&answer),
        AskReport::Memories(answer) => by_memories(&answer),
    };
    Ok(page(&text, offset.unwrap_or(0))?.into())
}

fn by_model(answer: &ModelAnswer) -> String {
    let mut text = match &answer.answer {
        Some(answer) => shown(answer.trim()),
        None => "Nothing is known about that.".to_owned(),
    };
    if !answer.memories.is_empty() {
        text.push_str("\n\nSources:");
    }
    for memory in &answer.memories {
        text.push_str(&format!(
            "\n- {} [{}] ({})",
            line(&memory.title, 200),
            memory.id,
            memory.status
        ));
    }
    if let Some(error) = &answer.error {
        text.push_str(&format!("\n[The answer is not whole: {}]", line(error, 200)));
    }
    text
}

fn by_memories(answer: &MemoryAnswer) -> String {
    if !answer.known {
        return "Nothing is known about that.".to_owned();
    }
    let mut text = String::new();
    for memory in &answer.memories {
        let title = line(&memory.title, 200);
        text.push_str(&format!("- {title} [{}] ({}, {})", memory.id, memory.r#type, memory.status));
        if !memory.line.is_empty() {
            text.push_str(&format!("\n  {}", line(&memory.line, SNIPPET_CHARS)));
        }
        if let Some(proof) = &memory.proof {
            let day = proof.at.get(..10).unwrap_or_default();
            text.push_str(&format!("\n  said {day}: \"{}\"", line(&proof.text, SNIPPET_CHARS)));
        }
        text.push('\n');
    }
    text
}
