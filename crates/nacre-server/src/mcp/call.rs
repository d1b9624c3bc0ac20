//! A call of a tool: what warned on its way, and its error as an agent reads it.

use std::fmt::Write as _;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use nacre_api::wire::{ErrorCode, Event, Warning};
use nacre_ops::host::{Environment, Needs};
use nacre_ops::people::Caller;
use nacre_ops::text::ShownLine;
use nacre_ops::{Events, OpError};

use super::text::{NOTES_CHARS, cut};
use crate::calls::{Call, CallInfo, Calls};

/// Calls that run at the same time; others wait.
const MAX_RUNNING: usize = 4;

/// Warnings that a result tells.
const MAX_WARNINGS: usize = 4;

/// The calls of one client.
pub(super) struct ToolCalls {
    calls: Calls,
    /// The project that the person named when the server was started.
    project: Option<String>,
    needs: Needs,
    /// Whose client it is.
    caller: Caller,
}

/// A result, and what a person should know besides.
pub(super) type Noted<T> = (Result<T, OpError>, Vec<Warning>);

impl ToolCalls {
    pub(super) fn new(
        environment: Environment,
        project: Option<String>,
        needs: Needs,
        caller: Caller,
    ) -> Self {
        Self { calls: Calls::new(environment, MAX_RUNNING), project, needs, caller }
    }

    pub(super) fn environment(&self) -> &Environment {
        self.calls.environment()
    }

    /// Runs `work` on the project of this client; `stopped` cancels it.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        info: CallInfo,
        stopped: impl Future<Output = ()>,
        work: impl FnOnce(&Call) -> Result<T, OpError> + Send + 'static,
    ) -> Noted<T> {
        let warnings = Arc::new(Mutex::new(Vec::new()));
        let (project, caller) = (self.project.clone(), self.caller.clone());
        let info = CallInfo { project, caller, needs: self.needs, ..info };
        let result = self.calls.run(info, events(&warnings), stopped, work).await;
        let mut warnings = warnings.lock().unwrap_or_else(PoisonError::into_inner);
        (result, std::mem::take(&mut *warnings))
    }
}

fn events(warnings: &Arc<Mutex<Vec<Warning>>>) -> Events {
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

/// Warnings as the last lines of a result.
pub(super) fn notes(warnings: &[Warning]) -> String {
    let mut text = String::new();
    for Warning { message, hint } in warnings {
        let hint = hint.as_ref().map(|hint| format!(" ({})", ShownLine(hint))).unwrap_or_default();
        // Writing to a `String` cannot fail.
        let _ = write!(text, "\nNote: {}{hint}", ShownLine(message));
    }
    cut(&text, NOTES_CHARS)
}

/// An error as an agent reads it: what could not be done, why, and what to do.
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
        text.push_str("\nAsk the person before you run it.");
    }
    cut(&text, NOTES_CHARS * 2)
}
