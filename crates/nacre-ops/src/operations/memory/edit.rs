//! Edits a memory in a person's editor.
//!
//! The editor works on a draft, not on the memory: a save that is not a memory leaves the memory as it was and the
//! draft where it is, and an edit of somebody else's meanwhile is a conflict.

use std::path::Path;

use nacre_api::wire::{ErrorCode, MemoryChange, MemoryChangeReport, MemoryEditRequest};
use nacre_core::memory::{Located, Store};
use nacre_core::safefs::{ChangeSet, RelPath, WriteScope, Writer};
use nacre_engine::flows::change::Reversal;
use nacre_engine::flows::run::RunMode;

use super::changes::{warn_kept, warn_redacted};
use crate::error::OpError;
use crate::events::Events;
use crate::host::{Host, ScopedStore};
use crate::operations::copies::{DRAFTS, draft_name};
use crate::operations::recording::CommandChange;

/// No draft is larger; a larger one is not a person's.
const MAX_DRAFT_BYTES: u64 = 64 << 20;

/// `run_editor` shows the file to a person and returns when they are done.
pub fn edit(
    host: &Host,
    request: &MemoryEditRequest,
    run_editor: &dyn Fn(&Path) -> Result<(), OpError>,
    events: &Events,
) -> Result<MemoryChangeReport, OpError> {
    let MemoryEditRequest { id, discard, scope } = request;
    let scoped = host.store_of(events, *scope, id)?.scoped;
    let store = &scoped.store;
    let at = store.locate(id)?;
    let draft = Draft::of(host, store, &at)?;
    if *discard {
        draft.remove()?;
    }
    let before = draft.start(store, &at, events)?;
    run_editor(&draft.scope.full(&draft.text))?;
    let kept = |error: OpError| {
        error.hint(format!("Your text is kept; go on with it: nacre memory edit {}", at.id))
    };
    let text = draft.read().map_err(kept)?;
    let report =
        |done, change| MemoryChangeReport { done, id: at.id.to_string(), path: None, change };
    if text.as_bytes() == before {
        draft.remove()?;
        return Ok(report(MemoryChange::LeftUnchanged, None));
    }
    let edited = Edited { at: &at, before: &before, text: &text };
    let change = edited.save(host, &scoped, events).map_err(kept)?;
    if let Err(error) = draft.remove() {
        events.warning(
            format!("The memory is saved, but its draft could not be removed: {}", error.message),
            None,
        );
    }
    Ok(report(MemoryChange::Edited, change))
}

/// A memory as it was when the edit began, and the text that is to stand in its place.
pub(super) struct Edited<'e> {
    pub(super) at: &'e Located,
    pub(super) before: &'e [u8],
    pub(super) text: &'e str,
}

impl Edited<'_> {
    /// Returns the id that `undo` takes.
    pub(super) fn save(
        &self,
        host: &Host,
        scoped: &ScopedStore,
        events: &Events,
    ) -> Result<Option<String>, OpError> {
        let mut batch =
            scoped.store.begin(&host.owner("memory edit"), host.settings().lock.wait)?;
        batch.rewrite(self.at, self.before, self.text, host.now())?;
        let redacted = batch.redactions().clone();
        let command = CommandChange::new(RunMode::Memory, "memory edit");
        warn_kept(events, &command.commit(host, scoped, batch, Reversal::Plan)?);
        warn_redacted(events, &redacted);
        Ok(command.id())
    }
}

/// A text in the editor, and the memory as it was when the edit began: without that, going on with an old draft would
/// undo what somebody wrote in between. Both lie in the global folder: what lies in a repository may be a stranger's,
/// and an editor follows links.
struct Draft<'h> {
    host: &'h Host,
    scope: WriteScope,
    text: RelPath,
    base: RelPath,
}

impl<'h> Draft<'h> {
    fn of(host: &'h Host, store: &Store, at: &Located) -> Result<Self, OpError> {
        let name = draft_name(store, &at.id);
        let path = |tail: &str| RelPath::new(&format!("{DRAFTS}/{name}.{tail}"));
        Ok(Self { host, scope: host.home_scope()?, text: path("md")?, base: path("base")? })
    }

    fn lock(&self) -> Result<Writer<'_>, OpError> {
        let wait = self.host.settings().lock.wait;
        Ok(self.scope.lock(&self.host.owner("memory edit"), wait)?)
    }

    /// Puts the memory into a new draft, or goes on with an earlier one; returns what the edit began from.
    fn start(&self, store: &Store, at: &Located, events: &Events) -> Result<Vec<u8>, OpError> {
        let now = store.read_file(&at.path)?;
        let writer = self.lock()?;
        if !self.scope.has(&self.text)? {
            let mut set = ChangeSet::new();
            let stale = self.scope.read_optional(&self.base, MAX_DRAFT_BYTES)?;
            set.create(self.text.clone(), now.clone());
            set.put(self.base.clone(), stale.as_deref(), now.clone());
            writer.commit(set)?;
            return Ok(now);
        }
        let base = self.scope.read_optional(&self.base, MAX_DRAFT_BYTES)?;
        if base.as_ref() != Some(&now) {
            return Err(self.outdated(at));
        }
        let hint = format!("To start from the memory: nacre memory edit {} --discard", at.id);
        events.warning("Going on with the draft of an earlier edit", Some(&hint));
        Ok(now)
    }

    fn outdated(&self, at: &Located) -> OpError {
        let message = "The memory was changed after your draft of it was begun";
        OpError { code: ErrorCode::Conflict, ..OpError::failed(message) }
            .hint(format!("Your draft is {}", self.scope.full(&self.text).display()))
            .hint(format!("Start again from the memory: nacre memory edit {} --discard", at.id))
    }

    fn read(&self) -> Result<String, OpError> {
        let bytes = self.scope.read(&self.text, MAX_DRAFT_BYTES)?;
        String::from_utf8(bytes).map_err(|_| OpError {
            code: ErrorCode::Invalid,
            ..OpError::failed("The edited text is not valid UTF-8")
        })
    }

    fn remove(&self) -> Result<(), OpError> {
        let writer = self.lock()?;
        let mut set = ChangeSet::new();
        for path in [&self.text, &self.base] {
            if let Some(bytes) = self.scope.read_optional(path, MAX_DRAFT_BYTES)? {
                set.remove(path.clone(), &bytes);
            }
        }
        writer.commit(set)?;
        Ok(())
    }
}
