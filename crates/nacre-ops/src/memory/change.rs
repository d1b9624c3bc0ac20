//! Archives, restores, forgets, resets, edits and rewrites memories.

use nacre_base::fs::{ChangeSet, Writer};
use nacre_memory::{Actor, Batch, Located, Redactions};
use nacre_types::{
    FeedbackReport, FeedbackRequest, MemoryChange, MemoryChangeReport, MemoryChangesReport,
    MemoryEditRequest, MemoryFailure, MemoryIdsRequest, MemoryResetReport, MemoryWriteRequest,
    RunMode, Scope,
};

use super::list::version_of;
use crate::copies::{Copies, DRAFTS, draft_name};
use crate::host::LocatedStore;
use crate::prelude::*;
use crate::recording::CommandChange;
use crate::run::change::{Reversal, stage_scrub};

type Apply<'c> = dyn Fn(&Store, &mut Batch<'_>, &str) -> Result<MemoryId> + 'c;

/// Changes each memory. For a single memory, returns that memory's error. Otherwise, an error for
/// one memory does not prevent the others from being changed.
pub(crate) fn change_each(
    host: &Host,
    request: &MemoryIdsRequest,
    events: &Events,
    done: MemoryChange,
    typed: &str,
    apply: &Apply<'_>,
) -> Result<MemoryChangesReport> {
    let MemoryIdsRequest { ids, scope } = request;
    if ids.is_empty() {
        return Err(OpError::usage("No memory specified").hint("`nacre memory list` lists all ids"));
    }
    let is_review = matches!(done, MemoryChange::Accepted | MemoryChange::Rejected);
    let mode = if is_review { RunMode::Review } else { RunMode::Memory };
    let command = CommandChange::new(mode, typed);
    let (mut changed, mut failed, mut copies) = (Vec::new(), Vec::new(), Copies::default());
    let mut change_one = |id: &str| -> Result<String> {
        let scoped = host.store_of(events, *scope, id)?.scoped;
        let mut batch = scoped.store.begin(&host.owner(typed), host.settings().lock.wait)?;
        let id = apply(&scoped.store, &mut batch, id)?;
        let is_forgotten = done == MemoryChange::Forgotten;
        if is_forgotten {
            stage_scrub(&scoped.store, &mut batch, &id)?;
        }
        let reversal = if is_forgotten { Reversal::Gone } else { Reversal::Plan };
        warn_kept(events, &command.commit(host, &scoped, batch, reversal)?);
        if is_forgotten {
            copies.take_out(host, &scoped, &id, events);
        }
        Ok(id.to_string())
    };
    for id in ids {
        match change_one(id) {
            Ok(id) => changed.push(id),
            Err(error) if ids.len() == 1 => return Err(error),
            Err(error) => {
                events.warn(&error);
                failed.push(MemoryFailure { id: id.clone(), failure: error.into() });
            }
        }
    }
    let (change, copies) = (command.id(), copies.0.into_values().collect());
    Ok(MemoryChangesReport { done, ids: changed, failed, change, copies })
}

pub(crate) fn warn_redacted(events: &Events, redactions: &Redactions) {
    for kind in redactions.keys() {
        events.warning(
            format!("A secret was not stored; it was replaced by `[redacted:{kind}]`"),
            None,
        );
    }
}

fn warn_kept(events: &Events, kept: &[RelPath]) {
    for path in kept {
        events.warning(
            format!(
                "The file was changed in the meantime; the other version was saved as `{path}`"
            ),
            None,
        );
    }
}

pub fn archive(
    host: &Host,
    request: &MemoryIdsRequest,
    events: &Events,
) -> Result<MemoryChangesReport> {
    change_each(host, request, events, MemoryChange::Archived, "memory archive", &|_, batch, id| {
        Ok(batch.archive(id, host.now())?)
    })
}

pub fn restore(
    host: &Host,
    request: &MemoryIdsRequest,
    events: &Events,
) -> Result<MemoryChangesReport> {
    change_each(host, request, events, MemoryChange::Restored, "memory restore", &|_, batch, id| {
        Ok(batch.restore(id, host.now())?)
    })
}

pub fn forget(
    host: &Host,
    request: &MemoryIdsRequest,
    events: &Events,
) -> Result<MemoryChangesReport> {
    host.check_user("forget a memory")?;
    let done = MemoryChange::Forgotten;
    change_each(host, request, events, done, "memory forget", &|store, batch, id| {
        let whole = store.locate(id)?.id;
        if whole.as_str() != id {
            return Err(OpError::usage(format!("`{id}` is only a prefix of an id"))
                .hint(format!("nacre memory forget {whole} --yes")));
        }
        Ok(batch.forget(id, host.now())?)
    })
}

pub fn reset(host: &Host, scope: Option<Scope>, events: &Events) -> Result<MemoryResetReport> {
    host.check_user("reset the memories")?;
    let scoped = host.store_to_write(scope)?;
    let mut batch = scoped.store.begin(&host.owner("memory reset"), host.settings().lock.wait)?;
    let stamp = host.now().strftime("%Y%m%d-%H%M%S").to_string();
    let aside = RelPath::new(&format!("reset/{stamp}"))?;
    let (set_aside, left) = batch.set_aside(&aside)?;
    let command = CommandChange::new(RunMode::Memory, "memory reset");
    command.commit(host, &scoped, batch, Reversal::Moved { aside: aside.clone() })?;
    for path in &left {
        events.warning(format!("Not moved: {path}"), None);
    }
    let path = scoped.store.path().join(aside.as_str()).display().to_string();
    Ok(MemoryResetReport { set_aside, path, left, change: command.id() })
}

const MAX_DRAFT_BYTES: u64 = 64 << 20;

/// `run_editor` must not return before the user has closed the editor.
pub fn edit(
    host: &Host,
    request: &MemoryEditRequest,
    run_editor: &dyn Fn(&Path) -> Result<()>,
    events: &Events,
) -> Result<MemoryChangeReport> {
    let MemoryEditRequest { id, discard, scope } = request;
    let scoped = host.store_of(events, *scope, id)?.scoped;
    let store = &scoped.store;
    let at = store.locate(id)?;
    host.settle_edits(&scoped, std::slice::from_ref(&at));
    // Check this before creating a draft. Otherwise, an agent's rejected text would be left in a
    // draft that the user could save.
    if let Ok(memory) = store.load(&at) {
        store.check_rewrite(&memory)?;
    }
    let draft = EditDraft::of(host, store, &at)?;
    if *discard {
        draft.remove()?;
    }
    let before = draft.start(store, &at, events)?;
    let shown = draft.read()?;
    run_editor(&draft.scope.full(&draft.text))?;
    let kept = |error: OpError| {
        error.hint(format!("Your text was kept. Continue editing: nacre memory edit {}", at.id))
    };
    let text = draft.read().map_err(kept)?;
    let report =
        |done, change| MemoryChangeReport { done, id: at.id.to_string(), path: None, change };
    if text.as_bytes() == before {
        draft.remove()?;
        return Ok(report(MemoryChange::LeftUnchanged, None));
    }
    // A draft is saved only if the user has changed it in this editor session.
    if text == shown {
        return Ok(report(MemoryChange::LeftUnchanged, None));
    }
    let change = save(host, &scoped, &at, &before, &text, events).map_err(kept)?;
    if let Err(error) = draft.remove() {
        events.warning(
            format!("The memory was saved, but its draft could not be removed: {}", error.message),
            None,
        );
    }
    Ok(report(MemoryChange::Edited, change))
}

fn save(
    host: &Host,
    scoped: &ScopedStore,
    at: &Located,
    before: &[u8],
    text: &str,
    events: &Events,
) -> Result<Option<String>> {
    let mut batch = scoped.store.begin(&host.owner("memory edit"), host.settings().lock.wait)?;
    batch.rewrite(at, before, text, host.now())?;
    let redacted = batch.redactions().clone();
    let command = CommandChange::new(RunMode::Memory, "memory edit");
    warn_kept(events, &command.commit(host, scoped, batch, Reversal::Plan)?);
    warn_redacted(events, &redacted);
    Ok(command.id())
}

/// A draft of an edited memory. The original is stored alongside the draft, so that resuming an old
/// draft cannot overwrite newer changes. Both files are in the global directory, because a
/// repository could contain links that the editor would follow.
struct EditDraft<'h> {
    host: &'h Host,
    scope: WriteScope,
    text: RelPath,
    base: RelPath,
}

impl<'h> EditDraft<'h> {
    fn of(host: &'h Host, store: &Store, at: &Located) -> Result<Self> {
        let name = draft_name(store, &at.id);
        let whose = if host.actor == Actor::Owner { "" } else { "agent." };
        let path = |tail: &str| RelPath::new(&format!("{DRAFTS}/{name}.{whose}{tail}"));
        Ok(Self { host, scope: host.home_scope()?, text: path("md")?, base: path("base")? })
    }

    fn lock(&self) -> Result<Writer<'_>> {
        let wait = self.host.settings().lock.wait;
        Ok(self.scope.lock(&self.host.owner("memory edit"), wait)?)
    }

    fn start(&self, store: &Store, at: &Located, events: &Events) -> Result<Vec<u8>> {
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
            let message = "The memory was changed after you started this draft";
            return Err(OpError::new(ErrorCode::Conflict, message)
                .hint(format!("Your draft is {}", self.scope.full(&self.text).display()))
                .hint(format!(
                    "Discard the draft and start again: nacre memory edit {} --discard",
                    at.id
                )));
        }
        let hint =
            format!("To discard the draft and start again: nacre memory edit {} --discard", at.id);
        events.warning("Continuing with the draft of an earlier edit", Some(&hint));
        Ok(now)
    }

    fn read(&self) -> Result<String> {
        let bytes = self.scope.read(&self.text, MAX_DRAFT_BYTES)?;
        String::from_utf8(bytes)
            .map_err(|_| OpError::new(ErrorCode::Invalid, "The edited text is not valid UTF-8"))
    }

    fn remove(&self) -> Result<()> {
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

pub fn write(
    host: &Host,
    request: &MemoryWriteRequest,
    events: &Events,
) -> Result<MemoryChangeReport> {
    let MemoryWriteRequest { id, text, version, scope } = request;
    let scoped = host.store_of(events, *scope, id)?.scoped;
    let at = scoped.store.locate(id)?;
    let before = scoped.store.read_file(&at.path)?;
    if version.as_ref().is_some_and(|read| *read != version_of(&before)) {
        let message = format!("Memory `{}` has changed since it was read", at.id);
        return Err(OpError::new(ErrorCode::Conflict, message)
            .hint(format!("Read it again: nacre memory show {}", at.id)));
    }
    let (mut done, mut change) = (MemoryChange::LeftUnchanged, None);
    if text.as_bytes() != before {
        done = MemoryChange::Edited;
        change = save(host, &scoped, &at, &before, text, events)?;
    }
    Ok(MemoryChangeReport { done, id: at.id.to_string(), path: None, change })
}

pub fn feedback(host: &Host, request: &FeedbackRequest, events: &Events) -> Result<FeedbackReport> {
    let FeedbackRequest { id, verdict, note, scope } = request;
    let LocatedStore { scoped, also_in } = host.store_of(events, *scope, id)?;
    let mut batch = scoped.store.begin(&host.owner("feedback"), host.settings().lock.wait)?;
    let (id, before, after) = batch.judge(id, *verdict, note.as_deref(), host.now())?;
    let command = CommandChange::new(RunMode::Memory, "feedback");
    command.commit(host, &scoped, batch, Reversal::Plan)?;
    Ok(FeedbackReport {
        id: id.to_string(),
        verdict: *verdict,
        confidence_before: before,
        confidence: after,
        scope: scoped.scope,
        also_in,
        change: command.id(),
    })
}
