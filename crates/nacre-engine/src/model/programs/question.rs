//! A request as one text and one shape: what a program that answers once can be asked, and what its answer stands for.
//!
//! Tools are described in words, and the answer is a step: something to say, and calls to make. So agents of Nacre's own work with
//! a program as well as with a service.

use nacre_core::transcript::injected::QUESTION_MARK;
use serde_json::{Value, json};

use super::super::content::Content;
use super::super::hosted::made_id;
use super::super::loose_json::only_value;
use super::super::request::{Message, OUTPUT_TOOL, Request, Speaker, ToolChoice};
use super::super::response::Event;
use super::super::schema::{Bounds, for_providers};

/// What a program is asked.
#[derive(Debug, PartialEq)]
pub(super) struct Question {
    pub(super) system: String,
    /// Begins with the mark by which its trace is known.
    pub(super) prompt: String,
    /// The shape of the answer, closed where the request's is.
    pub(super) schema: Option<Value>,
    is_step: bool,
}

impl Question {
    pub(super) fn of(request: &Request) -> Self {
        let is_step = !request.tools.is_empty() && request.tool_choice != ToolChoice::None;
        let mut system = request.system.clone();
        let output = request.output.as_ref();
        let schema = if is_step {
            system = format!("{system}\n\n{}", step_instructions(request));
            Some(step_schema(request))
        } else {
            output.map(|output| for_providers(&output.schema, Bounds::Kept))
        };
        Self { system, prompt: prompt(request), schema, is_step }
    }

    /// The instructions, with the shape of the answer in words: for a program that cannot be held to one.
    pub(super) fn system_with_schema(&self) -> String {
        match &self.schema {
            Some(schema) => format!(
                "{}\n\nAnswer with one JSON value that fits this JSON Schema, and with nothing else:\n{schema}",
                self.system
            ),
            None => self.system.clone(),
        }
    }

    /// The events that an answer stands for.
    pub(super) fn events(&self, answer: &str, n_messages: usize) -> Vec<Event> {
        let step = if self.is_step { read_step(answer, n_messages) } else { None };
        step.unwrap_or_else(|| vec![Event::Text(answer.to_owned())])
    }
}

fn prompt(request: &Request) -> String {
    let mut text = QUESTION_MARK.to_owned();
    let is_alone = request.messages.len() == 1;
    for message in &request.messages {
        text.push_str("\n\n");
        if !is_alone {
            text.push_str(match message.speaker {
                Speaker::User => "[Asked]\n",
                Speaker::Assistant => "[You answered]\n",
            });
        }
        text.push_str(&said(message));
    }
    if !is_alone {
        text.push_str("\n\n[Now answer the last message.]");
    }
    text
}

fn said(message: &Message) -> String {
    let part = |content: &Content| match content {
        Content::Text(text) => Some(text.clone()),
        Content::ToolUse(call) => {
            Some(format!("[Call {} of {}]\n{}", call.id, call.name, call.arguments.as_object()))
        }
        Content::ToolResult(result) => {
            Some(format!("[Result of call {}]\n{}", result.call_id, result.text))
        }
        Content::Image(image) => Some(format!(
            "[A picture of the type {}, which cannot be shown here]",
            image.media_type
        )),
        Content::Reasoning(_) | Content::HiddenReasoning(_) => None,
    };
    message.content.iter().filter_map(part).collect::<Vec<_>>().join("\n\n")
}

fn step_instructions(request: &Request) -> String {
    let mut text = String::from(
        "You work in steps. Each answer is one JSON object: `say` is what you say, and `calls` are the tools to call now, each with \
         its `name` and its `arguments` as the text of a JSON object. The results come with the next question. An answer without \
         calls is your last one. These are the tools:\n",
    );
    for tool in &request.tools {
        text.push_str(&format!(
            "\n- {}: {}\n  arguments: {}",
            tool.name, tool.description, tool.schema
        ));
    }
    if let Some(output) = &request.output {
        text.push_str(&format!(
            "\n- {OUTPUT_TOOL}: hand in your final answer by this call. {}\n  arguments: {}",
            output.description, output.schema
        ));
    }
    match &request.tool_choice {
        ToolChoice::Named(name) => text.push_str(&format!("\n\nCall `{name}` now.")),
        ToolChoice::Required => text.push_str("\n\nCall at least one tool now."),
        ToolChoice::Auto | ToolChoice::None => {}
    }
    text
}

fn step_schema(request: &Request) -> Value {
    let own = request.tools.iter().map(|tool| tool.name.as_str());
    let names: Vec<&str> = own.chain(request.output.as_ref().map(|_| OUTPUT_TOOL)).collect();
    let call = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "enum": names },
            "arguments": { "type": "string", "description": "The text of a JSON object" },
        },
        "required": ["name", "arguments"],
        "additionalProperties": false,
    });
    json!({
        "type": "object",
        "properties": { "say": { "type": "string" }, "calls": { "type": "array", "items": call } },
        "required": ["say", "calls"],
        "additionalProperties": false,
    })
}

/// The events of a step; nothing where the answer is not one.
fn read_step(answer: &str, n_messages: usize) -> Option<Vec<Event>> {
    let step = only_value(answer)?;
    let calls = step.get("calls")?.as_array()?;
    let mut events = Vec::new();
    let say = step.get("say").and_then(Value::as_str).unwrap_or_default();
    if !say.is_empty() {
        events.push(Event::Text(say.to_owned()));
    }
    for (index, call) in calls.iter().enumerate() {
        let name = call.get("name")?.as_str()?.to_owned();
        let delta = match call.get("arguments") {
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => String::new(),
        };
        events.push(Event::ToolStarted { index, id: made_id(n_messages, index), name });
        events.push(Event::ToolArguments { index, delta });
        events.push(Event::ToolDone { index });
    }
    Some(events)
}
