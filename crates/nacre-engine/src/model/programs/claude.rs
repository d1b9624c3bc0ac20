//! Claude Code: `claude -p` in safe mode, with a schema that it holds its model to.

use serde_json::Value;

use super::super::cost::Cost;
use super::super::error::Fault;
use super::super::response::StopReason;
use super::super::usage::Usage;
use super::launch::{Finished, Launch};
use super::{AgentProgram, Answer, Asked, faults};

/// A shorter limit would cut off what the agent says around a structured answer.
const MIN_ANSWER_TOKENS: u32 = 4096;

pub(super) struct Claude;

impl AgentProgram for Claude {
    fn launch(&self, asked: &Asked<'_>) -> Launch {
        let question = asked.question;
        // Safe mode keeps the login and the provider, and leaves out hooks, plugins, servers, skills and CLAUDE.md.
        let mut arguments: Vec<String> = [
            "-p",
            "--safe-mode",
            "--tools",
            "",
            "--no-session-persistence",
            "--output-format",
            "json",
        ]
        .map(str::to_owned)
        .to_vec();
        let mut add = |flag: &str, value: String| arguments.extend([flag.to_owned(), value]);
        add("--effort", asked.effort.to_owned());
        add("--system-prompt-file", SYSTEM_FILE.to_owned());
        if let Some(model) = asked.model {
            add("--model", model.to_owned());
        }
        if let Some(schema) = &question.schema {
            add("--json-schema", schema.to_string());
        }
        Launch {
            arguments: arguments.into_iter().map(Into::into).collect(),
            variables: variables(asked.max_tokens),
            files: vec![(SYSTEM_FILE, question.system.clone())],
            stdin: question.prompt.clone(),
        }
    }

    fn answer(&self, finished: &Finished) -> Result<Answer, Fault> {
        let printed = serde_json::from_str::<Value>(finished.stdout.trim());
        let Ok(result) = printed else { return Err(faults::no_answer(finished)) };
        let said = result.get("result").and_then(Value::as_str);
        let status = result.get("api_error_status").and_then(Value::as_u64);
        if result.get("is_error").and_then(Value::as_bool) != Some(false) {
            let status = status.and_then(|status| u16::try_from(status).ok());
            // An error that is not the server's has a subtype, and may have no words.
            let subtype = result.get("subtype").and_then(Value::as_str);
            return Err(faults::fault(status, said.or(subtype).unwrap_or_default(), finished));
        }
        // Without it the model answered with text after all, which may still hold what was asked for.
        let text = match result.get("structured_output") {
            Some(value) if !value.is_null() => value.to_string(),
            Some(_) | None => said.ok_or_else(|| faults::no_answer(finished))?.to_owned(),
        };
        let stop = match result.get("stop_reason").and_then(Value::as_str) {
            Some("max_tokens") => StopReason::MaxTokens,
            Some("refusal") => StopReason::Refusal,
            Some(_) | None => StopReason::End,
        };
        Ok(Answer { text, stop, usage: usage(&result) })
    }
}

/// The file that holds our instructions.
const SYSTEM_FILE: &str = "system.md";

/// What every run is started with.
pub(super) fn variables(max_tokens: u32) -> Vec<(&'static str, String)> {
    vec![
        ("MAX_THINKING_TOKENS", "0".to_owned()),
        ("CLAUDE_CODE_MAX_OUTPUT_TOKENS", max_tokens.max(MIN_ANSWER_TOKENS).to_string()),
        // Nacre asks again by itself.
        ("CLAUDE_CODE_MAX_RETRIES", "1".to_owned()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
        ("DISABLE_AUTOUPDATER", "1".to_owned()),
    ]
}

fn count(value: &Value, key: &str) -> u64 {
    value.get(key).and_then(Value::as_u64).unwrap_or(0)
}

/// The tokens of a message, or of all of them.
pub(super) fn tokens(usage: &Value) -> Usage {
    Usage {
        input: count(usage, "input_tokens"),
        cache_read: count(usage, "cache_read_input_tokens"),
        cache_write: count(usage, "cache_creation_input_tokens"),
        output: count(usage, "output_tokens"),
        ..Usage::default()
    }
}

/// The tokens and the cost of a result.
pub(super) fn usage(result: &Value) -> Usage {
    let usage = tokens(result.get("usage").unwrap_or(&Value::Null));
    // After a change of models, and where a run was broken off, only the sums by model hold everything.
    let models = result.get("modelUsage").and_then(Value::as_object);
    let models = models.into_iter().flat_map(serde_json::Map::values);
    let by_model = models.fold(Usage::default(), |sum, model| {
        sum.plus(Usage {
            input: count(model, "inputTokens"),
            cache_read: count(model, "cacheReadInputTokens"),
            cache_write: count(model, "cacheCreationInputTokens"),
            output: count(model, "outputTokens"),
            ..Usage::default()
        })
    });
    let usage = if usage.total() < by_model.total() { by_model } else { usage };
    let dollars = result.get("total_cost_usd").and_then(Value::as_f64);
    Usage { reported: dollars.and_then(Cost::from_dollars), ..usage }
}
