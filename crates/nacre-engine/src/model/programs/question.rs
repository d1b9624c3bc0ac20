//! Converts a request to a single prompt and schema, and interprets the program's response or
//! error.
//!
//! The prompt describes the tools, and each answer is one step consisting of text and tool calls.
//! This allows Nacre's own agents to use a command-line program in place of a model service.

use nacre_traces::transcript::injected::QUESTION_MARK;
use serde_json::{Value, json};

use crate::model::conversation::{Content, Message, ModelEvent, OUTPUT_TOOL, Request, Speaker};
use crate::model::error::{ErrorKind, Fault};
use crate::model::hosted::{call_events, make_call_id};
use crate::model::programs::launch::Finished;
use crate::model::schema::{SchemaBounds, for_providers};
use crate::model::textual_tools::only_value;

#[derive(Debug, PartialEq)]
pub(super) struct ProgramQuestion {
    pub(super) system: String,
    /// The prompt. It begins with the marker that identifies Nacre's own sessions in traces.
    pub(super) prompt: String,
    pub(super) schema: Option<Value>,
    is_step: bool,
}

impl ProgramQuestion {
    pub(super) fn of(request: &Request) -> Self {
        let is_step = !request.tools.is_empty() && request.may_call;
        let mut system = request.system.clone();
        let output = request.output.as_ref();
        let schema = if is_step {
            system = format!("{system}\n\n{}", step_instructions(request));
            Some(step_schema(request))
        } else {
            output.map(|output| for_providers(&output.schema, SchemaBounds::Kept))
        };
        Self { system, prompt: prompt(request), schema, is_step }
    }

    /// Returns the instructions with the schema appended, for programs that cannot enforce a
    /// schema.
    pub(super) fn system_with_schema(&self) -> String {
        match &self.schema {
            Some(schema) => format!(
                "{}\n\nAnswer with one JSON value that fits this JSON Schema, and with nothing else:\n{schema}",
                self.system
            ),
            None => self.system.clone(),
        }
    }

    pub(super) fn events(&self, answer: &str, n_messages: usize) -> Vec<ModelEvent> {
        let step = if self.is_step { read_step(answer, n_messages) } else { None };
        step.unwrap_or_else(|| vec![ModelEvent::Text(answer.to_owned())])
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
        Content::Image(image) => {
            Some(format!("[An image of type {}, which cannot be shown here]", image.media_type))
        }
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

fn read_step(answer: &str, n_messages: usize) -> Option<Vec<ModelEvent>> {
    let step = only_value(answer)?;
    let calls = step.get("calls")?.as_array()?;
    let mut events = Vec::new();
    let say = step.get("say").and_then(Value::as_str).unwrap_or_default();
    if !say.is_empty() {
        events.push(ModelEvent::Text(say.to_owned()));
    }
    for (index, call) in calls.iter().enumerate() {
        let name = call.get("name")?.as_str()?.to_owned();
        let delta = match call.get("arguments") {
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => String::new(),
        };
        events.extend(call_events(index, make_call_id(n_messages, index), name, delta));
    }
    Some(events)
}

#[rustfmt::skip]
const NOT_LOGGED_IN: &[&str] = &[
    "not logged in", "/login", "log in", "invalid api key", "incorrect api key",
    "no authentication information", "invalid auth method", "set an auth method",
    "401 unauthorized", "token has expired", "oauth token", "api key not valid", "missing api key",
];

#[rustfmt::skip]
const NO_CREDIT: &[&str] = &[
    "credit balance", "quota", "billing", "usage limit", "hit your limit", "limit reached",
    "insufficient credits", "insufficient_quota", "out of credits", "premium requests",
    "payment required",
];

const TOO_LONG: &[&str] = &[
    "prompt is too long",
    "context window",
    "context length",
    "context_length_exceeded",
    "maximum context",
    "input is too long",
    "too many tokens",
];

const UNKNOWN_MODEL: &[&str] = &[
    "issue with the selected model",
    "model not found",
    "unknown model",
    "no such model",
    "is not supported when using",
    "model does not exist",
];

const RATE_LIMITED: &[&str] = &["rate limit", "rate_limit", "too many requests"];

pub(super) fn fault(status: Option<u16>, said: &str, finished: &Finished) -> Fault {
    let kind = error_kind(status, &said.to_lowercase(), finished.code);
    Fault { kind, said: Some(said.to_owned()).filter(|said| !said.trim().is_empty()) }
}

fn error_kind(status: Option<u16>, said: &str, code: Option<i32>) -> ErrorKind {
    let says = |list: &[&str]| list.iter().any(|word| said.contains(word));
    match status {
        _ if says(TOO_LONG) => ErrorKind::ContextTooLong,
        _ if says(NO_CREDIT) => ErrorKind::Quota,
        Some(402) => ErrorKind::Quota,
        Some(401 | 403) => ErrorKind::NotLoggedIn,
        Some(404) => ErrorKind::UnknownModel,
        Some(413) => ErrorKind::ContextTooLong,
        Some(429) => ErrorKind::RateLimited { retry_after: None },
        Some(503 | 529) => ErrorKind::Overloaded { retry_after: None },
        Some(status @ 500..=599) => ErrorKind::Unavailable { status: Some(status) },
        Some(400..=499) => ErrorKind::BadRequest,
        _ if says(NOT_LOGGED_IN) => ErrorKind::NotLoggedIn,
        _ if says(RATE_LIMITED) => ErrorKind::RateLimited { retry_after: None },
        _ if says(UNKNOWN_MODEL) => ErrorKind::UnknownModel,
        Some(_) | None => ErrorKind::ProgramFailed { code },
    }
}

/// Returns the fault for a program that exited without an answer. The reason is taken from the
/// error output or from the end of the standard output.
pub(super) fn no_answer(finished: &Finished) -> Fault {
    let said = match finished.stderr.trim() {
        "" => ending(finished.stdout.trim()),
        said => said,
    };
    match finished.code {
        Some(0) if said.is_empty() => Fault::protocol("the program printed nothing"),
        Some(0) => Fault::protocol(said),
        Some(_) | None => fault(None, said, finished),
    }
}

fn ending(text: &str) -> &str {
    const MAX_BYTES: usize = 500;
    let from = text.ceil_char_boundary(text.len().saturating_sub(MAX_BYTES));
    text.get(from..).unwrap_or_default()
}

/// Parses the HTTP status from text such as `unexpected status 401 Unauthorized`.
pub(super) fn status_in(said: &str) -> Option<u16> {
    let (_, rest) = said.split_once("status ")?;
    let digits = rest.get(..3)?;
    digits.parse().ok().filter(|status| (400..600).contains(status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_of_agents_are_understood() {
        let limited = ErrorKind::RateLimited { retry_after: None };
        let failed = Finished { code: Some(1), ..Finished::default() };
        for (status, said, error_kind) in [
            (None, "Not logged in · Please run /login", ErrorKind::NotLoggedIn),
            (Some(401), "Invalid API key · Fix external API key", ErrorKind::NotLoggedIn),
            (Some(400), "Credit balance is too low", ErrorKind::Quota),
            (None, "Claude usage limit reached. Your limit will reset at 3pm", ErrorKind::Quota),
            (None, "You've hit your limit · resets 3pm", ErrorKind::Quota),
            (None, "Quota exceeded. Check your plan and billing details.", ErrorKind::Quota),
            (Some(429), "API Error: Request rejected (429) · slow down", limited),
            (Some(400), "Prompt is too long · the request is ~250000", ErrorKind::ContextTooLong),
            (Some(404), "There's an issue with the selected model", ErrorKind::UnknownModel),
            (Some(529), "Overloaded", ErrorKind::Overloaded { retry_after: None }),
            (None, "Error: No authentication information found.", ErrorKind::NotLoggedIn),
            (
                None,
                "error: unknown option '--safe-mode'",
                ErrorKind::ProgramFailed { code: Some(1) },
            ),
        ] {
            let fault = fault(status, said, &failed);
            assert_eq!((fault.kind, fault.said.as_deref()), (error_kind, Some(said)));
        }
    }

    #[test]
    fn the_status_is_read_from_the_words_of_codex() {
        assert_eq!(status_in("unexpected status 401 Unauthorized: no"), Some(401));
        assert_eq!(status_in("exit status 1"), None);
        assert_eq!(status_in("status 999 x"), None);
    }
}
