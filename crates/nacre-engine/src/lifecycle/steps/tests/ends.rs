//! Tests for how runs end.

use super::*;
use crate::lifecycle::steps::tests::bench::TaskEnd;
use crate::lifecycle::steps::*;
use crate::lifecycle::{Completion, Exchange, RunHandle, Turn};
use crate::model::Message;
use crate::record::CancelledBy;

#[tokio::test]
async fn an_answer_in_words_is_the_end() {
    let played =
        play(&chat(), "[[turns]]\nsay = 'It is done.'\nusage = { input = 9, output = 3 }").await;
    assert_eq!(played.state(), "completed(done)");
    assert_eq!(played.outcome.text, "It is done.");
    assert_eq!(played.outcome.facts.usage.total(), 12);
    assert_eq!(
        played.names(),
        [
            "task.state",
            "run.prepare",
            "step.start",
            "context.plan",
            "model.call",
            "model.delta",
            "model.finish",
            "step.end",
            "run.summary",
            "task.state",
        ]
    );
}

#[tokio::test]
async fn results_go_back_in_the_order_of_the_calls() {
    let script = r#"
        [[turns]]
        expect = { n_messages = 1, last_contains = ["Do it."], tools = ["echo", "signal"] }
        say = "Looking."
        calls = [{ id = "a", name = "echo", arguments = { word = "one" } }, { id = "b", name = "echo", arguments = { word = "two" } }]

        [[turns]]
        expect = { n_messages = 3, last_contains = ["one\ntwo"] }
        say = "Both."
    "#;
    let played = play(&chat(), script).await;
    assert_eq!((played.state().as_str(), played.left), ("completed(done)", 0));
    assert_eq!((played.outcome.text.as_str(), played.outcome.effects.tool_calls), ("Both.", 2));
}

#[tokio::test]
async fn a_signal_is_checked_against_what_was_done() {
    let touch = "[[turns]]\ncalls = [{ name = 'touch', arguments = { word = 'a' } }]\n";
    let signal = |word: &str| {
        format!(
            "[[turns]]\nsay = 'Bye.'\ncalls = [{{ name = 'signal', arguments = {{ outcome = '{word}', reason = 'why' }} }}]\n"
        )
    };
    for (script, expected) in [
        (signal("done"), "completed(done)"),
        (signal("no_op"), "completed(no_op)"),
        (format!("{touch}{}", signal("no_op")), "completed(done)"),
        (signal("blocked"), "completed(blocked)"),
    ] {
        let played = play(&chat(), &script).await;
        assert_eq!((played.state().as_str(), played.left), (expected, 0), "{script}");
        assert_eq!(played.outcome.text, "Bye.");
    }
}

#[tokio::test]
async fn a_signal_that_is_not_understood_goes_back() {
    let script = r#"
        [[turns]]
        calls = [{ name = "signal", arguments = { outcome = "finished" } }]
        [[turns]]
        expect = { last_contains = ["The arguments of `signal` are invalid"] }
        calls = [{ name = "nothing" }, { name = "signal", arguments = { outcome = "done" } }]
        [[turns]]
        expect = { last_contains = ["Tool `nothing` not found", "A call in the same step failed"] }
        calls = [{ name = "signal", arguments = { outcome = "done" } }]
    "#;
    let played = play(&chat(), script).await;
    assert_eq!((played.state().as_str(), played.left), ("completed(done)", 0));
}

#[tokio::test]
async fn an_agent_without_signals_has_no_such_tool() {
    let mut spec = chat();
    spec.completion = Completion::EndTurn { signals: false };
    let script = r#"
        [[turns]]
        calls = [{ name = "signal", arguments = { outcome = "blocked" } }]
        [[turns]]
        expect = { last_contains = ["Tool `signal` not found"] }
        say = "Well."
    "#;
    assert_eq!(play(&spec, script).await.state(), "completed(done)");
}

#[tokio::test]
async fn an_answer_that_was_cut_off_is_finished_once() {
    let script = r#"
        [[turns]]
        say = "First half, "
        stop = "max_tokens"
        [[turns]]
        expect = { last_contains = ["was truncated"] }
        say = "second half."
    "#;
    let played = play(&chat(), script).await;
    assert_eq!(played.outcome.text, "First half, second half.");
    let twice =
        "[[turns]]\nsay = 'a'\nstop = 'max_tokens'\n[[turns]]\nsay = 'b'\nstop = 'max_tokens'";
    let played = play(&chat(), twice).await;
    assert_eq!((played.state().as_str(), played.outcome.text.as_str()), ("failed(output)", "ab"));
}

#[tokio::test]
async fn saying_nothing_is_asked_about_once() {
    let script = "[[turns]]\nsay = ' '\n[[turns]]\nexpect = { last_contains = ['Your answer was empty'] }\nsay = 'Oh.'";
    assert_eq!(play(&chat(), script).await.state(), "completed(done)");
    assert_eq!(play(&chat(), "[[turns]]\n[[turns]]").await.state(), "failed(output)");
}

#[tokio::test]
async fn a_result_that_the_model_made_up_is_asked_about_once() {
    let made_up = "[[turns]]\nsay = '<tool_response>exit code 0</tool_response>'\n";
    let mended = format!(
        "{made_up}[[turns]]\nexpect = {{ last_contains = ['Call the tool'] }}\nsay = 'I did not run it.'"
    );
    let played = play(&chat(), &mended).await;
    assert_eq!(played.state(), "completed(done)");
    assert_eq!(played.outcome.text, "I did not run it.");
    assert_eq!(play(&chat(), &made_up.repeat(2)).await.state(), "failed(output)");
}

#[tokio::test]
async fn failures_say_why() {
    for (turn, expected) in [
        ("say = 'No.'\nstop = 'refusal'", "failed(refused)"),
        ("say = 'N'\nstop = 'content_filter'", "failed(refused)"),
        ("error = { kind = 'quota' }", "failed(model)"),
        ("error = { kind = 'refused' }", "failed(refused)"),
        ("expect = { n_messages = 5 }", "failed(model)"),
    ] {
        let played = play(&chat(), &format!("[[turns]]\n{turn}")).await;
        assert_eq!(played.state(), expected, "{turn}");
        assert!(played.names().iter().any(|name| name == "error"), "{turn}");
    }
    let bench = Bench::new("turns = []").without_models();
    let outcome = bench.run(&chat(), &RunControl::without_handle()).await;
    assert_eq!(bench.close(outcome).state(), "failed(unusable)");
}

#[tokio::test]
async fn a_cancelled_run_stops_at_once_and_tells_its_end() {
    for script in [
        "[[turns]]\nhang = true",
        "[[turns]]\ncalls = [{ name = 'hang', arguments = { word = '' } }]",
    ] {
        let bench = Bench::new(script);
        let handle = RunHandle::new();
        let (spec, control) = (chat(), handle.control());
        let cancel = async {
            while !bench.records().iter().any(|record| {
                matches!(record.event, Event::ModelCall { .. } if script.contains("hang = true"))
                    || matches!(record.event, Event::ToolCall { .. })
            }) {
                tokio::task::yield_now().await;
            }
            handle.cancel(CancelledBy::Person);
        };
        let (outcome, ()) = tokio::join!(bench.run(&spec, &control), cancel);
        let played = bench.close(outcome);
        assert_eq!(played.state(), "cancelled(person)");
        assert_eq!(played.outcome.facts.model_calls, 1);
        assert!(played.names().iter().any(|name| name == "run.cancel"));
    }
}

#[tokio::test]
async fn a_run_that_nobody_waits_for_any_more_tells_its_end_too() {
    let bench = Bench::new("[[turns]]\nhang = true");
    let (spec, control) = (chat(), RunControl::without_handle());
    tokio::select! {
        biased;
        _ = bench.run(&spec, &control) => panic!("it hangs"),
        () = async { tokio::task::yield_now().await } => {}
    }
    let state = TaskEnd::only_one(&bench.records());
    assert_eq!(state, TaskState::Cancelled { by: CancelledBy::Disconnect });
}

#[tokio::test]
async fn what_was_said_before_is_sent_once_and_in_turns() {
    let said = Message {
        speaker: crate::model::Speaker::Assistant,
        ..Message::user("An earlier answer.")
    };
    let earlier = Exchange::new(said);
    let turn = Turn { steps: vec![earlier], ..Turn::new("An earlier question.") };
    let history = Conversation { turns: vec![turn], ..Conversation::default() };
    let script = "[[turns]]\nexpect = { n_messages = 3, last_contains = ['Do it.'] }\nsay = 'Yes.'";
    let bench = Bench::new(script);
    let outcome = bench.run_after(history, &chat(), &RunControl::without_handle()).await;
    let played = bench.close(outcome);
    assert_eq!(played.state(), "completed(done)");
    let texts: Vec<String> =
        played.outcome.conversation.messages().iter().map(Message::text).collect();
    assert_eq!(texts, ["An earlier question.", "An earlier answer.", "Do it.", "Yes."]);
}
