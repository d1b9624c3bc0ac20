//! Tests for chat completion requests.

use serde_json::json;

use super::*;
use crate::model::conversation::{Arguments, ToolCall, ToolDef, ToolResult, ToolStatus};
use crate::model::openai::OpenAi;
use crate::model::provider::Limits;
use nacre_types::ModelRole as Role;

fn encode(model: &str, request: &Request, mode: OutputMode) -> Value {
    let model: crate::model::roles::ModelRef = model.parse().unwrap();
    let call = Call { model: &model, request, limits: &Limits::default() };
    OpenAi::of_provider(model.provider()).body(&call, mode)
}

fn question() -> Request {
    Request {
        temperature: Some(0.5),
        effort: Some(EffortChoice::Low),
        cache_key: Some("k".to_owned()),
        ..Request::new(Role::Ask, "Be short.", "Hello")
    }
}

fn output() -> OutputSchema {
    let schema = json!({ "type": "object", "properties": { "a": {} }, "required": ["a"] });
    OutputSchema { name: "report".to_owned(), description: String::new(), schema }
}

#[test]
fn servers_get_only_what_they_know() {
    let plain = encode("vllm/qwen", &question(), OutputMode::Native);
    assert_eq!(
        plain,
        json!({
            "model": "qwen",
            "messages": [
                { "role": "system", "content": "Be short." },
                { "role": "user", "content": "Hello" },
            ],
            "stream": true,
            "stream_options": { "include_usage": true },
            "max_tokens": 4096,
            "temperature": 0.5,
        })
    );
    let openai = encode("openai/gpt-5-mini", &question(), OutputMode::Native);
    assert_eq!(openai["max_completion_tokens"], 4096);
    assert_eq!(openai["reasoning_effort"], "low");
    assert_eq!(openai["prompt_cache_key"], "k");
    assert_eq!((openai.get("temperature"), openai.get("max_tokens")), (None, None));
    let router = encode("openrouter/x/y", &question(), OutputMode::Native);
    assert_eq!(
        (&router["model"], &router["reasoning"]),
        (&json!("x/y"), &json!({ "effort": "low" }))
    );
    let zai = encode("zai/glm", &question(), OutputMode::Native);
    assert_eq!(zai["thinking"], json!({ "type": "enabled" }));
}

#[test]
fn a_conversation_with_calls_goes_back_whole() {
    let call = |id: &str, text: &str| {
        let arguments = Arguments::parse(text);
        Content::ToolUse(ToolCall { id: id.to_owned(), name: "read".to_owned(), arguments })
    };
    let content = vec![Content::Text("Look".to_owned()), call("x", "{\"p\":1}"), call("y", "{")];
    let said = Message { speaker: Speaker::Assistant, content, model: None };
    let result = |id: &str| ToolResult {
        call_id: id.to_owned(),
        text: "r".to_owned(),
        status: ToolStatus::Done,
    };
    let messages = vec![said, Message::results(vec![result("x"), result("y")])];
    let request = Request { messages, system: String::new(), ..question() };
    let function = |arguments: &str| json!({ "name": "read", "arguments": arguments });
    assert_eq!(
        encode("vllm/m", &request, OutputMode::Native)["messages"],
        json!([
            { "role": "assistant", "content": "Look", "tool_calls": [
                { "id": "x", "type": "function", "function": function("{\"p\":1}") },
                { "id": "y", "type": "function", "function": function("{\"malformed_arguments\":\"{\"}") },
            ] },
            { "role": "tool", "tool_call_id": "x", "content": "r" },
            { "role": "tool", "tool_call_id": "y", "content": "r" },
        ])
    );
}

#[test]
fn structured_output_is_native_or_a_tool() {
    let request = Request { output: Some(output()), ..question() };
    let native = encode("vllm/m", &request, OutputMode::Native);
    assert_eq!(native["response_format"]["type"], "json_schema");
    assert_eq!(native["response_format"]["json_schema"]["strict"], true);
    assert_eq!(native.get("tools"), None);
    let forced = encode("zai/m", &request, OutputMode::ForcedTool);
    assert_eq!(forced["tool_choice"]["function"]["name"], OUTPUT_TOOL);
    assert_eq!(forced.get("response_format"), None);
    let told = forced["messages"][0]["content"].as_str().unwrap();
    assert!(told.starts_with("Be short.\n\n") && told.contains("\"required\":[\"a\"]"), "{told}");
    let tool = ToolDef { name: "read".to_owned(), description: String::new(), schema: json!({}) };
    let beside = Request { tools: vec![tool], ..request };
    assert_eq!(encode("zai/m", &beside, OutputMode::ForcedTool)["tool_choice"], "required");
    let native = encode("vllm/m", &beside, OutputMode::Native);
    assert_eq!(
        (&native["tool_choice"], native["tools"].as_array().unwrap().len()),
        (&json!("auto"), 1)
    );
}

#[test]
fn a_picture_makes_a_list_of_the_message() {
    let mut request = question();
    let image = Image { media_type: "image/png".to_owned(), data: "aGk=".to_owned().into() };
    request.messages[0].content.push(Content::Image(image));
    assert_eq!(
        encode("openai/gpt-5", &request, OutputMode::Native)["messages"][1]["content"],
        json!([
            { "type": "text", "text": "Hello" },
            { "type": "image_url", "image_url": { "url": "data:image/png;base64,aGk=" } },
        ])
    );
}
