//! Tests for limits that apply whatever the model does.

use std::collections::BTreeSet;
use std::time::Duration;

use super::*;
use crate::lifecycle::steps::*;
use crate::tools::Budgets;

fn echoing(n_turns: usize) -> String {
    (0..n_turns)
        .map(|n| {
            format!("[[turns]]\ncalls = [{{ name = 'echo', arguments = {{ word = 'w{n}' }} }}]\n")
        })
        .collect()
}

fn with(change: impl FnOnce(&mut Budgets)) -> AgentSpec {
    let mut spec = chat();
    change(&mut spec.budgets);
    spec
}

#[tokio::test]
async fn a_model_that_insists_on_refused_calls_comes_to_an_end() {
    let stubborn = "[[turns]]\ncalls = [{ name = 'forbidden', arguments = {} }]\n".repeat(50);
    for (spec, most) in [
        (with(|budgets| budgets.steps = 6), 6),
        (with(|budgets| budgets.tool_calls = 2), 5),
        (with(|budgets| budgets.tool_calls = 0), 3),
    ] {
        let played = play(&spec, &stubborn).await;
        assert!(played.state().starts_with("failed("), "{}", played.state());
        assert!(played.outcome.facts.model_calls <= most, "{}", played.outcome.facts.model_calls);
    }
}

#[tokio::test]
async fn when_the_calls_are_spent_one_last_answer_is_asked_for() {
    let spec = with(|budgets| budgets.tool_calls = 2);
    let script = format!(
        "{}[[turns]]\nexpect = {{ last_contains = ['No tool calls are left', 'no tool calls left'] }}\nsay = 'As far as I know.'",
        echoing(2)
    );
    let played = play(&spec, &script).await;
    assert_eq!((played.state().as_str(), played.left), ("completed(done)", 0));
    assert!(played.names().iter().any(|name| name == "budget.block"));
    assert_eq!(played.outcome.text, "As far as I know.");
}

#[tokio::test]
async fn each_call_and_each_limit_is_told_once_also_for_calls_side_by_side() {
    let step = |words: [&str; 5]| {
        let call = |word| format!("{{ name = 'echo', arguments = {{ word = '{word}' }} }}");
        format!("[[turns]]\ncalls = [{}]\n", words.map(call).join(", "))
    };
    let script = format!(
        "{}{}[[turns]]\ncalls = [{{ name = 'touch', arguments = {{ word = 'a.txt' }} }}]\n[[turns]]\nsay = 'Enough.'",
        step(["a", "b", "c", "a", "d"]),
        step(["e", "f", "g", "long", "h"]),
    );
    let played = play(&with(|budgets| budgets.tool_calls = 11), &script).await;
    assert_eq!((played.state().as_str(), played.left), ("completed(done)", 0));
    let mut called = Vec::new();
    let mut answered = Vec::new();
    for record in &played.records {
        if let Event::ToolCall { step, call, .. } = &record.event {
            called.push((*step, call.clone()));
        }
        if let Event::ToolResult(facts) = &record.event {
            answered.push((facts.step, facts.call.clone()));
        }
    }
    assert_eq!((called.len(), &called), (11, &answered), "joined by their step and id");
    let apart: BTreeSet<_> = called.into_iter().collect();
    assert_eq!(apart.len(), 11, "no call is told twice");
    let names = played.names();
    let count = |name: &str| names.iter().filter(|told| **told == name).count();
    assert_eq!((count("budget.notice"), count("budget.block")), (1, 1));
    assert_eq!(played.outcome.facts.tool_calls, 11);
}

#[tokio::test]
async fn the_last_step_is_for_the_answer() {
    let spec = with(|budgets| budgets.steps = 3);
    let script = format!("{}[[turns]]\nsay = 'Enough.'", echoing(2));
    let played = play(&spec, &script).await;
    assert_eq!((played.state().as_str(), played.outcome.facts.steps), ("completed(done)", 3));
    let calls_to_the_end = echoing(3);
    let played = play(&spec, &calls_to_the_end).await;
    assert_eq!(played.state(), "failed(budget)");
    assert_eq!(played.outcome.effects.tool_calls, 2, "calls without tools are not made");
}

#[tokio::test]
async fn tokens_are_a_budget_too() {
    let spec = with(|budgets| budgets.total_tokens = Some(100));
    let script = r#"
        [[turns]]
        calls = [{ name = "echo", arguments = { word = "a" } }]
        usage = { input = 90, output = 20 }
        [[turns]]
        expect = { last_contains = ["no tool calls left"] }
        say = "Enough."
    "#;
    assert_eq!(play(&spec, script).await.state(), "completed(done)");
}

#[tokio::test]
async fn doing_the_same_over_and_over_is_noticed_and_then_ended() {
    let same = "[[turns]]\ncalls = [{ name = 'echo', arguments = { word = 'same' } }]\n";
    let script = format!(
        "{}[[turns]]\nexpect = {{ last_contains = ['`echo` 3 times'] }}\n{}{}[[turns]]\nexpect = {{ last_contains = ['no tool calls left'] }}\nsay = 'Sorry.'",
        same.repeat(3),
        same.replace("[[turns]]\n", ""),
        same
    );
    let played = play(&chat(), &script).await;
    assert_eq!((played.state().as_str(), played.left), ("completed(done)", 0));
}

#[tokio::test]
async fn a_skill_takes_tools_away_and_never_adds_one() {
    use crate::tools::ActiveSkills;
    use crate::tools::skills::tests::skill;

    let script = r#"
        [[turns]]
        calls = [{ name = "touch", arguments = { word = "a" } }, { name = "echo", arguments = { word = "a" } }]
        [[turns]]
        expect = { last_contains = ["Error (", "touch", "a"] }
        say = "So."
    "#;
    let mut bench = Bench::new(script);
    let active = ActiveSkills::default();
    active.add(skill("careful", Some(&["echo", "shell_run"]), "Only look."));
    bench.skills = Some(std::sync::Arc::new(active));
    let outcome = bench.run(&chat(), &RunControl::without_handle()).await;
    let played = bench.close(outcome);
    assert_eq!(
        (played.state().as_str(), played.outcome.effects.changed.len()),
        ("completed(done)", 0)
    );
    assert_eq!(played.outcome.effects.denied_calls, 1);
}

#[tokio::test(start_paused = true)]
async fn a_run_ends_when_its_time_is_over() {
    let spec = with(|budgets| budgets.wall = Duration::from_secs(5));
    for script in [
        "[[turns]]\nhang = true",
        "[[turns]]\ncalls = [{ name = 'hang', arguments = { word = '' } }]",
    ] {
        let played = play(&spec, script).await;
        assert_eq!(played.state(), "failed(deadline)");
        assert_eq!(played.outcome.facts.wall_us, 5_000_000);
    }
}

#[tokio::test]
async fn a_megabyte_of_output_is_shortened_and_stays_readable() {
    let script = r#"
        [[turns]]
        calls = [{ name = "echo", arguments = { word = "long" } }]
        [[turns]]
        expect = { last_contains = ["long line", "bytes omitted …]", "[Read on with file_read `spill:"] }
        say = "Long."
    "#;
    let played = play(&chat(), script).await;
    assert_eq!(played.state(), "completed(done)");
    assert!(played.outcome.conversation.tokens() < 2000);
}

#[tokio::test]
async fn a_window_that_is_smaller_than_we_thought_is_tried_once_more() {
    let many = echoing(3).replace("'w", &format!("'{}", "w".repeat(600)));
    let script = format!(
        "{many}[[turns]]\nerror = {{ kind = 'context_too_long' }}\n[[turns]]\nsay = 'Short.'"
    );
    let played = play(&chat(), &script).await;
    assert_eq!((played.state().as_str(), played.left), ("completed(done)", 0));
    let twice = "[[turns]]\nerror = { kind = 'context_too_long' }\n".repeat(2);
    assert_eq!(play(&chat(), &twice).await.state(), "failed(budget)");
    let tiny = with(|budgets| budgets.context_tokens = 1100);
    assert_eq!(play(&tiny, "turns = []").await.state(), "failed(budget)");
}
