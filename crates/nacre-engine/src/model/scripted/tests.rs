//! Tests that scripts are strict in both directions: every request and every turn must match.

use std::sync::Mutex;

use super::*;
use crate::model::conversation::{Arguments, StopReason, ToolDef};
use crate::model::price::Usage;
use crate::model::provider::Limits;
use crate::model::roles::ModelRef;
use nacre_types::ModelRole as Role;

async fn ask(scripted: &Scripted, request: &Request) -> Result<Response, ModelError> {
    let (model, limits) = (ModelRef::for_script(), Limits::default());
    let events = Mutex::new(Vec::new());
    let mut sink = |event: ModelEvent| events.lock().unwrap().push(event);
    let result =
        scripted.generate(Call { model: &model, request, limits: &limits }, &mut sink).await;
    let stops = events.lock().unwrap().iter().filter(|e| matches!(e, ModelEvent::Stop(_))).count();
    assert_eq!(stops, usize::from(result.is_ok()), "an answer stops once, a failure never");
    result
}

fn request(user: &str) -> Request {
    let tool = ToolDef {
        name: "read".to_owned(),
        description: String::new(),
        schema: serde_json::json!({}),
    };
    Request { tools: vec![tool], ..Request::new(Role::Explorer, "You explore.", user) }
}

#[tokio::test]
async fn turns_are_played_in_order_and_counted() {
    let script = r#"
        [[turns]]
        expect = { role = "explorer", last_contains = ["where"], tools = ["read"], n_messages = 1 }
        reasoning = "hm"
        say = "Looking."
        calls = [{ name = "read", arguments = { path = "a" } }, { id = "x", name = "read", arguments = "{" }]
        usage = { input = 10, output = 5 }

        [[turns]]
        say = "Done."
        stop = "max_tokens"
    "#;
    let scripted = Scripted::parse(script).unwrap();
    let first = ask(&scripted, &request("where is it?")).await.unwrap();
    assert_eq!((first.text().as_str(), first.reasoning().as_str()), ("Looking.", "hm"));
    assert_eq!(first.stop, StopReason::ToolUse);
    assert_eq!(first.usage, Usage { input: 10, output: 5, ..Usage::default() });
    let calls = first.calls();
    assert_eq!((calls[0].id.as_str(), calls[1].id.as_str()), ("call_1_0", "x"));
    assert!(matches!(&calls[1].arguments, Arguments::Malformed { text, .. } if text == "{"));
    assert_eq!(scripted.n_left(), 1);
    assert_eq!(ask(&scripted, &request("go")).await.unwrap().stop, StopReason::MaxTokens);
    let error = ask(&scripted, &request("more")).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::ScriptMismatch);
    assert!(error.said.unwrap().as_str().contains("all 2 turns of the script have been played"));
}

#[tokio::test(start_paused = true)]
async fn words_are_said_one_by_one_with_time_between_them() {
    let scripted = Scripted::parse(r#"{"turns":[{"say":"One two three","word_ms":40}]}"#).unwrap();
    let (model, limits, begun) =
        (ModelRef::for_script(), Limits::default(), tokio::time::Instant::now());
    let said = Mutex::new(Vec::new());
    let mut sink = |event: ModelEvent| {
        if let ModelEvent::Text(text) = event {
            said.lock().unwrap().push((text, begun.elapsed().as_millis()));
        }
    };
    let request = request("go");
    let call = Call { model: &model, request: &request, limits: &limits };
    let answer = scripted.generate(call, &mut sink).await.unwrap();
    assert_eq!(answer.text(), "One two three");
    let expected = [("One ", 0), ("two ", 40), ("three", 80)];
    assert_eq!(*said.lock().unwrap(), expected.map(|(text, at)| (text.to_owned(), at)));
}

#[tokio::test]
async fn a_mismatch_shows_both_sides() {
    let script = r#"{"turns":[{"expect":{"role":"lead","system_contains":["lead"],"last_contains":["where"],
        "tools":["write"],"output":"report","n_messages":3},"say":"x"}]}"#;
    let scripted = Scripted::parse(script).unwrap();
    let error = ask(&scripted, &request("who?")).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::ScriptMismatch);
    assert_eq!(
        error.said.unwrap().as_str(),
        "turn 1 expects role `lead`, and instructions with `lead`, and a last message with `where`, and the tool \
         `write`, and output `report`, and 3 messages; the request has role `explorer`, 1 messages, the last `who?`, \
         tools `read`, output `none`"
    );
    assert_eq!(scripted.n_left(), 1);
}

#[tokio::test]
async fn side_by_side_the_fitting_turn_is_played() {
    let script = r#"{"order":"any","turns":[
        {"expect":{"last_contains":["b"]},"say":"for b"},
        {"expect":{"last_contains":["a"]},"say":"for a"}]}"#;
    let scripted = Scripted::parse(script).unwrap();
    assert_eq!(ask(&scripted, &request("a")).await.unwrap().text(), "for a");
    assert!(ask(&scripted, &request("a")).await.is_err());
    assert_eq!(ask(&scripted, &request("b")).await.unwrap().text(), "for b");
}

#[tokio::test]
async fn a_scripted_failure_is_one() {
    let script = r#"{"turns":[{"say":"ha","error":{"kind":"quota","message":"pay"}},{"error":{"kind":"odd"}}]}"#;
    let scripted = Scripted::parse(script).unwrap();
    let error = ask(&scripted, &request("a")).await.unwrap_err();
    assert_eq!((error.kind, error.said.unwrap().as_str()), (ErrorKind::Quota, "pay"));
    assert_eq!(ask(&scripted, &request("a")).await.unwrap_err().kind, ErrorKind::ScriptMismatch);
}

#[test]
fn a_script_with_a_slip_is_refused() {
    for text in [
        "",
        "{}",
        r#"{"turns":[{"sya":"x"}]}"#,
        r#"{"turns":[{"expect":{"rolle":"lead"}}]}"#,
        r#"{"turns":[{"expect":{"role":"boss"}}]}"#,
        r#"{"order":"odd","turns":[]}"#,
        "[[turns]]\nsay = 5",
    ] {
        assert!(Scripted::parse(text).is_err(), "{text}");
    }
}
