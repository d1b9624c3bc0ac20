//! Records changes. A change is everything that one command did to a store. Its id can be passed to
//! `undo`. A cloned repository can contain run directories, so `change.json` is authenticated with
//! a keyed mark.

use nacre_base::config::projects::Project;
use nacre_memory::{Batch, Located, MemoryError, PlannedChange};
use nacre_types::{RunMode, UndoReport};
use serde::{Deserialize, Serialize};

use crate::prelude::*;
use crate::run::folder::{
    CHANGE_FILE, MAX_ARTIFACT_BYTES, RunId, TEXT_FILE, UndoError, UndoPlan, list, pretty,
    said_words, stage_without,
};

const VERSION: u32 = 1;
const MAX_NOTE_BYTES: u64 = 64 << 10;

const MAX_TEXT_BYTES: u64 = 4 << 20;

/// Maximum number of memories to list by name. Any others are only counted.
const MAX_NAMED: usize = 5;

type Result<T, E = FsError> = std::result::Result<T, E>;

#[derive(Clone, Copy, Debug)]
pub struct ChangeInfo<'a> {
    /// The id of the change that this run belongs to, or `None` if the run is the whole change.
    pub change: Option<&'a str>,
    /// The command line without `nacre`.
    pub command: &'a str,
    pub undoes: Option<&'a str>,
    pub now: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reversal {
    Plan,
    Moved {
        aside: RelPath,
    },
    /// The change cannot be undone, because the removed content was deliberately not stored.
    Gone,
    Command {
        command: String,
    },
    Agents {
        agents: Vec<AgentParts>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        register: Option<TextRecord>,
    },
    Text {
        text: TextRecord,
    },
    Projects {
        added: Vec<Project>,
        removed: Vec<Project>,
    },
    Trust {
        memories: Vec<TrustRecord>,
    },
}

impl Reversal {
    pub fn is_undoable(&self) -> bool {
        !matches!(self, Self::Gone | Self::Command { .. })
    }
}

/// A text file that a command changed. The run directory contains the previous content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextRecord {
    pub below: TextRoot,
    pub file: RelPath,
    pub existed: bool,
    /// The hash of the new content, or `None` if the command removed the file.
    pub after: Option<ContentHash>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextRoot {
    Store,
    Project,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustRecord {
    pub id: String,
    pub before: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentParts {
    pub agent: String,
    pub added: Vec<String>,
    pub removed: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeCounts {
    pub added: usize,
    pub changed: usize,
    pub removed: usize,
}

/// The content of `change.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct ChangeNote {
    version: u32,
    #[serde(flatten)]
    change: StoredChange,
    mark: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StoredChange {
    #[serde(rename = "change")]
    pub id: String,
    pub command: String,
    /// When the last run ended. Changes within the same second are ordered by `sequence`.
    pub at: Timestamp,
    pub sequence: u32,
    pub counts: ChangeCounts,
    pub memories: Vec<String>,
    pub reversal: Reversal,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<String>,
    /// The runs that make up the change, oldest first.
    #[serde(skip)]
    pub runs: Vec<RunId>,
    #[serde(skip)]
    pub undone_by: Option<String>,
    /// Whether the mark proves that the current user made the change.
    #[serde(skip)]
    pub is_own: bool,
}

impl StoredChange {
    /// Returns an error if the change has already been undone.
    pub fn check_open(&self) -> Result<(), UndoError> {
        self.undone_by
            .clone()
            .map_or(Ok(()), |by| Err(UndoError::AlreadyUndone { id: self.id.clone(), by }))
    }

    /// Returns the report of an undo that has not done anything yet.
    pub fn undo_report(&self, dry_run: bool) -> UndoReport {
        let (of, command) = (self.id.clone(), self.command.clone());
        UndoReport { of, command, dry_run, ..UndoReport::default() }
    }

    #[must_use]
    pub fn single_run(&self, run: &RunId) -> Self {
        Self { id: run.to_string(), runs: vec![run.clone()], ..self.clone() }
    }
}

pub fn fresh_run_id(store: &Store, mode: RunMode, now: Timestamp, input: &str) -> Result<RunId> {
    let mut id = RunId::new(mode, now, input);
    for n in 2_u32.. {
        if store.scope().folder(&id.folder()?)?.is_none() {
            break;
        }
        id = RunId::new(mode, now, &format!("{input} {n}"));
    }
    Ok(id)
}

pub fn read_text(store: &Store, run: &RunId) -> Result<Option<Vec<u8>>> {
    store.scope().read_optional(&run.folder()?.join(TEXT_FILE)?, MAX_TEXT_BYTES)
}

pub(crate) fn stage_note(
    store: &Store,
    batch: &mut Batch<'_>,
    run: &RunId,
    info: &ChangeInfo<'_>,
    plan: &[PlannedChange],
    reversal: Reversal,
) -> Result<(), MemoryError> {
    let change = info.change.unwrap_or(run.as_str()).to_owned();
    let memories = memories_of(plan);
    let counts = count_changes(&memories);
    let mut memories: Vec<String> = memories.into_keys().take(MAX_NAMED).collect();
    if reversal == Reversal::Gone {
        // Ids are derived from titles, which must not be stored here.
        memories.clear();
    }
    let mark = store.scope().mark(&mark_change(run, &change)).map_err(|source| {
        MemoryError::from(FsError::Io {
            action: nacre_base::fs::FsAction::Write,
            path: store.path().to_owned(),
            source,
        })
    })?;
    let change = StoredChange {
        id: change,
        command: info.command.to_owned(),
        at: info.now,
        sequence: next_sequence(store, run)?,
        counts,
        memories,
        reversal,
        undoes: info.undoes.map(str::to_owned),
        runs: Vec::new(),
        undone_by: None,
        is_own: true,
    };
    let note = ChangeNote { version: VERSION, change, mark };
    batch.put_file(run.folder()?.join(CHANGE_FILE)?, pretty(&note))
}

fn mark_change(run: &RunId, change: &str) -> String {
    format!("change {change} by {run}")
}

/// Maps each changed memory to whether it existed before the change and whether it exists
/// afterwards.
pub(crate) fn memories_of(plan: &[PlannedChange]) -> BTreeMap<String, (bool, bool)> {
    let mut by_id: BTreeMap<String, (bool, bool)> = BTreeMap::new();
    for change in plan {
        let Some(at) = Located::from_path(change.path.as_str()) else { continue };
        let entry = by_id.entry(at.id.to_string()).or_default();
        entry.0 |= change.before.is_some();
        entry.1 |= change.after.is_some();
    }
    by_id
}

fn count_changes(memories: &BTreeMap<String, (bool, bool)>) -> ChangeCounts {
    let mut counts = ChangeCounts::default();
    for existence in memories.values() {
        match existence {
            (false, _) => counts.added += 1,
            (true, true) => counts.changed += 1,
            (true, false) => counts.removed += 1,
        }
    }
    counts
}

fn next_sequence(store: &Store, run: &RunId) -> Result<u32> {
    let mut last = 0;
    for other in list(store)?.iter().filter(|other| other.stamp() == run.stamp()) {
        if let Some(note) = read_note(store, other)? {
            last = last.max(note.change.sequence);
        }
    }
    Ok(last.saturating_add(1))
}

fn read_note(store: &Store, run: &RunId) -> Result<Option<ChangeNote>> {
    let path = run.folder()?.join(CHANGE_FILE)?;
    let bytes = match store.scope().read_optional(&path, MAX_NOTE_BYTES) {
        Err(FsError::TooLarge { .. } | FsError::NotAFile { .. }) => return Ok(None),
        bytes => bytes?,
    };
    let note = bytes.and_then(|bytes| serde_json::from_slice::<ChangeNote>(&bytes).ok());
    Ok(note.filter(|note| {
        let is_ours = store.scope().is_marked(&mark_change(run, &note.change.id), &note.mark);
        note.version == VERSION && is_ours
    }))
}

/// Stages the removal of a memory's text from earlier undo plans. Must be called before the
/// memory's file is removed.
pub fn stage_scrub(store: &Store, batch: &mut Batch<'_>, id: &MemoryId) -> Result<(), MemoryError> {
    let words = said_words(store, id)?;
    for run in list(store)? {
        stage_without(store, batch, &run, &words)?;
        // An invalid plan was not written by Nacre, so it does not need to be scrubbed.
        if let Ok(Some(plan)) = UndoPlan::read(store, &run)
            && let Some(rest) = plan.without(id)
        {
            let (path, bytes) = rest.file(&run)?;
            batch.put_file(path, bytes)?;
        }
        if let Some(note) = read_note(store, &run)?
            && let Some(note) = scrub_note(store, batch, &run, &note, id)?
        {
            batch.put_file(run.folder()?.join(CHANGE_FILE)?, pretty(&note))?;
        }
    }
    Ok(())
}

/// Returns the updated note, or `None` if it needs no changes. If the run can no longer be undone,
/// updates the note's `reversal`.
fn scrub_note(
    store: &Store,
    batch: &mut Batch<'_>,
    run: &RunId,
    note: &ChangeNote,
    id: &MemoryId,
) -> Result<Option<ChangeNote>, MemoryError> {
    let mut new = note.clone();
    new.change.memories.retain(|named| named != id.as_str());
    let is_emptied = || {
        let plan = UndoPlan::read(store, run).ok().flatten();
        plan.is_some_and(|plan| plan.without(id).is_some_and(|rest| rest.is_empty()))
    };
    if note.change.reversal == Reversal::Plan && is_emptied() {
        new.change.reversal = Reversal::Gone;
    }
    let text = read_text(store, run)?.unwrap_or_default();
    if String::from_utf8_lossy(&text).contains(id.as_str()) {
        batch.put_file(run.folder()?.join(TEXT_FILE)?, Vec::new())?;
        new.change.reversal = Reversal::Command { command: note.change.command.clone() };
    }
    let (old, now) = (&note.change, &new.change);
    let is_changed = now.reversal != old.reversal || now.memories != old.memories;
    Ok(is_changed.then_some(new))
}

pub fn list_runs(store: &Store) -> Result<Vec<RunId>> {
    let mut runs = Vec::new();
    for run in list(store)? {
        let sequence = read_note(store, &run)?.map_or(0, |note| note.change.sequence);
        runs.push((run.stamp().to_owned(), sequence, run));
    }
    runs.sort_by(|a, b| b.cmp(a));
    Ok(runs.into_iter().map(|(_, _, run)| run).collect())
}

pub fn changes(store: &Store) -> Result<Vec<StoredChange>> {
    let mut by_id: BTreeMap<String, StoredChange> = BTreeMap::new();
    let mut runs = Vec::new();
    for run in list(store)? {
        let change = match read_note(store, &run)? {
            Some(note) => StoredChange { runs: vec![run.clone()], is_own: true, ..note.change },
            None => without_note(store, &run)?,
        };
        runs.push((change.at, change.sequence, run, change));
    }
    runs.sort_by(|a, b| (a.0, a.1, &a.2).cmp(&(b.0, b.1, &b.2)));
    for (_, _, _, change) in runs {
        match by_id.get_mut(&change.id) {
            Some(known) => join(known, change),
            None => drop(by_id.insert(change.id.clone(), change)),
        }
    }
    let mut changes: Vec<StoredChange> = by_id.into_values().collect();
    changes.sort_by(|a, b| (b.at, b.sequence, &b.id).cmp(&(a.at, a.sequence, &a.id)));
    mark_undone(&mut changes);
    Ok(changes)
}

fn without_note(store: &Store, run: &RunId) -> Result<StoredChange> {
    #[derive(Deserialize)]
    struct Undo {
        of: String,
    }

    let actions = run.folder()?.join(run.actions_file())?;
    let bytes = store.scope().read_optional(&actions, MAX_ARTIFACT_BYTES).unwrap_or_default();
    let bytes = bytes.filter(|_| run.is_of(RunMode::Undo));
    let undoes = bytes.and_then(|bytes| serde_json::from_slice::<Undo>(&bytes).ok());
    let undoes = undoes.map(|undo| undo.of);
    Ok(StoredChange {
        id: run.to_string(),
        command: run.mode().to_owned(),
        at: run.time(),
        sequence: 0,
        counts: ChangeCounts::default(),
        memories: Vec::new(),
        reversal: Reversal::Plan,
        runs: vec![run.clone()],
        undoes,
        undone_by: None,
        is_own: false,
    })
}

fn join(known: &mut StoredChange, later: StoredChange) {
    known.runs.extend(later.runs);
    (known.at, known.sequence) = (later.at, later.sequence);
    known.counts.added += later.counts.added;
    known.counts.changed += later.counts.changed;
    known.counts.removed += later.counts.removed;
    known.memories.extend(later.memories);
    known.memories.truncate(MAX_NAMED);
    known.is_own &= later.is_own;
}

/// Sets `undone_by` on each undone change. Undos that were themselves undone are ignored.
fn mark_undone(changes: &mut [StoredChange]) {
    for number in 0..changes.len() {
        let StoredChange { id, undoes, undone_by, .. } = &changes[number];
        let (Some(of), None) = (undoes.clone(), undone_by) else { continue };
        let by = id.clone();
        if let Some(undone) = changes.iter_mut().find(|change| change.id == of) {
            undone.undone_by.get_or_insert(by);
        }
    }
}

pub fn select_shared_changes(changes: Vec<PlannedChange>) -> Vec<nacre_types::PlannedChange> {
    let text =
        |bytes: Option<Vec<u8>>| bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let is_shared = |change: &PlannedChange| {
        ["memory/", "meta/evidence/"].iter().any(|top| change.path.as_str().starts_with(top))
    };
    let shared = changes.into_iter().filter(is_shared);
    let planned = shared.map(|change| nacre_types::PlannedChange {
        path: change.path.as_str().to_owned(),
        before: text(change.before),
        after: text(change.after),
    });
    planned.collect()
}
