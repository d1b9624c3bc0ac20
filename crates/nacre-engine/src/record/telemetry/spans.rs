//! Makes spans of events while they are told.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use nacre_core::base::ContentHash;

use crate::record::{Event, Listener, ModelFacts, Record, ToolFacts};
use crate::record::{TaskId, TaskState};

/// Spans that are kept until they are sent; more than this are counted.
const MAX_SPANS: usize = 20_000;

/// A name that is not ours to repeat.
const UNKNOWN: &str = "unknown";

/// A piece of time with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) trace: String,
    pub(super) id: String,
    pub(super) parent: Option<String>,
    pub(super) name: String,
    pub(super) kind: SpanKind,
    pub(super) start: Timestamp,
    pub(super) end: Timestamp,
    pub(super) attributes: Vec<(&'static str, Attribute)>,
    /// A word for why it failed, if it did.
    pub(super) failure: Option<&'static str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SpanKind {
    Internal,
    /// Somebody else was asked.
    Client,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Attribute {
    Text(String),
    Number(u64),
}

impl From<&str> for Attribute {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<u64> for Attribute {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

/// A listener that makes spans. What is not sent is forgotten with it.
#[derive(Debug, Default)]
pub struct SpanLog(Mutex<Book>);

#[derive(Debug, Default)]
struct Book {
    open: HashMap<TaskId, Open>,
    done: Vec<Span>,
    n_dropped: u64,
}

/// A task that is not over.
#[derive(Debug)]
struct Open {
    trace: String,
    id: String,
    parent: Option<String>,
    agent: Option<String>,
    start: Timestamp,
    step: Option<OpenStep>,
}

#[derive(Debug)]
struct OpenStep {
    number: u32,
    id: String,
    start: Timestamp,
}

impl SpanLog {
    /// Takes out what is complete.
    pub(super) fn take(&self) -> Vec<Span> {
        std::mem::take(&mut self.lock().done)
    }

    /// How many spans there was no room for.
    pub fn n_dropped(&self) -> u64 {
        self.lock().n_dropped
    }

    fn lock(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener for SpanLog {
    fn hear(&self, record: &Arc<Record>) {
        if record.event.is_stored() {
            self.lock().hear(record);
        }
    }
}

impl Book {
    fn hear(&mut self, record: &Record) {
        let Record { task, sequence, at, event } = record;
        let mut open = self.open.remove(task).unwrap_or_else(|| Open::root(task, *at));
        if let Event::StepStart { step } = event {
            self.end_step(&mut open, *at, None);
            let id = span_id(task, &format!("step {step}"));
            open.step = Some(OpenStep { number: *step, id, start: *at });
        }
        if let Event::StepEnd { n_calls, .. } = event {
            self.end_step(&mut open, *at, Some(*n_calls as u64));
        }
        if let Event::RunPrepare { agent, .. } = event {
            open.agent = Some(agent.to_string());
        }
        if let Event::ModelFinish(facts) = event {
            self.push(open.leaf(task, *sequence, *at, model_span(facts)));
        }
        if let Event::ToolResult(facts) = event {
            self.push(open.leaf(task, *sequence, *at, tool_span(facts)));
        }
        if let Event::AgentSpawn { child, agent } = event {
            let below = Open {
                parent: Some(open.current().to_owned()),
                trace: open.trace.clone(),
                agent: Some(agent.to_string()),
                ..Open::root(child, *at)
            };
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

    fn end_step(&mut self, open: &mut Open, at: Timestamp, n_calls: Option<u64>) {
        let Some(OpenStep { number, id, start }) = open.step.take() else { return };
        let mut attributes = vec![("nacre.step.number", Attribute::Number(number.into()))];
        attributes.extend(n_calls.map(|n_calls| ("nacre.step.calls", Attribute::Number(n_calls))));
        self.push(Span {
            trace: open.trace.clone(),
            id,
            parent: Some(open.id.clone()),
            name: "step".to_owned(),
            kind: SpanKind::Internal,
            start,
            end: at,
            attributes,
            failure: None,
        });
    }

    fn end_task(&mut self, mut open: Open, task: &TaskId, at: Timestamp, state: TaskState) {
        self.end_step(&mut open, at, None);
        let agent = open.agent.as_deref().unwrap_or(UNKNOWN);
        let mut attributes = vec![
            ("gen_ai.operation.name", "invoke_agent".into()),
            ("gen_ai.agent.name", agent.into()),
            ("nacre.task.id", task.as_str().into()),
            ("nacre.task.state", state.as_str().into()),
        ];
        attributes.extend(state.reason().map(|reason| ("nacre.task.reason", reason.into())));
        let failure = match state {
            TaskState::Failed { why } => Some(why.as_str()),
            TaskState::Accepted
            | TaskState::Queued
            | TaskState::Running
            | TaskState::Completed { .. }
            | TaskState::Cancelled { .. } => None,
        };
        self.push(Span {
            name: format!("invoke_agent {agent}"),
            trace: open.trace,
            id: open.id,
            parent: open.parent,
            kind: SpanKind::Internal,
            start: open.start,
            end: at,
            attributes,
            failure,
        });
    }

    fn push(&mut self, span: Span) {
        if self.done.len() < MAX_SPANS {
            self.done.push(span);
        } else {
            self.n_dropped += 1;
        }
    }
}

/// What a call's span says, without its place.
struct Leaf {
    name: String,
    kind: SpanKind,
    duration_us: u64,
    attributes: Vec<(&'static str, Attribute)>,
    failure: Option<&'static str>,
}

impl Open {
    fn root(task: &TaskId, at: Timestamp) -> Self {
        let trace: String =
            ContentHash::of(task.as_str().as_bytes()).to_string().chars().take(32).collect();
        Self { trace, id: span_id(task, "task"), parent: None, agent: None, start: at, step: None }
    }

    /// The span that new ones hang under.
    fn current(&self) -> &str {
        self.step.as_ref().map_or(&self.id, |step| &step.id)
    }

    fn leaf(&self, task: &TaskId, sequence: u64, end: Timestamp, leaf: Leaf) -> Span {
        let Leaf { name, kind, duration_us, attributes, failure } = leaf;
        let start = end.checked_sub(Duration::from_micros(duration_us)).unwrap_or(end);
        Span {
            trace: self.trace.clone(),
            id: span_id(task, &format!("event {sequence}")),
            parent: Some(self.current().to_owned()),
            name,
            kind,
            start,
            end,
            attributes,
            failure,
        }
    }
}

fn model_span(facts: &ModelFacts) -> Leaf {
    let ModelFacts { model, usage, cost, first_token_us, duration_us, .. } = facts;
    let input = usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
    let mut attributes = vec![
        ("gen_ai.operation.name", "chat".into()),
        ("gen_ai.provider.name", model.provider().into()),
        ("gen_ai.request.model", model.model().into()),
        ("gen_ai.usage.input_tokens", input.into()),
        ("gen_ai.usage.output_tokens", usage.output.into()),
        ("gen_ai.usage.cache_read.input_tokens", usage.cache_read.into()),
        ("gen_ai.usage.cache_creation.input_tokens", usage.cache_write.into()),
    ];
    attributes.extend(first_token_us.map(|us| ("nacre.first_token_us", us.into())));
    attributes.extend(cost.map(|cost| ("nacre.cost_nano_dollars", cost.nano_dollars().into())));
    Leaf {
        name: format!("chat {model}"),
        kind: SpanKind::Client,
        duration_us: *duration_us,
        attributes,
        failure: None,
    }
}

fn tool_span(facts: &ToolFacts) -> Leaf {
    let ToolFacts { tool, category, fault, cache, duration_us, bytes_out, .. } = facts;
    // The name of a tool that does not exist is a model's free text.
    let tool = category.map_or(UNKNOWN, |_| tool.as_str());
    let fault = fault.map(crate::record::Fault::as_str);
    let mut attributes = vec![
        ("gen_ai.operation.name", "execute_tool".into()),
        ("gen_ai.tool.name", tool.into()),
        ("nacre.tool.cache", cache.as_str().into()),
        ("nacre.tool.bytes_out", (*bytes_out).into()),
    ];
    attributes.extend(fault.map(|fault| ("error.type", fault.into())));
    Leaf {
        name: format!("execute_tool {tool}"),
        kind: SpanKind::Internal,
        duration_us: *duration_us,
        attributes,
        failure: fault,
    }
}

fn span_id(task: &TaskId, what: &str) -> String {
    ContentHash::of(format!("{task} {what}").as_bytes()).short()
}
