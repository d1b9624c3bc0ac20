//! A provider that follows a script, and says so when it is asked something else.
//!
//! A test that passes although the program asked the wrong question proves nothing, so each turn can state what the
//! request must hold, and a mismatch is an error that shows what was wanted beside what came.

mod script;

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::collect::Collector;
use super::error::{ErrorKind, Fault, ModelError, Said};
use super::hosted::made_id;
use super::provider::{Call, Generation, Provider, Sink};
use super::request::Request;
use super::response::{Event, Response};

pub use script::ScriptError;
use script::{Expect, Order, Script, Turn};

/// A provider with its lines prepared.
#[derive(Debug)]
pub struct Scripted {
    order: Order,
    /// Turns that were not played yet.
    left: Mutex<Vec<(usize, Turn)>>,
    n_turns: usize,
}

impl Scripted {
    /// Reads a script: JSON if it begins with a brace, else TOML.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        let Script { order, turns } = Script::parse(text)?;
        let n_turns = turns.len();
        Ok(Self { order, left: Mutex::new(turns.into_iter().enumerate().collect()), n_turns })
    }

    /// How many turns were not played; a test that ends well has none left.
    pub fn n_left(&self) -> usize {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Takes the turn that fits the request.
    fn take(&self, request: &Request) -> Result<Turn, Fault> {
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
            complaints.push(format!("the script's {} turns are all played", self.n_turns));
        }
        let said = format!("{}; the request has {}", complaints.join("; "), shown(request));
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

/// Says what the turn says and nothing more, as a server does that stalls.
fn begin(turn: Turn, call: &Call<'_>, sink: &mut Sink<'_>) {
    sink(Event::Started { model: call.model.clone() });
    if let Some(text) = turn.say {
        sink(Event::Text(text));
    }
}

async fn play(turn: Turn, call: &Call<'_>, sink: &mut Sink<'_>) -> Result<Response, Fault> {
    let mut collector = Collector::new(call.limits.answer_bytes);
    let mut show = |event: Event| -> Result<(), Fault> {
        collector.push(&event)?;
        sink(event);
        Ok(())
    };
    show(Event::Started { model: call.model.clone() })?;
    if let Some(text) = turn.reasoning {
        show(Event::Reasoning(text))?;
        show(Event::ReasoningDone { signature: None })?;
    }
    for piece in pieces(turn.say.as_deref(), turn.word_ms) {
        show(Event::Text(piece.to_owned()))?;
        if turn.word_ms != 0 {
            tokio::time::sleep(Duration::from_millis(turn.word_ms)).await;
        }
    }
    for (index, scripted) in turn.calls.into_iter().enumerate() {
        let id = scripted.id.unwrap_or_else(|| made_id(call.request.messages.len(), index));
        show(Event::ToolStarted { index, id, name: scripted.name })?;
        let raw = scripted.arguments.as_str().map(str::to_owned);
        let delta = raw.unwrap_or_else(|| scripted.arguments.to_string());
        show(Event::ToolArguments { index, delta })?;
        show(Event::ToolDone { index })?;
    }
    if let Some(error) = turn.error {
        return Err(Fault { kind: error.kind()?, said: error.message });
    }
    if let Some(usage) = turn.usage {
        show(Event::Usage(usage.into()))?;
    }
    if let Some(stop) = turn.stop {
        collector.push(&Event::Stop(stop))?;
    }
    let response = collector.finish(call.model, call.request);
    sink(Event::Stop(response.stop.clone()));
    Ok(response)
}

/// What is said, in the pieces in which it is sent: whole, or word by word.
fn pieces(say: Option<&str>, word_ms: u64) -> Vec<&str> {
    match (say, word_ms) {
        (None, _) => Vec::new(),
        (Some(text), 0) => vec![text],
        (Some(text), _) => text.split_inclusive(' ').collect(),
    }
}

/// Returns what the turn wants and the request does not have.
fn mismatches(expect: &Expect, request: &Request) -> Vec<String> {
    let Expect { role, system_contains, last_contains, tools, output, n_messages } = expect;
    let mut wrong = Vec::new();
    if let Some(role) = role.filter(|role| *role != request.role) {
        wrong.push(format!("role `{role}`"));
    }
    for part in system_contains.iter().filter(|part| !request.system.contains(part.as_str())) {
        wrong.push(format!("instructions with `{part}`"));
    }
    let last = request.messages.last().map(super::request::Message::text).unwrap_or_default();
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

/// Describes a request in the words of what can be expected of one.
fn shown(request: &Request) -> String {
    let tools: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
    let last = request.messages.last().map(super::request::Message::text).unwrap_or_default();
    let last: String = last.chars().take(200).collect();
    let output = request.output.as_ref().map_or("none", |output| output.name.as_str());
    format!(
        "role `{}`, {} messages, the last `{last}`, tools `{}`, output `{output}`",
        request.role,
        request.messages.len(),
        tools.join(", "),
    )
}

#[cfg(test)]
mod tests;
