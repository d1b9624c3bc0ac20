//! Restores a store's files to their exact content before a change. If any file has changed since
//! then, nothing is restored by default, because a partial undo would create a state that never
//! existed.

use nacre_memory::{Batch, MemoryError, PlannedChange, Trust, UPKEEP_FILE};
use nacre_types::{
    KeptFile, RunMode, RunReport, UndoAction, UndoReport, UndoRunReport, UndoneHow, UndoneMemory,
};

use crate::maintain::Ledger;
use crate::prelude::*;
use crate::run::change::{
    ChangeInfo, Reversal, StoredChange, TrustRecord, fresh_run_id, memories_of,
    select_shared_changes, stage_note,
};
use crate::run::folder::{
    LOCAL_STATE, OF_COMMAND, Result, RunId, UndoError, UndoPlan, pretty, stem,
};
use crate::run::show::read_record;

/// Maximum size of a memory file. Larger files are not memories.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// Maximum number of later runs to search for the one that changed a file.
const MAX_LATER_RUNS: usize = 200;

pub struct UndoContext<'a> {
    /// The command, followed by its author unless the author is the owner.
    pub command: &'a str,
    pub store: &'a Store,
    pub owner: &'a Owner,
    pub patience: Duration,
    pub now: Timestamp,
    /// The id of the whole undo, if it spans several stores.
    pub id: Option<&'a str>,
    /// Whether to keep memories that changed after the change being undone, and restore only the
    /// rest.
    pub keep_changed: bool,
    pub dry_run: bool,
}

/// Undoes changes. `all` contains all of the store's changes, newest first.
pub fn undo(
    ctx: &UndoContext<'_>,
    change: &StoredChange,
    all: &[StoredChange],
) -> Result<UndoReport> {
    change.check_open()?;
    let mut batch = ctx.store.begin(ctx.owner, ctx.patience)?;
    let other_command = |command: &str| {
        let (id, command) = (change.id.clone(), command.to_owned());
        UndoError::OtherCommand { id, command }
    };
    let (kept, reversal) = match &change.reversal {
        Reversal::Plan => (take_back(ctx, &mut batch, change, all)?, Reversal::Plan),
        Reversal::Moved { aside } => {
            bring_back(&mut batch, change, aside)?;
            (Vec::new(), Reversal::Command { command: change.command.clone() })
        }
        Reversal::Gone => return Err(UndoError::Gone(change.id.clone())),
        Reversal::Command { command } => return Err(other_command(command)),
        Reversal::Trust { memories } => {
            distrust(&mut batch, change, memories)?;
            let ids: Vec<&str> = memories.iter().map(|memory| memory.id.as_str()).collect();
            (Vec::new(), Reversal::Command { command: format!("trust {}", ids.join(" ")) })
        }
        // Only the operation that made these changes can undo them.
        Reversal::Agents { .. } | Reversal::Text { .. } | Reversal::Projects { .. } => {
            return Err(other_command(&change.command));
        }
    };
    refuse_maintenance(ctx, &mut batch, change)?;
    finish(ctx, batch, change, kept, reversal)
}

/// Reverts the changes. Returns the files that are left unchanged.
fn take_back(
    ctx: &UndoContext<'_>,
    batch: &mut Batch<'_>,
    change: &StoredChange,
    all: &[StoredChange],
) -> Result<Vec<KeptFile>> {
    let (mut ready, changed) = combine_plans(ctx.store, batch, &change.runs)?;
    let kept: Vec<KeptFile> = changed
        .iter()
        .map(|(path, now)| KeptFile {
            path: path.as_str().to_owned(),
            by: find_later_change(ctx.store, change, all, path, now.as_ref()),
        })
        .collect();
    let left: BTreeSet<&str> = changed.keys().map(|path| stem(path.as_str())).collect();
    ready.retain(|step| !left.contains(stem(step.path.as_str())) && step.before != step.after);
    let has_rest = !ready.is_empty();
    let is_left_out = ctx.keep_changed && has_rest;
    if !kept.is_empty() && !is_left_out {
        return Err(UndoError::Changed { id: change.id.clone(), files: kept, has_rest });
    }
    if !has_rest {
        return Err(UndoError::Nothing(change.id.clone()));
    }
    ready.iter().try_for_each(|step| batch.take_back(step))?;
    Ok(kept)
}

/// Files that were modified after the change, with their current content, or `None` if the file no
/// longer exists.
type Changed = BTreeMap<RelPath, Option<Vec<u8>>>;

/// Returns the steps that can be undone, and the files with conflicts. Neither includes memories
/// that are already in their previous state.
fn combine_plans(
    store: &Store,
    batch: &Batch<'_>,
    runs: &[RunId],
) -> Result<(Vec<PlannedChange>, Changed)> {
    let mut by_path: BTreeMap<RelPath, PlannedChange> = BTreeMap::new();
    // Files that something else changed between two of the runs.
    let mut split = BTreeSet::new();
    for run in runs {
        for step in UndoPlan::read(store, run)?.unwrap_or_default().changes() {
            batch.check_take_back(&step)?;
            let Some(first) = by_path.get_mut(&step.path) else {
                by_path.insert(step.path.clone(), step);
                continue;
            };
            let is_split = first.after != step.before;
            split.extend(is_split.then(|| step.path.clone()));
            first.after = step.after;
        }
    }
    let (mut ready, mut changed) = (Vec::new(), Changed::new());
    let mut as_it_was: BTreeMap<String, bool> = BTreeMap::new();
    for mut step in by_path.into_values() {
        let now = store.scope().read_optional(&step.path, MAX_FILE_BYTES)?;
        if step.path.as_str().starts_with(LOCAL_STATE) {
            // Counters change independently, so they are kept unless their memory is removed.
            if step.before.is_none() {
                step.after = now.clone();
            }
            if now == step.after {
                ready.push(step);
            }
            continue;
        }
        let whole = as_it_was.entry(stem(step.path.as_str()).to_owned()).or_insert(true);
        *whole &= now == step.before;
        if now == step.after && !split.contains(&step.path) {
            ready.push(step);
        } else {
            changed.insert(step.path, now);
        }
    }
    let is_as_it_was = |path: &RelPath| as_it_was.get(stem(path.as_str())) == Some(&true);
    changed.retain(|path, _| !is_as_it_was(path));
    ready.retain(|step| !is_as_it_was(&step.path));
    Ok((ready, changed))
}

fn find_later_change(
    store: &Store,
    change: &StoredChange,
    all: &[StoredChange],
    path: &RelPath,
    now: Option<&Vec<u8>>,
) -> Option<String> {
    let later = all.iter().take_while(|other| other.id != change.id);
    let runs = later.flat_map(|other| other.runs.iter().rev().map(move |run| (other, run)));
    for (other, run) in runs.take(MAX_LATER_RUNS) {
        let plan = UndoPlan::read(store, run).ok().flatten().unwrap_or_default();
        let is_it = |step: &PlannedChange| step.path == *path && step.after.as_ref() == now;
        if plan.changes().iter().any(is_it) {
            return Some(other.id.clone());
        }
    }
    None
}

/// Restores moved files. Returns an error if any of the files has been recreated.
fn bring_back(batch: &mut Batch<'_>, change: &StoredChange, aside: &RelPath) -> Result<()> {
    batch.bring_back(aside)?;
    let planned = batch.plan()?;
    if planned.is_empty() {
        return Err(UndoError::Nothing(change.id.clone()));
    }
    let is_taken = |step: &&PlannedChange| step.before.is_some() && step.after.is_some();
    let taken = planned.iter().filter(is_taken);
    let files: Vec<KeptFile> =
        taken.map(|step| KeptFile { path: step.path.as_str().to_owned(), by: None }).collect();
    if files.is_empty() {
        return Ok(());
    }
    Err(UndoError::Changed { id: change.id.clone(), files, has_rest: false })
}

fn distrust(batch: &mut Batch<'_>, change: &StoredChange, memories: &[TrustRecord]) -> Result<()> {
    let mut n_left = 0;
    for TrustRecord { id, before } in memories {
        let Ok(id) = id.parse::<MemoryId>() else { continue };
        n_left += usize::from(batch.distrust(&id, Trust::from_name(before))?);
    }
    if n_left == 0 { Err(UndoError::Nothing(change.id.clone())) } else { Ok(()) }
}

/// Prevents the next maintenance run from repeating what the user undid.
fn refuse_maintenance(
    ctx: &UndoContext<'_>,
    batch: &mut Batch<'_>,
    change: &StoredChange,
) -> Result<()> {
    for run in change.runs.iter().filter(|run| run.is_of(RunMode::Maintain)) {
        let actions = match read_record(ctx.store, run)? {
            Some(RunReport::Maintain(report)) => report.actions,
            Some(RunReport::Sync(_) | RunReport::Undo(_)) | None => Vec::new(),
        };
        let mut ledger = Ledger::read(ctx.store)?;
        ledger.refuse(&actions, ctx.now);
        let (path, bytes) = ledger.file()?;
        batch.put_file(path, bytes)?;
    }
    Ok(())
}

fn finish(
    ctx: &UndoContext<'_>,
    mut batch: Batch<'_>,
    change: &StoredChange,
    kept: Vec<KeptFile>,
    reversal: Reversal,
) -> Result<UndoReport> {
    // The time is included, so that undoing the same change again produces a different id.
    let input = format!("{} {}", change.id, ctx.now);
    let run = fresh_run_id(ctx.store, RunMode::Undo, ctx.now, &input)?;
    let planned = batch.plan()?;
    let is_put_back = |change: &&PlannedChange| {
        let path = change.path.as_str();
        path != UPKEEP_FILE && !path.starts_with("reset/")
    };
    let paths = planned.iter().filter(is_put_back).map(|change| change.path.as_str().to_owned());
    let paths: Vec<String> = paths.collect();
    let targets: BTreeSet<&str> = paths.iter().map(|path| stem(path)).collect();
    let put_back =
        |target: &str| UndoAction { action: "put back".to_owned(), target: target.to_owned() };
    let record = UndoRunReport {
        run_id: run.to_string(),
        mode: RunMode::Undo,
        of: change.id.clone(),
        runs: change.runs.iter().map(ToString::to_string).collect(),
        finished_at: ctx.now.to_string(),
        actions: targets.into_iter().map(put_back).collect(),
        written_paths: paths.clone(),
    };
    if reversal == Reversal::Plan {
        let (path, bytes) = UndoPlan::of(&planned, OF_COMMAND).file(&run)?;
        batch.put_file(path, bytes)?;
    }
    batch.put_file(run.folder()?.join(run.actions_file())?, pretty(&record))?;
    let info =
        ChangeInfo { change: ctx.id, command: ctx.command, undoes: Some(&change.id), now: ctx.now };
    stage_note(ctx.store, &mut batch, &run, &info, &planned, reversal)?;
    if !ctx.dry_run {
        commit(batch, change)?;
    }
    Ok(UndoReport {
        run: run.into(),
        paths,
        memories: undone_memories(&planned),
        kept,
        changes: ctx.dry_run.then(|| select_shared_changes(planned)),
        ..change.undo_report(ctx.dry_run)
    })
}

/// Returns the memories affected by the undo. Moved memories count as reverted.
fn undone_memories(plan: &[PlannedChange]) -> Vec<UndoneMemory> {
    let undone = memories_of(plan).into_iter().map(|(id, (was, is))| {
        let done = match (was, is) {
            (false, _) => UndoneHow::Restored,
            (true, true) => UndoneHow::Reverted,
            (true, false) => UndoneHow::Removed,
        };
        UndoneMemory { id, done }
    });
    undone.collect()
}

fn commit(batch: Batch<'_>, change: &StoredChange) -> Result<()> {
    match batch.commit() {
        Ok(_) => Ok(()),
        Err(MemoryError::Fs(FsError::Conflict { paths })) => {
            let since = |path: RelPath| KeptFile { path: path.as_str().to_owned(), by: None };
            let files = paths.into_iter().map(since).collect();
            Err(UndoError::Changed { id: change.id.clone(), files, has_rest: false })
        }
        Err(error) => Err(error.into()),
    }
}
