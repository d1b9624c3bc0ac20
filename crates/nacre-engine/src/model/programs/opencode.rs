//! Runs `opencode run` with an agent definition that has no tools, and with an in-memory database.

use std::path::PathBuf;

use nacre_traces::agent_config::parse_jsonc;
use serde_json::{Map, Value, json};

use crate::model::conversation::StopReason;
use crate::model::error::{ErrorKind, Fault, Result};
use crate::model::price::{Cost, Usage};
use crate::model::programs::launch::{Finished, Launch, arguments, read_settings};
use crate::model::programs::question::{fault, no_answer};
use crate::model::programs::{AgentProgram, Answer, Asked, ProgramSettings};

/// Name of the agent with Nacre's instructions. It is also passed as the session title, because
/// OpenCode would otherwise send a request to generate one.
const NAME: &str = "nacre";

const CONFIG_FILES: &[&str] = &["config.json", "opencode.json", "opencode.jsonc"];

pub(super) struct OpenCode;

impl AgentProgram for OpenCode {
    fn launch(&self, asked: &Asked<'_>) -> Launch {
        let mut arguments = arguments("run --format json --pure");
        arguments.extend(["--agent", NAME, "--title", NAME].map(str::to_owned));
        // OpenCode reports failed attempts only in the log.
        arguments.extend(["--print-logs", "--log-level", "ERROR"].map(str::to_owned));
        if let Some(model) = asked.model {
            arguments.extend(["--model".to_owned(), model.to_owned()]);
        }
        let agent = json!({
            "mode": "primary",
            "prompt": asked.question.system_with_schema(),
            "permission": { "*": "deny" },
            "tools": { "*": false },
        });
        let servers: Map<String, Value> = servers(asked.settings)
            .into_iter()
            .map(|name| (name, json!({ "enabled": false })))
            .collect();
        let config = json!({
            "agent": { NAME: agent }, "mcp": servers, "share": "disabled", "autoupdate": false,
        });
        Launch {
            arguments,
            variables: vec![
                ("OPENCODE_CONFIG_CONTENT", config.to_string()),
                ("OPENCODE_DB", ":memory:".to_owned()),
                ("OPENCODE_DISABLE_AUTOUPDATE", "1".to_owned()),
                ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1".to_owned()),
            ],
            files: Vec::new(),
            stdin: asked.question.prompt.clone(),
        }
    }

    fn hopeless(&self) -> fn(&str) -> Option<Fault> {
        hopeless
    }

    fn answer(&self, finished: &Finished) -> Result<Answer> {
        let mut answer =
            Answer { text: String::new(), stop: StopReason::End, usage: Usage::default() };
        let (mut is_complete, mut failure) = (false, None);
        for event in finished.json_lines() {
            let part = event.get("part").unwrap_or(&Value::Null);
            match event["type"].as_str() {
                Some("text") => {
                    answer.text.push_str(part["text"].as_str().unwrap_or_default());
                }
                Some("step_finish") => {
                    is_complete = true;
                    answer.usage = answer.usage.plus(usage(part));
                    answer.usage.reported = cost(part);
                    if part["reason"].as_str() == Some("length") {
                        answer.stop = StopReason::MaxTokens;
                    }
                }
                Some("error") => {
                    failure = Some(complaint(event.get("error").unwrap_or(&Value::Null)));
                }
                Some(_) | None => {}
            }
        }
        match failure {
            Some((status, said)) => Err(fault(status, &said, finished)),
            None if is_complete => Ok(answer),
            None => Err(no_answer(finished)),
        }
    }
}

/// Returns the MCP servers in the user's settings, each of which must be disabled by name.
fn servers(settings: &ProgramSettings) -> Vec<String> {
    let folder = settings.variable("XDG_CONFIG_HOME").map(PathBuf::from);
    let folder = folder.or_else(|| Some(settings.home.as_ref()?.join(".config")));
    let folder = folder.map(|folder| folder.join("opencode"));
    let own = CONFIG_FILES.iter().filter_map(|name| Some(folder.as_ref()?.join(name)));
    let named = settings.variable("OPENCODE_CONFIG").map(PathBuf::from);
    let texts = own.chain(named).filter_map(|path| read_settings(&path));
    texts.flat_map(|text| server_names(&text)).collect()
}

fn server_names(config: &str) -> Vec<String> {
    let config = parse_jsonc(config).unwrap_or_default();
    let servers = config["mcp"].as_object();
    servers.map(|servers| servers.keys().cloned().collect()).unwrap_or_default()
}

/// Recognizes errors that a retry cannot fix: the account was rejected or has no credit left.
fn hopeless(log: &str) -> Option<Fault> {
    let failed = log.lines().rfind(|line| line.contains("message=\"stream error\""))?;
    let (_, said) = failed.split_once("error.error=")?;
    let fault = fault(None, said.trim_matches('"'), &Finished::default());
    let is_final = matches!(fault.kind, ErrorKind::Quota | ErrorKind::NotLoggedIn);
    is_final.then_some(fault)
}

fn usage(part: &Value) -> Usage {
    let count = |path: &str| part.pointer(path).and_then(Value::as_u64).unwrap_or(0);
    let reasoning = count("/tokens/reasoning");
    Usage {
        input: count("/tokens/input"),
        cache_read: count("/tokens/cache/read"),
        cache_write: count("/tokens/cache/write"),
        output: count("/tokens/output").saturating_add(reasoning),
        reasoning,
        reported: None,
    }
}

/// Returns the reported cost. OpenCode reports 0 for every model whose price it does not know.
fn cost(part: &Value) -> Option<Cost> {
    let dollars = part["cost"].as_f64().filter(|dollars| 0.0 < *dollars);
    dollars.and_then(Cost::from_dollars)
}

fn complaint(error: &Value) -> (Option<u16>, String) {
    let status = error.pointer("/data/statusCode").and_then(Value::as_u64);
    let said =
        error.pointer("/data/message").or_else(|| error.get("message")).and_then(Value::as_str);
    let name = error["name"].as_str();
    (
        status.and_then(|status| u16::try_from(status).ok()),
        said.or(name).unwrap_or_default().to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_found_in_settings_with_comments() {
        let config = r#"{
            // "mcp": { "not": {} },
            "url": "http://x/*no*/", /* "mcp": 1 */
            "quote": "a \" // b",
            "mcp": { "one": { "command": ["x"], }, "two": {} },
        }"#;
        assert_eq!(server_names(config), ["one", "two"]);
        assert_eq!(server_names("{ broken"), Vec::<String>::new());
    }
}
