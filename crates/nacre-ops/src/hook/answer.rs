//! Runs the operation for a hook. The same code runs in the hook's own process and in the server.

use nacre_types::{ErrorCode, HookQuestion, HookReport, HookRequest};

use super::before_tool::{ToolGuard, before_tool};
use super::end::end;
use super::prompt::prompt;
use super::start::start;
use crate::error::OpError;
use crate::host::Host;

pub fn answer(host: &Host, question: &HookQuestion) -> Result<HookReport, OpError> {
    Ok(match question {
        HookQuestion::Start { session, source } => start(host, session, *source)?,
        HookQuestion::Prompt { session, prompt: text, trace } => {
            prompt(host, session, text, trace.as_deref())?
        }
        HookQuestion::BeforeTool(request) => before_tool(host, request)?,
        HookQuestion::Guard(request) => {
            let denied = ToolGuard::open(host)?.refuse(request);
            HookReport { denied, ..HookReport::default() }
        }
        HookQuestion::End(request) => end(host, request)?,
    })
}

/// Runs the operation for a hook in the server. Fails if the hook has a different version from the
/// server.
pub fn answer_request(host: &Host, request: &HookRequest) -> Result<HookReport, OpError> {
    let own = env!("CARGO_PKG_VERSION");
    if request.version != own {
        let message = format!("This server has version {own}");
        return Err(OpError::new(ErrorCode::Conflict, message));
    }
    answer(host, &request.question)
}
