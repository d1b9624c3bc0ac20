//! Tests for structured answers.

use nacre_engine::model::{
    MAX_REPAIRS, ModelEvent, OUTPUT_TOOL, OutputSchema, Request, Role, Structured, StructuredError,
    request_structured,
};
use serde::Deserialize;
use serde_json::json;

use crate::harness::{KEY, control, route, route_of};
use crate::loopback::{Loopback, Reply};
use crate::styles::{BOTH, Style};

#[derive(Debug, PartialEq, Deserialize)]
struct Report {
    title: String,
    lines: Vec<u32>,
}

fn output() -> OutputSchema {
    let schema = json!({
        "type": "object",
        "properties": {
            "title": { "type": "string", "minLength": 1 },
            "lines": { "type": "array", "items": { "type": "integer", "minimum": 1 } },
        },
        "required": ["title", "lines"],
        "additionalProperties": false,
    });
    OutputSchema { name: "report".to_owned(), description: "The report.".to_owned(), schema }
}

const GOOD: &str = r#"{"title":"a","lines":[1,2]}"#;

async fn ask(
    name: &str,
    style: Style,
    server: &Loopback,
) -> Result<Structured<Report>, StructuredError> {
    let request = Request::new(Role::Extract, "Extract.", "Some text");
    let route = route_of(&[(name, style, server)], KEY);
    let mut sink = |_: ModelEvent| {};
    request_structured(&route, &request, &output(), &control(), &mut sink).await
}

fn report() -> Report {
    Report { title: "a".to_owned(), lines: vec![1, 2] }
}

#[tokio::test]
async fn the_api_is_asked_for_the_shape() {
    for style in BOTH {
        let server = Loopback::start(vec![style.text(&[GOOD])]).await;
        let answer = ask(style.provider(), style, &server).await.unwrap();
        assert_eq!((answer.value, answer.n_repairs), (report(), 0));
        let body = &server.requests()[0].body;
        let format = match style {
            Style::Anthropic => &body["output_config"]["format"]["type"],
            Style::OpenAi => &body["response_format"]["type"],
        };
        assert_eq!(format, "json_schema");
    }
}

#[tokio::test]
async fn a_server_that_turns_it_down_is_asked_by_a_tool_from_then_on() {
    for style in BOTH {
        let refusal = r#"{"error":{"message":"response_format is not supported"}}"#;
        let server = Loopback::start(vec![
            Reply::status(400, &[], refusal),
            style.calls(&[("x", OUTPUT_TOOL, GOOD)]),
        ])
        .await;
        let request = Request::new(Role::Extract, "Extract.", "Some text");
        let route = route(&[(style, &server)]);
        for n_requests in [2, 3] {
            let answer: Structured<Report> =
                request_structured(&route, &request, &output(), &control(), &mut |_| {})
                    .await
                    .unwrap();
            assert_eq!(answer.value, report());
            assert_eq!(answer.response.calls().len(), 0, "the call is the text");
            assert_eq!(server.requests().len(), n_requests);
        }
        let last = &server.requests()[2].body;
        assert!(last["tool_choice"].to_string().contains(OUTPUT_TOOL), "{last}");
    }
}

#[tokio::test]
async fn a_wrong_answer_goes_back_with_its_errors() {
    for style in BOTH {
        let server = Loopback::start(vec![
            style.text(&["Here you are: {\"title\":\"\",\"lines\":[0]}"]),
            style.text(&["Sorry, I cannot write JSON"]),
            style.text(&["```json\n", GOOD, "\n```"]),
        ])
        .await;
        let answer = ask(style.provider(), style, &server).await.unwrap();
        assert_eq!((answer.value, answer.n_repairs), (report(), MAX_REPAIRS));
        assert_eq!(answer.usage.output, 60);
        let sent: Vec<String> =
            server.requests().iter().map(|request| request.body.to_string()).collect();
        assert!(sent[1].contains("at /title: has 0 characters") && sent[1].contains("at /lines/0"));
        assert!(sent[2].contains("the answer contains no JSON"));
    }
}

#[tokio::test]
async fn a_model_that_cannot_is_given_up() {
    for style in BOTH {
        let server = Loopback::start(vec![style.text(&["{\"title\":5}"])]).await;
        let error = ask(style.provider(), style, &server).await.unwrap_err();
        let StructuredError::Invalid { errors, .. } = error else { panic!("{error}") };
        assert_eq!(
            errors,
            ["at /: `lines` is missing", "at /title: expected string, found number"]
        );
        assert_eq!(server.requests().len(), 1 + MAX_REPAIRS);
    }
}

#[tokio::test]
async fn an_answer_that_was_cut_short_is_not_taken_for_whole() {
    for style in BOTH {
        let stop = if style == Style::Anthropic { "max_tokens" } else { "length" };
        for reply in [style.answer(&[GOOD], &[], stop), style.refusal()] {
            let server = Loopback::start(vec![reply]).await;
            let error = ask(style.provider(), style, &server).await.unwrap_err();
            assert!(matches!(error, StructuredError::Incomplete { .. }), "{error}");
            assert_eq!(server.requests().len(), 1);
        }
    }
}

#[tokio::test]
async fn a_server_without_the_shape_is_told_in_words() {
    let server = Loopback::start(vec![Style::OpenAi.text(&[GOOD])]).await;
    assert_eq!(ask("zai", Style::OpenAi, &server).await.unwrap().value, report());
    let body = &server.requests()[0].body;
    assert!(body["messages"][0]["content"].as_str().unwrap().contains(OUTPUT_TOOL));
    assert_eq!(body["tools"][0]["function"]["name"], OUTPUT_TOOL);
}
