//! The protocol's session settings: modes (approval policies) and configuration options.

use nacre_types::{ApprovalPolicy, ChatSession, SessionChangeRequest};
use serde_json::{Value, json};

pub(super) const MODE: &str = "mode";
const MODEL: &str = "model";

/// The value of the model option in sessions that use the default model.
const DEFAULT: &str = "default";

/// Returns the modes as JSON. `key` is the name of the id field, which differs between messages.
fn modes_by(key: &str) -> Vec<Value> {
    let mode = |policy: ApprovalPolicy| {
        let (name, description) = match policy {
            ApprovalPolicy::Ask => ("Ask", "Ask before every change, program and connection"),
            ApprovalPolicy::AutoEdit => {
                ("Auto-edit", "Change workspace files; ask before running programs or connecting")
            }
            ApprovalPolicy::Full => ("Full", "Never ask; programs stay sandboxed"),
        };
        json!({ key: policy.label(), "name": name, "description": description })
    };
    ApprovalPolicy::ALL.map(mode).to_vec()
}

pub(super) fn modes(policy: ApprovalPolicy) -> Value {
    json!({ "currentModeId": policy.label(), "availableModes": modes_by("id") })
}

pub(super) fn options(session: &ChatSession, models: &[String]) -> Vec<Value> {
    let mode = select(MODE, "Mode", session.policy.label(), &modes_by("value"));
    [mode].into_iter().chain(model_option(session.model.as_deref(), models)).collect()
}

fn select(id: &str, name: &str, current: &str, options: &[Value]) -> Value {
    json!({
        "type": "select", "id": id, "name": name, "category": id,
        "currentValue": current, "options": options,
    })
}

fn model_option(current: Option<&str>, models: &[String]) -> Option<Value> {
    let choice = |value: &str, name: &str| json!({ "value": value, "name": name });
    let mut options: Vec<Value> = models.iter().map(|model| choice(model, model)).collect();
    match current {
        Some(current) if models.iter().any(|model| model == current) => {}
        Some(current) => options.insert(0, choice(current, current)),
        // Once a session has its own model, it cannot return to the default.
        None => options.insert(0, choice(DEFAULT, "As set for chat")),
    }
    let current = current.unwrap_or(DEFAULT);
    (options.len() > 1).then(|| select(MODEL, "Model", current, &options))
}

pub(super) fn change(option: &str, value: &str, models: &[String]) -> Option<SessionChangeRequest> {
    let nothing = SessionChangeRequest::default();
    match (option, value) {
        (MODE, mode) => {
            let policy = ApprovalPolicy::ALL.into_iter().find(|policy| policy.label() == mode)?;
            Some(SessionChangeRequest { policy: Some(policy), ..nothing })
        }
        (MODEL, DEFAULT) => Some(nothing),
        (MODEL, model) if models.iter().any(|known| known == model) => {
            Some(SessionChangeRequest { model: Some(model.to_owned()), ..nothing })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(current: Option<&str>, models: &[&str]) -> Option<(String, Vec<String>)> {
        let models: Vec<String> = models.iter().map(|name| (*name).to_owned()).collect();
        let option = model_option(current, &models)?;
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let values = option["options"].as_array().unwrap().iter().map(|it| text(&it["value"]));
        Some((text(&option["currentValue"]), values.collect()))
    }

    #[test]
    fn models_are_those_that_are_set_and_the_one_in_use() {
        let of = |current: &str, values: &[&str]| {
            Some((current.to_owned(), values.iter().map(|it| (*it).to_owned()).collect()))
        };
        assert_eq!(values(None, &[]), None);
        assert_eq!(values(None, &["a/x"]), of("default", &["default", "a/x"]));
        assert_eq!(values(Some("a/x"), &["a/x"]), None);
        assert_eq!(values(Some("a/x"), &["a/x", "b/y"]), of("a/x", &["a/x", "b/y"]));
        assert_eq!(values(Some("c/z"), &["a/x"]), of("c/z", &["c/z", "a/x"]));
    }

    #[test]
    fn only_what_was_offered_can_be_chosen() {
        let models = ["a/x".to_owned()];
        let chosen = change(MODEL, "a/x", &models).unwrap();
        assert_eq!((chosen.model.as_deref(), chosen.policy), (Some("a/x"), None));
        let chosen = change(MODE, "full", &models).unwrap();
        assert_eq!((chosen.model, chosen.policy), (None, Some(ApprovalPolicy::Full)));
        for (option, value) in [(MODEL, "b/y"), (MODE, "yolo"), ("theme", "dark")] {
            assert_eq!(change(option, value, &models), None, "{option} {value}");
        }
    }

    #[test]
    fn every_policy_is_a_mode() {
        for policy in ApprovalPolicy::ALL {
            assert_eq!(change(MODE, policy.label(), &[]).unwrap().policy, Some(policy));
        }
        assert_eq!(modes(ApprovalPolicy::Full)["currentModeId"], "full");
    }
}
