//! What a lead inside Claude Code does, as it is seen from outside: told as events of its task, counted, and kept where a person
//! wants that.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::time::Instant;

use super::boundary::{ANSWER_TOOL, READ_TOOLS, REFUSED};
use crate::model::AgentStep;
use crate::record::{CacheUse, Category, Event, Events, Fault, RunFacts, ToolFacts};

/// What Claude Code says itself when a call is not permitted.
const NOT_PERMITTED: [&str; 2] = ["you haven't granted it", "has been denied"];

/// No kept session is longer, in bytes.
const MAX_SESSION_BYTES: usize = 4 << 20;

/// Watches one lead.
pub(super) struct Watched {
    events: Events,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    step: u32,
    /// Calls that have not come back.
    open: BTreeMap<String, OpenCall>,
    tool_calls: u32,
    failed_calls: u32,
    denied_calls: u32,
    tool_us: u64,
    /// An event a line, where it is kept.
    session: Option<String>,
}

struct OpenCall {
    tool: String,
    begun: Instant,
    bytes_in: u64,
}

impl Watched {
    pub(super) fn new(events: Events, keeps_session: bool) -> Self {
        let session = keeps_session.then(String::new);
        Self { events, inner: Mutex::new(Inner { session, ..Inner::default() }) }
    }

    /// A question goes out.
    pub(super) fn asked(&self, step: u32, question: &str) {
        let mut inner = self.inner();
        inner.step = step;
        let asked = json!({ "type": "user", "message": { "role": "user", "content": question } });
        inner.keep(&asked.to_string());
    }

    pub(super) fn hear(&self, step: &AgentStep<'_>) {
        match step {
            AgentStep::Line(line) => self.inner().keep(line),
            AgentStep::ToolCall { tool, .. } if *tool == ANSWER_TOOL => {}
            AgentStep::ToolCall { id, tool, input } => self.called(id, tool, input),
            AgentStep::ToolResult { id, is_error, text } => self.returned(id, *is_error, text),
        }
    }

    fn called(&self, id: &str, tool: &str, input: &Value) {
        let arguments = input.to_string();
        let mut inner = self.inner();
        let bytes_in = arguments.len() as u64;
        let call = OpenCall { tool: tool.to_owned(), begun: Instant::now(), bytes_in };
        inner.open.insert(id.to_owned(), call);
        inner.tool_calls += 1;
        let step = inner.step;
        drop(inner);
        let (call, tool, arguments) = (id.into(), tool.into(), arguments.into());
        self.events.emit(Event::ToolCall { step, call, tool, arguments });
    }

    fn returned(&self, id: &str, is_error: bool, text: &str) {
        let mut inner = self.inner();
        // The answer is handed in by a tool as well, which is no call of a lead.
        let Some(OpenCall { tool, begun, bytes_in }) = inner.open.remove(id) else { return };
        let fault = is_error.then(|| fault(&tool, text));
        inner.failed_calls += u32::from(is_error);
        inner.denied_calls += u32::from(fault == Some(Fault::Denied));
        let duration_us = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        inner.tool_us = inner.tool_us.saturating_add(duration_us);
        let step = inner.step;
        drop(inner);
        if fault == Some(Fault::Denied) {
            let (call, why) = (id.into(), text.into());
            self.events.emit(Event::ToolDenied { call, tool: tool.as_str().into(), why });
        }
        self.events.emit(Event::ToolResult(Box::new(ToolFacts {
            step,
            call: id.into(),
            category: Some(category(&tool)),
            tool: tool.into(),
            fault,
            cache: CacheUse::Off,
            duration_us,
            bytes_in,
            bytes_out: text.len() as u64,
            shown_bytes: text.len() as u64,
            changed: Vec::new(),
            n_changed: 0,
        })));
    }

    /// Adds what was counted.
    pub(super) fn count(&self, facts: &RunFacts) -> RunFacts {
        let inner = self.inner();
        let Inner { tool_calls, failed_calls, denied_calls, tool_us, .. } = *inner;
        RunFacts { tool_calls, failed_calls, denied_calls, tool_us, ..facts.clone() }
    }

    /// The session, once nobody hears any more.
    pub(super) fn take_session(&self) -> Option<String> {
        self.inner().session.take()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn keep(&mut self, line: &str) {
        let Some(session) = &mut self.session else { return };
        if session.len() + line.len() < MAX_SESSION_BYTES {
            session.push_str(line);
            session.push('\n');
        }
    }
}

/// Why a call failed. A tool that a lead was not given can only have been refused.
fn fault(tool: &str, text: &str) -> Fault {
    let is_denied = text.contains(REFUSED)
        || NOT_PERMITTED.iter().any(|words| text.contains(words))
        || !READ_TOOLS.contains(&tool);
    if is_denied { Fault::Denied } else { Fault::Io }
}

fn category(tool: &str) -> Category {
    match tool {
        "Read" => Category::Read,
        "Grep" | "Glob" => Category::Search,
        "Write" | "Edit" | "MultiEdit" | "NotebookEdit" => Category::Write,
        "WebFetch" | "WebSearch" => Category::Network,
        _ => Category::Execute,
    }
}
