//! `undo`: a run that puts back what a change made of a store, byte for byte.
//!
//! All runs of the change are taken back at once: of each file, what was there before the first of them. Every file must
//! still be what the last of them made of it. A person's edit always wins: where one was changed since, nothing is taken
//! back, for half of a change undone is a state that nobody ever saw; unless the caller asks to leave those memories as
//! they are and to put back the others.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;
use nacre_core::memory::{Batch, MemoryError, MemoryId, PlannedChange, Store, Trust, UPKEEP_FILE};
use nacre_core::safefs::{FsError, Owner, RelPath};

use super::change::{ChangeInfo, Reversal, StoredChange, TrustRecord, fresh_run_id, stage_note};
use super::maintain::Ledger;
use super::record::{RunRecord, UndoAction, UndoRecord, UndoVerb, read_record};
use super::run::{ChangedSince, LOCAL_STATE, RunId, RunMode, UndoError, UndoPlan, pretty, stem};

/// Memories and their files are small; more is not ours to put back.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// Later runs whose plans are read to say which of them changed a file.
const MAX_LATER_RUNS: usize = 200;

/// Where and how a change is taken back.
pub struct UndoContext<'a> {
    pub store: &'a Store,
    pub owner: &'a Owner,
    pub patience: Duration,
    pub now: Timestamp,
    /// The id of the whole undo, where it goes through several stores.
    pub id: Option<&'a str>,
    /// Leave memories as they are that were changed since, and put back the others.
    pub keep_changed: bool,
    /// Say what would be put back, and change nothing.
    pub dry_run: bool,
}

/// What was put back.
#[derive(Clone, Debug)]
pub struct Undone {
    /// The run that did it, which can itself be undone.
    pub run: RunId,
    pub of: String,
    pub paths: Vec<String>,
    /// Every file, before and after the undo.
    pub changes: Vec<PlannedChange>,
    /// What was left as it is, because it was changed since.
    pub kept: Vec<ChangedSince>,
}

/// Puts back what a change made of a store; `all` are the changes of the store, the newest first.
pub fn undo(
    ctx: &UndoContext<'_>,
    change: &StoredChange,
    all: &[StoredChange],
) -> Result<Undone, UndoError> {
    if let Some(by) = &change.undone_by {
        return Err(UndoError::AlreadyUndone { id: change.id.clone(), by: by.clone() });
    }
    let mut batch = ctx.store.begin(ctx.owner, ctx.patience)?;
    let (kept, reversal) = match &change.reversal {
        Reversal::Plan => (take_back(ctx, &mut batch, change, all)?, Reversal::Plan),
        Reversal::Moved { aside } => {
            bring_back(&mut batch, change, aside)?;
            (Vec::new(), Reversal::Command { command: change.command.clone() })
        }
        Reversal::Gone => return Err(UndoError::Gone(change.id.clone())),
        Reversal::Command { command } => {
            let (id, command) = (change.id.clone(), command.clone());
            return Err(UndoError::OtherCommand { id, command });
        }
        Reversal::Trust { memories } => {
            distrust(&mut batch, change, memories)?;
            let ids: Vec<&str> = memories.iter().map(|memory| memory.id.as_str()).collect();
            (Vec::new(), Reversal::Command { command: format!("trust {}", ids.join(" ")) })
        }
        // What lies outside the memories is put back by whoever changed it.
        Reversal::Agents { .. } | Reversal::Text { .. } | Reversal::Projects { .. } => {
            let (id, command) = (change.id.clone(), change.command.clone());
            return Err(UndoError::OtherCommand { id, command });
        }
    };
    refuse_maintenance(ctx, &mut batch, change)?;
    finish(ctx, batch, change, kept, reversal)
}

/// Stages what was there before every run of the change. Returns what is left as it is.
fn take_back(
    ctx: &UndoContext<'_>,
    batch: &mut Batch<'_>,
    change: &StoredChange,
    all: &[StoredChange],
) -> Result<Vec<ChangedSince>, UndoError> {
    let combined = Combined::read(ctx.store, batch, &change.runs)?;
    let (mut ready, changed) = combined.sorted_out(ctx.store)?;
    let kept: Vec<ChangedSince> = changed
        .iter()
        .map(|(path, now)| ChangedSince {
            path: path.as_str().to_owned(),
            by: changed_by(ctx.store, change, all, path, now.as_ref()),
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

fn is_counter(path: &RelPath) -> bool {
    path.as_str().starts_with(LOCAL_STATE)
}

/// What the runs of a change made of each file, taken together.
struct Combined {
    steps: Vec<PlannedChange>,
    /// Files that somebody else changed between two of the runs.
    split: BTreeSet<RelPath>,
}

/// Files that are not what a change made of them, with what they are now.
type Changed = BTreeMap<RelPath, Option<Vec<u8>>>;

impl Combined {
    /// The steps that can be taken back, and the files that stand in the way. A memory that is wholly as it was before is
    /// neither.
    fn sorted_out(self, store: &Store) -> Result<(Vec<PlannedChange>, Changed), FsError> {
        let (mut ready, mut changed) = (Vec::new(), Changed::new());
        let mut as_it_was: BTreeMap<String, bool> = BTreeMap::new();
        for mut step in self.steps {
            let now = store.scope().read_optional(&step.path, MAX_FILE_BYTES)?;
            if is_counter(&step.path) {
                // Counters go on by themselves: those of a memory that goes, go; the others stay.
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
            if now == step.after && !self.split.contains(&step.path) {
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

    fn read(store: &Store, batch: &Batch<'_>, runs: &[RunId]) -> Result<Self, UndoError> {
        let mut by_path: BTreeMap<RelPath, PlannedChange> = BTreeMap::new();
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
        Ok(Self { steps: by_path.into_values().collect(), split })
    }
}

/// The later change that left these bytes there.
fn changed_by(
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

/// Stages the return of what was set aside. A memory that is there by now stays, and nothing is brought back.
fn bring_back(
    batch: &mut Batch<'_>,
    change: &StoredChange,
    aside: &RelPath,
) -> Result<(), UndoError> {
    batch.bring_back(aside)?;
    let planned = batch.plan()?;
    if planned.is_empty() {
        return Err(UndoError::Nothing(change.id.clone()));
    }
    let is_taken = |step: &&PlannedChange| step.before.is_some() && step.after.is_some();
    let taken = planned.iter().filter(is_taken);
    let files: Vec<ChangedSince> =
        taken.map(|step| ChangedSince { path: step.path.as_str().to_owned(), by: None }).collect();
    match files.is_empty() {
        true => Ok(()),
        false => Err(UndoError::Changed { id: change.id.clone(), files, has_rest: false }),
    }
}

/// Stages that memories are trusted no further than before they were trusted.
fn distrust(
    batch: &mut Batch<'_>,
    change: &StoredChange,
    memories: &[TrustRecord],
) -> Result<(), UndoError> {
    let mut n_left = 0;
    for TrustRecord { id, before } in memories {
        let Ok(id) = id.parse::<MemoryId>() else { continue };
        n_left += usize::from(batch.distrust(&id, Trust::from_name(before))?);
    }
    if n_left == 0 { Err(UndoError::Nothing(change.id.clone())) } else { Ok(()) }
}

/// What a person undoes is not done again by the next maintenance.
fn refuse_maintenance(
    ctx: &UndoContext<'_>,
    batch: &mut Batch<'_>,
    change: &StoredChange,
) -> Result<(), UndoError> {
    for run in change.runs.iter().filter(|run| run.is_of(RunMode::Maintain)) {
        let actions = match read_record(ctx.store, run)? {
            Some(RunRecord::Maintain(report)) => report.actions,
            Some(RunRecord::Sync(_) | RunRecord::Undo(_)) | None => Vec::new(),
        };
        let mut ledger = Ledger::read(ctx.store)?;
        ledger.refuse(&actions, ctx.now);
        let (path, bytes) = ledger.file()?;
        batch.put_file(path, bytes)?;
    }
    Ok(())
}

/// Writes the undo as a run of its own.
fn finish(
    ctx: &UndoContext<'_>,
    mut batch: Batch<'_>,
    change: &StoredChange,
    kept: Vec<ChangedSince>,
    reversal: Reversal,
) -> Result<Undone, UndoError> {
    // The time is part of it: a second undo of the same change has another short id.
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
        |target: &str| UndoAction { action: UndoVerb::PutBack, target: target.to_owned() };
    let record = UndoRecord {
        run_id: run.clone(),
        mode: RunMode::Undo,
        of: change.id.clone(),
        runs: change.runs.clone(),
        finished_at: ctx.now.to_string(),
        actions: targets.into_iter().map(put_back).collect(),
        written_paths: paths.clone(),
    };
    if reversal == Reversal::Plan {
        let (path, bytes) = UndoPlan::of_command(&planned).file(&run)?;
        batch.put_file(path, bytes)?;
    }
    batch.put_file(run.folder()?.join(run.actions_file())?, pretty(&record))?;
    let info =
        ChangeInfo { change: ctx.id, command: "undo", undoes: Some(&change.id), now: ctx.now };
    stage_note(ctx.store, &mut batch, &run, &info, &planned, reversal)?;
    if !ctx.dry_run {
        commit(batch, change)?;
    }
    Ok(Undone { run, of: change.id.clone(), paths, changes: planned, kept })
}

fn commit(batch: Batch<'_>, change: &StoredChange) -> Result<(), UndoError> {
    match batch.commit() {
        Ok(_) => Ok(()),
        Err(MemoryError::Fs(FsError::Conflict { paths })) => {
            let since = |path: RelPath| ChangedSince { path: path.as_str().to_owned(), by: None };
            let files = paths.into_iter().map(since).collect();
            Err(UndoError::Changed { id: change.id.clone(), files, has_rest: false })
        }
        Err(error) => Err(error.into()),
    }
}
