//! Formats a hook's output for its agent.

use nacre_ops::json_line;
use nacre_traces::agent_config::HookEvent;
use nacre_traces::agents::HookContract;
use nacre_types::HookReport;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Output {
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) code: u8,
}

impl Output {
    /// Formats the response to an event. If the agent does not accept this kind of response, the
    /// output is empty.
    pub(super) fn of(report: &HookReport, event: HookEvent, contract: &HookContract) -> Self {
        let name = contract.name(event);
        let HookReport { denied, text, .. } = report;
        if let Some(why) = denied.as_ref().filter(|_| event == HookEvent::BeforeTool) {
            let line = fill(contract.denial, name, why);
            return match contract.denial_code {
                0 => Self { stdout: line, ..Self::default() },
                code => Self { stderr: line, code, ..Self::default() },
            };
        }
        if text.is_empty() || !contract.hears.contains(&event) {
            return Self::default();
        }
        Self { stdout: fill(contract.context, name, text), ..Self::default() }
    }
}

/// Fills in the placeholders of a contract's template.
fn fill(shape: &str, event: &str, text: &str) -> String {
    let shape = shape.replace("$EVENT", event);
    let filled = match shape.contains("$JSON") {
        true => shape.replace("$JSON", &json_line(&text)),
        false => shape.replace("$TEXT", text),
    };
    filled + "\n"
}
