//! Spans at a collector on this machine.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use nacre_engine::model::{Cost, ModelRef, StopReason, Usage};
use nacre_engine::record::{
    CacheUse, CancelledBy, Category, Clock, Collector, CollectorError, Event, Events, Failure,
    Fault, Listener, ModelFacts, Signal, SpanLog, TaskId, TaskState, ToolFacts,
};
use serde_json::Value;

use crate::loopback::{Loopback, Reply};

const LIMIT: Duration = Duration::from_secs(20);

fn tool(name: &str, category: Option<Category>, fault: Option<Fault>) -> Event {
    Event::ToolResult(Box::new(ToolFacts {
        step: 1,
        call: "c1".into(),
        tool: name.into(),
        category,
        fault,
        cache: CacheUse::Off,
        duration_us: 250,
        bytes_in: 10,
        bytes_out: 400,
        shown_bytes: 400,
        changed: Vec::new(),
        n_changed: 0,
    }))
}

fn answer() -> Event {
    Event::ModelFinish(Box::new(ModelFacts {
        step: 1,
        model: "anthropic/claude-sonnet-4-6".parse::<ModelRef>().unwrap(),
        stop: StopReason::ToolUse,
        usage: Usage { input: 100, cache_read: 900, output: 20, ..Usage::default() },
        cost: Some(Cost::from_nano_dollars(1500)),
        first_token_us: Some(500),
        duration_us: 1_000_000,
    }))
}

/// A task that answers, calls tools and has a helper, told to a log of spans.
fn told(end: TaskState) -> Arc<SpanLog> {
    let log = Arc::new(SpanLog::default());
    let clock: Clock = Arc::new(|| "2026-11-15T08:30:00Z".parse::<Timestamp>().unwrap());
    let events =
        Events::new(TaskId::from_random(1), clock, vec![Arc::clone(&log) as Arc<dyn Listener>]);
    let spoken = "a secret that nobody is told".to_owned();
    events.emit(Event::TaskState(TaskState::Running));
    events.emit(Event::RunPrepare {
        agent: "lead".into(),
        model: ModelRef::scripted(),
        n_tools: 2,
    });
    events.emit(Event::StepStart { step: 1 });
    events.emit(Event::ModelDelta {
        kind: nacre_engine::record::DeltaKind::Text,
        text: spoken.clone(),
    });
    events.emit(answer());
    events.emit(Event::ToolCall {
        step: 1,
        call: "c1".into(),
        tool: "file_read".into(),
        arguments: spoken.as_str().into(),
    });
    events.emit(tool("file_read", Some(Category::Read), None));
    events.emit(tool(&spoken, None, Some(Fault::UnknownTool)));
    events.emit(Event::AgentSpawn { child: TaskId::from_random(2), agent: "explorer".into() });
    let child = events.of_task(TaskId::from_random(2));
    child.emit(Event::TaskState(TaskState::Completed { signal: Signal::Done }));
    events.emit(Event::StepEnd { step: 1, n_calls: 2, duration_us: 2_000_000 });
    events.emit(Event::StepStart { step: 2 });
    events.emit(Event::TaskState(end));
    log
}

fn attribute<'v>(span: &'v Value, key: &str) -> &'v Value {
    let all = span["attributes"].as_array().unwrap();
    all.iter()
        .find(|attribute| attribute["key"] == key)
        .map_or(&Value::Null, |found| &found["value"])
}

#[tokio::test]
async fn tasks_steps_and_calls_arrive_as_one_tree_with_their_tokens() {
    let server = Loopback::start(vec![Reply::status(200, &[], "{}")]).await;
    let log = told(TaskState::Failed { why: Failure::Deadline });
    assert_eq!(Collector::new(&server.address).unwrap().send(&log, LIMIT).await.unwrap(), 7);
    let received = server.received();
    assert!(received[0].head.starts_with("POST /v1/traces HTTP/1.1"), "{}", received[0].head);
    let body = &received[0].body;
    let spans = body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap();
    let name_of = |id: &Value| {
        spans.iter().find(|span| span["spanId"] == *id).map(|span| span["name"].as_str().unwrap())
    };
    let tree: Vec<String> = spans
        .iter()
        .map(|span| {
            format!(
                "{} < {}",
                span["name"].as_str().unwrap(),
                name_of(&span["parentSpanId"]).unwrap_or("-")
            )
        })
        .collect();
    assert_eq!(
        tree,
        [
            "chat anthropic/claude-sonnet-4-6 < step",
            "execute_tool file_read < step",
            "execute_tool unknown < step",
            "invoke_agent explorer < step",
            "step < invoke_agent lead",
            "step < invoke_agent lead",
            "invoke_agent lead < -",
        ]
    );
    assert!(spans.iter().all(|span| span["traceId"] == spans[0]["traceId"]));
    assert_eq!(spans[0]["traceId"].as_str().unwrap().len(), 32);
    assert_eq!(spans[0]["spanId"].as_str().unwrap().len(), 16);
    assert_eq!(attribute(&spans[0], "gen_ai.usage.input_tokens")["intValue"], "1000");
    assert_eq!(attribute(&spans[0], "gen_ai.usage.output_tokens")["intValue"], "20");
    assert_eq!(spans[0]["startTimeUnixNano"], "1794731399000000000");
    assert_eq!(spans[0]["endTimeUnixNano"], "1794731400000000000");
    assert_eq!(spans[2]["status"]["message"], "unknown_tool");
    assert_eq!(spans[6]["status"], serde_json::json!({ "code": 2, "message": "deadline" }));
    assert!(!body.to_string().contains("secret"), "what was said stays here");
}

#[tokio::test]
async fn a_collector_that_fails_is_told_and_spans_are_not_sent_twice() {
    let server = Loopback::start(vec![Reply::status(503, &[], "{}")]).await;
    let log = told(TaskState::Cancelled { by: CancelledBy::Person });
    let collector = Collector::new(&server.address).unwrap();
    assert!(matches!(collector.send(&log, LIMIT).await, Err(CollectorError::Status(503))));
    assert_eq!(collector.send(&log, LIMIT).await.unwrap(), 0);
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn a_collector_that_is_gone_redirects_or_stalls_costs_an_error_and_no_more() {
    let gone = Collector::new("http://127.0.0.1:1").unwrap();
    let log = told(TaskState::Completed { signal: Signal::Done });
    assert!(matches!(gone.send(&log, LIMIT).await, Err(CollectorError::Unreachable(_))));
    let server =
        Loopback::start(vec![Reply::status(302, &[("location", "http://127.0.0.1:1/")], "")]).await;
    let log = told(TaskState::Completed { signal: Signal::Done });
    assert!(matches!(
        Collector::new(&server.address).unwrap().send(&log, LIMIT).await,
        Err(CollectorError::Status(302))
    ));
}

#[tokio::test(start_paused = true)]
async fn a_collector_that_does_not_answer_is_left_behind() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let log = told(TaskState::Completed { signal: Signal::Done });
    let collector = Collector::new(&address).unwrap();
    assert!(matches!(
        collector.send(&log, LIMIT).await,
        Err(CollectorError::TimedOut | CollectorError::Unreachable(_))
    ));
}
