//! Runs `codex exec` without its tools, and with a strict schema if the answer's format allows it.
//!
//! Codex is told to ignore the user's configuration, because it would otherwise start the
//! configured servers and hooks. Nacre reads the model and the provider from that configuration and
//! passes them on the command line.

use serde_json::Value;

use crate::model::conversation::StopReason;
use crate::model::error::Result;
use crate::model::price::Usage;
use crate::model::programs::launch::{Finished, Launch, arguments, read_settings};
use crate::model::programs::question::{fault, no_answer, status_in};
use crate::model::programs::{AgentProgram, Answer, Asked, ProgramSettings};
use crate::model::schema::{SchemaBounds, for_providers, is_strict};

/// Provider keys that are passed to Codex. Their values must not contain an API key, because other
/// users can see the command line.
#[rustfmt::skip]
const PROVIDER_KEYS: &[&str] = &[
    "name", "base_url", "wire_api", "env_key", "env_http_headers", "requires_openai_auth",
    "request_max_retries", "stream_max_retries", "stream_idle_timeout_ms", "supports_websockets",
];

const SETTINGS: &[&str] = &[
    "model_instructions_file=\"system.md\"",
    "project_doc_max_bytes=0",
    "include_permissions_instructions=false",
    "include_environment_context=false",
    "skills.include_instructions=false",
    "web_search=\"disabled\"",
];

#[rustfmt::skip]
const FEATURES_OFF: &[&str] = &[
    "hooks", "plugins", "apps", "shell_tool", "unified_exec", "view_image", "multi_agent", "goals",
    "image_generation",
];

pub(super) struct Codex;

impl AgentProgram for Codex {
    fn launch(&self, asked: &Asked<'_>) -> Launch {
        let question = asked.question;
        let mut arguments = arguments(
            "exec --skip-git-repo-check --sandbox read-only --ephemeral --ignore-user-config \
             --ignore-rules --json",
        );
        let mut add = |flag: &str, value: String| arguments.extend([flag.to_owned(), value]);
        for setting in SETTINGS {
            add("-c", (*setting).to_owned());
        }
        add("-c", format!("model_reasoning_effort=\"{}\"", asked.effort));
        for setting in own_settings(asked.settings, asked.model) {
            add("-c", setting);
        }
        for feature in FEATURES_OFF {
            add("--disable", (*feature).to_owned());
        }
        let strict = question.schema.as_ref().filter(|schema| is_strict(schema));
        let mut files = Vec::new();
        match strict {
            Some(schema) => {
                add("--output-schema", SCHEMA_FILE.to_owned());
                files.push((SCHEMA_FILE, for_providers(schema, SchemaBounds::Kept).to_string()));
                files.push((SYSTEM_FILE, question.system.clone()));
            }
            None => files.push((SYSTEM_FILE, question.system_with_schema())),
        }
        arguments.push("-".to_owned());
        Launch { arguments, variables: Vec::new(), files, stdin: question.prompt.clone() }
    }

    fn answer(&self, finished: &Finished) -> Result<Answer> {
        let mut answer =
            Answer { text: String::new(), stop: StopReason::End, usage: Usage::default() };
        let (mut is_complete, mut failure) = (false, None);
        for event in finished.json_lines() {
            match event["type"].as_str() {
                Some("item.completed") => {
                    let item = event.get("item").unwrap_or(&Value::Null);
                    // Ignore items of type `error`, because they may be warnings.
                    if item["type"].as_str() == Some("agent_message") {
                        let text = item["text"].as_str();
                        text.unwrap_or_default().clone_into(&mut answer.text);
                    }
                }
                Some("turn.completed") => {
                    is_complete = true;
                    answer.usage = usage(event.get("usage").unwrap_or(&Value::Null));
                }
                Some("turn.failed") => {
                    let said = event.pointer("/error/message").and_then(Value::as_str);
                    failure = Some(said.unwrap_or_default().to_owned());
                }
                // Codex also reports retries as errors, so use the last error only if there is no
                // other failure.
                Some("error") if failure.is_none() => {
                    failure = event["message"].as_str().map(str::to_owned);
                }
                Some(_) | None => {}
            }
        }
        match failure {
            _ if is_complete => Ok(answer),
            Some(said) => Err(fault(status_in(&said), &said, finished)),
            None => Err(no_answer(finished)),
        }
    }
}

const SYSTEM_FILE: &str = "system.md";
const SCHEMA_FILE: &str = "schema.json";

fn usage(told: &Value) -> Usage {
    let count = |key: &str| told.get(key).and_then(Value::as_u64).unwrap_or(0);
    let cached = count("cached_input_tokens");
    Usage {
        input: count("input_tokens").saturating_sub(cached),
        cache_read: cached,
        output: count("output_tokens"),
        reasoning: count("reasoning_output_tokens"),
        ..Usage::default()
    }
}

fn own_settings(settings: &ProgramSettings, model: Option<&str>) -> Vec<String> {
    let folder = settings.variable("CODEX_HOME").map(std::path::PathBuf::from);
    let folder = folder.or_else(|| Some(settings.home.as_ref()?.join(".codex")));
    let text = folder.and_then(|folder| read_settings(&folder.join("config.toml")));
    overrides(&text.unwrap_or_default(), model)
}

fn overrides(config: &str, model: Option<&str>) -> Vec<String> {
    // Ignore an invalid configuration here, because Codex reports it.
    let table: toml::Table = config.parse().unwrap_or_default();
    let text = |key: &str| table.get(key).and_then(toml::Value::as_str);
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let mut found = Vec::new();
    if let Some(model) = model.or_else(|| text("model")) {
        found.push(format!("model={}", quoted(model)));
    }
    let Some(name) = text("model_provider") else { return found };
    found.push(format!("model_provider={}", quoted(name)));
    let providers = table.get("model_providers").and_then(toml::Value::as_table);
    let Some(provider) = providers.and_then(|all| all.get(name)?.as_table()) else { return found };
    let kept = provider.iter().filter(|(key, _)| PROVIDER_KEYS.contains(&key.as_str()));
    let kept: Vec<String> = kept.map(|(key, value)| format!("{key}={value}")).collect();
    // Codex would parse a name that contains a dot or a space as a different key.
    if name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')) {
        found.push(format!("model_providers.{name}={{{}}}", kept.join(",")));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_and_the_provider_are_handed_over_and_keys_are_not() {
        let config = "model = \"gpt-5\"\nmodel_provider = \"corp\"\nnotify = [\"evil\"]\n[mcp_servers.x]\ncommand = \"evil\"\n\
                      [model_providers.corp]\nname = \"Corp\"\nbase_url = \"http://127.0.0.1:1/v1\"\nwire_api = \"responses\"\n\
                      experimental_bearer_token = \"sk-secret\"\nhttp_headers = { Authorization = \"sk-secret\" }\n";
        let found = overrides(config, None);
        assert_eq!(
            found,
            [
                "model=\"gpt-5\"",
                "model_provider=\"corp\"",
                "model_providers.corp={base_url=\"http://127.0.0.1:1/v1\",name=\"Corp\",wire_api=\"responses\"}",
            ]
        );
        assert_eq!(overrides(config, Some("gpt-5-mini"))[0], "model=\"gpt-5-mini\"");
        assert_eq!(overrides("not toml [", None), Vec::<String>::new());
    }
}
