//! Tests the order of answers, and spending limits that stop later questions.

use serde_json::{Value, json};

use super::*;
use crate::test::{TestFlow, flow, plenty, state};

const NOW: &str = "2026-11-15T08:30:00Z";

fn question(material: &str) -> ModelQuestion {
    ModelQuestion {
        role: Role::Extract,
        instructions: "Count.".to_owned(),
        material: material.to_owned(),
        output: OutputSchema {
            name: "count".to_owned(),
            description: String::new(),
            schema: json!({ "type": "object", "properties": { "n": { "type": "integer" } },
                "required": ["n"], "additionalProperties": false }),
        },
    }
}

fn on(project: &str, session: &str) -> SpentOn {
    SpentOn { project: Some(project.to_owned()), session: session.to_owned() }
}

fn ask(flow: &TestFlow, on: SpentOn, now: &str) -> String {
    let asker = flow.asker(on, now.parse().unwrap()).unwrap();
    match asker.ask::<Value>(&question("one")) {
        Ok(value) => value.to_string(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn answers_come_in_the_order_of_the_questions_and_are_counted() {
    let home = tempfile::tempdir().unwrap();
    let turn = |n: u64| {
        json!({ "expect": { "last_contains": [format!("question {n}")] }, "say": json!({ "n": n }).to_string(),
            "usage": { "input": 10, "output": 2 } })
    };
    let script = json!({ "order": "any", "turns": [turn(3), turn(1), turn(0), turn(2)] });
    let all = SpendingLimits { session: plenty(), day: plenty(), project: plenty() };
    let flow = flow(&home, &script.to_string(), all);
    let asker = flow.asker(on("/a", "s"), NOW.parse().unwrap()).unwrap();
    let questions: Vec<ModelQuestion> =
        (0..4).map(|n| question(&format!("question {n}"))).collect();
    let answers = asker.ask_all::<Value>(&questions, 2);
    let told: Vec<u64> =
        answers.iter().map(|a| a.as_ref().unwrap()["n"].as_u64().unwrap()).collect();
    assert_eq!(told, [0, 1, 2, 3]);
    assert_eq!(asker.budget().totals().usage.total(), 48);
    let sum = state(&home).sum_spending(SpentFilter::default()).unwrap();
    assert_eq!((sum.calls, sum.amount.tokens), (4, 48));
}

#[test]
fn each_limit_counts_what_it_is_a_limit_of() {
    let turn = "[[turns]]\nsay = '{\"n\":1}'\nusage = { input = 500, output = 100 }\n";
    let few = Amount { tokens: 600, ..plenty() };
    let all = SpendingLimits { session: plenty(), day: plenty(), project: plenty() };
    let next_day = "2026-11-16T00:00:00Z";
    let next_month = "2026-12-01T00:00:00Z";
    for (limits, blocked, free) in [
        (SpendingLimits { session: few, ..all }, (on("/b", "s"), next_month), (on("/a", "t"), NOW)),
        (SpendingLimits { day: few, ..all }, (on("/b", "t"), NOW), (on("/a", "s"), next_day)),
        (SpendingLimits { project: few, ..all }, (on("/a", "t"), next_day), (on("/b", "s"), NOW)),
        (SpendingLimits { project: few, ..all }, (on("/a", "s"), NOW), (on("/a", "s"), next_month)),
    ] {
        let home = tempfile::tempdir().unwrap();
        let flow = flow(&home, &turn.repeat(2), limits);
        assert_eq!(ask(&flow, on("/a", "s"), NOW), r#"{"n":1}"#);
        let refused = ask(&flow, blocked.0, blocked.1);
        assert!(refused.ends_with("limit of 600 tokens is reached (600 used)"), "{refused}");
        assert_eq!(ask(&flow, free.0, free.1), r#"{"n":1}"#);
    }
}

#[test]
fn a_wrong_answer_is_told_from_no_answer() {
    let home = tempfile::tempdir().unwrap();
    let all = SpendingLimits { session: plenty(), day: plenty(), project: plenty() };
    let script =
        format!("{}[[turns]]\nerror = {{ kind = 'auth' }}\n", "[[turns]]\nsay = 'no'\n".repeat(3));
    let flow = flow(&home, &script, all);
    let asker = flow.asker(on("/a", "s"), NOW.parse().unwrap()).unwrap();
    assert!(matches!(asker.ask::<Value>(&question("one")), Err(AskError::Answer(_))));
    assert!(matches!(asker.ask::<Value>(&question("one")), Err(AskError::Model(_))));
}
