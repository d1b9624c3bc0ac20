//! Tests that a key is sent to only one server and is never displayed.

use std::error::Error;

use proptest::prelude::*;

use crate::harness::{Outcome, ask, route, route_of};
use crate::loopback::{Loopback, Reply};
use crate::styles::{BOTH, Style};

#[tokio::test]
async fn a_redirect_is_refused_and_the_key_does_not_follow() {
    for style in BOTH {
        for status in [301, 302, 303, 307, 308] {
            let thief = Loopback::start(vec![style.text(&["Hi"])]).await;
            let location = format!("{}/v1/messages", thief.address);
            let redirect = Reply::status(status, &[("location", &location)], "");
            let server = Loopback::start(vec![redirect]).await;
            let outcome = ask(&route(&[(style, &server)])).await;
            assert_eq!(outcome.kind(), "redirected");
            assert_eq!((server.requests().len(), thief.requests().len()), (1, 0));
        }
    }
}

/// Returns everything about a call that a log or a terminal could show.
fn render_outcome(outcome: &Outcome) -> String {
    let mut text = format!("{:?}", outcome.events);
    if let Err(error) = &outcome.result {
        text.push_str(&format!("{error:?} {error:#?} {error}"));
        let mut source = error.source();
        while let Some(cause) = source {
            text.push_str(&format!("{cause:?} {cause}"));
            source = cause.source();
        }
    }
    text
}

/// Returns replies of servers that quote the key wherever they can.
fn quoting(style: Style, key: &str) -> Vec<Reply> {
    let quoted =
        serde_json::to_string(&format!("Incorrect key provided: {key}. {key}{key}")).unwrap();
    let body =
        format!("{{\"error\":{{\"message\":{quoted},\"type\":{quoted},\"code\":{quoted}}}}}");
    let padded = format!("{}{key}", "x".repeat(590));
    vec![
        Reply::status(401, &[("www-authenticate", key), ("retry-after", key)], &body),
        Reply::status(400, &[], &format!("{{\"detail\":{quoted}}}")),
        Reply::status(500, &[], key),
        Reply::status(400, &[], &padded),
        Reply::status(307, &[("location", &format!("http://{key}@127.0.0.1:1/{key}"))], key),
        style.error_in_stream("Hel", key),
        Reply::stream([format!("data: {key}\n\n")]),
        Reply::stream([format!("event: {key}\ndata: {{\"error\":{quoted}}}\n\n")]),
        Reply::with_type("application/json", [format!("{{\"error\":{quoted}}}")]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]
    #[test]
    fn the_key_is_in_nothing_that_is_shown(key in r#"[!-~]{16,40}"#) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            for style in BOTH {
                for reply in quoting(style, &key) {
                    let server = Loopback::start(vec![reply]).await;
                    let route = route_of(&[(style.provider(), style, &server)], &key);
                    let outcome = ask(&route).await;
                    assert!(outcome.result.is_err());
                    let text = render_outcome(&outcome);
                    // Not even a fragment of an escaped or truncated key may be shown.
                    for piece in key.as_bytes().windows(10) {
                        let piece = std::str::from_utf8(piece).unwrap();
                        assert!(!text.contains(piece), "{piece} of {key} in {text}");
                    }
                }
            }
        });
    }
}
