//! A request in the words of the Messages API.

use serde_json::{Map, Value, json};

use super::super::content::{Content, Image, ToolStatus};
use super::super::hosted::OutputMode;
use super::super::names::ModelRef;
use super::super::provider::Call;
use super::super::request::{
    Cache, Effort, Message, OUTPUT_TOOL, OutputSchema, Request, Speaker, ToolChoice,
};
use super::super::schema::{Bounds, for_providers};
use super::Generation;

/// How many of the last turns are marked for the cache; the API takes four marks, and instructions and tools
/// have one each.
const CACHED_TURNS: usize = 2;

pub(super) fn body(call: &Call<'_>, mode: OutputMode) -> Value {
    let request = call.request;
    let forced = request.output.as_ref().filter(|_| mode == OutputMode::ForcedTool);
    let native = request.output.as_ref().filter(|_| mode == OutputMode::Native);
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(call.model.model()));
    body.insert("max_tokens".to_owned(), json!(request.max_tokens));
    body.insert("stream".to_owned(), json!(true));
    if !request.system.is_empty() {
        let mut block = json!({ "type": "text", "text": request.system });
        mark(&mut block, request.cache);
        body.insert("system".to_owned(), json!([block]));
    }
    body.insert("messages".to_owned(), Value::Array(messages(request, call.model)));
    let tools = tools(request, forced);
    if !tools.is_empty() {
        body.insert("tools".to_owned(), Value::Array(tools));
        body.insert("tool_choice".to_owned(), tool_choice(request, forced));
    }
    let is_forced = forced.is_some()
        || matches!(request.tool_choice, ToolChoice::Required | ToolChoice::Named(_));
    let mut config = Map::new();
    let thinking = thinking(request, call.model.model(), &mut config).filter(|_| !is_forced);
    let thinks = thinking.is_some();
    body.extend(thinking.map(|thinking| ("thinking".to_owned(), thinking)));
    if let Some(output) = native {
        let schema = for_providers(&output.schema, Bounds::Dropped);
        let format = json!({ "type": "json_schema", "schema": schema });
        config.insert("format".to_owned(), format);
    }
    if !config.is_empty() {
        body.insert("output_config".to_owned(), Value::Object(config));
    }
    let takes_temperature = Generation::of(call.model.model()) != Generation::Adaptive;
    if let Some(temperature) = request.temperature.filter(|_| !thinks && takes_temperature) {
        body.insert("temperature".to_owned(), json!(temperature));
    }
    Value::Object(body)
}

/// Returns what makes the model think, if it is to.
fn thinking(request: &Request, model: &str, config: &mut Map<String, Value>) -> Option<Value> {
    let (effort, budget) = match request.effort {
        Effort::Unset | Effort::Off => return None,
        Effort::Low => ("low", 2048),
        Effort::Medium => ("medium", 8192),
        Effort::High => ("high", 24_576),
    };
    match Generation::of(model) {
        Generation::Adaptive => {
            config.insert("effort".to_owned(), json!(effort));
            Some(json!({ "type": "adaptive" }))
        }
        Generation::Budgeted | Generation::Between => {
            // The budget is part of the answer's tokens and may not be all of them; 1024 is the least there is.
            let budget = budget.min(request.max_tokens / 2);
            let enabled = || json!({ "type": "enabled", "budget_tokens": budget });
            (1024 <= budget).then(enabled)
        }
    }
}

fn tools(request: &Request, forced: Option<&OutputSchema>) -> Vec<Value> {
    let described = |name: &str, description: &str, schema: &Value| json!({ "name": name, "description": description, "input_schema": schema });
    let mut tools: Vec<Value> = request
        .tools
        .iter()
        .map(|tool| described(&tool.name, &tool.description, &tool.schema))
        .collect();
    if let Some(output) = forced {
        tools.push(described(OUTPUT_TOOL, &output.description, &output.schema));
    }
    if let Some(last) = tools.last_mut() {
        mark(last, request.cache);
    }
    tools
}

fn tool_choice(request: &Request, forced: Option<&OutputSchema>) -> Value {
    match (&request.tool_choice, forced) {
        (ToolChoice::None, None) => json!({ "type": "none" }),
        (ToolChoice::Auto | ToolChoice::Required, Some(_)) if !request.tools.is_empty() => {
            json!({ "type": "any" })
        }
        (_, Some(_)) => json!({ "type": "tool", "name": OUTPUT_TOOL }),
        (ToolChoice::Auto, None) => json!({ "type": "auto" }),
        (ToolChoice::Required, None) => json!({ "type": "any" }),
        (ToolChoice::Named(name), None) => json!({ "type": "tool", "name": name }),
    }
}

fn messages(request: &Request, model: &ModelRef) -> Vec<Value> {
    let mut out: Vec<(Speaker, Vec<Value>)> = Vec::new();
    for message in &request.messages {
        let blocks = blocks(message, model);
        if blocks.is_empty() {
            continue;
        }
        // Turns must alternate; two of the same speaker become one.
        match out.last_mut() {
            Some((speaker, last)) if *speaker == message.speaker => last.extend(blocks),
            Some(_) | None => out.push((message.speaker, blocks)),
        }
    }
    if request.cache == Cache::Conversation {
        let turns = out.iter_mut().rev().filter(|(speaker, _)| *speaker == Speaker::User);
        for (_, blocks) in turns.take(CACHED_TURNS) {
            if let Some(block) = blocks.last_mut() {
                mark(block, request.cache);
            }
        }
    }
    let named = |speaker| match speaker {
        Speaker::User => "user",
        Speaker::Assistant => "assistant",
    };
    let turn = |(speaker, blocks)| json!({ "role": named(speaker), "content": blocks });
    out.into_iter().map(turn).collect()
}

fn blocks(message: &Message, model: &ModelRef) -> Vec<Value> {
    let is_own = message.model.as_ref() == Some(model);
    let results_first =
        message.content.iter().filter(|part| matches!(part, Content::ToolResult(_)));
    let others = message.content.iter().filter(|part| !matches!(part, Content::ToolResult(_)));
    results_first.chain(others).filter_map(|content| block(content, is_own)).collect()
}

fn block(content: &Content, is_own: bool) -> Option<Value> {
    match content {
        // The API refuses blocks without text.
        Content::Text(text) => {
            (!text.trim().is_empty()).then(|| json!({ "type": "text", "text": text }))
        }
        Content::Reasoning(reasoning) => {
            let signature = reasoning.signature.as_ref().filter(|_| is_own)?;
            let thinking = &reasoning.text;
            Some(json!({ "type": "thinking", "thinking": thinking, "signature": signature }))
        }
        Content::HiddenReasoning(data) => {
            is_own.then(|| json!({ "type": "redacted_thinking", "data": data }))
        }
        Content::ToolUse(call) => Some(json!({
            "type": "tool_use",
            "id": clean_id(&call.id),
            "name": call.name,
            "input": call.arguments.as_object(),
        })),
        Content::ToolResult(result) => Some(json!({
            "type": "tool_result",
            "tool_use_id": clean_id(&result.call_id),
            "content": result.text,
            "is_error": result.status == ToolStatus::Failed,
        })),
        Content::Image(Image { media_type, data }) => Some(json!({
            "type": "image",
            "source": { "type": "base64", "media_type": media_type, "data": data.as_str() },
        })),
    }
}

/// Ids may come from another provider, which allows more characters in them.
fn clean_id(id: &str) -> String {
    let clean = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    id.chars().map(clean).collect()
}

fn mark(block: &mut Value, cache: Cache) {
    if let (Cache::Prefix | Cache::Conversation, Value::Object(block)) = (cache, block) {
        block.insert("cache_control".to_owned(), json!({ "type": "ephemeral" }));
    }
}

#[cfg(test)]
mod tests;
