//! How an agent says that it is finished, and whether the host believes it.
//!
//! Both ways are tools that cost no call: `signal` for agents that work until they stop, `answer` for those that hand
//! in something of a given shape. What really happened decides; a model's word alone never does.

use serde::Deserialize;
use serde_json::{Value, json};

use super::spec::{Validator, Weight};
use crate::model::{Arguments, OutputSchema, Schema, ToolDef};
use crate::record::RunEffects;
use crate::record::Signal;

/// The tool by which an agent says how its work ended.
pub const SIGNAL_TOOL: &str = "signal";

/// The tool by which an agent hands in its answer.
pub const ANSWER_TOOL: &str = "answer";

/// A signal as it came.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signalled {
    pub outcome: Signal,
    #[serde(default)]
    pub reason: String,
}

/// What the host makes of a signal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompletionVerdict {
    Accepted(Signalled),
    /// It said that nothing was to be done, and something was: the work counts as done.
    Contradicted {
        reason: String,
    },
    /// It goes back with these words.
    Rejected(String),
}

/// Judges a signal by what really happened.
pub(super) fn judge(arguments: &Arguments, effects: &RunEffects) -> CompletionVerdict {
    let value = match arguments {
        Arguments::Object(value) => value.clone(),
        Arguments::Malformed { text: _, error } => {
            return CompletionVerdict::Rejected(format!(
                "The arguments of `{SIGNAL_TOOL}` are no JSON: {error}"
            ));
        }
    };
    let signalled: Signalled = match serde_json::from_value(value) {
        Ok(signalled) => signalled,
        Err(error) => {
            return CompletionVerdict::Rejected(format!(
                "`{SIGNAL_TOOL}` was not understood: {error}"
            ));
        }
    };
    match signalled.outcome {
        Signal::Yielded => {
            CompletionVerdict::Rejected(format!("`{SIGNAL_TOOL}` knows no such outcome."))
        }
        Signal::NoOp if effects.changed_something() => {
            CompletionVerdict::Contradicted { reason: signalled.reason }
        }
        Signal::Blocked if signalled.reason.trim().is_empty() => CompletionVerdict::Rejected(
            format!("Say in the `reason` of `{SIGNAL_TOOL}` what you need to go on."),
        ),
        Signal::Done | Signal::NoOp | Signal::Blocked => CompletionVerdict::Accepted(signalled),
    }
}

/// The tool for signals, as it is described to a model.
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

/// The tool for answers of a shape, as it is described to a model.
pub(super) fn answer_tool(output: &OutputSchema) -> ToolDef {
    ToolDef {
        name: ANSWER_TOOL.to_owned(),
        description: format!("Hands in your answer and ends your work. {}", output.description),
        schema: output.schema.clone(),
    }
}

/// What is wrong with an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Complaints {
    /// With these it cannot be accepted.
    pub faults: Vec<String>,
    /// With these it is accepted when the model cannot do better, and they stay with it.
    pub doubts: Vec<String>,
}

impl Complaints {
    pub fn is_empty(&self) -> bool {
        self.faults.is_empty() && self.doubts.is_empty()
    }

    /// The words with which an answer goes back.
    pub fn told(&self) -> String {
        let list: String =
            self.faults.iter().chain(&self.doubts).map(|one| format!("- {one}\n")).collect();
        format!("Your answer cannot be accepted:\n{list}Hand in the whole corrected answer.")
    }
}

/// No model reads more than this many complaints at once.
const MAX_COMPLAINTS: usize = 20;

/// Checks an answer: first its shape, and what it says only if the shape is right.
pub(super) fn complaints(
    answer: &Value,
    schema: &Schema,
    validators: &[Validator],
    effects: &RunEffects,
) -> Complaints {
    let mut found = Complaints::default();
    let violations = schema.violations(answer);
    found.faults.extend(violations.iter().map(ToString::to_string).take(MAX_COMPLAINTS));
    if !found.faults.is_empty() {
        return found;
    }
    for validator in validators {
        let words = validator.complaints(answer, effects).into_iter().take(MAX_COMPLAINTS);
        match validator.weight() {
            Weight::Must => found.faults.extend(words),
            Weight::Should => found.doubts.extend(words),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Change, ChangeKind};

    fn effects(n_changes: usize) -> RunEffects {
        let change = Change { path: "a".to_owned(), kind: ChangeKind::Edited };
        RunEffects { changed: vec![change; n_changes], ..RunEffects::default() }
    }

    #[test]
    fn a_signal_is_believed_only_as_far_as_the_deeds_bear_it_out() {
        let accepted =
            |verdict: &CompletionVerdict| matches!(verdict, CompletionVerdict::Accepted(_));
        let rejected =
            |verdict: &CompletionVerdict| matches!(verdict, CompletionVerdict::Rejected(_));
        let contradicted =
            |verdict: &CompletionVerdict| matches!(verdict, CompletionVerdict::Contradicted { .. });
        type Is = fn(&CompletionVerdict) -> bool;
        let cases: [(&str, usize, Is); 10] = [
            (r#"{"outcome":"done"}"#, 0, accepted),
            (r#"{"outcome":"done"}"#, 1, accepted),
            (r#"{"outcome":"no_op"}"#, 0, accepted),
            (r#"{"outcome":"no_op"}"#, 1, contradicted),
            (r#"{"outcome":"blocked","reason":"no key"}"#, 0, accepted),
            (r#"{"outcome":"blocked","reason":" "}"#, 0, rejected),
            (r#"{"outcome":"finished"}"#, 0, rejected),
            (r#"{"outcome":"yielded"}"#, 0, rejected),
            (r#"{"outcome":"done","extra":1}"#, 0, rejected),
            (r#"{"outcome":"#, 0, rejected),
        ];
        for (arguments, n_changes, expected) in cases {
            let verdict = judge(&Arguments::parse(arguments), &effects(n_changes));
            assert!(expected(&verdict), "{arguments} after {n_changes} changes: {verdict:?}");
        }
    }

    #[test]
    fn an_answer_of_the_wrong_shape_is_not_shown_to_validators() {
        let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
        let schema = Schema::new(&schema).unwrap();
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
