//! What is answered, and the JSON shapes that several agents share.

use nacre_api::wire::HookReport;
use nacre_ops::json_line;
use serde::Serialize;

/// What an operation came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    Silent,
    /// A text for the model.
    Context(String),
    /// Why a tool may not run.
    Deny(String),
    /// What the agent is asked before it stops.
    Ask(String),
}

impl Reply {
    pub(super) fn of(report: HookReport) -> Self {
        let HookReport { denied, ask, text, .. } = report;
        match denied {
            Some(why) => Self::Deny(why),
            None if !ask.is_empty() => Self::Ask(ask),
            None if !text.is_empty() => Self::Context(text),
            None => Self::Silent,
        }
    }
}

/// What a hook prints, and how it ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Output {
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) code: u8,
}

impl Output {
    pub(super) fn json(value: &impl Serialize) -> Self {
        Self { stdout: format!("{}\n", json_line(value)), ..Self::default() }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Nested<'a> {
    hook_specific_output: Specific<'a>,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Specific<'a> {
    hook_event_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_context: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision_reason: Option<&'a str>,
}

/// A text for the model, as Claude takes it.
pub(super) fn nested_context(event: &str, text: &str) -> Output {
    let specific =
        Specific { hook_event_name: event, additional_context: Some(text), ..Specific::default() };
    Output::json(&Nested { hook_specific_output: specific })
}

/// A refusal, as Claude takes it.
pub(super) fn nested_denial(event: &str, why: &str) -> Output {
    let specific = Specific {
        hook_event_name: event,
        permission_decision: Some("deny"),
        permission_decision_reason: Some(why),
        ..Specific::default()
    };
    Output::json(&Nested { hook_specific_output: specific })
}

#[derive(Serialize)]
struct Decision<'a> {
    decision: &'static str,
    reason: &'a str,
}

/// Asks the agent to go on.
pub(super) fn block(words: &str) -> Output {
    Output::json(&Decision { decision: "block", reason: words })
}

/// A refusal, as Gemini takes it.
pub(super) fn denial(why: &str) -> Output {
    Output::json(&Decision { decision: "deny", reason: why })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PlainContext<'a> {
    additional_context: &'a str,
}

/// A text for the model, as Copilot takes it.
pub(super) fn plain_context(text: &str) -> Output {
    Output::json(&PlainContext { additional_context: text })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PlainDenial<'a> {
    permission_decision: &'static str,
    permission_decision_reason: &'a str,
}

/// A refusal, as Copilot takes it.
pub(super) fn plain_denial(why: &str) -> Output {
    Output::json(&PlainDenial { permission_decision: "deny", permission_decision_reason: why })
}
