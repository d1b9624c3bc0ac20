//! Defines how an agent reports that it is finished, and how the host decides whether to accept the
//! report.
//!
//! Agents report by calling a tool that does not count toward the call budget: `signal` for agents
//! that work until they stop, `answer` for agents that return a value. The decision is based on the
//! recorded effects of the run, not on the model's claim.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::lifecycle::spec::{Validator, Weight};
use crate::model::{Arguments, OutputSchema, ToolDef, violations};
use crate::record::{RunEffects, Signal};

pub const SIGNAL_TOOL: &str = "signal";

pub const ANSWER_TOOL: &str = "answer";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Signalled {
    pub(super) outcome: Signal,
    #[serde(default)]
    pub(super) reason: String,
}

/// Compares a signal with the recorded effects. Returns the signal and the outcome that it counts
/// as, or an error message for the model.
pub(super) fn judge(
    arguments: &Arguments,
    effects: &RunEffects,
) -> Result<(Signalled, Signal), String> {
    let value = match arguments {
        Arguments::Object(value) => value.clone(),
        Arguments::Malformed { text: _, error } => {
            return Err(format!("The arguments of `{SIGNAL_TOOL}` are not valid JSON: {error}"));
        }
    };
    let signalled: Signalled = serde_json::from_value(value)
        .map_err(|error| format!("The arguments of `{SIGNAL_TOOL}` are invalid: {error}"))?;
    let taken_as = match signalled.outcome {
        Signal::NoOp if !effects.changed.is_empty() || effects.memory_changes != 0 => Signal::Done,
        Signal::Blocked if signalled.reason.trim().is_empty() => {
            return Err(format!(
                "Say in the `reason` of `{SIGNAL_TOOL}` what you need to continue."
            ));
        }
        outcome @ (Signal::Done | Signal::NoOp | Signal::Blocked) => outcome,
    };
    Ok((signalled, taken_as))
}

pub(super) fn signal_tool() -> ToolDef {
    let schema = json!({
        "type": "object",
        "properties": {
            "outcome": { "type": "string", "enum": ["done", "no_op", "blocked"] },
            "reason": { "type": "string", "description": "For `blocked`: what you need to go on." },
        },
        "required": ["outcome"],
        "additionalProperties": false,
    });
    let description = "Ends your work. `done`: it is finished. `no_op`: there was nothing to do, and you changed \
                       nothing. `blocked`: you cannot go on without help. Say what you have to say before, as text.";
    ToolDef { name: SIGNAL_TOOL.to_owned(), description: description.to_owned(), schema }
}

pub(super) fn answer_tool(output: &OutputSchema) -> ToolDef {
    ToolDef {
        name: ANSWER_TOOL.to_owned(),
        description: format!("Hands in your answer and ends your work. {}", output.description),
        schema: output.schema.clone(),
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Complaints {
    pub faults: Vec<String>,
    /// Problems that do not prevent the answer from being accepted. They are stored with it.
    pub doubts: Vec<String>,
}

impl Complaints {
    pub fn is_empty(&self) -> bool {
        self.faults.is_empty() && self.doubts.is_empty()
    }

    pub fn told(&self) -> String {
        let list: String =
            self.faults.iter().chain(&self.doubts).map(|one| format!("- {one}\n")).collect();
        format!("Your answer cannot be accepted:\n{list}Hand in the whole corrected answer.")
    }
}

/// Maximum number of complaints per answer. Models ignore the end of a longer list.
const MAX_COMPLAINTS: usize = 20;

/// Checks the shape of an answer and, if the shape is correct, its content.
pub(super) fn complaints(
    answer: &Value,
    schema: &Value,
    validators: &[Validator],
    effects: &RunEffects,
) -> Complaints {
    let mut found = Complaints::default();
    found.faults.extend(violations(schema, answer).into_iter().take(MAX_COMPLAINTS));
    if !found.faults.is_empty() {
        return found;
    }
    for validator in validators {
        let words = validator.complaints(answer, effects).into_iter().take(MAX_COMPLAINTS);
        match validator.weight {
            Weight::Must => found.faults.extend(words),
            Weight::Should => found.doubts.extend(words),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{ChangeKind, FileChange};

    fn effects(n_changes: usize) -> RunEffects {
        let change = FileChange { path: "a".to_owned(), kind: ChangeKind::Edited };
        RunEffects { changed: vec![change; n_changes], ..RunEffects::default() }
    }

    #[test]
    fn a_signal_is_believed_only_as_far_as_the_deeds_bear_it_out() {
        for (arguments, n_changes, expected) in [
            (r#"{"outcome":"done"}"#, 0, Some(Signal::Done)),
            (r#"{"outcome":"done"}"#, 1, Some(Signal::Done)),
            (r#"{"outcome":"no_op"}"#, 0, Some(Signal::NoOp)),
            (r#"{"outcome":"no_op"}"#, 1, Some(Signal::Done)),
            (r#"{"outcome":"blocked","reason":"no key"}"#, 0, Some(Signal::Blocked)),
            (r#"{"outcome":"blocked","reason":" "}"#, 0, None),
            (r#"{"outcome":"finished"}"#, 0, None),
            (r#"{"outcome":"done","extra":1}"#, 0, None),
            (r#"{"outcome":"#, 0, None),
        ] {
            let taken_as = judge(&Arguments::parse(arguments), &effects(n_changes));
            let taken_as = taken_as.ok().map(|(_, taken_as)| taken_as);
            assert_eq!(taken_as, expected, "{arguments} after {n_changes} changes");
        }
    }

    #[test]
    fn an_answer_of_the_wrong_shape_is_not_shown_to_validators() {
        let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
        let small = |answer: &Value, _: &RunEffects| match answer["n"].as_i64() {
            Some(n) if n < 10 => Vec::new(),
            Some(_) | None => vec!["`n` is too large".to_owned()],
        };
        let must = Validator::new("small", Weight::Must, small);
        let should = Validator::new("small", Weight::Should, small);
        let check = |answer: Value, validator: &Validator| {
            complaints(&answer, &schema, std::slice::from_ref(validator), &RunEffects::default())
        };
        assert!(check(json!({ "n": 1 }), &must).is_empty());
        let wrong = check(json!({ "n": 100 }), &must);
        assert_eq!(
            wrong.told(),
            "Your answer cannot be accepted:\n- `n` is too large\nHand in the whole corrected answer."
        );
        assert_eq!(check(json!({ "n": 100 }), &should).doubts, ["`n` is too large"]);
        let shapeless = check(json!({ "n": "x" }), &must);
        assert_eq!(shapeless.faults.len(), 1);
        assert!(!shapeless.faults[0].contains("too large"));
    }
}
