//! Code shared by all tool calls: session ids, warnings and error messages.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use nacre_ops::host::Environment;
use nacre_ops::text::ShownLine;
use nacre_ops::{Events, OpError};
use nacre_types::{ErrorCode, Event, Warning};
use rmcp::model::RequestMetaObject;
use serde_json::Value;

use super::text::{NOTES_CHARS, cut};

const MAX_WARNINGS: usize = 4;

pub(super) fn events(warnings: &Arc<Mutex<Vec<Warning>>>) -> Events {
    let warnings = Arc::clone(warnings);
    Events::new(move |event| {
        if let Event::Warning(warning) = event {
            let mut warnings = warnings.lock().unwrap_or_else(PoisonError::into_inner);
            if warnings.len() < MAX_WARNINGS {
                warnings.push(warning);
            }
        }
    })
}

pub(super) fn notes(warnings: &[Warning]) -> String {
    let mut text = String::new();
    for Warning { message, hint } in warnings {
        let hint = hint.as_ref().map(|hint| format!(" ({})", ShownLine(hint))).unwrap_or_default();
        // Writing to a `String` cannot fail.
        let _ = write!(text, "\nNote: {}{hint}", ShownLine(message));
    }
    cut(&text, NOTES_CHARS)
}

pub(super) fn failure(error: &OpError) -> String {
    let OpError { code, message, causes, hints } = error;
    let mut text = format!("Error ({}): {}", code.as_str(), ShownLine(message));
    for cause in causes {
        let _ = write!(text, "\nCaused by: {}", ShownLine(cause));
    }
    for hint in hints {
        let _ = write!(text, "\nHint: {}", ShownLine(hint));
    }
    if *code == ErrorCode::NoProject {
        text.push_str("\nAsk the user before running it.");
    }
    cut(&text, NOTES_CHARS * 2)
}

/// Environment variables in which agents pass their session id.
const VARIABLES: &[&str] = &[
    "CLAUDE_CODE_SESSION_ID",
    "CODEX_SESSION_ID",
    "COPILOT_AGENT_SESSION_ID",
    "GEMINI_SESSION_ID",
];

/// The metadata field in which Codex sends the session id with each call.
const CODEX_META: &str = "x-codex-turn-metadata";

/// Maximum length of a session id. Longer ids are ignored.
const MAX_SESSION_BYTES: usize = 200;

/// Returns the caller's session id. The id affects only which session is read first.
pub(super) fn session_of(meta: &RequestMetaObject, environment: &Environment) -> Option<String> {
    let sent = meta.0.0.get(CODEX_META).and_then(session_id);
    let started_in = || VARIABLES.iter().find_map(|name| environment.var(name)).map(str::to_owned);
    sent.or_else(started_in).filter(|session| session.len() <= MAX_SESSION_BYTES)
}

/// Returns the session id. Some Codex versions send an object, others a string that contains JSON.
fn session_id(of: &Value) -> Option<String> {
    let parsed = of.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    parsed.as_ref().unwrap_or(of).get("session_id")?.as_str().map(str::to_owned)
}
