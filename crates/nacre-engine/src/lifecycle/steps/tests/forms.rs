//! Tests for structured answers, which the host checks.

use serde_json::{Value, json};

use super::*;
use crate::lifecycle::steps::*;
use crate::lifecycle::{Completion, Validator, Weight};
use crate::model::OutputSchema;
use crate::record::RunEffects;

/// Returns an agent that must return a number below ten.
fn counter(weight: Weight) -> AgentSpec {
    let schema = json!({
        "type": "object",
        "properties": { "n": { "type": "integer" } },
        "required": ["n"],
        "additionalProperties": false,
    });
    let output =
        OutputSchema { name: "count".to_owned(), description: "A number.".to_owned(), schema };
    let small = Validator::new("small", weight, |answer: &Value, _: &RunEffects| match answer["n"]
        .as_i64()
    {
        Some(n) if n < 10 => Vec::new(),
        Some(_) | None => vec!["`n` must be below ten".to_owned()],
    });
    AgentSpec { completion: Completion::Structured { output, validators: vec![small] }, ..chat() }
}

fn answer(n: i64) -> String {
    format!("[[turns]]\ncalls = [{{ name = 'answer', arguments = {{ n = {n} }} }}]\n")
}

#[tokio::test]
async fn an_answer_is_handed_in_by_its_tool() {
    let script = format!(
        "[[turns]]\nexpect = {{ tools = ['answer'] }}\ncalls = [{{ name = 'echo', arguments = {{ word = 'x' }} }}]\n{}",
        answer(3)
    );
    let played = play(&counter(Weight::Must), &script).await;
    assert_eq!((played.state().as_str(), played.left), ("completed(done)", 0));
    assert_eq!(played.outcome.answer, Some(json!({ "n": 3 })));
}

#[tokio::test]
async fn a_wrong_answer_goes_back_twice_and_no_more() {
    let twice = format!("{}{}{}", answer(10), answer(11), answer(9));
    let played = play(&counter(Weight::Must), &twice).await;
    assert_eq!((played.state().as_str(), played.left), ("completed(done)", 0));
    let reopened = played.names().iter().filter(|name| **name == "completion.reopen").count();
    assert_eq!(reopened, 2);
    let thrice = format!("{}{}{}{}", answer(10), answer(11), answer(12), answer(1));
    let played = play(&counter(Weight::Must), &thrice).await;
    assert_eq!((played.state().as_str(), played.left), ("failed(output)", 1));
    assert_eq!(played.outcome.answer, None);
}

#[tokio::test]
async fn a_doubt_that_stays_is_kept_with_the_answer() {
    let thrice = format!("{}{}{}", answer(10), answer(11), answer(12));
    let played = play(&counter(Weight::Should), &thrice).await;
    assert_eq!(played.state(), "completed(done)");
    assert_eq!(played.outcome.answer, Some(json!({ "n": 12 })));
    assert_eq!(played.outcome.doubts, ["`n` must be below ten"]);
}

#[tokio::test]
async fn an_answer_in_words_is_asked_for_in_its_form() {
    let script = r#"
        [[turns]]
        say = "I count four."
        [[turns]]
        expect = { output = "count", last_contains = ["in the required form"] }
        say = "{\"n\": 4}"
    "#;
    let played = play(&counter(Weight::Must), script).await;
    assert_eq!(played.outcome.answer, Some(json!({ "n": 4 })));
    let echo = script.replace("I count four.", "{\\\"type\\\": \\\"function\\\"}");
    let played = play(&counter(Weight::Must), &echo).await;
    assert_eq!(
        played.outcome.answer,
        Some(json!({ "n": 4 })),
        "JSON of another shape is words, too"
    );
    let fenced = "[[turns]]\nsay = \"Here:\\n```json\\n{\\\"n\\\": 5}\\n```\"";
    assert_eq!(play(&counter(Weight::Must), fenced).await.outcome.answer, Some(json!({ "n": 5 })));
}

#[tokio::test]
async fn an_agent_without_tools_is_asked_for_the_form_at_once() {
    let mut spec = counter(Weight::Must);
    spec.tools.clear();
    let script = "[[turns]]\nexpect = { output = 'count', n_messages = 1 }\nsay = '{\"n\": 6}'";
    assert_eq!(play(&spec, script).await.outcome.answer, Some(json!({ "n": 6 })));
}

#[tokio::test]
async fn what_never_takes_the_form_fails_within_the_steps() {
    let words = "[[turns]]\nsay = 'Four or so.'\n".repeat(20);
    let played = play(&counter(Weight::Must), &words).await;
    assert_eq!(played.state(), "failed(output)");
    assert!(played.outcome.facts.model_calls <= 4);
    let mut hurried = counter(Weight::Must);
    hurried.budgets.steps = 2;
    assert_eq!(play(&hurried, &words).await.state(), "failed(budget)");
}

#[tokio::test]
async fn arguments_that_are_no_json_cost_a_repair() {
    let script = format!(
        "[[turns]]\ncalls = [{{ name = 'answer', arguments = '{{\"n\": ' }}]\n{}",
        answer(2)
    );
    let played = play(&counter(Weight::Must), &script).await;
    assert_eq!(played.outcome.answer, Some(json!({ "n": 2 })));
}
