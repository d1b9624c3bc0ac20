//! What a killed process left: its turns are over, and their clients are told so.

use nacre_api::wire::{ErrorCode, TaskMessage, TaskUpdate, TurnUsage};
use nacre_engine::record::Runner;
use nacre_engine::record::state::{State, TaskRecord};

use crate::error::OpError;
use crate::host::Host;

/// Ends the turns of processes that are gone, each with its last message.
pub(super) fn recover(host: &Host, state: &mut State) -> Result<(), OpError> {
    let here = Runner::here(host.environment.pid);
    let now = host.now();
    state.recover(&here, now, |task, sequence| last_message(task, sequence, &now.to_string()))?;
    Ok(())
}

fn last_message(task: &TaskRecord, sequence: u64, at: &str) -> String {
    let error = OpError {
        code: ErrorCode::Failed,
        ..OpError::failed("The process that worked on this was ended")
    };
    let error = error.hint("What was done until then is kept; say how to go on");
    let message = TaskMessage {
        task: task.id.to_string(),
        session: task.session.to_string(),
        sequence,
        at: at.to_owned(),
        update: TaskUpdate::Failed { error: error.into(), usage: TurnUsage::default() },
    };
    // Wire types have only text as keys, so that writing them cannot fail.
    serde_json::to_string(&message).unwrap_or_default()
}
