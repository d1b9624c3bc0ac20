//! Tests for Messages API streams.

use serde_json::json;

use super::*;
use crate::model::collect::Collector;
use crate::model::conversation::{Content, Reasoning, Request, Response};
use crate::model::roles::ModelRef;
use nacre_types::ModelRole as Role;

fn play(events: &[Value]) -> Result<Response, Fault> {
    let mut decoder = AnthropicDecoder::default();
    let mut collector = Collector::new(1 << 20);
    let mut out = Vec::new();
    for event in events {
        let data = event.to_string();
        if decoder.frame(&Frame { event: None, data }, &mut out)?.is_break() {
            break;
        }
    }
    decoder.end(&mut out)?;
    for event in &out {
        collector.push(event)?;
    }
    let model: ModelRef = "anthropic/m".parse().unwrap();
    Ok(collector.finish(&model, &Request::new(Role::Ask, "", "")))
}

fn block(start: &Value, deltas: &[Value]) -> Vec<Value> {
    let mut events = vec![json!({ "type": "content_block_start", "content_block": start })];
    events.extend(
        deltas.iter().map(|delta| json!({ "type": "content_block_delta", "delta": delta })),
    );
    events.push(json!({ "type": "content_block_stop" }));
    events
}

fn stop(reason: &str) -> Value {
    json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": { "output_tokens": 7 } })
}

#[test]
fn reasoning_keeps_its_signature_and_its_place() {
    let mut events = block(
        &json!({ "type": "thinking", "thinking": "" }),
        &[
            json!({ "type": "thinking_delta", "thinking": "h" }),
            json!({ "type": "thinking_delta", "thinking": "m" }),
            json!({ "type": "signature_delta", "signature": "si" }),
            json!({ "type": "signature_delta", "signature": "g" }),
        ],
    );
    events.extend(block(&json!({ "type": "redacted_thinking", "data": "xyz" }), &[]));
    // Reasoning with a signature but without text.
    events.extend(block(
        &json!({ "type": "thinking", "thinking": "" }),
        &[json!({ "type": "signature_delta", "signature": "other" })],
    ));
    events.extend(block(
        &json!({ "type": "text", "text": "" }),
        &[json!({ "type": "text_delta", "text": "hi" })],
    ));
    events.push(stop("end_turn"));
    events.push(json!({ "type": "message_stop" }));
    let reasoning = |text: &str, signature: &str| {
        let signature = Some(signature.to_owned());
        Content::Reasoning(Reasoning { text: text.to_owned(), signature })
    };
    assert_eq!(
        play(&events).unwrap().content,
        [
            reasoning("hm", "sig"),
            Content::HiddenReasoning("xyz".to_owned()),
            reasoning("", "other"),
            Content::Text("hi".to_owned()),
        ]
    );
}

#[test]
fn counts_are_cumulative_and_the_last_ones_incomplete() {
    let usage = json!({
        "input_tokens": 5, "cache_read_input_tokens": 50, "cache_creation_input_tokens": 20, "output_tokens": 1,
    });
    let start = json!({ "type": "message_start", "message": { "usage": usage } });
    let usage = play(&[start, stop("end_turn")]).unwrap().usage;
    let expected =
        Usage { input: 5, cache_read: 50, cache_write: 20, output: 7, ..Usage::default() };
    assert_eq!(usage, expected);
}

#[test]
fn what_the_api_may_add_is_passed_over() {
    let mut events = vec![json!({ "type": "brand_new" }), json!({ "type": "ping" })];
    events.extend(block(
        &json!({ "type": "server_tool_use", "id": "x" }),
        &[json!({ "type": "new_delta" })],
    ));
    events.push(stop("brand_new"));
    let response = play(&events).unwrap();
    assert_eq!(
        (response.content.len(), response.stop),
        (0, StopReason::Other("brand_new".to_owned()))
    );
}

#[test]
fn how_it_ends_is_told() {
    for (reason, expected) in [
        ("end_turn", StopReason::End),
        ("stop_sequence", StopReason::End),
        ("max_tokens", StopReason::MaxTokens),
        ("refusal", StopReason::Refusal),
        ("model_context_window_exceeded", StopReason::ContextFull),
    ] {
        assert_eq!(play(&[stop(reason)]).unwrap().stop, expected);
    }
    let error = json!({ "type": "error", "error": { "type": "overloaded_error", "message": "m" } });
    let text = block(&json!({ "type": "text", "text": "hi" }), &[]);
    for (events, kind) in [
        (text, ErrorKind::CutStream),
        (vec![error], ErrorKind::Overloaded { retry_after: None }),
        (vec![json!({ "type": "message", "content": [] })], ErrorKind::Protocol),
    ] {
        assert_eq!(play(&events).unwrap_err().kind, kind);
    }
}

#[test]
fn a_signature_without_end_is_refused() {
    let piece = json!({ "type": "signature_delta", "signature": "x".repeat(64 << 10) });
    let thinking = json!({ "type": "thinking", "thinking": "" });
    let fault = play(&block(&thinking, &vec![piece; 17])).unwrap_err();
    assert_eq!(fault.kind, ErrorKind::Protocol);
}
