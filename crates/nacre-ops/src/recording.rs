//! Writes a command's run directory, including the data for `undo`, and restores changed text
//! files.

use std::cell::RefCell;

use nacre_memory::{Actor, Batch};
use nacre_types::{RunMode, Scope};

use crate::prelude::*;
use crate::run::change::{
    ChangeInfo, Reversal, StoredChange, TextRecord, TextRoot, fresh_run_id, read_text, stage_note,
};
use crate::run::folder::{self, OF_COMMAND, RunId, TEXT_FILE, UndoError, UndoPlan};

/// A single user command. All of its commits, in any number of stores, belong to one change.
pub(crate) struct CommandChange<'c> {
    mode: RunMode,
    /// The command line without `nacre`.
    command: &'c str,
    undoes: Option<&'c str>,
    id: RefCell<Option<String>>,
}

impl<'c> CommandChange<'c> {
    pub(crate) fn new(mode: RunMode, command: &'c str) -> Self {
        Self { mode, command, undoes: None, id: RefCell::new(None) }
    }

    /// Creates the change that reverts the change `undoes`.
    pub(crate) fn undo(undoes: &'c str) -> Self {
        Self { undoes: Some(undoes), ..Self::new(RunMode::Undo, "undo") }
    }

    /// Returns the id to pass to `undo`, or `None` before the first commit.
    pub(crate) fn id(&self) -> Option<String> {
        self.id.borrow().clone()
    }

    /// Commits the batch as part of this change. Returns the paths where concurrent edits were
    /// saved.
    pub(crate) fn commit(
        &self,
        host: &Host,
        scoped: &ScopedStore,
        batch: Batch<'_>,
        reversal: Reversal,
    ) -> Result<Vec<RelPath>> {
        let paths: Vec<String> =
            batch.plan()?.iter().map(|change| change.path.as_str().to_owned()).collect();
        let input = format!("{} {}", self.command, paths.join(" "));
        let run = fresh_run_id(&scoped.store, self.mode, host.now(), &input)?;
        let kept = self.commit_run(host, scoped, batch, &run, reversal)?;
        self.id.borrow_mut().get_or_insert(run.into());
        Ok(kept)
    }

    /// Records a change outside the memory files, and returns its id. `before` is the previous
    /// content of the changed text file.
    pub(crate) fn record(
        &self,
        host: &Host,
        scoped: &ScopedStore,
        reversal: Reversal,
        before: Option<&[u8]>,
    ) -> Result<String> {
        let mut batch = scoped.store.begin(&host.owner(self.command), host.settings().lock.wait)?;
        let input = format!("{} {} {}", self.command, self.undoes.unwrap_or_default(), host.now());
        let run = fresh_run_id(&scoped.store, self.mode, host.now(), &input)?;
        if let Some(before) = before {
            batch.put_file(run.folder()?.join(TEXT_FILE)?, before.to_vec())?;
        }
        self.commit_run(host, scoped, batch, &run, reversal)?;
        Ok(run.into())
    }

    fn commit_run(
        &self,
        host: &Host,
        scoped: &ScopedStore,
        mut batch: Batch<'_>,
        run: &RunId,
        reversal: Reversal,
    ) -> Result<Vec<RelPath>> {
        let (id, command) = (self.id(), attribute_command(host, self.command));
        let info = ChangeInfo {
            change: id.as_deref(),
            command: &command,
            undoes: self.undoes,
            now: host.now(),
        };
        let plan = batch.plan()?;
        if reversal == Reversal::Plan {
            let (path, bytes) = UndoPlan::of(&plan, OF_COMMAND).file(run)?;
            batch.put_file(path, bytes)?;
        }
        stage_note(&scoped.store, &mut batch, run, &info, &plan, reversal)?;
        folder::prune(&scoped.store, batch.writer(), scoped.settings.runs.keep)?;
        Ok(batch.commit()?)
    }
}

pub(crate) fn attribute_command(host: &Host, command: &str) -> String {
    format!("{command}{}", attribution(host).unwrap_or_default())
}

/// Returns the caller's name, or `None` for the owner.
pub(crate) fn attribution(host: &Host) -> Option<String> {
    match (host.caller.person(), host.actor) {
        (Some(person), _) => Some(format!(" by {person}")),
        (None, Actor::Agent) => Some(" by an agent".to_owned()),
        (None, Actor::Owner | Actor::Reader | Actor::Person) => None,
    }
}

pub(crate) fn own_store(host: &Host) -> Result<ScopedStore> {
    host.store_to_write(Some(Scope::GlobalOnly))
}

pub(crate) fn text_record(
    below: TextRoot,
    file: &str,
    before: Option<&[u8]>,
    after: Option<&[u8]>,
) -> Result<TextRecord> {
    let (file, after) = (RelPath::new(file)?, after.map(ContentHash::of));
    Ok(TextRecord { below, file, existed: before.is_some(), after })
}

/// Larger files are rejected, because settings and instruction files are never this large.
const MAX_BYTES: u64 = 4 << 20;

const STORE_TEXTS: [&str; 2] = ["config.toml", "agents.toml"];

pub(crate) struct TextPlan {
    scope: WriteScope,
    pub(crate) file: RelPath,
    pub(crate) now: Option<Vec<u8>>,
    pub(crate) then: Option<Vec<u8>>,
}

/// Restores a text file. If the user has edited it in the meantime, leaves it unchanged and returns
/// `false`.
pub(crate) fn put_back_text(
    scoped: &ScopedStore,
    change: &StoredChange,
    record: &TextRecord,
) -> Result<bool> {
    let plan = TextPlan::of(scoped, change, record)?;
    if !plan.is_unchanged(record) {
        return Ok(false);
    }
    plan.put_back()?;
    Ok(true)
}

impl TextPlan {
    pub(crate) fn path(&self) -> String {
        self.scope.path().join(self.file.as_str()).display().to_string()
    }

    /// Accepts only files that Nacre commands write, because a change record in a cloned repository
    /// can contain any path.
    pub(crate) fn of(
        scoped: &ScopedStore,
        change: &StoredChange,
        record: &TextRecord,
    ) -> Result<Self> {
        let folder = scoped.store.path();
        let file = record.file.clone();
        let (is_ours, folder) = match record.below {
            TextRoot::Store => (STORE_TEXTS.contains(&file.as_str()), Some(folder)),
            TextRoot::Project => (is_instructions(&file), folder.parent()),
        };
        let (true, Some(folder)) = (is_ours, folder) else {
            return Err(UndoError::Nothing(change.id.clone()).into());
        };
        let access =
            if scoped.store.scope().is_private() { Access::Private } else { Access::Shared };
        let scope = WriteScope::open(folder, access)?;
        let now = scope.read_optional(&file, MAX_BYTES)?;
        let kept =
            change.runs.first().map(|run| read_text(&scoped.store, run)).transpose()?.flatten();
        match (record.existed, kept) {
            (true, None) => Err(UndoError::Nothing(change.id.clone()).into()),
            (existed, kept) => Ok(Self { scope, file, now, then: kept.filter(|_| existed) }),
        }
    }

    pub(crate) fn is_unchanged(&self, record: &TextRecord) -> bool {
        self.now.as_deref().map(ContentHash::of) == record.after
    }

    pub(crate) fn put_back(&self) -> Result<()> {
        replace_text(&self.scope, &self.file, self.now.as_deref(), self.then.as_deref())
    }
}

pub(crate) fn is_instructions(path: &RelPath) -> bool {
    let is_inner = path.components().next().is_some_and(|name| matches!(name, ".git" | ".nacre"));
    let is_text = [".md", ".mdc"].iter().any(|end| path.as_str().ends_with(end));
    is_text && !is_inner
}

pub(crate) fn replace_text(
    scope: &WriteScope,
    file: &RelPath,
    before: Option<&[u8]>,
    after: Option<&[u8]>,
) -> Result<()> {
    match (before, after) {
        (None, Some(after)) => scope.create_file(file, after)?,
        (Some(before), Some(after)) => {
            scope.replace_file(file, ContentHash::of(before), after)?;
        }
        (Some(before), None) => scope.remove_file(file, ContentHash::of(before))?,
        (None, None) => {}
    }
    Ok(())
}
