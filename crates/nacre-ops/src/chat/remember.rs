//! `memory_add` of a conversation: by the same checks as what any other agent records, with the session as its witness.

use std::path::PathBuf;
use std::sync::Arc;

use nacre_api::wire::{MemoryChange, MemoryRecordRequest, MemoryType};
use nacre_engine::record::{Fault, SessionId};
use nacre_engine::tools::{AgentRecord, MemoryRecord, ToolError};

use super::export;
use super::shared::{ChatShared, open_state};
use crate::error::OpError;
use crate::events::Events;
use crate::host::Host;
use crate::operations::memory::{learning_kind, record};

/// Who records, as it stands in runs and memories.
const BY: &str = "chat";

/// The tool, for the conversation of one session.
pub(super) fn memory_add(
    chats: &Arc<ChatShared>,
    folder: Option<PathBuf>,
    session: &SessionId,
) -> MemoryRecord {
    let (chats, session) = (Arc::clone(chats), session.clone());
    MemoryRecord {
        record: Arc::new(move |claim| {
            let (chats, session) = (Arc::clone(&chats), session.clone());
            let folder = folder.clone();
            Box::pin(async move {
                let kept = chats.call(folder, move |host| keep(host, &session, claim)).await;
                kept.map_err(|error| refused(&error))
            })
        }),
    }
}

/// Keeps a claim. The words so far are written to where claims are looked up first.
fn keep(host: &Host, session: &SessionId, claim: AgentRecord) -> Result<String, OpError> {
    let state = open_state(host)?;
    export::keep(host, &state, &state.session(session)?)?;
    let AgentRecord { title, body, kind, quote, tags, applies, supersedes } = claim;
    let request = MemoryRecordRequest {
        title,
        body,
        r#type: Some(if kind.is_some() { MemoryType::Learning } else { MemoryType::Decision }),
        kind: kind.map(learning_kind),
        tags,
        applies,
        supersedes,
        quote,
        session: Some(session.to_string()),
        scope: None,
    };
    let report = record(host, &request, BY, &Events::ignored())?;
    let id = &report.id;
    Ok(match (report.done, report.status.as_deref()) {
        (MemoryChange::LeftUnchanged, _) => format!("Known already: `{id}` says it."),
        (_, Some("candidate")) => {
            format!("Kept as {id}. It waits for the person's yes: `nacre review`.")
        }
        (_, _) => format!("Remembered as {id}."),
    })
}

/// Why it was not kept, in words for the model.
fn refused(error: &OpError) -> ToolError {
    let hint = error.hints.first().cloned().unwrap_or_else(|| "Go on without it.".to_owned());
    ToolError::new(Fault::Denied, error.message.clone(), format!("{hint}."))
}
