//! Whether an installed agent may read sessions: asked of a person once, and kept in their own settings.

use nacre_api::wire::{ModelReaderReport, ModelReaderRequest};
use nacre_core::config::{NACRE_CHILD, edit};

use crate::error::OpError;
use crate::host::{AUTO, Host, first_installed};

/// The key that holds the answer.
const AGENT: &str = "reading.agent";

/// The key that makes the agent answer.
const MODEL: &str = "roles.default.model";

/// What the answer is where no agent may read.
const NONE: &str = "none";

/// The agent that a person has not been asked about yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReaderQuestion {
    /// What people call it.
    pub label: &'static str,
    pub sessions_per_day: u64,
}

/// Returns what to ask a person; nothing where they answered, set a model themselves, or have no agent.
pub fn reader_question(host: &Host) -> Option<ReaderQuestion> {
    // Only what the person set counts: a repository has no say in it.
    let roles = &host.own.roles;
    let is_set = |role: &str| {
        let model = roles.get(role).and_then(|table| table.model.as_deref());
        model.is_some_and(|model| model != AUTO)
    };
    let is_child = host.environment.var(NACRE_CHILD).is_some();
    if is_child || is_set("default") || is_set("extract") {
        return None;
    }
    let agent = first_installed(host)?;
    let answer = host.own.reading.agent.as_str();
    let is_answered = answer == NONE || answer == agent.provider;
    let sessions_per_day = host.own.reading.sessions_per_day;
    (!is_answered).then_some(ReaderQuestion { label: agent.label, sessions_per_day })
}

/// Keeps a person's answer, and goes by it from now on.
pub fn answer_reader(
    host: &Host,
    request: &ModelReaderRequest,
) -> Result<ModelReaderReport, OpError> {
    let Some(agent) = first_installed(host) else {
        return Err(OpError::failed("No agent that could read sessions is installed")
            .hint("nacre config set roles.default.model ollama/qwen3"));
    };
    let answer = if request.allowed { agent.provider } else { NONE };
    let has_model = host.own.roles.get("default").is_some_and(|table| table.model.is_some());
    host.edit_home_text("config.toml", "model reader", |text, origin| {
        let text = edit::set(text, origin, AGENT, answer)?;
        if request.allowed && !has_model {
            return Ok(edit::set(&text, origin, MODEL, AUTO)?);
        }
        Ok(text)
    })?;
    host.allow_agent(answer);
    Ok(ModelReaderReport {
        agent: agent.provider.to_owned(),
        label: agent.label.to_owned(),
        model: agent.reader_name(),
        allowed: request.allowed,
    })
}
