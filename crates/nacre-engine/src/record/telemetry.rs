//! Exports tasks, steps, model calls and tool calls as OpenTelemetry spans to the user's collector.
//!
//! A repository cannot set the collector's address. Spans contain names, durations and token
//! counts, but no prompts, answers or file contents. The few required OTLP/HTTP fields are encoded
//! by hand to avoid a dependency on the OpenTelemetry crates.

use std::collections::HashMap;
use std::time::Duration;

use jiff::Timestamp;
use nacre_base::ContentHash;
use percent_encoding::percent_decode_str;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Url};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::model::{client_builder, http_url, is_plain};
use crate::record::{Event, Fault, ModelFacts, Record, TaskId, TaskState, ToolFacts};

/// Spans beyond this limit are dropped.
const MAX_SPANS: usize = 20_000;

const MAX_SPANS_PER_REQUEST: usize = 512;

const UNKNOWN: &str = "unknown";

const INTERNAL: u8 = 1;
const CLIENT: u8 = 3;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

const PATH: &str = "/v1/traces";

#[derive(Debug, Default)]
pub(super) struct Spans {
    open: HashMap<TaskId, OpenTask>,
    done: Vec<Value>,
}

#[derive(Debug)]
struct OpenTask {
    span: OpenSpan,
    agent: Option<String>,
    step: Option<(u32, OpenSpan)>,
}

#[derive(Debug)]
struct OpenSpan {
    trace: String,
    id: String,
    parent: Option<String>,
    start: Timestamp,
}

impl Spans {
    pub(super) fn add(&mut self, record: &Record) {
        let Record { task, sequence, at, event } = record;
        let mut open = self.open.remove(task).unwrap_or_else(|| OpenTask::root(task, *at));
        if let Event::StepStart { step } = event {
            self.end_step(&mut open, *at, None);
            let span = open.span.child(span_id(task, &format!("step {step}")), *at);
            open.step = Some((*step, span));
        } else if let Event::StepEnd { n_calls, .. } = event {
            self.end_step(&mut open, *at, Some(*n_calls));
        } else if let Event::RunPrepare { agent, .. } = event {
            open.agent = Some(agent.to_string());
        } else if let Event::ModelFinish(facts) = event {
            let span = open.call(task, *sequence, *at, facts.duration_us);
            self.push(model_span(&span, *at, facts));
        } else if let Event::ToolResult(facts) = event {
            let span = open.call(task, *sequence, *at, facts.duration_us);
            self.push(tool_span(&span, *at, facts));
        } else if let Event::AgentSpawn { child, agent } = event {
            let span = open.current().child(span_id(child, "task"), *at);
            let below = OpenTask { span, agent: Some(agent.to_string()), step: None };
            self.open.insert(child.clone(), below);
        }
        if let Event::TaskState(state) = event
            && state.is_terminal()
        {
            self.end_task(open, task, *at, *state);
        } else {
            self.open.insert(task.clone(), open);
        }
    }

    fn end_step(&mut self, open: &mut OpenTask, at: Timestamp, n_calls: Option<usize>) {
        let Some((number, span)) = open.step.take() else { return };
        let attributes =
            [("nacre.step.number", json!(number)), ("nacre.step.calls", json!(n_calls))];
        self.push(span.close("step", INTERNAL, at, &attributes, None));
    }

    fn end_task(&mut self, mut open: OpenTask, task: &TaskId, at: Timestamp, state: TaskState) {
        self.end_step(&mut open, at, None);
        let agent = open.agent.as_deref().unwrap_or(UNKNOWN);
        let reason = state.reason();
        let attributes = [
            ("gen_ai.operation.name", json!("invoke_agent")),
            ("gen_ai.agent.name", json!(agent)),
            ("nacre.task.id", json!(task)),
            ("nacre.task.state", json!(state.as_str())),
            ("nacre.task.reason", json!(reason)),
        ];
        let failure = reason.filter(|_| matches!(state, TaskState::Failed { .. }));
        let name = format!("invoke_agent {agent}");
        self.push(open.span.close(&name, INTERNAL, at, &attributes, failure));
    }

    fn push(&mut self, span: Value) {
        if self.done.len() < MAX_SPANS {
            self.done.push(span);
        }
    }
}

impl OpenTask {
    fn root(task: &TaskId, start: Timestamp) -> Self {
        let trace = ContentHash::of(task.as_str().as_bytes()).to_string()[..32].to_owned();
        let span = OpenSpan { trace, id: span_id(task, "task"), parent: None, start };
        Self { span, agent: None, step: None }
    }

    fn current(&self) -> &OpenSpan {
        self.step.as_ref().map_or(&self.span, |(_, step)| step)
    }

    fn call(&self, task: &TaskId, sequence: u64, end: Timestamp, duration_us: u64) -> OpenSpan {
        let start = end.checked_sub(Duration::from_micros(duration_us)).unwrap_or(end);
        self.current().child(span_id(task, &format!("event {sequence}")), start)
    }
}

impl OpenSpan {
    fn child(&self, id: String, start: Timestamp) -> Self {
        Self { trace: self.trace.clone(), id, parent: Some(self.id.clone()), start }
    }

    /// Returns the finished span in OTLP/JSON, which encodes 64-bit numbers as strings.
    fn close(
        &self,
        name: &str,
        kind: u8,
        end: Timestamp,
        attributes: &[(&str, Value)],
        failure: Option<&str>,
    ) -> Value {
        let status = failure.map_or(json!({}), |why| json!({ "code": 2, "message": why }));
        let mut span = json!({
            "traceId": self.trace, "spanId": self.id, "name": name, "kind": kind,
            "startTimeUnixNano": self.start.as_nanosecond().to_string(),
            "endTimeUnixNano": end.as_nanosecond().to_string(),
            "attributes": encode(attributes), "status": status,
        });
        if let Some(parent) = &self.parent {
            span["parentSpanId"] = json!(parent);
        }
        span
    }
}

fn model_span(span: &OpenSpan, end: Timestamp, facts: &ModelFacts) -> Value {
    let ModelFacts { model, usage, cost, first_token_us, .. } = facts;
    let input = usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
    let attributes = [
        ("gen_ai.operation.name", json!("chat")),
        ("gen_ai.provider.name", json!(model.provider())),
        ("gen_ai.request.model", json!(model.model())),
        ("gen_ai.usage.input_tokens", json!(input)),
        ("gen_ai.usage.output_tokens", json!(usage.output)),
        ("gen_ai.usage.cache_read.input_tokens", json!(usage.cache_read)),
        ("gen_ai.usage.cache_creation.input_tokens", json!(usage.cache_write)),
        ("nacre.first_token_us", json!(first_token_us)),
        ("nacre.cost_nano_dollars", json!(cost)),
    ];
    span.close(&format!("chat {model}"), CLIENT, end, &attributes, None)
}

fn tool_span(span: &OpenSpan, end: Timestamp, facts: &ToolFacts) -> Value {
    // A model can invent a tool name, so unknown names are not exported.
    let tool = facts.category.map_or(UNKNOWN, |_| facts.tool.as_str());
    let fault = facts.fault.map(Fault::as_str);
    let attributes = [
        ("gen_ai.operation.name", json!("execute_tool")),
        ("gen_ai.tool.name", json!(tool)),
        ("nacre.tool.bytes_out", json!(facts.bytes_out)),
        ("error.type", json!(fault)),
    ];
    span.close(&format!("execute_tool {tool}"), INTERNAL, end, &attributes, fault)
}

/// Returns the attributes in OTLP/JSON, without null values.
fn encode(attributes: &[(&str, Value)]) -> Vec<Value> {
    let attribute = |(key, value): &(&str, Value)| match value {
        Value::Null => None,
        Value::String(text) => Some(json!({ "key": key, "value": { "stringValue": text } })),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Some(json!({ "key": key, "value": { "intValue": value.to_string() } }))
        }
    };
    attributes.iter().filter_map(attribute).collect()
}

fn span_id(task: &TaskId, what: &str) -> String {
    ContentHash::of(format!("{task} {what}").as_bytes()).short()
}

/// The collector's endpoint and headers. An empty endpoint disables the export.
#[derive(Clone, Copy, Debug, Default)]
pub struct Telemetry<'a> {
    pub endpoint: &'a str,
    /// Comma-separated `name=value` pairs, as in `OTEL_EXPORTER_OTLP_HEADERS`.
    pub headers: &'a str,
}

/// The collector's client. A slow or unreachable collector never fails a task.
#[derive(Debug)]
pub(super) struct Collector {
    url: Url,
    client: Client,
}

/// An export error. No variant contains the address or a header, because those may include a
/// password.
#[derive(Debug, thiserror::Error)]
pub enum CollectorError {
    #[error("the address is not an HTTP or HTTPS URL")]
    NotHttp,
    #[error("the address contains a user name, password, query or fragment")]
    NotPlain,
    #[error("`OTEL_EXPORTER_OTLP_HEADERS` is not a list of `name=value` pairs")]
    Headers,
    #[error("cannot prepare the connection")]
    Client(#[source] reqwest::Error),
    #[error("the collector cannot be reached")]
    Unreachable(#[source] reqwest::Error),
    #[error("the collector answered with status {0}")]
    Status(u16),
    #[error("the collector took too long")]
    TimedOut,
}

impl Collector {
    pub(super) fn new(telemetry: Telemetry<'_>) -> Result<Option<Self>, CollectorError> {
        if telemetry.endpoint.is_empty() {
            return Ok(None);
        }
        let mut url = http_url(telemetry.endpoint).ok_or(CollectorError::NotHttp)?;
        if !is_plain(&url) {
            return Err(CollectorError::NotPlain);
        }
        let path = url.path().trim_end_matches('/').to_owned();
        if !path.ends_with(PATH) {
            url.set_path(&format!("{path}{PATH}"));
        }
        let headers = parse_headers(telemetry.headers).ok_or(CollectorError::Headers)?;
        let builder = client_builder(&url, CONNECT_TIMEOUT).no_proxy().default_headers(headers);
        Ok(Some(Self { client: builder.build().map_err(CollectorError::Client)?, url }))
    }

    pub(super) async fn send(
        &self,
        spans: Spans,
        limit: Duration,
    ) -> Result<usize, CollectorError> {
        let spans = spans.done;
        let all = async {
            for part in spans.chunks(MAX_SPANS_PER_REQUEST) {
                self.post(part).await?;
            }
            Ok(spans.len())
        };
        timeout(limit, all).await.map_err(|_| CollectorError::TimedOut)?
    }

    async fn post(&self, spans: &[Value]) -> Result<(), CollectorError> {
        let service = [
            ("service.name", json!("nacre")),
            ("service.version", json!(env!("CARGO_PKG_VERSION"))),
        ];
        let body = json!({ "resourceSpans": [{
            "resource": { "attributes": encode(&service) },
            "scopeSpans": [{ "scope": { "name": "nacre" }, "spans": spans }],
        }] });
        let request = self.client.post(self.url.clone()).header(CONTENT_TYPE, "application/json");
        let response = request.body(body.to_string()).send().await;
        let response =
            response.map_err(|error| CollectorError::Unreachable(error.without_url()))?;
        match response.status() {
            status if status.is_success() => Ok(()),
            status => Err(CollectorError::Status(status.as_u16())),
        }
    }
}

/// Parses `name=value` pairs with percent-encoded values.
fn parse_headers(text: &str) -> Option<HeaderMap> {
    let pairs = text.split(',').map(str::trim).filter(|pair| !pair.is_empty());
    let parse = |pair: &str| {
        let (name, value) = pair.split_once('=')?;
        let value = percent_decode_str(value.trim()).decode_utf8().ok()?;
        let mut value = HeaderValue::from_str(&value).ok()?;
        value.set_sensitive(true);
        Some((HeaderName::from_bytes(name.trim().as_bytes()).ok()?, value))
    };
    pairs.map(parse).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::{ModelRef, StopReason, Usage};
    use crate::record::{Category, Clock, Events, Failure, Heard, Listener, Signal, TaskId};

    #[test]
    fn an_address_is_checked_and_completed() {
        for (endpoint, expected) in [
            ("", "off"),
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
            ("http://127.0.0.1:4318/", "http://127.0.0.1:4318/v1/traces"),
            ("https://otel.example/x/v1/traces", "https://otel.example/x/v1/traces"),
            ("file:///etc/passwd", "http"),
            ("nothing", "http"),
            ("http://u:hunter2@h/", "plain"),
            ("http://h/?key=hunter2", "plain"),
        ] {
            let got = match Collector::new(Telemetry { endpoint, headers: "" }) {
                Ok(None) => "off".to_owned(),
                Ok(Some(collector)) => collector.url.to_string(),
                Err(CollectorError::NotHttp) => "http".to_owned(),
                Err(CollectorError::NotPlain) => "plain".to_owned(),
                Err(other) => panic!("{other}"),
            };
            assert_eq!(got, expected);
        }
    }

    #[test]
    fn tasks_steps_and_calls_are_one_tree_without_what_was_said() {
        let heard = Arc::new(Heard::default());
        let clock: Clock = Arc::new(|| "2026-11-15T08:30:00Z".parse::<Timestamp>().unwrap());
        let listener = Arc::clone(&heard) as Arc<dyn Listener>;
        let events = Events::new(TaskId::from_random(1), clock, vec![listener]);
        let model: ModelRef = "anthropic/claude-sonnet-4-6".parse().unwrap();
        let spoken = "a secret text";
        let tool = |tool: &str, category, fault| {
            Event::ToolResult(Box::new(ToolFacts {
                step: 1,
                call: "c1".into(),
                tool: tool.into(),
                category,
                fault,
                duration_us: 250,
                bytes_in: 10,
                bytes_out: 400,
                shown_bytes: 400,
                changed: Vec::new(),
                n_changed: 0,
            }))
        };
        events.emit(Event::RunPrepare { agent: "lead".into(), model: model.clone(), n_tools: 2 });
        events.emit(Event::StepStart { step: 1 });
        events.emit(Event::ModelFinish(Box::new(ModelFacts {
            step: 1,
            model,
            stop: StopReason::ToolUse,
            usage: Usage { input: 100, cache_read: 900, output: 20, ..Usage::default() },
            cost: None,
            first_token_us: Some(500),
            duration_us: 1_000_000,
        })));
        events.emit(tool("file_read", Some(Category::Read), None));
        events.emit(tool(spoken, None, Some(Fault::UnknownTool)));
        events.emit(Event::AgentSpawn { child: TaskId::from_random(2), agent: "explorer".into() });
        let child = events.of_task(TaskId::from_random(2));
        child.emit(Event::TaskState(TaskState::Completed { signal: Signal::Done }));
        events.emit(Event::StepEnd { step: 1, n_calls: 2, duration_us: 2_000_000 });
        events.emit(Event::TaskState(TaskState::Failed { why: Failure::Deadline }));

        let mut spans = Spans::default();
        heard.records().iter().for_each(|record| spans.add(record));
        let name_of = |id: &Value| {
            let span = spans.done.iter().find(|span| span["spanId"] == *id);
            span.map_or("-", |span| span["name"].as_str().unwrap())
        };
        let tree: Vec<String> = spans
            .done
            .iter()
            .map(|span| {
                format!("{} < {}", span["name"].as_str().unwrap(), name_of(&span["parentSpanId"]))
            })
            .collect();
        insta::assert_snapshot!(tree.join("\n"), @"
        chat anthropic/claude-sonnet-4-6 < step
        execute_tool file_read < step
        execute_tool unknown < step
        invoke_agent explorer < step
        step < invoke_agent lead
        invoke_agent lead < -
        ");
        let usage = encode(&[("gen_ai.usage.input_tokens", json!(1000))]).remove(0);
        assert!(spans.done[0]["attributes"].as_array().unwrap().contains(&usage));
        assert_eq!(spans.done[0]["traceId"].as_str().unwrap().len(), 32);
        assert_eq!(spans.done[0]["spanId"].as_str().unwrap().len(), 16);
        assert_eq!(spans.done[5]["status"], json!({ "code": 2, "message": "deadline" }));
        assert!(!json!(spans.done).to_string().contains(spoken));
    }

    #[test]
    fn headers_are_parsed_as_in_the_standard_variable() {
        let headers = parse_headers("authorization=Bearer%20a1,x-team = blue ,").unwrap();
        assert_eq!(headers["authorization"], "Bearer a1");
        assert_eq!(headers["x-team"], "blue");
        assert!(parse_headers("authorization").is_none() && parse_headers("a b=c").is_none());
    }
}
