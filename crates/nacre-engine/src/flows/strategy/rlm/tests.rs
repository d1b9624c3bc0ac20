//! Sessions explored by a model that follows a script.

use nacre_core::config::StrategyChoice;
use serde_json::{Value, json};

use super::super::tests::{TALK, lines, nothing_doubted, pnpm, read, script, summary};
use crate::flows::candidate::Strategy;
use crate::flows::models::AskError;
use crate::flows::models::SpendingLimits;
use crate::flows::testing::{flow, no_limits, plenty};
use crate::model::Amount;

fn step(contains: &[&str], code: &str) -> Value {
    json!({ "expect": { "last_contains": contains, "output": "next_step" },
        "say": json!({ "code": code }).to_string(), "usage": { "input": 100, "output": 20 } })
}

fn submit() -> String {
    let answer = json!({ "candidates": [pnpm()], "summary": summary("Validation") });
    format!("submit({answer})")
}

#[test]
fn a_model_searches_asks_about_a_part_and_hands_in_the_same_shape() {
    let home = tempfile::tempdir().unwrap();
    let look = "for hit in search('PNPM'):\n    print(hit['n'], hit['who'], hit['text'])\nprint(len(transcript))";
    let part = json!({ "expect": { "last_contains": ["[2] person: no, we", "The question: why?"], "output": "part_answer" },
        "say": json!({ "answer": "npm breaks the links" }).to_string() });
    let turns = [
        step(&["step 1 of", "It begins:"], look),
        step(
            &["printed:\n2 person no, we use pnpm here", "3 agent Understood, using pnpm.\n4"],
            "print(events(2, 3))\nanswer = ask('why?', 2, 2)",
        ),
        part,
        step(&["[3] agent: Understood"], "print(answer)"),
        step(&["printed:\nnpm breaks the links"], "submit({'candidates': [], 'summary': 1})"),
        step(&["ValueError: the answer has the wrong shape"], &submit()),
        nothing_doubted(),
    ];
    let models = flow(&home, &script(&turns), no_limits());
    let (read, n_calls) = read(&models, StrategyChoice::Rlm, &lines(TALK));
    let read = read.unwrap();
    assert_eq!((n_calls, read.how.steps, read.how.fallback.as_deref()), (7, 5, None));
    assert_eq!(read.extraction.strategy, Strategy::Rlm);
    assert_eq!(read.extraction.candidates[0].title, "Packages are installed with pnpm");
    assert_eq!(read.summary.title, "Validation");
}

#[test]
fn whatever_the_code_runs_out_of_the_session_is_read_in_windows() {
    let answer = json!({ "candidates": [pnpm()], "summary": summary("By windows") });
    let window = json!({ "expect": { "output": "session_reading" }, "say": answer.to_string() });
    let spin = vec![step(&[], "while True:\n    search('pnpm')")];
    let talk = (0..12).map(|_| step(&[], "1 + 1")).collect();
    let wrong =
        (0..3).map(|_| json!({ "expect": { "output": "next_step" }, "say": "no code" })).collect();
    for (turns, why) in [
        (spin, "by code it came to nothing: TimeoutError: no more calls are left"),
        (talk, "by code it came to nothing: no answer came in 12 steps"),
        (wrong, "by code it came to nothing: the model wrote no code"),
    ] {
        let home = tempfile::tempdir().unwrap();
        let turns: Vec<Value> = [turns, vec![window.clone(), nothing_doubted()]].concat();
        let models = flow(&home, &script(&turns), no_limits());
        let (read, _) = read(&models, StrategyChoice::Rlm, &lines(TALK));
        let read = read.unwrap();
        assert_eq!(read.extraction.strategy, Strategy::Windows);
        let fallback = read.how.fallback.unwrap();
        assert!(fallback.starts_with(why), "{fallback}");
        assert_eq!(read.summary.title, "By windows");
    }
}

#[test]
fn a_limit_reached_inside_a_question_of_the_code_is_a_limit() {
    let home = tempfile::tempdir().unwrap();
    let limits = SpendingLimits { day: Amount { tokens: 70_000, ..plenty() }, ..no_limits() };
    let mut first = step(&[], "try:\n    ask('why?', 0, 3)\nexcept BaseException:\n    pass");
    first["usage"] = json!({ "input": 70_000, "output": 1 });
    let models = flow(&home, &script(&[first]), limits);
    let (read, n_calls) = read(&models, StrategyChoice::Rlm, &lines(TALK));
    assert!(matches!(read, Err(AskError::OverLimit(_))));
    assert_eq!(n_calls, 1);
}
