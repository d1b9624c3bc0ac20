//! What a person can set for a session, as the options of the protocol: the mode and the model.

use nacre_api::wire::{ApprovalPolicy, ChatSession, SessionChangeRequest};

use super::modes;
use super::protocol::{ConfigChoice, ConfigOption};

const MODE: &str = "mode";
const MODEL: &str = "model";

/// The model of a session that has none of its own.
const DEFAULT: &str = "default";

/// The options of a session, with all values that each can have.
pub(super) fn options(session: &ChatSession, models: &[String]) -> Vec<ConfigOption> {
    let mut options = vec![mode(session.policy)];
    options.extend(model(session.model.as_deref(), models));
    options
}

fn mode(policy: ApprovalPolicy) -> ConfigOption {
    let choice = |mode: super::protocol::Mode| ConfigChoice {
        value: mode.id.to_owned(),
        name: mode.name.to_owned(),
        description: Some(mode.description),
    };
    let state = modes::state(policy);
    ConfigOption {
        r#type: "select",
        id: MODE,
        name: "Mode",
        category: "mode",
        current_value: state.current_mode_id.to_owned(),
        options: state.available_modes.into_iter().map(choice).collect(),
    }
}

/// `None` where there is nothing to choose from.
fn model(current: Option<&str>, models: &[String]) -> Option<ConfigOption> {
    let named = |name: &str| ConfigChoice {
        value: name.to_owned(),
        name: name.to_owned(),
        description: None,
    };
    let mut options: Vec<ConfigChoice> = models.iter().map(|model| named(model)).collect();
    match current {
        Some(current) if models.iter().any(|model| model == current) => {}
        Some(current) => options.insert(0, named(current)),
        // A session that was given a model keeps one of its own.
        None => {
            options
                .insert(0, ConfigChoice { name: "As set for chat".to_owned(), ..named(DEFAULT) });
        }
    }
    let current_value = current.unwrap_or(DEFAULT).to_owned();
    (1 < options.len()).then_some(ConfigOption {
        r#type: "select",
        id: MODEL,
        name: "Model",
        category: "model",
        current_value,
        options,
    })
}

/// What a choice changes in a session; `None` where there is no such option or value.
pub(super) fn change(option: &str, value: &str, models: &[String]) -> Option<SessionChangeRequest> {
    let nothing = SessionChangeRequest::default();
    match (option, value) {
        (MODE, mode) => {
            Some(SessionChangeRequest { policy: Some(modes::policy_of(mode)?), ..nothing })
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
        let option = model(current, &models)?;
        Some((option.current_value, option.options.into_iter().map(|it| it.value).collect()))
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
}
