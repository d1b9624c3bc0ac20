//! A provider reached over the network. Makes one attempt over HTTP with timeouts, for any API
//! dialect.
//!
//! Dialects are pure: they convert requests to JSON, and frames to events. I/O, limits and errors
//! are handled in this module.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use reqwest::Response as HttpResponse;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use crate::model::collect::Collector;
use crate::model::conversation::{ModelEvent, OUTPUT_TOOL, Response};
use crate::model::error::{ErrorKind, Fault, ModelError, Result, Said, Wait};
use crate::model::http::{self, Endpoint};
use crate::model::provider::{Call, Generation, Provider, Sink};
use crate::model::secret::Secret;
use crate::model::sse::{Frame, SseParser};
use crate::model::textual_tools;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputMode {
    /// The API restricts the text to the schema.
    Native,
    /// The model must return its answer as the arguments of a tool call.
    ForcedTool,
}

pub(super) trait Dialect: Send + Sync {
    fn path(&self) -> &'static str;
    fn headers(&self, key: Option<&Secret>) -> Vec<(&'static str, String)>;
    fn output_mode(&self, model: &str) -> OutputMode;
    /// Returns whether tool calls that the model prints as text are executed. True only for servers
    /// known to parse calls incorrectly, because a model may also print a call as an example.
    fn reads_textual_tools(&self) -> bool;
    fn body(&self, call: &Call<'_>, mode: OutputMode) -> Value;
    fn decoder(&self, call: &Call<'_>) -> Box<dyn Decoder>;
}

pub(super) trait Decoder: Send {
    fn frame(&mut self, frame: &Frame, out: &mut Vec<ModelEvent>) -> Result<ControlFlow<()>>;

    /// Handles the end of the stream: closes open parts, or returns a fault if the response is
    /// truncated.
    fn end(&mut self, out: &mut Vec<ModelEvent>) -> Result<()>;
}

pub(super) struct Hosted {
    endpoint: Endpoint,
    dialect: Box<dyn Dialect>,
    /// Models that rejected native structured output although their provider supports it.
    without_native: Mutex<BTreeSet<String>>,
}

impl Provider for Hosted {
    fn generate<'a>(&'a self, call: Call<'a>, sink: &'a mut Sink<'_>) -> Generation<'a> {
        Box::pin(async move {
            let result = self.attempt_in_a_mode(&call, sink).await;
            result.map_err(|fault| self.own(&call, fault))
        })
    }

    fn takes_images(&self) -> bool {
        true
    }
}

impl Hosted {
    pub(super) fn new(endpoint: Endpoint, dialect: Box<dyn Dialect>) -> Self {
        Self { endpoint, dialect, without_native: Mutex::new(BTreeSet::new()) }
    }

    /// Tries native structured output first, and uses a forced tool if the server rejects it.
    async fn attempt_in_a_mode(&self, call: &Call<'_>, sink: &mut Sink<'_>) -> Result<Response> {
        let model = call.model.model();
        let is_known_without = self.lock_without_native().contains(model);
        let mode =
            if is_known_without { OutputMode::ForcedTool } else { self.dialect.output_mode(model) };
        let result = self.attempt(call, mode, sink).await;
        let is_turned_down = matches!(&result, Err(fault) if fault.kind == ErrorKind::BadRequest);
        if !is_turned_down || mode == OutputMode::ForcedTool || call.request.output.is_none() {
            return result;
        }
        let response = self.attempt(call, OutputMode::ForcedTool, sink).await?;
        self.lock_without_native().insert(model.to_owned());
        Ok(response)
    }

    fn lock_without_native(&self) -> std::sync::MutexGuard<'_, BTreeSet<String>> {
        self.without_native.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn attempt(
        &self,
        call: &Call<'_>,
        mode: OutputMode,
        sink: &mut Sink<'_>,
    ) -> Result<Response> {
        let until = Instant::now() + call.limits.first_token;
        let late = |_| Fault::new(ErrorKind::Timeout(Wait::FirstToken));
        let body = self.dialect.body(call, mode).to_string().into_bytes();
        let n_sent = body.len();
        let headers = self.dialect.headers(self.endpoint.key.as_ref());
        let sent = self.endpoint.post(self.dialect.path(), &headers, body);
        let http = timeout_at(until, sent).await.map_err(late)??;
        sink(ModelEvent::Started { model: call.model.clone() });
        let mut answer = Answer {
            decoder: self.dialect.decoder(call),
            collector: Collector::new(call.limits.answer_bytes),
            events: Vec::new(),
            n_sent,
            n_received: 0,
            max_tokens: call.request.max_tokens,
            is_ended_here: false,
        };
        if http::is_json(&http) {
            let whole = read_whole(http, call.limits.answer_bytes);
            let data = timeout_at(until, whole).await.map_err(late)??;
            let _is_last = answer.take(&Frame { event: None, data }, sink)?;
        } else {
            answer.read(http, call, until, sink).await?;
        }
        answer.events.clear();
        if !answer.is_ended_here {
            answer.decoder.end(&mut answer.events)?;
        }
        answer.show(sink)?;
        if self.dialect.reads_textual_tools() {
            answer.find_textual_calls(call);
            answer.show(sink)?;
        }
        let response = answer.collector.finish(call.model, call.request);
        sink(ModelEvent::Stop(response.stop.clone()));
        Ok(response)
    }

    fn own(&self, call: &Call<'_>, fault: Fault) -> ModelError {
        let said = fault.said.map(|said| Said::new(&self.endpoint.scrub(truncate_error(&said))));
        ModelError { model: call.model.clone(), kind: fault.kind, said }
    }
}

struct Answer {
    decoder: Box<dyn Decoder>,
    collector: Collector,
    events: Vec<ModelEvent>,
    n_sent: usize,
    n_received: usize,
    max_tokens: u32,
    /// Whether Nacre closed the stream before the model had finished.
    is_ended_here: bool,
}

impl Answer {
    async fn read(
        &mut self,
        mut http: HttpResponse,
        call: &Call<'_>,
        first: Instant,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        let mut parser = SseParser::default();
        let mut frames = Vec::new();
        let (mut until, mut wait) = (first, Wait::FirstToken);
        loop {
            let chunk = timeout_at(until, http.chunk()).await;
            let chunk = chunk.map_err(|_| Fault::new(ErrorKind::Timeout(wait)))?;
            let Some(bytes) = chunk.map_err(http::cut_fault)? else { break };
            frames.clear();
            let pushed = parser.push(&bytes, &mut frames);
            pushed.map_err(|error| Fault::protocol(&error.to_string()))?;
            if !frames.is_empty() {
                wait = Wait::NextToken;
            }
            if wait == Wait::NextToken {
                until = Instant::now() + call.limits.next_token;
            }
            for frame in &frames {
                if self.take(frame, sink)?.is_break() {
                    return Ok(());
                }
            }
        }
        // If a final event without a trailing empty line cannot be parsed, the stream was
        // truncated.
        match parser.finish().map(|frame| self.take(&frame, sink)) {
            Some(Err(fault)) if fault.kind == ErrorKind::Protocol => {
                Err(Fault::new(ErrorKind::CutStream))
            }
            Some(Err(fault)) => Err(fault),
            Some(Ok(_)) | None => Ok(()),
        }
    }

    fn take(&mut self, frame: &Frame, sink: &mut Sink<'_>) -> Result<ControlFlow<()>> {
        self.events.clear();
        self.n_received += frame.data.len();
        let progress = self.decoder.frame(frame, &mut self.events);
        self.show(sink)?;
        if let Some(text) = self.collector.without_repetitions() {
            self.is_ended_here = true;
            self.events.push(ModelEvent::TextReplaced { text });
            self.show(sink)?;
            return Ok(ControlFlow::Break(()));
        }
        progress
    }

    /// Collects events and forwards them. Delays the stop reason until all events on which it
    /// depends have arrived.
    fn show(&mut self, sink: &mut Sink<'_>) -> Result<()> {
        for event in self.events.drain(..) {
            let mut event = event;
            if let ModelEvent::Usage(usage) = &mut event {
                *usage = usage.within(self.n_sent, self.n_received, self.max_tokens);
            }
            self.collector.push(&event)?;
            if !matches!(event, ModelEvent::Stop(_)) {
                sink(event);
            }
        }
        Ok(())
    }

    fn find_textual_calls(&mut self, call: &Call<'_>) {
        self.events.clear();
        let request = call.request;
        let mut offered: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
        if request.output.is_some() && !offered.is_empty() {
            offered.push(OUTPUT_TOOL);
        }
        if offered.is_empty() || !request.may_call {
            return;
        }
        let Some(text) = self.collector.text_without_calls() else { return };
        let found = textual_tools::extract(&text, &offered);
        if found.calls.is_empty() {
            return;
        }
        self.events.push(ModelEvent::TextReplaced { text: found.text });
        for (index, (name, arguments)) in found.calls.into_iter().enumerate() {
            let id = make_call_id(request.messages.len(), index);
            self.events.extend(call_events(index, id, name, arguments.to_string()));
        }
    }
}

/// Maximum number of response bytes that a decoder may buffer. No other limit covers buffered
/// bytes.
pub(super) const MAX_HELD_BYTES: usize = 1 << 20;

pub(super) fn hold(held: &mut usize, n_bytes: usize) -> Result<()> {
    *held = held.saturating_add(n_bytes);
    if MAX_HELD_BYTES < *held {
        return Err(Fault::protocol("the answer is too large"));
    }
    Ok(())
}

/// Returns the part of an error message to show. Only this part is searched for the API key.
pub(super) fn truncate_error(said: &str) -> &str {
    const MAX_BYTES: usize = 16 << 10;
    said.get(..said.floor_char_boundary(MAX_BYTES)).unwrap_or(said)
}

/// Returns an ID, unique within the conversation, for a call received without one.
pub(super) fn make_call_id(n_messages: usize, index: usize) -> String {
    format!("call_{n_messages}_{index}")
}

/// Returns the events for a call that arrived in one piece.
pub(super) fn call_events(
    index: usize,
    id: String,
    name: String,
    delta: String,
) -> [ModelEvent; 2] {
    [ModelEvent::ToolStarted { index, id, name }, ModelEvent::ToolArguments { index, delta }]
}

pub(super) fn push_text(text: &str, out: &mut Vec<ModelEvent>) {
    if !text.is_empty() {
        out.push(ModelEvent::Text(text.to_owned()));
    }
}

pub(super) fn push_reasoning(text: &str, out: &mut Vec<ModelEvent>) {
    if !text.is_empty() {
        out.push(ModelEvent::Reasoning(text.to_owned()));
    }
}

pub(super) async fn read_whole(http: HttpResponse, max: usize) -> Result<String> {
    // The response contains the text encoded as JSON, which is longer than the text itself.
    let read = http::read_up_to(http, max.saturating_mul(2)).await;
    let (body, is_cut) = read.map_err(http::cut_fault)?;
    if is_cut {
        return Err(Fault::protocol("the answer is too large"));
    }
    String::from_utf8(body).map_err(|_| Fault::protocol("the answer is not UTF-8"))
}
