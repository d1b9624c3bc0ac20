//! Gemini CLI: `gemini -p` without tools. It writes a chat file all the same, which the mark in the prompt tells from a session.

use serde_json::{Value, json};

use super::super::error::Fault;
use super::super::loose_json::only_value;
use super::super::response::StopReason;
use super::super::usage::Usage;
use super::launch::{Finished, Launch};
use super::{AgentProgram, Answer, Asked, faults};

/// The code by which it says that there is no account.
const NO_ACCOUNT: i64 = 41;

pub(super) struct Gemini;

impl AgentProgram for Gemini {
    fn launch(&self, asked: &Asked<'_>) -> Launch {
        let mut arguments: Vec<String> = [
            "-p",
            "",
            "-o",
            "json",
            "--skip-trust",
            "--allowed-mcp-server-names",
            "none",
            "-e",
            "none",
        ]
        .map(str::to_owned)
        .to_vec();
        if let Some(model) = asked.model {
            arguments.extend(["-m".to_owned(), model.to_owned()]);
        }
        let settings =
            json!({ "tools": { "core": ["none"] }, "hooksConfig": { "enabled": false } });
        Launch {
            arguments: arguments.into_iter().map(Into::into).collect(),
            variables: vec![
                ("GEMINI_SYSTEM_MD", SYSTEM_FILE.to_owned()),
                // Without it the settings beside the question are not read.
                ("GEMINI_CLI_TRUST_WORKSPACE", "true".to_owned()),
            ],
            files: vec![
                (SYSTEM_FILE, asked.question.system_with_schema()),
                (".gemini/settings.json", settings.to_string()),
            ],
            stdin: asked.question.prompt.clone(),
        }
    }

    fn answer(&self, finished: &Finished) -> Result<Answer, Fault> {
        // An error stands on either output, among warnings.
        let printed = [&finished.stdout, &finished.stderr];
        let is_report =
            |value: &Value| value.get("response").is_some() || value.get("error").is_some();
        let report = printed.iter().find_map(|text| only_value(text).filter(is_report));
        let Some(report) = report else { return Err(faults::no_answer(finished)) };
        if let Some(error) = report.get("error").filter(|error| !error.is_null()) {
            let said = error.get("message").and_then(Value::as_str).unwrap_or_default();
            let code = error.get("code").and_then(Value::as_i64);
            let status = match code {
                Some(NO_ACCOUNT) => Some(401),
                code => code
                    .and_then(|code| u16::try_from(code).ok())
                    .filter(|code| (400..600).contains(code)),
            };
            return Err(faults::fault(status, said, finished));
        }
        let text = report.get("response").and_then(Value::as_str);
        let text = text.ok_or_else(|| faults::no_answer(finished))?.to_owned();
        Ok(Answer { text, stop: StopReason::End, usage: usage(&report) })
    }
}

const SYSTEM_FILE: &str = "system.md";

fn usage(report: &Value) -> Usage {
    let models = report.pointer("/stats/models").and_then(Value::as_object);
    let mut usage = Usage::default();
    for model in models.into_iter().flat_map(serde_json::Map::values) {
        let count = |key: &str| {
            model.get("tokens").and_then(|tokens| tokens.get(key)?.as_u64()).unwrap_or(0)
        };
        let (cached, thoughts) = (count("cached"), count("thoughts"));
        usage = usage.plus(Usage {
            input: count("prompt").saturating_sub(cached),
            cache_read: cached,
            output: count("candidates").saturating_add(thoughts),
            reasoning: thoughts,
            ..Usage::default()
        });
    }
    usage
}
