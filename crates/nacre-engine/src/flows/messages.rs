//! What a run folder keeps of the talk with its models, as messages in their order.
//!
//! The logs of a run hold events, an event a line; the session of a lead inside another program holds its messages. Both
//! come with a clone, so that everything is bounded, and what cannot be read is passed over.

use nacre_core::memory::Store;
use nacre_core::safefs::FsError;
use serde::Deserialize;
use serde_json::Value;

use super::record::{bytes_of, parsed};
use super::run::{LEAD_SESSION_FILE, METRICS_FILE, RunId, RunMode};
use crate::record::{Event, Record};

/// A longer text is cut.
const MAX_TEXT_BYTES: usize = 16 << 10;

/// More messages are counted, not kept.
const MAX_MESSAGES: usize = 2000;

/// Who says a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageRole {
    /// What was asked.
    User,
    /// What a model said or called.
    Assistant,
    /// What a tool gave back.
    Tool,
    /// What Nacre notes about the run.
    System,
}

/// Something that was said in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunMessage {
    pub role: MessageRole,
    pub text: String,
    /// When, as it was written down.
    pub at: Option<String>,
    pub tool: Option<String>,
}

/// The messages of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunMessages {
    pub messages: Vec<RunMessage>,
    /// Messages that were too many.
    pub n_left_out: usize,
}

/// What the metrics of every kind of run tell.
#[derive(Deserialize)]
struct ModelCalls {
    model_calls: u64,
}

/// What was said in a run; nothing where no model was asked.
pub fn read_messages(store: &Store, id: &RunId) -> Result<RunMessages, FsError> {
    let metrics = bytes_of(store, id, METRICS_FILE)?;
    let calls = metrics.and_then(|bytes| parsed::<ModelCalls>(&bytes));
    if calls.is_none_or(|calls| calls.model_calls == 0) {
        return Ok(RunMessages::default());
    }
    let text = |name: &str| -> Result<String, FsError> {
        let bytes = bytes_of(store, id, name)?.unwrap_or_default();
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let (agent, session) = (text("agent.log")?, text(LEAD_SESSION_FILE)?);
    let mut found = Collected::default();
    if id.is_of(RunMode::Maintain) {
        agent.lines().for_each(|line| found.push(note(line)));
    } else {
        // The session tells more of a lead than its events do.
        let is_told = !session.is_empty();
        for line in agent.lines() {
            let message = logged(line);
            found.extend(message.filter(|one| !is_told || one.role == MessageRole::System));
        }
        session.lines().for_each(|line| found.extend(said(line)));
        text("subagents.log")?.lines().for_each(|line| found.extend(logged(line)));
    }
    Ok(found.0)
}

/// Takes messages until there are too many.
#[derive(Default)]
struct Collected(RunMessages);

impl Collected {
    fn push(&mut self, mut message: RunMessage) {
        if message.text.trim().is_empty() && message.tool.is_none() {
            return;
        }
        if self.0.messages.len() == MAX_MESSAGES {
            self.0.n_left_out += 1;
            return;
        }
        if message.text.len() > MAX_TEXT_BYTES {
            message.text.truncate(message.text.floor_char_boundary(MAX_TEXT_BYTES));
            message.text.push('…');
        }
        self.0.messages.push(message);
    }

    fn extend(&mut self, messages: impl IntoIterator<Item = RunMessage>) {
        messages.into_iter().for_each(|message| self.push(message));
    }
}

fn note(text: impl Into<String>) -> RunMessage {
    RunMessage { role: MessageRole::System, text: text.into(), at: None, tool: None }
}

/// The message of an event in a log; `None` where nothing is said by it.
fn logged(line: &str) -> Option<RunMessage> {
    let Ok(Record { at, event, .. }) = serde_json::from_str(line) else {
        // The first line of a log is a notice of no task.
        let Ok(Event::Notice { text }) = serde_json::from_str(line) else { return None };
        return Some(note(text));
    };
    let message = match event {
        Event::RunPrepare { agent, model, n_tools } => {
            note(format!("{agent} starts with {model} and {n_tools} tools"))
        }
        Event::ModelRetry { why, .. } | Event::CompletionReopen { why, .. } => note(why),
        Event::ModelFallback { why, to, .. } => note(format!("{why}; asking {to}")),
        Event::ModelError { model, why, .. } => note(format!("{model}: {why}")),
        Event::RunSteer { text, .. } => RunMessage { role: MessageRole::User, ..note(text) },
        Event::Notice { text } | Event::Error { what: text, .. } => note(text),
        Event::BudgetBlock { limit } => note(format!("The budget of {limit} steps is spent")),
        Event::ToolCall { tool, arguments, .. } => {
            RunMessage { role: MessageRole::Assistant, tool: Some(tool.into()), ..note(arguments) }
        }
        Event::ToolDenied { tool, why, .. } => {
            RunMessage { role: MessageRole::Tool, tool: Some(tool.into()), ..note(why) }
        }
        Event::ToolResult(facts) => {
            let text = match facts.fault {
                Some(fault) => format!("failed: {}", fault.as_str()),
                None => format!("{} bytes", facts.bytes_out),
            };
            RunMessage { role: MessageRole::Tool, tool: Some(facts.tool.into()), ..note(text) }
        }
        Event::TaskState(_)
        | Event::ContextPlan { .. }
        | Event::ContextSummary { .. }
        | Event::StepStart { .. }
        | Event::StepEnd { .. }
        | Event::ModelCall { .. }
        | Event::ModelDelta { .. }
        | Event::ToolPatches { .. }
        | Event::ModelFinish(_)
        | Event::ApprovalRequest { .. }
        | Event::ApprovalDecision { .. }
        | Event::BudgetNotice { .. }
        | Event::EffectEnd { .. }
        | Event::AgentSpawn { .. }
        | Event::AgentEnd { .. }
        | Event::SkillOn { .. }
        | Event::SignalVerdict { .. }
        | Event::RunYield { .. }
        | Event::RunCancel { .. }
        | Event::RunSummary(_)
        | Event::EventsLost { .. } => return None,
    };
    Some(RunMessage { at: Some(at.to_string()), ..message })
}

/// The messages of a line of a session as Claude Code writes it.
fn said(line: &str) -> Vec<RunMessage> {
    let Ok(line) = serde_json::from_str::<Value>(line) else { return Vec::new() };
    let role = match line["type"].as_str() {
        Some("user") => MessageRole::User,
        Some("assistant") => MessageRole::Assistant,
        _ => return Vec::new(),
    };
    let at = line["timestamp"].as_str().map(str::to_owned);
    let message = |role: MessageRole, text: &str, tool: Option<&Value>| RunMessage {
        role,
        text: text.to_owned(),
        at: at.clone(),
        tool: tool.map(|tool| tool.as_str().unwrap_or_default().to_owned()),
    };
    let content = &line["message"]["content"];
    if let Some(text) = content.as_str() {
        return vec![message(role, text, None)];
    }
    let blocks = content.as_array().into_iter().flatten();
    let said = blocks.filter_map(|block| match block["type"].as_str()? {
        "text" => Some(message(role, block["text"].as_str()?, None)),
        "tool_use" => Some(message(role, &block["input"].to_string(), Some(&block["name"]))),
        "tool_result" => Some(message(MessageRole::Tool, &result_text(&block["content"]), None)),
        _ => None,
    });
    said.collect()
}

/// What a tool gave back: a text, or pieces of one.
fn result_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(pieces) => {
            let texts = pieces.iter().filter_map(|piece| piece["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the tests write their own runs")]

    use std::fs;

    use jiff::Timestamp;
    use nacre_core::memory::Rules;
    use nacre_core::safefs::{Access, WriteScope};

    use super::*;
    use crate::record::TaskId;

    /// Writes the files of a run and reads what was said in it.
    fn read(run: &str, files: &[(&str, &str)]) -> Vec<(MessageRole, String, Option<String>)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("workspace").join(run);
        fs::create_dir_all(&path).unwrap();
        for (name, text) in files {
            fs::write(path.join(name), text).unwrap();
        }
        let scope = WriteScope::open(folder.path(), Access::Private).unwrap();
        let store = Store::new(scope, Rules::default());
        let found = read_messages(&store, &run.parse().unwrap()).unwrap();
        let plain = |one: RunMessage| (one.role, one.text, one.tool);
        found.messages.into_iter().map(plain).collect()
    }

    #[test]
    fn a_lead_is_quoted_from_its_session_and_without_one_from_its_events() {
        let record = Record {
            task: TaskId::from_random(7),
            sequence: 1,
            at: Timestamp::UNIX_EPOCH,
            event: Event::ToolCall {
                step: 1,
                call: "c".into(),
                tool: "read_file".into(),
                arguments: "{}".into(),
            },
        };
        let call = serde_json::to_string(&record).unwrap();
        let notice = r#"{"event":"notice","text":"A model was asked 2 times to read."}"#;
        let log = format!("{notice}\n{call}\nnot an event\n");
        let session = r#"{"type":"user","message":{"role":"user","content":"Same or not?"}}"#;
        let metrics = (METRICS_FILE, r#"{"model_calls":2}"#);
        let run = "sync-20260101-000000-aaaaaaaa";
        let told = (MessageRole::System, "A model was asked 2 times to read.".to_owned(), None);
        let called = (MessageRole::Assistant, "{}".to_owned(), Some("read_file".to_owned()));
        let asked = (MessageRole::User, "Same or not?".to_owned(), None);
        let agent = ("agent.log", log.as_str());
        assert_eq!(read(run, &[metrics, agent]), [told.clone(), called.clone()]);
        let explorers = ("subagents.log", call.as_str());
        let all = [metrics, agent, (LEAD_SESSION_FILE, session), explorers];
        assert_eq!(read(run, &all), [told, asked, called]);
        assert_eq!(read(run, &[(METRICS_FILE, r#"{"model_calls":0}"#), agent]), []);
        assert_eq!(read(run, &[agent]), [], "nothing says that a model was asked");
        let maintained = [metrics, ("agent.log", "20260101-a 20260101-b: taken\n")];
        let note = "20260101-a 20260101-b: taken".to_owned();
        let expected = [(MessageRole::System, note, None)];
        assert_eq!(read("maintain-20260101-000000-aaaaaaaa", &maintained), expected);
    }

    #[test]
    fn a_session_becomes_messages() {
        let asked = r#"{"type":"user","message":{"role":"user","content":"Same or not?"}}"#;
        assert_eq!(said(asked)[0].text, "Same or not?");
        let answer = r#"{"type":"assistant","timestamp":"2026-01-01T00:00:00Z","message":{"content":[
            {"type":"text","text":"I look."},{"type":"tool_use","name":"Read","input":{"file":"a.md"}}]}}"#;
        let messages = said(&answer.replace('\n', ""));
        assert_eq!(messages[0].role, MessageRole::Assistant);
        assert_eq!(messages[1].tool.as_deref(), Some("Read"));
        assert_eq!(messages[1].text, r#"{"file":"a.md"}"#);
        assert_eq!(messages[1].at.as_deref(), Some("2026-01-01T00:00:00Z"));
        let result = r#"{"type":"user","message":{"content":[{"type":"tool_result","content":[{"type":"text","text":"Body"}]}]}}"#;
        assert_eq!(
            (said(result)[0].role, said(result)[0].text.as_str()),
            (MessageRole::Tool, "Body")
        );
        for nothing in ["", "{", "[]", r#"{"type":"result"}"#, r#"{"type":"user"}"#] {
            assert_eq!(said(nothing), [], "{nothing}");
        }
    }
}
