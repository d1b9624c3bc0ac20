//! Which session of the agent a call belongs to, as far as the agent tells. It only says where to look first.

use nacre_ops::host::Environment;
use rmcp::model::RequestMetaObject;
use serde_json::Value;

/// Variables in which agents tell a server their session.
const VARIABLES: &[&str] = &[
    "CLAUDE_CODE_SESSION_ID",
    "CODEX_SESSION_ID",
    "COPILOT_AGENT_SESSION_ID",
    "GEMINI_SESSION_ID",
];

/// Where Codex tells it with each call.
const CODEX_META: &str = "x-codex-turn-metadata";

/// Longer ones are none.
const MAX_BYTES: usize = 200;

/// The session that the call itself names, or the one that the server was started in.
pub(super) fn session_of(meta: &RequestMetaObject, environment: &Environment) -> Option<String> {
    let told = meta.0.0.get(CODEX_META).and_then(session_id);
    let started_in = || VARIABLES.iter().find_map(|name| environment.var(name)).map(str::to_owned);
    told.or_else(started_in).filter(|session| session.len() <= MAX_BYTES)
}

/// Some versions send the object, some its text.
fn session_id(of: &Value) -> Option<String> {
    let parsed = of.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    parsed.as_ref().unwrap_or(of).get("session_id")?.as_str().map(str::to_owned)
}
