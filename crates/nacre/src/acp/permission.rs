//! The question for a person's yes, and what the answer means. Only a clear yes is one.

use std::path::Path;

use nacre_api::wire::{ApprovalAnswer, ApprovalRequest};
use serde_json::Value;

use super::protocol::{PermissionAnswer, PermissionOption, PermissionOutcome, PermissionRequest};
use super::tool_calls::asked_about;

const ONCE: &str = "allow_once";
const SESSION: &str = "allow_always";
const NO: &str = "reject_once";

pub(super) fn request(
    session: &str,
    root: &Path,
    task: &str,
    question: &ApprovalRequest,
) -> PermissionRequest {
    let option = |option_id, name| PermissionOption { option_id, name, kind: option_id };
    PermissionRequest {
        session_id: session.to_owned(),
        tool_call: asked_about(root, task, question),
        options: vec![
            option(ONCE, "Allow once"),
            option(SESSION, "Allow for this session"),
            option(NO, "Reject"),
        ],
    }
}

/// What a client's reply means.
pub(super) fn answer_of(reply: Result<Value, Value>) -> ApprovalAnswer {
    let deny = |reason: &str| ApprovalAnswer::Deny { reason: reason.to_owned() };
    let Ok(result) = reply else { return deny("The editor could not ask the person") };
    match serde_json::from_value::<PermissionAnswer>(result).map(|answer| answer.outcome) {
        Ok(PermissionOutcome::Selected { option_id }) => match option_id.as_str() {
            ONCE => ApprovalAnswer::Once,
            SESSION => ApprovalAnswer::Session,
            _ => deny("The person said no"),
        },
        Ok(PermissionOutcome::Cancelled) => deny("The person stopped the turn"),
        Err(_) => deny("The editor gave no clear answer"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_a_clear_yes_is_one() {
        let selected =
            |id: &str| Ok(json!({ "outcome": { "outcome": "selected", "optionId": id } }));
        assert_eq!(answer_of(selected("allow_once")), ApprovalAnswer::Once);
        assert_eq!(answer_of(selected("allow_always")), ApprovalAnswer::Session);
        for reply in [
            selected("reject_once"),
            selected("ALLOW_ONCE"),
            selected(""),
            Ok(json!({ "outcome": { "outcome": "cancelled" } })),
            Ok(json!({ "outcome": { "outcome": "allowed", "optionId": "allow_once" } })),
            Ok(json!({ "outcome": "allow_once" })),
            Ok(Value::Null),
            Err(json!({ "code": -32603, "message": "allow_once" })),
        ] {
            let shown = format!("{reply:?}");
            assert!(matches!(answer_of(reply), ApprovalAnswer::Deny { .. }), "{shown}");
        }
    }
}
