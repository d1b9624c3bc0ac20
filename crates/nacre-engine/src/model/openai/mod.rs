//! OpenAI's chat completions API, which many other servers implement.
//!
//! Differences between servers are stored as data in `SERVERS`: one row for each known server,
//! and common defaults for all others.

mod decode;

use nacre_base::config::EffortChoice;
use serde_json::{Map, Value, json};

use crate::model::conversation::{
    Content, Image, Message, OUTPUT_TOOL, OutputSchema, Request, Speaker,
};
use crate::model::hosted::{Decoder, Dialect, OutputMode};
use crate::model::provider::Call;
use crate::model::schema::{SchemaBounds, for_providers, is_strict};
use crate::model::secret::Secret;

#[derive(Clone, Copy, Debug)]
pub(super) struct OpenAi {
    name: &'static str,
    output: OutputMode,
    bounds: SchemaBounds,
    reads_textual_tools: bool,
    max_tokens: &'static str,
    effort: EffortField,
    sends_cache_key: bool,
}

impl OpenAi {
    pub(super) fn of_provider(name: &str) -> Self {
        SERVERS.iter().find(|server| server.name == name).copied().unwrap_or(COMMON)
    }

    /// Returns whether the model accepts a temperature. OpenAI's reasoning models reject it.
    fn takes_temperature(&self, model: &str) -> bool {
        let is_reasoning =
            ["o1", "o3", "o4", "gpt-5"].iter().any(|prefix| model.starts_with(prefix));
        self.effort != EffortField::Plain || !is_reasoning
    }

    fn effort_setting(&self, effort: EffortChoice) -> Option<(&'static str, Value)> {
        let word = if effort == EffortChoice::Off { "none" } else { effort.as_str() };
        match self.effort {
            EffortField::None => None,
            EffortField::Plain => Some(("reasoning_effort", json!(word))),
            EffortField::Nested => Some(("reasoning", json!({ "effort": word }))),
            EffortField::Switch => {
                let kind = if effort == EffortChoice::Off { "disabled" } else { "enabled" };
                Some(("thinking", json!({ "type": kind })))
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EffortField {
    None,
    /// Sent as `reasoning_effort: "low"`.
    Plain,
    /// Sent as `reasoning: { effort: "low" }`.
    Nested,
    /// Sent as `thinking: { type: "enabled" }`.
    Switch,
}

const COMMON: OpenAi = OpenAi {
    name: "",
    output: OutputMode::Native,
    bounds: SchemaBounds::Kept,
    reads_textual_tools: true,
    max_tokens: "max_tokens",
    effort: EffortField::None,
    sends_cache_key: false,
};

const SERVERS: &[OpenAi] = &[
    OpenAi {
        name: "openai",
        bounds: SchemaBounds::Dropped,
        reads_textual_tools: false,
        max_tokens: "max_completion_tokens",
        effort: EffortField::Plain,
        sends_cache_key: true,
        ..COMMON
    },
    OpenAi {
        name: "openrouter",
        bounds: SchemaBounds::Dropped,
        reads_textual_tools: false,
        effort: EffortField::Nested,
        ..COMMON
    },
    OpenAi {
        name: "zai",
        output: OutputMode::ForcedTool,
        reads_textual_tools: false,
        effort: EffortField::Switch,
        ..COMMON
    },
];

impl Dialect for OpenAi {
    fn path(&self) -> &'static str {
        "/chat/completions"
    }

    fn headers(&self, key: Option<&Secret>) -> Vec<(&'static str, String)> {
        key.map(Secret::bearer).into_iter().collect()
    }

    fn output_mode(&self, _model: &str) -> OutputMode {
        self.output
    }

    fn reads_textual_tools(&self) -> bool {
        self.reads_textual_tools
    }

    fn body(&self, call: &Call<'_>, mode: OutputMode) -> Value {
        let request = call.request;
        let model = call.model.model();
        let forced = request.output.as_ref().filter(|_| mode == OutputMode::ForcedTool);
        let native = request.output.as_ref().filter(|_| mode == OutputMode::Native);
        let mut body = Map::new();
        let mut put = |key: &str, value: Value| body.insert(key.to_owned(), value);
        put("model", json!(model));
        put("messages", Value::Array(messages(request, forced)));
        put("stream", json!(true));
        put("stream_options", json!({ "include_usage": true }));
        put(self.max_tokens, json!(request.max_tokens));
        let tools = tools(request, forced);
        if !tools.is_empty() {
            put("tools", Value::Array(tools));
            put("tool_choice", tool_choice(request, forced));
        }
        if let Some(output) = native {
            put("response_format", response_format(output, self.bounds));
        }
        if let Some(temperature) = request.temperature.filter(|_| self.takes_temperature(model)) {
            put("temperature", json!(temperature));
        }
        if let Some((key, value)) = request.effort.and_then(|wanted| self.effort_setting(wanted)) {
            put(key, value);
        }
        if let Some(key) = request.cache_key.as_ref().filter(|_| self.sends_cache_key) {
            put("prompt_cache_key", json!(key));
        }
        Value::Object(body)
    }

    fn decoder(&self, call: &Call<'_>) -> Box<dyn Decoder> {
        Box::new(decode::OpenAiDecoder::new(call.request.messages.len()))
    }
}

fn response_format(output: &OutputSchema, bounds: SchemaBounds) -> Value {
    let schema = for_providers(&output.schema, bounds);
    let strict = is_strict(&schema);
    let inner = json!({ "name": output.name, "schema": schema, "strict": strict });
    json!({ "type": "json_schema", "json_schema": inner })
}

fn tools(request: &Request, forced: Option<&OutputSchema>) -> Vec<Value> {
    let described = |name: &str, description: &str, schema: &Value| {
        let function = json!({ "name": name, "description": description, "parameters": schema });
        json!({ "type": "function", "function": function })
    };
    let own = request.tools.iter();
    let mut tools: Vec<Value> =
        own.map(|tool| described(&tool.name, &tool.description, &tool.schema)).collect();
    if let Some(output) = forced {
        tools.push(described(OUTPUT_TOOL, &output.description, &output.schema));
    }
    tools
}

fn tool_choice(request: &Request, forced: Option<&OutputSchema>) -> Value {
    match forced {
        Some(_) if request.may_call && !request.tools.is_empty() => json!("required"),
        Some(_) => json!({ "type": "function", "function": { "name": OUTPUT_TOOL } }),
        None if request.may_call => json!("auto"),
        None => json!("none"),
    }
}

fn messages(request: &Request, forced: Option<&OutputSchema>) -> Vec<Value> {
    let mut system = request.system.clone();
    if let Some(output) = forced {
        // Many servers ignore a forced tool, so repeat the instruction in the prompt.
        let asked = format!(
            "Hand in your answer by calling the tool `{OUTPUT_TOOL}`. If you cannot, answer with one JSON value of \
             this schema and nothing else: {}",
            output.schema
        );
        system = if system.is_empty() { asked } else { format!("{system}\n\n{asked}") };
    }
    let mut out = Vec::new();
    if !system.is_empty() {
        out.push(json!({ "role": "system", "content": system }));
    }
    for message in &request.messages {
        match message.speaker {
            Speaker::User => user(message, &mut out),
            Speaker::Assistant => out.extend(assistant(message)),
        }
    }
    out
}

fn user(message: &Message, out: &mut Vec<Value>) {
    let mut texts = Vec::new();
    let mut images = Vec::new();
    for content in &message.content {
        match content {
            Content::ToolResult(result) => out.push(json!({
                "role": "tool",
                "tool_call_id": result.call_id,
                "content": result.text,
            })),
            Content::Text(text) => texts.push(text.as_str()),
            Content::Image(Image { media_type, data }) => {
                let url = format!("data:{media_type};base64,{data}");
                images.push(json!({ "type": "image_url", "image_url": { "url": url } }));
            }
            Content::Reasoning(_) | Content::HiddenReasoning(_) | Content::ToolUse(_) => {}
        }
    }
    let text = texts.join("\n\n");
    match (texts.is_empty(), images.is_empty()) {
        (true, true) => {}
        // Send plain text unless there is an image, because some servers do not accept a list of
        // parts.
        (_, true) => out.push(json!({ "role": "user", "content": text })),
        (_, false) => {
            images.insert(0, json!({ "type": "text", "text": text }));
            out.push(json!({ "role": "user", "content": images }));
        }
    }
}

/// Omits reasoning, because servers use different fields for it.
fn assistant(message: &Message) -> Option<Value> {
    let mut text = String::new();
    let mut calls = Vec::new();
    for content in &message.content {
        match content {
            Content::Text(piece) => text.push_str(piece),
            Content::ToolUse(call) => calls.push(json!({
                "id": call.id,
                "type": "function",
                "function": {
                    "name": call.name,
                    "arguments": call.arguments.as_object().to_string(),
                },
            })),
            Content::Reasoning(_)
            | Content::HiddenReasoning(_)
            | Content::ToolResult(_)
            | Content::Image(_) => {}
        }
    }
    match (text.is_empty(), calls.is_empty()) {
        (true, true) => None,
        (_, true) => Some(json!({ "role": "assistant", "content": text })),
        (_, false) => Some(json!({ "role": "assistant", "content": text, "tool_calls": calls })),
    }
}

#[cfg(test)]
mod encode_tests;
