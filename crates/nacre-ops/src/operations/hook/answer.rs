//! One question of a hook, whichever moment it was called at: a server answers it with the same code as the hook's own process.

use nacre_api::wire::{
    ErrorCode, HookContextReport, HookEndReport, HookQuestion, HookReport, HookRequest,
    HookToolReport,
};

use super::before_tool::{ToolGuard, before_tool};
use super::end::end;
use super::prompt::prompt;
use super::start::start;
use crate::error::OpError;
use crate::host::Host;

/// Answers a hook in its own process.
pub fn answer(host: &Host, question: &HookQuestion) -> Result<HookReport, OpError> {
    Ok(match question {
        HookQuestion::Start(request) => told(start(host, request)?),
        HookQuestion::Prompt(request) => told(prompt(host, request)?),
        HookQuestion::BeforeTool(request) => of_tool(before_tool(host, request)?),
        HookQuestion::Guard(request) => {
            let denied = ToolGuard::open(host)?.refuse(request);
            HookReport { denied, ..HookReport::default() }
        }
        HookQuestion::End(request) => {
            let HookEndReport { ask, is_due } = end(host, request)?;
            HookReport { ask, is_due, ..HookReport::default() }
        }
    })
}

/// Answers a hook in the server, which must be of its own version.
pub fn answer_request(host: &Host, request: &HookRequest) -> Result<HookReport, OpError> {
    let own = env!("CARGO_PKG_VERSION");
    if request.version != own {
        let message = format!("This server has version {own}");
        return Err(OpError { code: ErrorCode::Conflict, ..OpError::failed(message) });
    }
    answer(host, &request.question)
}

fn told(report: HookContextReport) -> HookReport {
    let HookContextReport { text, is_behind, .. } = report;
    HookReport { text, is_behind, ..HookReport::default() }
}

fn of_tool(report: HookToolReport) -> HookReport {
    let HookToolReport { denied, text, .. } = report;
    HookReport { denied, text, ..HookReport::default() }
}
