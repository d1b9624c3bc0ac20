//! A request in the words of chat completions.

use serde_json::{Map, Value, json};

use super::super::content::{Content, Image};
use super::super::hosted::OutputMode;
use super::super::provider::Call;
use super::super::request::{
    Effort, Message, OUTPUT_TOOL, OutputSchema, Request, Speaker, ToolChoice,
};
use super::super::schema::{Bounds, for_providers, is_strict};
use super::{CacheKey, EffortField, Habits};

pub(super) fn body(habits: &Habits, call: &Call<'_>, mode: OutputMode) -> Value {
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
    put(habits.max_tokens, json!(request.max_tokens));
    let tools = tools(request, forced);
    if !tools.is_empty() {
        put("tools", Value::Array(tools));
        put("tool_choice", tool_choice(request, forced));
    }
    if let Some(output) = native {
        put("response_format", response_format(output, habits.bounds));
    }
    if let Some(temperature) = request.temperature.filter(|_| takes_temperature(habits, model)) {
        put("temperature", json!(temperature));
    }
    if let Some((key, value)) = effort(habits, request.effort) {
        put(key, value);
    }
    if let Some(key) = request.cache_key.as_ref().filter(|_| habits.cache_key == CacheKey::Sent) {
        put("prompt_cache_key", json!(key));
    }
    Value::Object(body)
}

/// OpenAI's reasoning models take no temperature.
fn takes_temperature(habits: &Habits, model: &str) -> bool {
    let is_reasoning = ["o1", "o3", "o4", "gpt-5"].iter().any(|prefix| model.starts_with(prefix));
    habits.effort != EffortField::Plain || !is_reasoning
}

fn effort(habits: &Habits, effort: Effort) -> Option<(&'static str, Value)> {
    let word = match effort {
        Effort::Unset => return None,
        Effort::Off => "none",
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
    };
    match habits.effort {
        EffortField::None => None,
        EffortField::Plain => Some(("reasoning_effort", json!(word))),
        EffortField::Nested => Some(("reasoning", json!({ "effort": word }))),
        EffortField::Switch => {
            let kind = if effort == Effort::Off { "disabled" } else { "enabled" };
            Some(("thinking", json!({ "type": kind })))
        }
    }
}

fn response_format(output: &OutputSchema, bounds: Bounds) -> Value {
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
    let named = |name: &str| json!({ "type": "function", "function": { "name": name } });
    match (&request.tool_choice, forced) {
        (ToolChoice::Auto | ToolChoice::Required, Some(_)) if !request.tools.is_empty() => {
            json!("required")
        }
        (_, Some(_)) => named(OUTPUT_TOOL),
        (ToolChoice::Auto, None) => json!("auto"),
        (ToolChoice::None, None) => json!("none"),
        (ToolChoice::Required, None) => json!("required"),
        (ToolChoice::Named(name), None) => named(name),
    }
}

fn messages(request: &Request, forced: Option<&OutputSchema>) -> Vec<Value> {
    let mut system = request.system.clone();
    if let Some(output) = forced {
        // Many servers ignore a forced tool; the model can still be told.
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

/// Results are messages of their own here, and stand before what the person says.
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
                let url = format!("data:{media_type};base64,{}", data.as_str());
                images.push(json!({ "type": "image_url", "image_url": { "url": url } }));
            }
            Content::Reasoning(_) | Content::HiddenReasoning(_) | Content::ToolUse(_) => {}
        }
    }
    let text = texts.join("\n\n");
    match (texts.is_empty(), images.is_empty()) {
        (true, true) => {}
        // A plain text where there is no picture: not every server reads a list.
        (_, true) => out.push(json!({ "role": "user", "content": text })),
        (_, false) => {
            images.insert(0, json!({ "type": "text", "text": text }));
            out.push(json!({ "role": "user", "content": images }));
        }
    }
}

/// Reasoning stays here: there is no field for it that servers agree on.
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
mod tests;
