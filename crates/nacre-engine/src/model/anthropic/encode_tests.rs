//! Tests for requests to the Messages API.

use serde_json::json;

use super::*;
use crate::model::conversation::{Arguments, Reasoning, ToolCall, ToolDef, ToolResult};
use crate::model::provider::Limits;
use nacre_types::ModelRole as Role;

fn encode(model: &str, request: &Request, mode: OutputMode) -> Value {
    let model = format!("anthropic/{model}").parse().unwrap();
    Anthropic.body(&Call { model: &model, request, limits: &Limits::default() }, mode)
}

fn schema() -> Value {
    json!({ "type": "object", "properties": { "a": { "type": "string", "minLength": 1 } } })
}

fn output() -> OutputSchema {
    OutputSchema { name: "report".to_owned(), description: "Hand in.".to_owned(), schema: schema() }
}

fn tool(name: &str) -> ToolDef {
    ToolDef { name: name.to_owned(), description: String::new(), schema: schema() }
}

fn question() -> Request {
    Request { is_cached: false, ..Request::new(Role::Ask, "Be short.", "Hello") }
}

#[test]
fn a_plain_question() {
    let request = Request { temperature: Some(0.5), ..question() };
    assert_eq!(
        encode("claude-sonnet-4-5", &request, OutputMode::Native),
        json!({
            "model": "claude-sonnet-4-5",
            "max_tokens": 4096,
            "stream": true,
            "system": [{ "type": "text", "text": "Be short." }],
            "messages": [{ "role": "user", "content": [{ "type": "text", "text": "Hello" }] }],
            "temperature": 0.5,
        })
    );
    assert_eq!(encode("claude-opus-4-7", &request, OutputMode::Native)["temperature"], json!(null));
}

#[test]
fn a_conversation_with_calls_goes_back_whole() {
    let model: ModelRef = "anthropic/claude-sonnet-4-6".parse().unwrap();
    let call = ToolCall {
        id: "a:b".to_owned(),
        name: "read".to_owned(),
        arguments: Arguments::parse("{\"p\":1}"),
    };
    let thought = Reasoning { text: "hm".to_owned(), signature: Some("sig".to_owned()) };
    let content =
        vec![Content::Reasoning(thought), Content::Text(" ".to_owned()), Content::ToolUse(call)];
    let said = Message { speaker: Speaker::Assistant, content, model: Some(model) };
    let failed =
        ToolResult { call_id: "a:b".to_owned(), text: "no".to_owned(), status: ToolStatus::Failed };
    let messages =
        vec![Message::user("Hello"), said, Message::results(vec![failed]), Message::user("Go on")];
    let request = Request { messages, ..question() };
    let use_block = json!({ "type": "tool_use", "id": "a_b", "name": "read", "input": { "p": 1 } });
    let thinking = json!({ "type": "thinking", "thinking": "hm", "signature": "sig" });
    let body = encode("claude-sonnet-4-6", &request, OutputMode::Native);
    assert_eq!(
        body["messages"],
        json!([
            { "role": "user", "content": [{ "type": "text", "text": "Hello" }] },
            { "role": "assistant", "content": [thinking, use_block] },
            { "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": "a_b", "content": "no", "is_error": true },
                { "type": "text", "text": "Go on" },
            ] },
        ])
    );
    // Another model cannot verify the signature.
    let other = encode("claude-opus-4-6", &request, OutputMode::Native);
    assert_eq!(other["messages"][1]["content"], json!([use_block]));
}

#[test]
fn instructions_tools_and_the_last_turns_are_marked_for_the_cache() {
    let mut request = Request { is_cached: true, ..question() };
    request.tools = vec![tool("a"), tool("b")];
    for text in ["1", "2"] {
        let content = vec![Content::Text(text.to_owned())];
        request.messages.push(Message { speaker: Speaker::Assistant, content, model: None });
        request.messages.push(Message::user(text));
    }
    let marks = |request: &Request| {
        encode("claude-x", request, OutputMode::Native).to_string().matches("ephemeral").count()
    };
    assert_eq!(marks(&request), 4);
    assert_eq!(marks(&Request { is_cached: false, ..request.clone() }), 0);
    let body = encode("claude-x", &request, OutputMode::Native);
    assert_eq!(body["messages"][4]["content"][0]["cache_control"], json!({ "type": "ephemeral" }));
    assert_eq!(body["tools"][0].get("cache_control"), None);
}

#[test]
fn structured_output_is_native_or_a_tool() {
    let request =
        Request { output: Some(output()), effort: Some(EffortChoice::High), ..question() };
    let native = encode("claude-opus-4-7", &request, OutputMode::Native);
    assert_eq!(native["output_config"]["format"]["type"], "json_schema");
    assert_eq!(native["output_config"]["effort"], "high");
    assert_eq!(native["thinking"], json!({ "type": "adaptive" }));
    assert!(!native.to_string().contains("minLength"));
    let forced = encode("claude-opus-4-0", &request, OutputMode::ForcedTool);
    assert_eq!(forced["tool_choice"], json!({ "type": "tool", "name": OUTPUT_TOOL }));
    assert_eq!(forced["tools"][0]["input_schema"], schema());
    assert_eq!(forced.get("thinking"), None, "a forced tool and thinking exclude each other");
    let beside = Request { tools: vec![tool("read")], ..request };
    let forced = encode("claude-opus-4-0", &beside, OutputMode::ForcedTool);
    assert_eq!(forced["tool_choice"], json!({ "type": "any" }));
}

#[test]
fn older_models_think_by_a_budget() {
    let request = Request { effort: Some(EffortChoice::Medium), max_tokens: 8000, ..question() };
    let body = encode("claude-sonnet-4-5", &request, OutputMode::Native);
    assert_eq!(body["thinking"], json!({ "type": "enabled", "budget_tokens": 4000 }));
    let small = Request { max_tokens: 1000, ..request };
    assert_eq!(encode("claude-sonnet-4-5", &small, OutputMode::Native).get("thinking"), None);
}

#[test]
fn tools_can_be_chosen() {
    for (choice, expected) in
        [(true, json!({ "type": "auto" })), (false, json!({ "type": "none" }))]
    {
        let request = Request { tools: vec![tool("a")], may_call: choice, ..question() };
        assert_eq!(encode("claude-x", &request, OutputMode::Native)["tool_choice"], expected);
    }
}

#[test]
fn a_picture_is_a_block_of_its_own() {
    let mut request = question();
    let image = Image { media_type: "image/png".to_owned(), data: "aGk=".to_owned().into() };
    request.messages[0].content.push(Content::Image(image));
    assert_eq!(
        encode("claude-sonnet-4-5", &request, OutputMode::Native)["messages"][0]["content"],
        json!([
            { "type": "text", "text": "Hello" },
            {
                "type": "image",
                "source": { "type": "base64", "media_type": "image/png", "data": "aGk=" },
            },
        ])
    );
}
