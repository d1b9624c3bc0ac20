//! A test provider that plays a script. A request that does not match the script fails, and the
//! error describes the difference.
//!
//! A turn can list what the request must contain, so that a test cannot pass if the request is
//! wrong.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::model::collect::Collector;
use crate::model::conversation::{Message, ModelEvent, Request, Response, StopReason};
use crate::model::error::{ErrorKind, Fault, ModelError, Result, Said, Wait};
use crate::model::hosted::{call_events, make_call_id};
use crate::model::price::Usage;
use crate::model::provider::{Call, Generation, Provider, Sink};
use nacre_types::ModelRole as Role;

#[derive(Debug)]
pub struct Scripted {
    order: Order,
    left: Mutex<Vec<(usize, Turn)>>,
    n_turns: usize,
}

impl Scripted {
    /// Parses a script: JSON if it begins with a brace, otherwise TOML.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        let Script { order, turns } = if text.trim_start().starts_with('{') {
            serde_json::from_str(text)?
        } else {
            toml::from_str(text)?
        };
        let n_turns = turns.len();
        Ok(Self { order, left: Mutex::new(turns.into_iter().enumerate().collect()), n_turns })
    }

    pub fn n_left(&self) -> usize {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn take(&self, request: &Request) -> Result<Turn> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let mut complaints = Vec::new();
        let considered = match self.order {
            Order::Strict => left.len().min(1),
            Order::Any => left.len(),
        };
        for place in 0..considered {
            let Some((number, turn)) = left.get(place) else { break };
            let wrong = mismatches(&turn.expect, request);
            if wrong.is_empty() {
                return Ok(left.remove(place).1);
            }
            complaints.push(format!("turn {} expects {}", number + 1, wrong.join(", and ")));
        }
        if complaints.is_empty() {
            complaints.push(format!("all {} turns of the script have been played", self.n_turns));
        }
        let said =
            format!("{}; the request has {}", complaints.join("; "), describe_request(request));
        Err(Fault { kind: ErrorKind::ScriptMismatch, said: Some(said) })
    }
}

impl Provider for Scripted {
    fn generate<'a>(&'a self, call: Call<'a>, sink: &'a mut Sink<'_>) -> Generation<'a> {
        Box::pin(async move {
            let played = match self.take(call.request) {
                Ok(turn) if turn.hang => {
                    begin(turn, &call, sink);
                    std::future::pending().await
                }
                Ok(turn) => play(turn, &call, sink).await,
                Err(fault) => Err(fault),
            };
            played.map_err(|fault| ModelError {
                model: call.model.clone(),
                kind: fault.kind,
                said: fault.said.map(|said| Said::new(&said)),
            })
        })
    }

    fn takes_images(&self) -> bool {
        true
    }
}

fn begin(turn: Turn, call: &Call<'_>, sink: &mut Sink<'_>) {
    sink(ModelEvent::Started { model: call.model.clone() });
    if let Some(text) = turn.say {
        sink(ModelEvent::Text(text));
    }
}

async fn play(turn: Turn, call: &Call<'_>, sink: &mut Sink<'_>) -> Result<Response> {
    let mut collector = Collector::new(call.limits.answer_bytes);
    let mut show = |event: ModelEvent| -> Result<()> {
        collector.push(&event)?;
        sink(event);
        Ok(())
    };
    show(ModelEvent::Started { model: call.model.clone() })?;
    if let Some(text) = turn.reasoning {
        show(ModelEvent::Reasoning(text))?;
    }
    for piece in pieces(turn.say.as_deref(), turn.word_ms) {
        show(ModelEvent::Text(piece.to_owned()))?;
        if turn.word_ms != 0 {
            tokio::time::sleep(Duration::from_millis(turn.word_ms)).await;
        }
    }
    for (index, scripted) in turn.calls.into_iter().enumerate() {
        let id = scripted.id.unwrap_or_else(|| make_call_id(call.request.messages.len(), index));
        let raw = scripted.arguments.as_str().map(str::to_owned);
        let delta = raw.unwrap_or_else(|| scripted.arguments.to_string());
        call_events(index, id, scripted.name, delta).into_iter().try_for_each(&mut show)?;
    }
    if let Some(error) = turn.error {
        return Err(Fault { kind: error.kind()?, said: error.message });
    }
    if let Some(usage) = turn.usage {
        show(ModelEvent::Usage(usage))?;
    }
    if let Some(stop) = turn.stop {
        collector.push(&ModelEvent::Stop(stop))?;
    }
    let response = collector.finish(call.model, call.request);
    sink(ModelEvent::Stop(response.stop.clone()));
    Ok(response)
}

fn pieces(say: Option<&str>, word_ms: u64) -> Vec<&str> {
    match (say, word_ms) {
        (None, _) => Vec::new(),
        (Some(text), 0) => vec![text],
        (Some(text), _) => text.split_inclusive(' ').collect(),
    }
}

fn mismatches(expect: &Expect, request: &Request) -> Vec<String> {
    let Expect { role, system_contains, last_contains, tools, output, n_messages } = expect;
    let mut wrong = Vec::new();
    if let Some(role) = role.filter(|role| *role != request.role) {
        wrong.push(format!("role `{role}`"));
    }
    for part in system_contains.iter().filter(|part| !request.system.contains(part.as_str())) {
        wrong.push(format!("instructions with `{part}`"));
    }
    let last = request.messages.last().map(Message::text).unwrap_or_default();
    for part in last_contains.iter().filter(|part| !last.contains(part.as_str())) {
        wrong.push(format!("a last message with `{part}`"));
    }
    for name in tools.iter().filter(|name| !request.tools.iter().any(|tool| tool.name == **name)) {
        wrong.push(format!("the tool `{name}`"));
    }
    let asked = request.output.as_ref().map(|output| &output.name);
    if let Some(output) = output.as_ref().filter(|output| asked != Some(output)) {
        wrong.push(format!("output `{output}`"));
    }
    if let Some(n) = n_messages.filter(|n| *n != request.messages.len()) {
        wrong.push(format!("{n} messages"));
    }
    wrong
}

fn describe_request(request: &Request) -> String {
    let tools: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
    let last = request.messages.last().map(Message::text).unwrap_or_default();
    let last: String = last.chars().take(200).collect();
    let output = request.output.as_ref().map_or("none", |output| output.name.as_str());
    let (role, n, tools) = (request.role, request.messages.len(), tools.join(", "));
    format!("role `{role}`, {n} messages, the last `{last}`, tools `{tools}`, output `{output}`")
}

#[cfg(test)]
mod tests;

#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    #[error("Cannot read the script as JSON")]
    Json(#[from] serde_json::Error),
    #[error("Cannot read the script as TOML")]
    Toml(#[from] toml::de::Error),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    #[serde(default)]
    order: Order,
    turns: Vec<Turn>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Order {
    /// Each request must match the next turn.
    #[default]
    Strict,
    /// Each request is answered with the first unused turn that matches it. Intended for agents
    /// that run concurrently.
    Any,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Turn {
    expect: Expect,
    reasoning: Option<String>,
    say: Option<String>,
    calls: Vec<ScriptedCall>,
    usage: Option<Usage>,
    stop: Option<StopReason>,
    error: Option<ScriptedError>,
    hang: bool,
    /// Delay in milliseconds after each word.
    word_ms: u64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Expect {
    role: Option<Role>,
    system_contains: Vec<String>,
    last_contains: Vec<String>,
    /// Tools that the request must offer. It may offer others.
    tools: Vec<String>,
    output: Option<String>,
    n_messages: Option<usize>,
}

/// A tool call. Arguments given as a string are sent unchanged, even if they are malformed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptedCall {
    id: Option<String>,
    name: String,
    #[serde(default)]
    arguments: Value,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptedError {
    kind: String,
    retry_after_ms: Option<u64>,
    message: Option<String>,
}

impl ScriptedError {
    fn kind(&self) -> Result<ErrorKind> {
        let retry_after = self.retry_after_ms.map(Duration::from_millis);
        let kinds = [
            ErrorKind::Auth,
            ErrorKind::Quota,
            ErrorKind::RateLimited { retry_after },
            ErrorKind::Overloaded { retry_after },
            ErrorKind::Timeout(Wait::FirstToken),
            ErrorKind::CutStream,
            ErrorKind::BadRequest,
            ErrorKind::UnknownModel,
            ErrorKind::ContextTooLong,
            ErrorKind::Refused,
            ErrorKind::Unavailable { status: None },
            ErrorKind::Protocol,
        ];
        let found = kinds.into_iter().find(|kind| kind.as_str() == self.kind);
        found.ok_or_else(|| Fault {
            kind: ErrorKind::ScriptMismatch,
            said: Some(format!("unknown error `{}` in the script", self.kind)),
        })
    }
}
