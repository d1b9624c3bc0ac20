//! Claude Code, Copilot CLI and Gemini CLI as providers, all without tools.
//!
//! Copilot and Gemini always save a session. A marker in the prompt distinguishes these sessions
//! from the user's own.

use nacre_traces::transcript::injected::QUESTION_MARK;
use serde_json::{Value, json};

use crate::model::conversation::StopReason;
use crate::model::error::Result;
use crate::model::price::{Cost, Usage};
use crate::model::programs::launch::{Finished, Launch, arguments};
use crate::model::programs::question::{fault, no_answer, status_in};
use crate::model::programs::{AgentProgram, Answer, Asked};
use crate::model::textual_tools::only_value;

/// Minimum for the token limit. A lower limit would cut off the text that the agent prints before
/// and after a structured answer.
const MIN_ANSWER_TOKENS: u32 = 4096;

pub(super) struct Claude;

impl AgentProgram for Claude {
    fn launch(&self, asked: &Asked<'_>) -> Launch {
        let question = asked.question;
        // Safe mode keeps the login and provider settings, but disables hooks, plugins, servers,
        // skills and CLAUDE.md.
        let mut arguments =
            arguments("-p --safe-mode --tools '' --no-session-persistence --output-format json");
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
            arguments,
            variables: variables(asked.max_tokens),
            files: vec![(SYSTEM_FILE, question.system.clone())],
            stdin: question.prompt.clone(),
        }
    }

    fn answer(&self, finished: &Finished) -> Result<Answer> {
        let printed = serde_json::from_str::<Value>(finished.stdout.trim());
        let Ok(result) = printed else { return Err(no_answer(finished)) };
        let said = result["result"].as_str();
        let status = result["api_error_status"].as_u64();
        if result["is_error"].as_bool() != Some(false) {
            let status = status.and_then(|status| u16::try_from(status).ok());
            // Errors in the agent itself have a subtype but may lack a message.
            let subtype = result["subtype"].as_str();
            return Err(fault(status, said.or(subtype).unwrap_or_default(), finished));
        }
        // If this field is missing, the model answered in plain text, which may still contain the
        // requested value.
        let text = match result.get("structured_output") {
            Some(value) if !value.is_null() => value.to_string(),
            Some(_) | None => said.ok_or_else(|| no_answer(finished))?.to_owned(),
        };
        let stop = match result["stop_reason"].as_str() {
            Some("max_tokens") => StopReason::MaxTokens,
            Some("refusal") => StopReason::Refusal,
            Some(_) | None => StopReason::End,
        };
        Ok(Answer { text, stop, usage: usage(&result) })
    }
}

const SYSTEM_FILE: &str = "system.md";

fn variables(max_tokens: u32) -> Vec<(&'static str, String)> {
    vec![
        ("MAX_THINKING_TOKENS", "0".to_owned()),
        ("CLAUDE_CODE_MAX_OUTPUT_TOKENS", max_tokens.max(MIN_ANSWER_TOKENS).to_string()),
        // Nacre handles retries itself.
        ("CLAUDE_CODE_MAX_RETRIES", "1".to_owned()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
        ("DISABLE_AUTOUPDATER", "1".to_owned()),
    ]
}

fn count(value: &Value, key: &str) -> u64 {
    value.get(key).and_then(Value::as_u64).unwrap_or(0)
}

fn tokens(usage: &Value) -> Usage {
    Usage {
        input: count(usage, "input_tokens"),
        cache_read: count(usage, "cache_read_input_tokens"),
        cache_write: count(usage, "cache_creation_input_tokens"),
        output: count(usage, "output_tokens"),
        ..Usage::default()
    }
}

fn usage(result: &Value) -> Usage {
    let usage = tokens(result.get("usage").unwrap_or(&Value::Null));
    // After a model change or an aborted run, only the totals per model are complete.
    let models = result["modelUsage"].as_object();
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
    let dollars = result["total_cost_usd"].as_f64();
    Usage { reported: dollars.and_then(Cost::from_dollars), ..usage }
}

pub(super) struct Copilot;

impl AgentProgram for Copilot {
    fn launch(&self, asked: &Asked<'_>) -> Launch {
        let mut arguments = arguments(
            "-s --output-format json --available-tools=none --no-custom-instructions \
             --disable-builtin-mcps --no-auto-update",
        );
        if let Some(model) = asked.model {
            arguments.extend(["--model".to_owned(), model.to_owned()]);
        }
        let system = asked.question.system_with_schema();
        let rest = asked.question.prompt.strip_prefix(QUESTION_MARK).unwrap_or_default();
        Launch {
            arguments,
            // The question is read from standard input instead of from `-p`.
            stdin: format!("{QUESTION_MARK}\n\n{system}\n\n---{rest}"),
            ..Launch::default()
        }
    }

    fn answer(&self, finished: &Finished) -> Result<Answer> {
        let (mut text, mut is_complete, mut failure) = (None, false, None);
        for event in finished.json_lines() {
            let said = |path: &str| event.pointer(path).and_then(Value::as_str).map(str::to_owned);
            match event["type"].as_str() {
                Some("assistant.message") => text = said("/data/content").or(text),
                Some("session.error") => failure = said("/data/message"),
                Some("result") => {
                    is_complete = event["exitCode"].as_i64().is_none_or(|code| code == 0);
                }
                Some(_) | None => {}
            }
        }
        match (text, failure) {
            (_, Some(said)) => Err(fault(status_in(&said), &said, finished)),
            // Copilot does not report token counts.
            (Some(text), None) if is_complete => {
                Ok(Answer { text, stop: StopReason::End, usage: Usage::default() })
            }
            (_, None) => Err(no_answer(finished)),
        }
    }
}

/// Gemini's exit code when no account is configured.
const NO_ACCOUNT: i64 = 41;

pub(super) struct Gemini;

impl AgentProgram for Gemini {
    fn launch(&self, asked: &Asked<'_>) -> Launch {
        let mut arguments =
            arguments("-p '' -o json --skip-trust --allowed-mcp-server-names none -e none");
        if let Some(model) = asked.model {
            arguments.extend(["-m".to_owned(), model.to_owned()]);
        }
        let settings =
            json!({ "tools": { "core": ["none"] }, "hooksConfig": { "enabled": false } });
        Launch {
            arguments,
            variables: vec![
                ("GEMINI_SYSTEM_MD", GEMINI_SYSTEM_FILE.to_owned()),
                // If this variable is not set, Gemini ignores the settings file in the working
                // directory.
                ("GEMINI_CLI_TRUST_WORKSPACE", "true".to_owned()),
            ],
            files: vec![
                (GEMINI_SYSTEM_FILE, asked.question.system_with_schema()),
                (".gemini/settings.json", settings.to_string()),
            ],
            stdin: asked.question.prompt.clone(),
        }
    }

    fn answer(&self, finished: &Finished) -> Result<Answer> {
        // Errors are printed to stdout or stderr, mixed with warnings.
        let printed = [&finished.stdout, &finished.stderr];
        let is_report =
            |value: &Value| value.get("response").is_some() || value.get("error").is_some();
        let report = printed.iter().find_map(|text| only_value(text).filter(is_report));
        let Some(report) = report else { return Err(no_answer(finished)) };
        if let Some(error) = report.get("error").filter(|error| !error.is_null()) {
            let said = error["message"].as_str().unwrap_or_default();
            let code = error["code"].as_i64();
            let status = match code {
                Some(NO_ACCOUNT) => Some(401),
                code => code
                    .and_then(|code| u16::try_from(code).ok())
                    .filter(|code| (400..600).contains(code)),
            };
            return Err(fault(status, said, finished));
        }
        let text = report["response"].as_str();
        let text = text.ok_or_else(|| no_answer(finished))?.to_owned();
        Ok(Answer { text, stop: StopReason::End, usage: gemini_usage(&report) })
    }
}

const GEMINI_SYSTEM_FILE: &str = "system.md";

fn gemini_usage(report: &Value) -> Usage {
    let models = report.pointer("/stats/models").and_then(Value::as_object);
    let mut gemini_usage = Usage::default();
    for model in models.into_iter().flat_map(serde_json::Map::values) {
        let count = |key: &str| {
            model.get("tokens").and_then(|tokens| tokens.get(key)?.as_u64()).unwrap_or(0)
        };
        let (cached, thoughts) = (count("cached"), count("thoughts"));
        gemini_usage = gemini_usage.plus(Usage {
            input: count("prompt").saturating_sub(cached),
            cache_read: cached,
            output: count("candidates").saturating_add(thoughts),
            reasoning: thoughts,
            ..Usage::default()
        });
    }
    gemini_usage
}
