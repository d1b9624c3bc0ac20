//! Replaces the whole text of a memory, as a client that showed it to a person sends it back.
//!
//! It is saved as an edit is. The client says which version it read, so that nothing written in between is lost.

use nacre_api::wire::{ErrorCode, MemoryChange, MemoryChangeReport, MemoryWriteRequest};

use super::edit::Edited;
use super::show::version_of;
use crate::error::OpError;
use crate::events::Events;
use crate::host::Host;

pub fn write(
    host: &Host,
    request: &MemoryWriteRequest,
    events: &Events,
) -> Result<MemoryChangeReport, OpError> {
    let MemoryWriteRequest { id, text, version, scope } = request;
    let scoped = host.store_of(events, *scope, id)?.scoped;
    let at = scoped.store.locate(id)?;
    let before = scoped.store.read_file(&at.path)?;
    if version.as_ref().is_some_and(|read| *read != version_of(&before)) {
        return Err(outdated(at.id.as_str()));
    }
    let (done, change) = match text.as_bytes() == before {
        true => (MemoryChange::LeftUnchanged, None),
        false => {
            let edited = Edited { at: &at, before: &before, text };
            (MemoryChange::Edited, edited.save(host, &scoped, events)?)
        }
    };
    Ok(MemoryChangeReport { done, id: at.id.to_string(), path: None, change })
}

fn outdated(id: &str) -> OpError {
    let message = format!("Memory `{id}` was changed after it was read");
    OpError { code: ErrorCode::Conflict, ..OpError::failed(message) }
        .hint(format!("Read it again: nacre memory show {id}"))
}
