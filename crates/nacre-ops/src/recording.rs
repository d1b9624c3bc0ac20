//! Writes a command's run folder, including the data for `undo`, and restores changed text files.

use std::cell::RefCell;

use nacre_base::ContentHash;
use nacre_base::fs::{Access, RelPath, WriteScope};
use nacre_memory::{Actor, Batch};
use nacre_types::{RunMode, Scope};

use crate::error::Result;
use crate::host::{Host, ScopedStore};
use crate::run::change::{
    ChangeInfo, Reversal, StoredChange, TextRecord, TextRoot, fresh_run_id, read_text,
    stage_change, stage_text,
};
use crate::run::folder::{self, UndoError};

/// A single user command. All of its commits, in any number of stores, form one change.
pub(crate) struct CommandChange<'c> {
    mode: RunMode,
    /// The command line without `nacre`.
    command: &'c str,
    id: RefCell<Option<String>>,
}

impl<'c> CommandChange<'c> {
    pub(crate) fn new(mode: RunMode, command: &'c str) -> Self {
        Self { mode, command, id: RefCell::new(None) }
    }

    /// Returns the id for `undo`, or `None` before the first commit.
    pub(crate) fn id(&self) -> Option<String> {
        self.id.borrow().clone()
    }

    /// Returns the paths at which concurrent edits were saved.
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
        let id = self.id();
        let change = OutsideChange {
            mode: self.mode,
            command: self.command,
            undoes: None,
            reversal,
            before: None,
        };
        let (run, kept) = commit_run(host, scoped, batch, id.as_deref(), &input, change)?;
        self.id.borrow_mut().get_or_insert(run);
        Ok(kept)
    }
}

fn commit_run(
    host: &Host,
    scoped: &ScopedStore,
    mut batch: Batch<'_>,
    id: Option<&str>,
    input: &str,
    change: OutsideChange<'_>,
) -> Result<(String, Vec<RelPath>)> {
    let OutsideChange { mode, command, undoes, reversal, before } = change;
    let run = fresh_run_id(&scoped.store, mode, host.now(), input)?;
    let command = attributed(host, command);
    let info = ChangeInfo { change: id, command: &command, undoes, now: host.now() };
    stage_change(&scoped.store, &mut batch, &run, &info, reversal)?;
    stage_text(&mut batch, &run, before)?;
    folder::prune(&scoped.store, batch.writer(), scoped.settings.runs.keep)?;
    Ok((run.to_string(), batch.commit()?))
}

pub(crate) fn attributed(host: &Host, command: &str) -> String {
    format!("{command}{}", attribution(host).unwrap_or_default())
}

/// Returns `None` for the owner.
pub(crate) fn attribution(host: &Host) -> Option<String> {
    match (host.caller.person(), host.actor) {
        (Some(person), _) => Some(format!(" by {person}")),
        (None, Actor::Agent) => Some(" by an agent".to_owned()),
        (None, Actor::Owner | Actor::Reader | Actor::Person) => None,
    }
}

pub(crate) struct OutsideChange<'c> {
    pub(crate) mode: RunMode,
    /// The command line without `nacre`.
    pub(crate) command: &'c str,
    pub(crate) undoes: Option<&'c str>,
    pub(crate) reversal: Reversal,
    pub(crate) before: Option<&'c [u8]>,
}

pub(crate) fn record_outside(
    host: &Host,
    scoped: &ScopedStore,
    change: OutsideChange<'_>,
) -> Result<String> {
    let OutsideChange { command, undoes, .. } = change;
    let batch = scoped.store.begin(&host.owner(command), host.settings().lock.wait)?;
    let input = format!("{command} {} {}", undoes.unwrap_or_default(), host.now());
    Ok(commit_run(host, scoped, batch, None, &input, change)?.0)
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

/// Returns whether the text was restored. If the text has been edited in the meantime, it is left
/// unchanged.
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
