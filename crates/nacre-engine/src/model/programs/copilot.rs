//! Copilot CLI: `copilot` without tools. It has a system prompt of its own, so that ours stands before the question; and it writes
//! its session all the same, which the mark in the prompt tells from a person's.

use serde_json::Value;

use super::super::error::Fault;
use super::super::response::StopReason;
use super::super::usage::Usage;
use super::launch::{Finished, Launch};
use super::{AgentProgram, Answer, Asked, faults};
use nacre_core::transcript::injected::QUESTION_MARK;

pub(super) struct Copilot;

impl AgentProgram for Copilot {
    fn launch(&self, asked: &Asked<'_>) -> Launch {
        let mut arguments: Vec<String> = [
            "-s",
            "--output-format",
            "json",
            "--available-tools=none",
            "--no-custom-instructions",
            "--disable-builtin-mcps",
            "--no-auto-update",
        ]
        .map(str::to_owned)
        .to_vec();
        if let Some(model) = asked.model {
            arguments.extend(["--model".to_owned(), model.to_owned()]);
        }
        let system = asked.question.system_with_schema();
        let rest = asked.question.prompt.strip_prefix(QUESTION_MARK).unwrap_or_default();
        Launch {
            arguments: arguments.into_iter().map(Into::into).collect(),
            // The question on standard input takes the place of `-p`.
            stdin: format!("{QUESTION_MARK}\n\n{system}\n\n---{rest}"),
            ..Launch::default()
        }
    }

    fn answer(&self, finished: &Finished) -> Result<Answer, Fault> {
        let (mut text, mut is_complete, mut failure) = (None, false, None);
        let lines = finished.stdout.lines();
        for event in lines.filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            let said = |path: &str| event.pointer(path).and_then(Value::as_str).map(str::to_owned);
            match event.get("type").and_then(Value::as_str) {
                Some("assistant.message") => text = said("/data/content").or(text),
                Some("session.error") => failure = said("/data/message"),
                Some("result") => {
                    is_complete =
                        event.get("exitCode").and_then(Value::as_i64).is_none_or(|code| code == 0);
                }
                Some(_) | None => {}
            }
        }
        match (text, failure) {
            (_, Some(said)) => Err(faults::fault(faults::status_in(&said), &said, finished)),
            // It counts requests and tells no tokens.
            (Some(text), None) if is_complete => {
                Ok(Answer { text, stop: StopReason::End, usage: Usage::default() })
            }
            (_, None) => Err(faults::no_answer(finished)),
        }
    }
}
