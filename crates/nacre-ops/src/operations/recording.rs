//! Every command that changes something leaves a run folder: what was there before, under the id that `undo` takes.

use std::cell::RefCell;

use nacre_api::wire::Scope;
use nacre_core::base::ContentHash;
use nacre_core::memory::{Actor, Batch};
use nacre_core::safefs::RelPath;
use nacre_engine::flows::change::{
    ChangeInfo, Reversal, TextRecord, TextRoot, fresh_run_id, stage_change, stage_text,
};
use nacre_engine::flows::run::{self, RunMode};

use crate::error::OpError;
use crate::host::{Host, ScopedStore};

/// One command of a person. What it commits, in however many steps and stores, is one change.
pub(crate) struct CommandChange<'c> {
    mode: RunMode,
    /// What was typed, without `nacre`.
    command: &'c str,
    id: RefCell<Option<String>>,
}

impl<'c> CommandChange<'c> {
    pub(crate) fn new(mode: RunMode, command: &'c str) -> Self {
        Self { mode, command, id: RefCell::new(None) }
    }

    /// The id that `undo` takes; `None` before the first commit.
    pub(crate) fn id(&self) -> Option<String> {
        self.id.borrow().clone()
    }

    /// Commits what is staged, with what undoes it. Returns where bytes were kept that somebody wrote meanwhile.
    pub(crate) fn commit(
        &self,
        host: &Host,
        scoped: &ScopedStore,
        mut batch: Batch<'_>,
        reversal: Reversal,
    ) -> Result<Vec<RelPath>, OpError> {
        let store = &scoped.store;
        let paths: Vec<String> =
            batch.plan()?.iter().map(|change| change.path.as_str().to_owned()).collect();
        let input = format!("{} {}", self.command, paths.join(" "));
        let run = fresh_run_id(store, self.mode, host.now(), &input)?;
        let change = self.id();
        let command = attributed(host, self.command);
        let info = ChangeInfo {
            change: change.as_deref(),
            command: &command,
            undoes: None,
            now: host.now(),
        };
        stage_change(store, &mut batch, &run, &info, reversal)?;
        run::prune(store, batch.writer(), scoped.settings.runs.keep)?;
        let kept = batch.commit()?;
        self.id.borrow_mut().get_or_insert_with(|| run.to_string());
        Ok(kept)
    }
}

/// Follows the command of a change that an agent caused.
pub(crate) const BY_AGENT: &str = " by an agent";

/// The command, and who gave it if that was not the owner.
fn attributed(host: &Host, command: &str) -> String {
    match (host.caller.person(), host.actor) {
        (Some(person), _) => format!("{command} by {person}"),
        (None, Actor::Agent) => format!("{command}{BY_AGENT}"),
        (None, Actor::Owner | Actor::Reader | Actor::Person) => command.to_owned(),
    }
}

/// What a command changed outside the memories.
pub(crate) struct OutsideChange<'c> {
    pub(crate) mode: RunMode,
    /// What was typed, without `nacre`.
    pub(crate) command: &'c str,
    /// The change that it takes back.
    pub(crate) undoes: Option<&'c str>,
    pub(crate) reversal: Reversal,
    /// The text that it replaced.
    pub(crate) before: Option<&'c [u8]>,
}

/// Leaves a run in a store; returns the id that `undo` takes.
pub(crate) fn record_outside(
    host: &Host,
    scoped: &ScopedStore,
    change: OutsideChange<'_>,
) -> Result<String, OpError> {
    let OutsideChange { mode, command, undoes, reversal, before } = change;
    let store = &scoped.store;
    let mut batch = store.begin(&host.owner(command), host.settings().lock.wait)?;
    let input = format!("{command} {} {}", undoes.unwrap_or_default(), host.now());
    let run = fresh_run_id(store, mode, host.now(), &input)?;
    let attributed = attributed(host, command);
    let info = ChangeInfo { change: None, command: &attributed, undoes, now: host.now() };
    stage_change(store, &mut batch, &run, &info, reversal)?;
    stage_text(&mut batch, &run, before)?;
    run::prune(store, batch.writer(), scoped.settings.runs.keep)?;
    batch.commit()?;
    Ok(run.to_string())
}

/// The person's own store, which holds the changes of their own files.
pub(crate) fn own_store(host: &Host) -> Result<ScopedStore, OpError> {
    host.store_to_write(Some(Scope::GlobalOnly))
}

/// How a text of a store or a project was changed.
pub(crate) fn text_record(
    below: TextRoot,
    file: &str,
    before: Option<&[u8]>,
    after: Option<&[u8]>,
) -> Result<TextRecord, OpError> {
    let (file, after) = (RelPath::new(file)?, after.map(ContentHash::of));
    Ok(TextRecord { below, file, existed: before.is_some(), after })
}
