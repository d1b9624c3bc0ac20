//! Tests for complete agent runs over real connections, with both APIs. Each run must end exactly
//! once, and correctly.

use std::sync::Arc;
use std::time::Duration;

use nacre_engine::lifecycle::{RunControl, RunHandle};
use nacre_engine::model::Limits;
use nacre_engine::record::{CancelledBy, DeltaKind, Event};
use tokio::sync::Notify;

use crate::loopback::{Loopback, Reply};
use crate::stage::{Stage, agent};
use crate::styles::{BOTH, Style};

const BROKEN: &str = r#"{"error":{"type":"api_error","message":"broken"}}"#;

fn read(path: &str) -> String {
    format!(r#"{{"path":"{path}"}}"#)
}

/// Plays the replies and returns the task's end state, the last text, and the requests.
async fn play(style: Style, replies: Vec<Reply>) -> (String, String, Vec<String>) {
    let server = Loopback::start(replies).await;
    let stage = Stage::new(style, &server);
    let outcome = stage.run(&agent(), &RunControl::without_handle()).await;
    let state = stage.close(&outcome);
    let requests = server.requests().iter().map(|request| request.body.to_string()).collect();
    (state, outcome.text, requests)
}

#[tokio::test]
async fn text_is_the_end() {
    for style in BOTH {
        let (state, text, requests) = play(style, vec![style.text(&["All ", "is well."])]).await;
        assert_eq!(
            (state.as_str(), text.as_str()),
            ("completed(done)", "All is well."),
            "{style:?}"
        );
        assert_eq!(requests.len(), 1);
    }
}

#[tokio::test]
async fn calls_of_one_answer_are_made_together_and_both_answered() {
    for style in BOTH {
        let (one, two) = (read("one.txt"), read("two.txt"));
        let calls = style.calls(&[("c1", "file_read", &one), ("c2", "file_read", &two)]);
        let (state, _, requests) = play(style, vec![calls, style.text(&["Both read."])]).await;
        assert_eq!(state, "completed(done)", "{style:?}");
        let (first, second) = (requests[1].find("first file"), requests[1].find("second file"));
        assert!(first.is_some() && first < second, "in the order of the calls: {}", requests[1]);
    }
}

#[tokio::test]
async fn what_a_model_gets_wrong_about_a_tool_goes_back_to_it() {
    for style in BOTH {
        for (name, arguments, told) in [
            ("file_read", r#"{"path": "one"#, "are not valid JSON"),
            ("file_read", r#"{"paht": "one.txt"}"#, "do not match the schema"),
            ("file_fly", "{}", "Tool `file_fly` not found"),
            ("file_read", r#"{"path": "../../etc/passwd"}"#, "Error ("),
            ("file_create", r#"{"path": "new.txt", "text": "x"}"#, "Error ("),
        ] {
            let replies = vec![style.calls(&[("c1", name, arguments)]), style.text(&["I see."])];
            let (state, _, requests) = play(style, replies).await;
            assert_eq!(
                (state.as_str(), requests.len()),
                ("completed(done)", 2),
                "{style:?} {name}"
            );
            assert!(requests[1].contains(told), "{style:?} {name}: {}", requests[1]);
        }
    }
}

#[tokio::test]
async fn a_refusal_fails_the_task() {
    for style in BOTH {
        let (state, _, requests) = play(style, vec![style.refusal()]).await;
        assert_eq!((state.as_str(), requests.len()), ("failed(refused)", 1), "{style:?}");
    }
}

#[tokio::test]
async fn what_passes_is_asked_for_again_and_what_stays_fails_the_task() {
    for style in BOTH {
        let limited = || Reply::status(429, &[("retry-after-ms", "1")], BROKEN);
        let cut = || style.text(&["Hel", "lo"]).cut_after_text();
        let fine = || style.text(&["Hi"]);
        for (replies, expected, n_requests) in [
            (vec![limited(), fine()], "completed(done)", 2),
            (vec![cut(), fine()], "completed(done)", 2),
            (vec![cut()], "failed(model)", 3),
            (vec![Reply::status(500, &[], BROKEN)], "failed(model)", 3),
            (vec![Reply::status(401, &[], BROKEN)], "failed(model)", 1),
        ] {
            let (state, text, requests) = play(style, replies).await;
            assert_eq!((state.as_str(), requests.len()), (expected, n_requests), "{style:?}");
            assert_eq!(text, if expected == "completed(done)" { "Hi" } else { "" });
        }
    }
}

#[tokio::test]
async fn a_failure_in_a_later_step_keeps_what_was_done_before() {
    for style in BOTH {
        let one = read("one.txt");
        let replies =
            vec![style.calls(&[("c1", "file_read", &one)]), Reply::status(500, &[], BROKEN)];
        let server = Loopback::start(replies).await;
        let stage = Stage::new(style, &server);
        let outcome = stage.run(&agent(), &RunControl::without_handle()).await;
        assert_eq!(stage.close(&outcome), "failed(model)");
        assert_eq!((outcome.effects.tool_calls, outcome.facts.steps), (1, 2), "{style:?}");
        assert_eq!(outcome.text, "Let me see.".to_owned());
    }
}

#[tokio::test]
async fn slow_words_are_shown_as_they_come() {
    for style in BOTH {
        // The server sends the next word only after the previous one was received.
        let gate = Arc::new(Notify::new());
        let server =
            Loopback::start(vec![style.text(&["one ", "two ", "three"]).paced(&gate)]).await;
        let stage = Stage::new(style, &server).hearing(move |event| {
            if matches!(event, Event::ModelDelta { kind: DeltaKind::Text, .. }) {
                gate.notify_one();
            }
        });
        let outcome = stage.run(&agent(), &RunControl::without_handle()).await;
        assert_eq!(stage.close(&outcome), "completed(done)", "{style:?}");
        assert_eq!(outcome.text, "one two three");
    }
}

#[tokio::test]
async fn words_that_stop_coming_fail_the_task() {
    for style in BOTH {
        let server = Loopback::start(vec![style.text(&["Hel"]).cut_after_text().stall()]).await;
        let mut stage = Stage::new(style, &server);
        stage.limits = Limits { next_token: Duration::from_millis(30), ..stage.limits };
        let outcome = stage.run(&agent(), &RunControl::without_handle()).await;
        assert_eq!(stage.close(&outcome), "failed(model)", "{style:?}");
        server.client_left().await;
    }
}

#[tokio::test]
async fn a_run_that_is_out_of_time_closes_its_stream() {
    for style in BOTH {
        let server = Loopback::start(vec![style.text(&["Hel"]).cut_after_text().stall()]).await;
        let stage = Stage::new(style, &server);
        let mut spec = agent();
        spec.budgets.wall = Duration::from_millis(50);
        let outcome = stage.run(&spec, &RunControl::without_handle()).await;
        assert_eq!(stage.close(&outcome), "failed(deadline)", "{style:?}");
        // On a busy machine, the time may be over before the first request.
        if !server.requests().is_empty() {
            server.client_left().await;
        }
    }
}

#[tokio::test]
async fn a_cancelled_run_closes_its_stream() {
    for style in BOTH {
        let server = Loopback::start(vec![style.text(&["Hel"]).cut_after_text().stall()]).await;
        let handle = Arc::new(RunHandle::new());
        let control = handle.control();
        let stage = Stage::new(style, &server).hearing(move |event| {
            if matches!(event, Event::ModelDelta { .. }) {
                handle.cancel(CancelledBy::Person);
            }
        });
        let outcome = stage.run(&agent(), &control).await;
        assert_eq!(stage.close(&outcome), "cancelled(person)", "{style:?}");
        server.client_left().await;
    }
}

#[tokio::test]
async fn a_megabyte_of_output_does_not_go_to_the_model() {
    for style in BOTH {
        let large = read("large.txt");
        let replies = vec![style.calls(&[("c1", "file_read", &large)]), style.text(&["Large."])];
        let (state, _, requests) = play(style, replies).await;
        assert_eq!(state, "completed(done)", "{style:?}");
        assert!(requests[1].len() < 120_000, "{}", requests[1].len());
        assert!(requests[1].contains("spill:"), "all of it can still be read");
    }
}

#[tokio::test]
async fn every_request_ends_with_the_users_word_or_a_result_and_has_the_same_beginning() {
    for style in BOTH {
        let (one, two) = (read("one.txt"), read("two.txt"));
        let replies = vec![
            style.calls(&[("c1", "file_read", &one)]),
            style.calls(&[("c2", "file_read", &two)]),
            style.text(&["Done."]),
        ];
        let server = Loopback::start(replies).await;
        let stage = Stage::new(style, &server);
        let outcome = stage.run(&agent(), &RunControl::without_handle()).await;
        assert_eq!(stage.close(&outcome), "completed(done)");
        let requests = server.requests();
        for request in &requests {
            assert_eq!(request.body["tools"], requests[0].body["tools"], "providers cache these");
            let last = request.body["messages"].as_array().unwrap().last().unwrap();
            assert!(matches!(last["role"].as_str(), Some("user" | "tool")), "{last}");
        }
    }
}
