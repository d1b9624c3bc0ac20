//! Tests for answers that fail or are delayed.

use std::time::Duration;

use nacre_engine::model::{Cancel, Control, ErrorKind, Limits, ModelEvent, Wait, generate};
use tokio::time::Instant;

use crate::harness::{ask, ask_with, control, question, route};
use crate::loopback::{Loopback, Reply};
use crate::styles::{BOTH, Style};

const BROKEN: &str = r#"{"error":{"type":"api_error","message":"broken"}}"#;

#[tokio::test]
async fn a_cut_stream_is_asked_for_again_and_what_was_shown_withdrawn() {
    for style in BOTH {
        let server =
            Loopback::start(vec![style.text(&["Hel", "lo"]).cut_after_text(), style.text(&["Hi"])])
                .await;
        let outcome = ask(&route(&[(style, &server)])).await;
        assert_eq!(outcome.detours(), [("cut_stream", true)], "{style:?}");
        assert_eq!(outcome.result.unwrap().text(), "Hi");
        let server = Loopback::start(vec![style.text(&["Hel", "lo"]).cut_after_text()]).await;
        let outcome = ask(&route(&[(style, &server)])).await;
        assert_eq!((outcome.kind(), server.requests().len()), ("cut_stream", 3));
    }
}

#[tokio::test]
async fn too_many_requests_wait_as_long_as_they_are_told() {
    for style in BOTH {
        for headers in [
            &[("retry-after", "0.05")][..],
            &[("retry-after-ms", "50")],
            &[
                ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"),
                ("date", "Sun, 06 Nov 1994 08:49:37 GMT"),
            ],
        ] {
            let server = Loopback::start(vec![
                Reply::status(429, headers, r#"{"error":{"message":"slow down"}}"#),
                style.text(&["Hi"]),
            ])
            .await;
            let outcome = ask(&route(&[(style, &server)])).await;
            assert_eq!(outcome.detours(), [("rate_limited", false)]);
            let waits: Vec<Duration> = outcome
                .events
                .iter()
                .filter_map(|event| match event {
                    ModelEvent::Retry { wait, .. } => Some(*wait),
                    _ => None,
                })
                .collect();
            let least = if headers.len() == 1 { 50 } else { 0 };
            assert!(Duration::from_millis(least) <= waits[0], "{waits:?}");
            assert_eq!(outcome.result.unwrap().text(), "Hi");
        }
    }
}

#[tokio::test]
async fn a_provider_that_stays_broken_is_given_up() {
    for style in BOTH {
        let server = Loopback::start(vec![Reply::status(500, &[], BROKEN)]).await;
        let outcome = ask(&route(&[(style, &server)])).await;
        let error = outcome.result.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unavailable { status: Some(500) });
        assert_eq!(error.said.unwrap().as_str(), "broken");
        assert_eq!(server.requests().len(), 3);
    }
}

#[tokio::test]
async fn the_fallback_answers_when_the_first_cannot() {
    for style in BOTH {
        let other = if style == Style::Anthropic { Style::OpenAi } else { Style::Anthropic };
        for (status, n_tries) in [(401, 1), (404, 1), (503, 3)] {
            let broken = Loopback::start(vec![Reply::status(status, &[], BROKEN)]).await;
            let fine = Loopback::start(vec![other.text(&["Hi"])]).await;
            let outcome = ask(&route(&[(style, &broken), (other, &fine)])).await;
            let response = outcome.result.unwrap();
            assert_eq!(response.model.provider(), other.provider());
            assert_eq!((broken.requests().len(), fine.requests().len()), (n_tries, 1));
        }
        let broken = Loopback::start(vec![Reply::status(400, &[], BROKEN)]).await;
        let fine = Loopback::start(vec![other.text(&["Hi"])]).await;
        let outcome = ask(&route(&[(style, &broken), (other, &fine)])).await;
        assert_eq!((outcome.kind(), fine.requests().len()), ("bad_request", 0));
    }
}

#[tokio::test]
async fn silence_is_not_waited_out() {
    let short = Duration::from_millis(60);
    for style in BOTH {
        let nothing = Loopback::start(vec![Reply::stream([]).stall()]).await;
        let mut control = control();
        control.policy.attempts = 1;
        let patient = control.limits.clone();
        control.limits = Limits { first_token: short, ..patient.clone() };
        let outcome = ask_with(&route(&[(style, &nothing)]), &question(), &control).await;
        let error = outcome.result.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Timeout(Wait::FirstToken), "{style:?}");
        let some = Loopback::start(vec![style.text(&["Hel"]).cut_after_text().stall()]).await;
        control.limits = Limits { next_token: short, ..patient.clone() };
        let outcome = ask_with(&route(&[(style, &some)]), &question(), &control).await;
        assert_eq!(outcome.result.unwrap_err().kind, ErrorKind::Timeout(Wait::NextToken));
        some.client_left().await;
        control.limits = patient;
        control.policy.deadline = short;
        let outcome = ask_with(&route(&[(style, &some)]), &question(), &control).await;
        assert_eq!(outcome.result.unwrap_err().kind, ErrorKind::Timeout(Wait::Total));
    }
}

/// The clock is stopped and advances only when no other task can run.
#[tokio::test(start_paused = true)]
async fn a_server_that_drips_for_ever_ends_with_the_deadline() {
    let word = |style: Style| match style {
        Style::Anthropic => "event: content_block_delta\ndata: {\"type\":\"ping\"}\n\n".to_owned(),
        Style::OpenAi => "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n".to_owned(),
    };
    for style in BOTH {
        for (what, reply) in [
            ("headers", style.text(&["Hi"]).endless_head()),
            ("comments", Reply::stream([]).drip(": alive\n\n")),
            ("letters of a line", Reply::stream([]).drip("a")),
            ("words", style.text(&["Hel"]).cut_after_text().drip(&word(style))),
            ("a document", Reply::with_type("application/json", []).drip(" ")),
            ("a complaint", Reply::status(500, &[], "{").drip(" ")),
        ] {
            let server = Loopback::start(vec![reply]).await;
            let mut control = control();
            control.policy.deadline = Duration::from_secs(100);
            let begun = Instant::now();
            let outcome = ask_with(&route(&[(style, &server)]), &question(), &control).await;
            assert!(begun.elapsed() <= Duration::from_secs(101), "{style:?} {what}");
            let kind = outcome.kind();
            assert!(matches!(kind, "timeout" | "protocol"), "{style:?} {what}: {kind}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_first_server_that_drips_leaves_the_fallback_its_time() {
    let drips = Loopback::start(vec![Reply::stream([]).drip(": alive\n\ndata\n\n")]).await;
    let fine = Loopback::start(vec![Style::Anthropic.text(&["Hi"])]).await;
    let mut control = control();
    control.policy.deadline = Duration::from_secs(50);
    let servers = [(Style::OpenAi, &drips), (Style::Anthropic, &fine)];
    let outcome = ask_with(&route(&servers), &question(), &control).await;
    assert_eq!(outcome.result.unwrap().text(), "Hi");
}

#[tokio::test]
async fn an_error_inside_a_stream_is_one() {
    for style in BOTH {
        let server =
            Loopback::start(vec![style.error_in_stream("Hel", "busy"), style.text(&["Hi"])]).await;
        let outcome = ask(&route(&[(style, &server)])).await;
        assert_eq!(outcome.detours(), [("overloaded", true)]);
        assert_eq!(outcome.result.unwrap().text(), "Hi");
    }
}

#[tokio::test]
async fn what_is_no_answer_is_called_so() {
    for style in BOTH {
        for (reply, kind) in [
            (style.text(&["Hi"]).header("content-encoding", "gzip"), "protocol"),
            (Reply::with_type("text/html", ["<html>Log in</html>".to_owned()]), "protocol"),
            (Reply::stream(["data: not json\n\n".to_owned()]), "protocol"),
            (Reply::stream([]), "cut_stream"),
            (Reply::status(401, &[], "{}"), "auth"),
            (Reply::status(413, &[], "{}"), "context_too_long"),
        ] {
            let server = Loopback::start(vec![reply.clone()]).await;
            assert_eq!(ask(&route(&[(style, &server)])).await.kind(), kind, "{style:?} {reply:?}");
        }
        let mut gone = Loopback::start(Vec::new()).await;
        gone.address = "http://127.0.0.1:1".to_owned();
        assert_eq!(ask(&route(&[(style, &gone)])).await.kind(), "unavailable");
    }
}

#[tokio::test]
async fn cancelling_closes_the_connection() {
    for style in BOTH {
        let mut quickest = Duration::MAX;
        // Only one of several attempts has to be fast, because the machine may be busy during the
        // others.
        for _ in 0..3 {
            quickest = quickest.min(cancel_in_the_middle(style).await);
        }
        assert!(quickest < Duration::from_millis(200), "{quickest:?}");
    }
}

/// Cancels a call in the middle of its answer, and returns how long the server took to notice.
async fn cancel_in_the_middle(style: Style) -> Duration {
    let server = Loopback::start(vec![style.text(&["Hel"]).cut_after_text().stall()]).await;
    let source = Cancel::new();
    let control = Control { cancel: source.clone(), ..control() };
    let (route, request) = (route(&[(style, &server)]), question());
    let (shown, mut is_shown) = tokio::sync::mpsc::unbounded_channel();
    let mut sink = |event: ModelEvent| {
        if matches!(event, ModelEvent::Text(_)) {
            let _ = shown.send(());
        }
    };
    let call = generate(&route, &request, &control, &mut sink);
    let cancel = async {
        is_shown.recv().await;
        source.cancel();
        Instant::now()
    };
    let (result, cancelled_at) = tokio::join!(call, cancel);
    assert_eq!(result.unwrap_err().kind, ErrorKind::Cancelled);
    server.client_left().await;
    cancelled_at.elapsed()
}

#[tokio::test]
async fn dropping_a_call_closes_the_connection() {
    for style in BOTH {
        let server = Loopback::start(vec![style.text(&["Hel"]).cut_after_text().stall()]).await;
        let (route, request, control) = (route(&[(style, &server)]), question(), control());
        let (shown, mut is_shown) = tokio::sync::mpsc::unbounded_channel();
        let mut sink = |event: ModelEvent| {
            if matches!(event, ModelEvent::Text(_)) {
                let _ = shown.send(());
            }
        };
        tokio::select! {
            _ = generate(&route, &request, &control, &mut sink) => panic!("it stalls"),
            _ = is_shown.recv() => {}
        }
        server.client_left().await;
    }
}
