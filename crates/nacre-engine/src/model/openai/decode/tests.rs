//! Tests with responses as sent by real servers.

use serde_json::json;

use super::*;
use crate::model::collect::Collector;
use crate::model::conversation::{Arguments, Request, Response};
use crate::model::roles::ModelRef;
use nacre_types::ModelRole as Role;

/// Decodes the chunks, performs the checks that apply to every response, and returns the collected
/// response.
fn play(chunks: &[Value]) -> Result<Response, Fault> {
    let mut decoder = OpenAiDecoder::new(1);
    let mut collector = Collector::new(1 << 20);
    let mut out = Vec::new();
    for chunk in chunks {
        let data = chunk.to_string();
        let _is_last = decoder.frame(&Frame { event: None, data }, &mut out)?;
    }
    decoder.end(&mut out)?;
    for event in &out {
        collector.push(event)?;
    }
    let request = Request::new(Role::Ask, "", "");
    let model: ModelRef = "p/m".parse().unwrap();
    Ok(collector.finish(&model, &request))
}

fn delta(delta: &Value) -> Value {
    json!({ "choices": [{ "index": 0, "delta": delta }] })
}

fn stop(reason: &str) -> Value {
    json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] })
}

fn check_calls(pieces: &Value, expected: &[(&str, &str, Value)]) {
    let mut chunks: Vec<Value> = pieces
        .as_array()
        .unwrap()
        .iter()
        .map(|calls| delta(&json!({ "tool_calls": calls })))
        .collect();
    chunks.push(stop("stop"));
    let response = play(&chunks).unwrap();
    let got: Vec<(&str, &str, Value)> = response
        .calls()
        .into_iter()
        .map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.as_object()))
        .collect();
    assert_eq!(got, expected, "{pieces}");
    assert_eq!(response.stop, StopReason::ToolUse);
}

#[test]
fn calls_are_put_together_however_they_come() {
    let read = || json!({ "path": "a" });
    // As the API specifies.
    check_calls(
        &json!([
            [{ "index": 0, "id": "x", "function": { "name": "read", "arguments": "" } }],
            [{ "index": 0, "function": { "arguments": "{\"path\":" } }],
            [{ "index": 1, "id": "y", "function": { "name": "list", "arguments": "{}" } }],
            [{ "index": 0, "function": { "arguments": "\"a\"}" } }],
        ]),
        &[("x", "read", read()), ("y", "list", json!({}))],
    );
    // Without IDs.
    check_calls(
        &json!([
            [{ "index": 0, "function": { "name": "read", "arguments": "{\"path\":" } }],
            [{ "index": 0, "function": { "arguments": "\"a\"}" } }],
            [{ "index": 1, "function": { "name": "list", "arguments": "{}" } }],
        ]),
        &[("call_1_0", "read", read()), ("call_1_1", "list", json!({}))],
    );
    // Calls without IDs or indexes, and with arguments given as an object.
    check_calls(
        &json!([
            [{ "function": { "name": "read", "arguments": { "path": "a" } } }],
            [{ "function": { "name": "list", "arguments": {} } }],
        ]),
        &[("call_1_0", "read", read()), ("call_1_1", "list", json!({}))],
    );
    // Different calls that share an index, with and without IDs.
    check_calls(
        &json!([
            [{ "index": 0, "id": "x", "function": { "name": "read", "arguments": "{\"path\":\"a\"}" } }],
            [{ "index": 0, "id": "y", "function": { "name": "list", "arguments": "{}" } }],
        ]),
        &[("x", "read", read()), ("y", "list", json!({}))],
    );
    check_calls(
        &json!([[
            { "index": 0, "function": { "name": "read", "arguments": "{\"path\":\"a\"}" } },
            { "index": 0, "function": { "name": "list", "arguments": "{}" } },
        ]]),
        &[("call_1_0", "read", read()), ("call_1_1", "list", json!({}))],
    );
    // ID and name in every piece.
    check_calls(
        &json!([
            [{ "index": 0, "id": "x", "function": { "name": "read", "arguments": "{\"path\"" } }],
            [{ "index": 0, "id": "x", "function": { "name": "read", "arguments": ":\"a\"}" } }],
        ]),
        &[("x", "read", read())],
    );
    // Name after the arguments.
    check_calls(
        &json!([
            [{ "index": 0, "id": "x", "function": { "arguments": "{\"path\"" } }],
            [{ "index": 0, "function": { "name": "read", "arguments": ":\"a\"}" } }],
        ]),
        &[("x", "read", read())],
    );
}

#[test]
fn malformed_arguments_are_kept_as_they_are() {
    let call = json!({ "index": 0, "id": "x", "function": { "name": "read", "arguments": "{\"path\": " } });
    let response = play(&[delta(&json!({ "tool_calls": [call] })), stop("tool_calls")]).unwrap();
    let arguments = &response.calls()[0].arguments;
    assert!(matches!(arguments, Arguments::Malformed { text, .. } if text == "{\"path\": "));
}

#[test]
fn reasoning_is_kept_apart() {
    for chunks in [
        vec![
            delta(&json!({ "reasoning_content": "hm", "content": null })),
            delta(&json!({ "content": "hi" })),
        ],
        vec![delta(&json!({ "reasoning": "hm" })), delta(&json!({ "content": "hi" }))],
        vec![
            delta(&json!({ "content": "<think>h" })),
            delta(&json!({ "content": "m</think>\nhi" })),
        ],
        vec![delta(&json!({ "reasoning": "hm", "content": [{ "type": "text", "text": "hi" }] }))],
    ] {
        let chunks: Vec<Value> = chunks.into_iter().chain([stop("stop")]).collect();
        let response = play(&chunks).unwrap();
        assert_eq!((response.reasoning(), response.text()), ("hm".to_owned(), "hi".to_owned()));
    }
}

#[test]
fn usage_counts_cached_tokens_once() {
    let usage = json!({
        "prompt_tokens": 100, "completion_tokens": 20, "cost": 0.001,
        "prompt_tokens_details": { "cached_tokens": 60 },
        "completion_tokens_details": { "reasoning_tokens": 5 },
    });
    let response = play(&[stop("stop"), json!({ "choices": [], "usage": usage })]).unwrap();
    let expected = Usage {
        input: 40,
        cache_read: 60,
        cache_write: 0,
        output: 20,
        reasoning: 5,
        reported: Cost::from_dollars(0.001),
    };
    assert_eq!(response.usage, expected);
    assert_eq!(response.usage.total(), 120);
}

#[test]
fn a_whole_answer_is_read_like_a_stream() {
    let message = json!({
        "role": "assistant", "content": "hi", "tool_calls": [
            { "id": "x", "type": "function", "function": { "name": "read", "arguments": "{}" } },
        ],
    });
    let whole =
        json!({ "choices": [{ "index": 0, "message": message, "finish_reason": "tool_calls" }] });
    let response = play(&[whole]).unwrap();
    assert_eq!((response.text().as_str(), response.calls().len()), ("hi", 1));
}

#[test]
fn how_it_ends_is_told() {
    for (chunks, expected) in [
        (vec![stop("stop")], StopReason::End),
        (vec![stop("length")], StopReason::MaxTokens),
        (vec![stop("content_filter")], StopReason::ContentFilter),
        (vec![delta(&json!({ "refusal": "No." })), stop("stop")], StopReason::Refusal),
        (vec![stop("tool_calls")], StopReason::End),
        (vec![stop("odd")], StopReason::Other("odd".to_owned())),
    ] {
        assert_eq!(play(&chunks).unwrap().stop, expected);
    }
    for (chunks, expected) in [
        (vec![delta(&json!({ "content": "hi" }))], ErrorKind::CutStream),
        (
            vec![json!({ "error": { "code": 429, "message": "m" } })],
            ErrorKind::RateLimited { retry_after: None },
        ),
        (
            vec![
                json!({ "choices": [{ "finish_reason": "error", "error": { "code": 502, "message": "m" } }] }),
            ],
            ErrorKind::Unavailable { status: Some(502) },
        ),
    ] {
        assert_eq!(play(&chunks).unwrap_err().kind, expected);
    }
}

#[test]
fn what_is_held_back_is_bounded() {
    let piece = "x".repeat(64 << 10);
    let nameless = json!({ "tool_calls": [{ "index": 0, "function": { "arguments": piece } }] });
    let fault = play(&vec![delta(&nameless); 17]).unwrap_err();
    assert_eq!(fault.kind, ErrorKind::Protocol);
    let mut fits = vec![delta(&nameless); 15];
    fits.push(stop("stop"));
    play(&fits).unwrap();
    let many =
        (0..300).map(|n| delta(&json!({ "tool_calls": [{ "index": n, "id": format!("c{n}") }] })));
    let fault = play(&many.collect::<Vec<_>>()).unwrap_err();
    assert_eq!(fault.kind, ErrorKind::Protocol);
}
