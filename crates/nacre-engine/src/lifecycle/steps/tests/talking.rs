//! Tests for a conversation in progress: when items are saved, user messages during a run, and
//! partial answers.

use super::*;
use crate::lifecycle::steps::*;
use crate::lifecycle::{Attachment, Conversation, Item, RunHandle, TurnEnd};
use crate::record::{CancelledBy, Failure, Signal, TaskState};

fn kinds(items: &[Item]) -> Vec<String> {
    items.iter().map(|item| item.to_new().kind).collect()
}

const TWO_STEPS: &str = r#"
    [[turns]]
    say = "Looking."
    calls = [{ name = "echo", arguments = { word = "a" } }]
    [[turns]]
    say = "Found."
"#;

#[tokio::test]
async fn each_step_is_saved_before_the_next_one_begins() {
    let bench = Bench::new(TWO_STEPS);
    let outcome = bench.run(&chat(), &RunControl::without_handle()).await;
    bench.close(outcome);
    assert_eq!(
        kinds(&bench.saved()),
        ["user", "assistant", "tool_call", "tool_result", "assistant", "end"]
    );
    // Once the checkpoint has failed, the model is not called again, whichever item caused the
    // failure.
    for (saves_at_most, model_calls) in [(0, 0), (1, 1), (3, 1), (4, 2), (5, 2), (6, 2)] {
        let mut bench = Bench::new(TWO_STEPS);
        bench.saves_at_most = saves_at_most;
        let outcome = bench.run(&chat(), &RunControl::without_handle()).await;
        let played = bench.close(outcome);
        let expected = if saves_at_most < 6 { "failed(internal)" } else { "completed(done)" };
        assert_eq!((saves_at_most, played.state().as_str()), (saves_at_most, expected));
        assert_eq!(played.outcome.facts.model_calls, model_calls, "{saves_at_most}");
    }
}

#[tokio::test]
async fn what_was_asked_is_saved_even_if_there_is_no_model() {
    let bench = Bench::new("turns = []").without_models();
    let outcome = bench.run(&chat(), &RunControl::without_handle()).await;
    bench.close(outcome);
    assert_eq!(kinds(&bench.saved()), ["user", "end"]);
    let end = TaskState::Failed { why: Failure::Unusable };
    assert!(
        matches!(bench.saved().last(), Some(Item::End(TurnEnd { state, .. })) if *state == end)
    );
}

// Regression test: a resumed conversation must resend structured calls, results and attachments.
#[tokio::test]
async fn a_resumed_conversation_has_its_calls_results_and_attachments() {
    let mut first = Bench::new(TWO_STEPS);
    first.attachments = vec![Attachment::text("log.txt", "E42")];
    let outcome = first.run(&chat(), &RunControl::without_handle()).await;
    let before = first.close(outcome).outcome.conversation;
    let history = Conversation::from_items(first.saved());
    assert_eq!(history, before);
    let sent = history.messages();
    assert!(sent[0].text().contains("log.txt") && sent[0].text().contains("E42"));
    let script = "[[turns]]\nexpect = { n_messages = 5, last_contains = ['Do it.'] }\nsay = 'Yes.'";
    let second = Bench::new(script);
    let outcome = second.run_after(history, &chat(), &RunControl::without_handle()).await;
    assert_eq!(second.close(outcome).state(), "completed(done)");
}

/// Steers the run as soon as the named event is received.
async fn steer_at(bench: &Bench, handle: &RunHandle, name: &str, words: &[&str]) {
    while !bench.records().iter().any(|record| record.event.name() == name) {
        tokio::task::yield_now().await;
    }
    for text in words {
        handle.steer(text).unwrap();
    }
}

#[tokio::test]
async fn words_while_it_works_stand_behind_the_results_of_the_step() {
    let script = r#"
        [[turns]]
        calls = [{ name = "echo", arguments = { word = "a" } }]
        [[turns]]
        expect = { last_contains = ["a", "Use the other file.", "And hurry."] }
        say = "Done."
    "#;
    let (bench, handle) = (Bench::new(script), RunHandle::new());
    let (spec, control) = (chat(), handle.control());
    let run = bench.run(&spec, &control);
    let steer = steer_at(&bench, &handle, "model.call", &["Use the other file.", "And hurry."]);
    let (outcome, ()) = tokio::join!(run, steer);
    let played = bench.close(outcome);
    assert_eq!((played.state().as_str(), played.left), ("completed(done)", 0));
    assert_eq!(played.names().iter().filter(|name| **name == "run.steer").count(), 2);
    assert!(played.outcome.unheard.is_empty());
    let expected = ["user", "tool_call", "tool_result", "steering", "steering", "assistant", "end"];
    assert_eq!(kinds(&bench.saved()), expected);
    assert_eq!(handle.steer("too late"), Err("too late".to_owned()));
}

#[tokio::test]
async fn words_that_come_when_it_has_just_finished_get_one_more_step() {
    for ends in [
        "say = 'Done.'",
        "say = 'Done.'\ncalls = [{ name = 'signal', arguments = { outcome = 'done' } }]",
    ] {
        let script = format!(
            "[[turns]]\n{ends}\n[[turns]]\nexpect = {{ last_contains = ['Wait.'] }}\nsay = 'Also done.'"
        );
        let (bench, handle) = (Bench::new(&script), RunHandle::new());
        handle.steer("Wait.").unwrap();
        let outcome = bench.run(&chat(), &handle.control()).await;
        let played = bench.close(outcome);
        assert_eq!((played.state().as_str(), played.left), ("completed(done)", 0));
        assert_eq!(played.outcome.text, "Also done.");
    }
}

#[tokio::test]
async fn words_that_are_not_taken_up_any_more_come_back() {
    let mut short = chat();
    short.budgets.steps = 1;
    let (bench, handle) = (Bench::new("[[turns]]\nsay = 'Done.'"), RunHandle::new());
    handle.steer("Wait.").unwrap();
    let outcome = bench.run(&short, &handle.control()).await;
    let played = bench.close(outcome);
    assert_eq!(played.state(), "completed(done)", "a finished answer is not lost for it");
    assert_eq!(played.outcome.unheard, ["Wait."]);

    let (bench, handle) = (Bench::new("[[turns]]\nhang = true"), RunHandle::new());
    let (spec, control) = (chat(), handle.control());
    let stop = async {
        steer_at(&bench, &handle, "model.call", &["Stop that."]).await;
        handle.cancel(CancelledBy::Person);
    };
    let (outcome, ()) = tokio::join!(bench.run(&spec, &control), stop);
    assert_eq!(bench.close(outcome).outcome.unheard, ["Stop that."]);
}

#[tokio::test]
async fn what_was_said_when_it_was_stopped_stays_and_the_model_is_told() {
    let script = "[[turns]]\nsay = 'The cause is'\nhang = true";
    let (bench, handle) = (Bench::new(script), RunHandle::new());
    let (spec, control) = (chat(), handle.control());
    let stop = async {
        steer_at(&bench, &handle, "model.delta", &[]).await;
        handle.cancel(CancelledBy::Person);
    };
    let (outcome, ()) = tokio::join!(bench.run(&spec, &control), stop);
    let played = bench.close(outcome);
    assert_eq!(played.state(), "cancelled(person)");
    assert_eq!(kinds(&bench.saved()), ["user", "interrupted", "end"]);
    assert_eq!(played.outcome.text, "The cause is");
    let script = "[[turns]]\nexpect = { n_messages = 3, last_contains = ['You were stopped', 'Do it.'] }\nsay = 'Yes.'";
    let next = Bench::new(script);
    let history = Conversation::from_items(bench.saved());
    let outcome = next.run_after(history, &chat(), &RunControl::without_handle()).await;
    assert_eq!(next.close(outcome).state(), "completed(done)");
}

#[tokio::test]
async fn a_run_that_is_stopped_in_a_tool_leaves_a_conversation_that_can_go_on() {
    let script = "[[turns]]\ncalls = [{ name = 'echo', arguments = { word = 'a' } }, { name = 'hang', arguments = { word = '' } }]";
    let (bench, handle) = (Bench::new(script), RunHandle::new());
    let (spec, control) = (chat(), handle.control());
    let stop = async {
        steer_at(&bench, &handle, "tool.call", &[]).await;
        handle.cancel(CancelledBy::Person);
    };
    let (outcome, ()) = tokio::join!(bench.run(&spec, &control), stop);
    bench.close(outcome);
    let expected =
        ["user", "tool_call", "tool_call", "tool_result", "tool_result", "interrupted", "end"];
    assert_eq!(kinds(&bench.saved()), expected);
    let script = "[[turns]]\nexpect = { n_messages = 3 }\nsay = 'Yes.'";
    let next = Bench::new(script);
    let history = Conversation::from_items(bench.saved());
    let outcome = next.run_after(history, &chat(), &RunControl::without_handle()).await;
    let ended = next.close(outcome).outcome.conversation.turns.pop().unwrap().end;
    let done = TaskState::Completed { signal: Signal::Done };
    assert_eq!(ended.map(|end| end.state), Some(done));
}
