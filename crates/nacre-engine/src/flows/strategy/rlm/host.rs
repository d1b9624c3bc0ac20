//! What code can ask for: words, events, answers about a part, and to hand in the result.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::answer::{SessionAnswer, asking, fenced, session_schema};
use super::super::windows::Job;
use super::interpreter::{HostFunction, Reply};
use crate::flows::models::{AskError, ModelClient, Question};
use crate::model::{OutputSchema, Schema};

/// Questions about parts of one session.
const MAX_ASKS: usize = 24;
/// The most that a search returns.
const MAX_FOUND: usize = 50;
/// How much of an event a search shows around what was found.
const AROUND: usize = 120;
/// The most of a session that is shown, or asked about, at once.
const MAX_TEXT: usize = 24 << 10;

/// What code can call.
pub(super) const FUNCTIONS: &[HostFunction] = &[
    HostFunction { name: "search", parameters: &["text", "limit"] },
    HostFunction { name: "events", parameters: &["first", "last"] },
    HostFunction { name: "ask", parameters: &["question", "first", "last"] },
    HostFunction { name: "submit", parameters: &["answer"] },
];

/// Answers the calls of one exploration.
pub(super) struct Host<'a> {
    asker: &'a ModelClient<'a>,
    job: Job<'a>,
    n_asks: usize,
    /// What was handed in.
    pub(super) answer: Option<SessionAnswer>,
    /// Why no model can be asked any more.
    pub(super) failed: Option<AskError>,
}

#[derive(Deserialize)]
struct PartAnswer {
    answer: String,
}

impl<'a> Host<'a> {
    pub(super) fn new(asker: &'a ModelClient<'a>, job: Job<'a>) -> Self {
        Self { asker, job, n_asks: 0, answer: None, failed: None }
    }

    pub(super) fn call(&mut self, name: &str, arguments: &Map<String, Value>) -> Reply {
        match name {
            "search" => self.search(arguments),
            "events" => self.events(arguments),
            "ask" => self.ask(arguments),
            "submit" => self.submit(arguments),
            _ => Reply::Refused(format!("there is no {name}")),
        }
    }

    /// Events that hold a text, whatever its case.
    fn search(&self, arguments: &Map<String, Value>) -> Reply {
        let Some(wanted) = text(arguments, "text") else { return wrong("search(text, limit=20)") };
        let limit = number(arguments, "limit").map_or(20, |limit| limit as usize).min(MAX_FOUND);
        let wanted = wanted.to_lowercase();
        let mut found = Vec::new();
        for line in self.job.pages.lines() {
            let whole = line.whole();
            let lower = whole.to_lowercase();
            let Some(at) = lower.find(&wanted).filter(|_| !wanted.is_empty()) else { continue };
            let start = whole.floor_char_boundary(at.saturating_sub(AROUND));
            let end = whole.ceil_char_boundary((at + wanted.len() + AROUND).min(whole.len()));
            let around = whole.get(start.min(end)..end).unwrap_or_default();
            found.push(json!({ "n": line.sequence, "who": line.label(), "text": around }));
            if found.len() == limit {
                break;
            }
        }
        Reply::Value(Value::Array(found))
    }

    /// A part of the session as text.
    fn events(&self, arguments: &Map<String, Value>) -> Reply {
        match (number(arguments, "first"), number(arguments, "last")) {
            (Some(first), Some(last)) => {
                Reply::Value(Value::String(self.job.pages.text(first, last, MAX_TEXT)))
            }
            _ => wrong("events(first, last)"),
        }
    }

    /// A model's answer about a part of the session.
    fn ask(&mut self, arguments: &Map<String, Value>) -> Reply {
        let question = text(arguments, "question");
        let (first, last) = (number(arguments, "first"), number(arguments, "last"));
        let (Some(question), Some(first), Some(last)) = (question, first, last) else {
            return wrong("ask(question, first, last)");
        };
        self.n_asks += 1;
        if MAX_ASKS < self.n_asks {
            return Reply::Refused(format!("{MAX_ASKS} questions were asked; no more are left"));
        }
        let part = self.job.pages.text(first, last, MAX_TEXT);
        let asked = Question {
            role: self.job.role,
            instructions: asking(),
            material: format!(
                "{}The question: {}",
                fenced("transcript", &part),
                question.chars().take(2000).collect::<String>()
            ),
            output: OutputSchema {
                name: "part_answer".to_owned(),
                description: "The answer to a question about a part of a session".to_owned(),
                schema: json!({ "type": "object", "properties": { "answer": { "type": "string" } },
                    "required": ["answer"], "additionalProperties": false }),
            },
        };
        match self.asker.ask::<PartAnswer>(&asked) {
            Ok(PartAnswer { answer }) => Reply::Value(Value::String(answer)),
            Err(AskError::Answer(_)) => Reply::Refused("no usable answer came".to_owned()),
            Err(error) => {
                self.failed = Some(error);
                Reply::Over
            }
        }
    }

    /// Takes the result, where it has the right shape.
    fn submit(&mut self, arguments: &Map<String, Value>) -> Reply {
        let Some(answer) = arguments.get("answer") else { return wrong("submit(answer)") };
        let Ok(schema) = Schema::new(&session_schema(self.job.wanted).schema) else {
            return Reply::Over;
        };
        let wrong: Vec<String> =
            schema.violations(answer).iter().map(ToString::to_string).collect();
        if !wrong.is_empty() {
            return Reply::Refused(format!("the answer has the wrong shape: {}", wrong.join("; ")));
        }
        match serde_json::from_value(answer.clone()) {
            Ok(answer) => {
                self.answer = Some(answer);
                Reply::Over
            }
            Err(error) => Reply::Refused(error.to_string()),
        }
    }
}

fn wrong(usage: &str) -> Reply {
    Reply::Refused(format!("call it as {usage}"))
}

fn text<'m>(arguments: &'m Map<String, Value>, name: &str) -> Option<&'m str> {
    arguments.get(name)?.as_str()
}

fn number(arguments: &Map<String, Value>, name: &str) -> Option<u64> {
    arguments.get(name)?.as_u64()
}
