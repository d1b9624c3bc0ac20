//! Has a server forget what was forgotten here after it was sent there.

use nacre_api::wire::{ErrorCode, KeptMemory, MemoryChangesReport, PushReport, Scope};
use serde::Serialize;

use super::remote::Remote;
use crate::error::OpError;
use crate::operations::team_state::TeamState;

/// So many at once; the next push goes on.
const MAX_WITHDRAWN: usize = 100;

/// In the project alone.
#[derive(Serialize)]
struct InProject {
    scope: Scope,
}

/// Asks for each of them. What the server does not have is forgotten; what the token may not forget is kept in mind and told.
pub(super) fn withdraw(
    remote: &Remote<'_>,
    state: &mut TeamState,
    report: &mut PushReport,
) -> Result<(), OpError> {
    let ids: Vec<String> = state.forgotten.iter().take(MAX_WITHDRAWN).cloned().collect();
    for id in ids {
        let body = InProject { scope: Scope::ProjectOnly };
        let path = format!("/api/memories/{id}/forget");
        let asked: Result<MemoryChangesReport, OpError> = remote.post(&path, &body);
        match asked {
            Ok(_) => report.withdrawn.push(id.clone()),
            Err(error) if error.code == ErrorCode::NotFound => report.withdrawn.push(id.clone()),
            Err(error) if error.code == ErrorCode::Refused => {
                report.kept.push(KeptMemory { id, reason: error.message });
                continue;
            }
            Err(error) => return Err(error),
        }
        state.forgotten.remove(&id);
    }
    Ok(())
}
