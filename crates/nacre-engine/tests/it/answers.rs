//! Tests for successful answers.

use nacre_engine::model::{
    Arguments, Limits, Message, ModelEvent, Request, StopReason, ToolResult, ToolStatus, Usage,
};
use serde_json::json;

use crate::harness::{KEY, ask, ask_with, control, question, route, route_of};
use crate::loopback::{Loopback, Reply};
use crate::styles::{BOTH, Style, data};

#[tokio::test]
async fn text_is_streamed_counted_and_asked_for_properly() {
    for style in BOTH {
        let server = Loopback::start(vec![style.text(&["Hel", "lö ", "you"])]).await;
        let outcome = ask(&route(&[(style, &server)])).await;
        let response = outcome.result.as_ref().unwrap();
        assert_eq!((response.text().as_str(), &response.stop), ("Hellö you", &StopReason::End));
        let usage = Usage { input: 10, cache_read: 90, output: 20, ..Usage::default() };
        assert_eq!(response.usage, usage);
        let n_pieces = outcome.events.iter().filter(|e| matches!(e, ModelEvent::Text(_))).count();
        assert_eq!(n_pieces, 3);
        let requests = server.requests();
        let [request] = requests.as_slice() else { panic!("{requests:?}") };
        let head = request.head.to_lowercase();
        let (line, key) = match style {
            Style::Anthropic => ("post /v1/messages http/1.1", format!("x-api-key: {KEY}")),
            Style::OpenAi => ("post /v1/chat/completions http/1.1", format!("bearer {KEY}")),
        };
        assert!(head.starts_with(line) && head.contains(&key), "{head}");
        assert!(!head.contains("accept-encoding"), "{head}");
        assert_eq!((&request.body["stream"], &request.body["model"]), (&json!(true), &json!("m")));
    }
}

#[tokio::test]
async fn an_answer_that_goes_round_and_round_is_ended() {
    for style in BOTH {
        let round = ["The lock is held until the job is claimed. "; 40];
        let pieces: Vec<&str> = ["It waits. "].into_iter().chain(round).collect();
        let server = Loopback::start(vec![style.text(&pieces)]).await;
        let outcome = ask(&route(&[(style, &server)])).await;
        let response = outcome.result.as_ref().unwrap();
        let kept = "It waits. The lock is held until the job is claimed.";
        assert_eq!((response.text().as_str(), &response.stop), (kept, &StopReason::End));
        let n_pieces = outcome.events.iter().filter(|e| matches!(e, ModelEvent::Text(_))).count();
        assert!(n_pieces < 20, "{n_pieces}");
    }
}

#[tokio::test]
async fn parallel_calls_keep_their_order_and_arguments() {
    let calls = [
        ("x1", "read", "{\"path\":\"a\"}"),
        ("x2", "read", "{\"path\":\"bb\"}"),
        ("x3", "read", ""),
    ];
    for style in BOTH {
        let server = Loopback::start(vec![style.calls(&calls)]).await;
        let response = ask(&route(&[(style, &server)])).await.result.unwrap();
        assert_eq!(response.stop, StopReason::ToolUse);
        let got: Vec<(&str, serde_json::Value)> = response
            .calls()
            .into_iter()
            .map(|call| (call.id.as_str(), call.arguments.as_object()))
            .collect();
        let expected =
            [("x1", json!({ "path": "a" })), ("x2", json!({ "path": "bb" })), ("x3", json!({}))];
        assert_eq!(got, expected, "{style:?}");
    }
}

#[tokio::test]
async fn malformed_arguments_and_unknown_names_reach_the_caller() {
    for style in BOTH {
        let calls = [("x1", "read", "{\"path\": oops"), ("x2", "no_such_tool", "{\"a\":1}")];
        let server = Loopback::start(vec![style.calls(&calls)]).await;
        let response = ask(&route(&[(style, &server)])).await.result.unwrap();
        let calls = response.calls();
        assert!(
            matches!(&calls[0].arguments, Arguments::Malformed { text, .. } if text == "{\"path\": oops")
        );
        assert_eq!(calls[1].name, "no_such_tool");
        // Both calls can be sent back with their results.
        let result = |id: &str| ToolResult {
            call_id: id.to_owned(),
            text: "failed".to_owned(),
            status: ToolStatus::Failed,
        };
        let mut request = question();
        request.messages.push(Message::assistant(&response));
        request.messages.push(Message::results(vec![result("x1"), result("x2")]));
        let again = Loopback::start(vec![style.text(&["ok"])]).await;
        ask_with(&route(&[(style, &again)]), &request, &control()).await.result.unwrap();
        assert!(again.requests()[0].body.to_string().contains("oops"));
    }
}

#[tokio::test]
async fn a_refusal_is_an_answer() {
    for style in BOTH {
        let server = Loopback::start(vec![style.refusal()]).await;
        let response = ask(&route(&[(style, &server)])).await.result.unwrap();
        assert_eq!((response.text().as_str(), response.stop), ("No.", StopReason::Refusal));
        assert_eq!(server.requests().len(), 1, "nobody is asked twice to change their mind");
    }
}

#[tokio::test]
async fn a_megabyte_goes_both_ways() {
    let piece = "0123456789abcdef".repeat(64);
    let pieces = vec![piece.as_str(); 1024];
    let argument = format!("{{\"path\":\"{}\"}}", "x".repeat(900_000));
    for style in BOTH {
        let reply = style.answer(&pieces, &[("x", "read", &argument)], style.ends_normally());
        let server = Loopback::start(vec![reply]).await;
        let big = ToolResult {
            call_id: "x0".to_owned(),
            text: "y".repeat(1 << 20),
            status: ToolStatus::Done,
        };
        let mut request = question();
        request.messages.push(Message::results(vec![big]));
        let outcome = ask_with(&route(&[(style, &server)]), &request, &control()).await;
        let response = outcome.result.unwrap();
        assert_eq!(response.text().len(), 1 << 20);
        assert_eq!(
            response.calls()[0].arguments.as_object()["path"].as_str().unwrap().len(),
            900_000
        );
        assert!(server.requests()[0].body.to_string().len() > 1 << 20);
    }
}

#[tokio::test]
async fn an_answer_that_does_not_end_is_ended() {
    for style in BOTH {
        let server = Loopback::start(vec![style.text(&["0123456789"; 20])]).await;
        let mut control = control();
        control.limits = Limits { answer_bytes: 150, ..control.limits };
        let outcome = ask_with(&route(&[(style, &server)]), &question(), &control).await;
        assert_eq!(outcome.kind(), "protocol");
        let long_line = Reply::stream([format!("data: {}", "x".repeat(3 << 20))]);
        let server = Loopback::start(vec![long_line]).await;
        assert_eq!(ask(&route(&[(style, &server)])).await.kind(), "protocol");
    }
}

#[tokio::test]
async fn a_server_that_cannot_stream_is_understood() {
    let message = json!({ "role": "assistant", "content": "hi" });
    let whole = json!({ "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }] });
    let reply = Reply::with_type("application/json; charset=utf-8", [whole.to_string()]);
    let server = Loopback::start(vec![reply]).await;
    let response = ask(&route(&[(Style::OpenAi, &server)])).await.result.unwrap();
    assert_eq!(response.text(), "hi");
}

#[tokio::test]
async fn printed_calls_become_calls_where_servers_fail_to_parse_them() {
    let text = "Let me look.\n```json\n{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}\n```";
    let server = Loopback::start(vec![Style::OpenAi.text(&[text])]).await;
    let local = route_of(&[("llamacpp", Style::OpenAi, &server)], KEY);
    let outcome = ask(&local).await;
    let response = outcome.result.unwrap();
    assert_eq!((response.text().as_str(), &response.stop), ("Let me look.", &StopReason::ToolUse));
    let call = response.calls()[0];
    assert_eq!((call.name.as_str(), call.id.as_str()), ("read", "call_1_0"));
    assert!(outcome.events.contains(&ModelEvent::TextReplaced { text: "Let me look.".to_owned() }));
    // A server that parses calls itself sends a quoted call as text.
    let hosted = ask(&route(&[(Style::OpenAi, &server)])).await.result.unwrap();
    assert_eq!((hosted.text().as_str(), hosted.calls().len()), (text, 0));
    // The same applies to any server when no tools were offered.
    let bare = Request { tools: Vec::new(), ..question() };
    let outcome = ask_with(&local, &bare, &control()).await;
    assert_eq!(outcome.result.unwrap().text(), text);
}

#[tokio::test]
async fn a_stream_without_its_closing_mark_is_complete() {
    let stop = json!({ "choices": [{ "delta": { "content": "hi" }, "finish_reason": "stop" }] });
    let line = data(&stop);
    for reply in [Reply::stream([line.clone()]), Reply::stream([line.trim_end().to_owned()])] {
        let server = Loopback::start(vec![reply]).await;
        let response = ask(&route(&[(Style::OpenAi, &server)])).await.result.unwrap();
        assert_eq!(response.text(), "hi");
    }
}
