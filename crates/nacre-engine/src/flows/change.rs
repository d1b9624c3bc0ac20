//! Changes: what one command did to a store, under the one id that `undo` takes.
//!
//! Every run folder holds a note (`change.json`) with the id and the command. A sync of many sessions is many runs and one
//! change. A repository may ship run folders: a note bears a mark that only this person can make, and what bears none is
//! never taken for the last change.

use std::collections::BTreeMap;

use jiff::Timestamp;
use nacre_core::base::ContentHash;
use nacre_core::memory::{Batch, Located, MemoryError, MemoryId, PlannedChange, Store};
use nacre_core::safefs::{FsError, RelPath};
use serde::{Deserialize, Serialize};

use super::run::{
    CHANGE_FILE, MAX_ARTIFACT_BYTES, RunId, RunMode, TEXT_FILE, UndoPlan, list, pretty,
};
use super::scrub::{SaidWords, stage_without};

const VERSION: u32 = 1;
const MAX_NOTE_BYTES: u64 = 64 << 10;

/// A larger text is neither a setting nor an instruction file.
const MAX_TEXT_BYTES: u64 = 4 << 20;

/// Memories that a note names; more are counted.
const MAX_NAMED: usize = 5;

/// Which command makes a change, and when.
#[derive(Clone, Copy, Debug)]
pub struct ChangeInfo<'a> {
    /// The id of the whole change; `None` where the run is all of it.
    pub change: Option<&'a str>,
    /// What was typed, without `nacre`.
    pub command: &'a str,
    /// The change that it takes back.
    pub undoes: Option<&'a str>,
    pub now: Timestamp,
}

/// How a run can be taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reversal {
    /// Its folder holds what was there before.
    Plan,
    /// The files were moved to this folder of the store.
    Moved { aside: RelPath },
    /// What was removed is kept nowhere, on purpose.
    Gone,
    /// Another command does it.
    Command { command: String },
    /// These agents were connected or disconnected, and the register of agents may have changed.
    Agents {
        agents: Vec<AgentParts>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        register: Option<TextRecord>,
    },
    /// A text that is not a memory was changed: settings, or a file of instructions.
    Text { text: TextRecord },
    /// Projects came into the register, or left it.
    Projects { added: Vec<ProjectRecord>, removed: Vec<ProjectRecord> },
    /// Memories that came from elsewhere were trusted.
    Trust { memories: Vec<TrustRecord> },
}

impl Reversal {
    /// Whether `nacre undo` itself takes it back.
    pub fn is_undoable(&self) -> bool {
        match self {
            Self::Plan
            | Self::Moved { .. }
            | Self::Agents { .. }
            | Self::Text { .. }
            | Self::Projects { .. }
            | Self::Trust { .. } => true,
            Self::Gone | Self::Command { .. } => false,
        }
    }
}

/// A text that a command changed. What was there before lies in the run folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextRecord {
    pub below: TextRoot,
    pub file: RelPath,
    /// Whether there was a file before.
    pub existed: bool,
    /// What the command left there; `None` where it removed the file.
    pub after: Option<ContentHash>,
}

/// The folder that a text lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextRoot {
    /// That of the store itself.
    Store,
    /// The project around the store.
    Project,
}

/// A project of the register.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectRecord {
    pub name: String,
    pub path: std::path::PathBuf,
}

/// A memory that was trusted, and how far it was trusted before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustRecord {
    pub id: String,
    pub before: String,
}

/// What a connect changed for one agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentParts {
    pub agent: String,
    pub added: Vec<String>,
    pub removed: Vec<String>,
}

/// How many memories a change added, changed and removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeCounts {
    pub added: usize,
    pub changed: usize,
    pub removed: usize,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct ChangeNote {
    version: u32,
    change: String,
    command: String,
    at: Timestamp,
    /// The order of runs within one second.
    sequence: u32,
    counts: ChangeCounts,
    memories: Vec<String>,
    reversal: Reversal,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    undoes: Option<String>,
    mark: String,
}

/// A change as a store tells of it.
#[derive(Clone, Debug)]
pub struct StoredChange {
    pub id: String,
    pub command: String,
    /// When its last run ended, and the order within that second.
    pub at: Timestamp,
    pub sequence: u32,
    pub counts: ChangeCounts,
    /// Some of the memories.
    pub memories: Vec<String>,
    pub reversal: Reversal,
    /// Its runs, the oldest first.
    pub runs: Vec<RunId>,
    /// The change that it took back.
    pub undoes: Option<String>,
    /// The undo that took it back.
    pub undone_by: Option<String>,
    /// Whether this person made it, by their mark.
    pub is_own: bool,
}

impl StoredChange {
    /// One run of it alone.
    #[must_use]
    pub fn only(&self, run: &RunId) -> Self {
        Self { id: run.to_string(), runs: vec![run.clone()], ..self.clone() }
    }
}

/// A name that no run of the store has.
pub fn fresh_run_id(
    store: &Store,
    mode: RunMode,
    now: Timestamp,
    input: &str,
) -> Result<RunId, FsError> {
    let mut id = RunId::new(mode, now, input);
    for n in 2_u32.. {
        if store.scope().folder(&id.folder()?)?.is_none() {
            break;
        }
        id = RunId::new(mode, now, &format!("{input} {n}"));
    }
    Ok(id)
}

/// Stages everything that a command leaves besides its memories: what undoes it, and its note.
pub fn stage_change(
    store: &Store,
    batch: &mut Batch<'_>,
    run: &RunId,
    info: &ChangeInfo<'_>,
    reversal: Reversal,
) -> Result<(), MemoryError> {
    let plan = batch.plan()?;
    if reversal == Reversal::Plan {
        let (path, bytes) = UndoPlan::of_command(&plan).file(run)?;
        batch.put_file(path, bytes)?;
    }
    stage_note(store, batch, run, info, &plan, reversal)
}

/// Stages the text that a command replaced.
pub fn stage_text(
    batch: &mut Batch<'_>,
    run: &RunId,
    before: Option<&[u8]>,
) -> Result<(), MemoryError> {
    match before {
        Some(before) => batch.put_file(run.folder()?.join(TEXT_FILE)?, before.to_vec()),
        None => Ok(()),
    }
}

/// The text that a run replaced; `None` where it is not kept.
pub fn read_text(store: &Store, run: &RunId) -> Result<Option<Vec<u8>>, FsError> {
    store.scope().read_optional(&run.folder()?.join(TEXT_FILE)?, MAX_TEXT_BYTES)
}

/// Stages the note of a run.
pub(super) fn stage_note(
    store: &Store,
    batch: &mut Batch<'_>,
    run: &RunId,
    info: &ChangeInfo<'_>,
    plan: &[PlannedChange],
    reversal: Reversal,
) -> Result<(), MemoryError> {
    let change = info.change.unwrap_or(run.as_str()).to_owned();
    let (counts, mut memories) = counted(plan);
    memories.truncate(MAX_NAMED);
    if reversal == Reversal::Gone {
        // An id is made of a title, and nothing of it is to stay.
        memories.clear();
    }
    let mark = store.scope().mark(&marked(run, &change)).map_err(|source| {
        MemoryError::from(FsError::Io {
            action: nacre_core::safefs::FsAction::Write,
            path: store.path().to_owned(),
            source,
        })
    })?;
    let note = ChangeNote {
        version: VERSION,
        change,
        command: info.command.to_owned(),
        at: info.now,
        sequence: next_sequence(store, run)?,
        counts,
        memories,
        reversal,
        undoes: info.undoes.map(str::to_owned),
        mark,
    };
    batch.put_file(run.folder()?.join(CHANGE_FILE)?, pretty(&note))
}

fn marked(run: &RunId, change: &str) -> String {
    format!("change {change} by {run}")
}

/// The memories of a plan, and how many of them are new, changed and gone. A move is a change.
fn counted(plan: &[PlannedChange]) -> (ChangeCounts, Vec<String>) {
    let mut by_id: BTreeMap<String, (bool, bool)> = BTreeMap::new();
    for change in plan {
        let Some(at) = Located::from_path(change.path.as_str()) else { continue };
        let entry = by_id.entry(at.id.to_string()).or_default();
        entry.0 |= change.before.is_some();
        entry.1 |= change.after.is_some();
    }
    let mut counts = ChangeCounts::default();
    for (was, is) in by_id.values() {
        match (was, is) {
            (false, _) => counts.added += 1,
            (true, true) => counts.changed += 1,
            (true, false) => counts.removed += 1,
        }
    }
    (counts, by_id.into_keys().collect())
}

/// The number after those of the runs of the same second.
fn next_sequence(store: &Store, run: &RunId) -> Result<u32, FsError> {
    let mut last = 0;
    for other in list(store)?.iter().filter(|other| other.stamp() == run.stamp()) {
        if let Some(note) = read_note(store, other)? {
            last = last.max(note.sequence);
        }
    }
    Ok(last.saturating_add(1))
}

fn read_note(store: &Store, run: &RunId) -> Result<Option<ChangeNote>, FsError> {
    let path = run.folder()?.join(CHANGE_FILE)?;
    let bytes = match store.scope().read_optional(&path, MAX_NOTE_BYTES) {
        Err(FsError::TooLarge { .. } | FsError::NotAFile { .. }) => return Ok(None),
        bytes => bytes?,
    };
    let note = bytes.and_then(|bytes| serde_json::from_slice::<ChangeNote>(&bytes).ok());
    Ok(note.filter(|note| {
        let is_ours = store.scope().is_marked(&marked(run, &note.change), &note.mark);
        note.version == VERSION && is_ours
    }))
}

/// Stages that no run folder keeps what the memory `id` said: neither what would undo a run, nor its name, nor its words in what a
/// run noted. The memory is still there.
pub fn stage_scrub(store: &Store, batch: &mut Batch<'_>, id: &MemoryId) -> Result<(), MemoryError> {
    let words = SaidWords::of(store, id)?;
    for run in list(store)? {
        stage_without(store, batch, &run, &words)?;
        // A plan that is not ours keeps nothing of ours.
        if let Ok(Some(plan)) = UndoPlan::read(store, &run)
            && let Some(rest) = plan.without(id)
        {
            let (path, bytes) = rest.file(&run)?;
            batch.put_file(path, bytes)?;
        }
        if let Some(note) = read_note(store, &run)? {
            let scrubbed = scrubbed(store, batch, &run, &note, id)?;
            if let Some(note) = scrubbed {
                batch.put_file(run.folder()?.join(CHANGE_FILE)?, pretty(&note))?;
            }
        }
    }
    Ok(())
}

/// The note of a run that says nothing of the memory `id`; `None` where it says nothing of it already. Of what is left with
/// nothing to put back, `undo` says so.
fn scrubbed(
    store: &Store,
    batch: &mut Batch<'_>,
    run: &RunId,
    note: &ChangeNote,
    id: &MemoryId,
) -> Result<Option<ChangeNote>, MemoryError> {
    let mut new = note.clone();
    new.memories.retain(|named| named != id.as_str());
    let is_emptied = || {
        let plan = UndoPlan::read(store, run).ok().flatten();
        plan.is_some_and(|plan| plan.without(id).is_some_and(|rest| rest.is_empty()))
    };
    if note.reversal == Reversal::Plan && is_emptied() {
        new.reversal = Reversal::Gone;
    }
    let text = read_text(store, run)?.unwrap_or_default();
    if String::from_utf8_lossy(&text).contains(id.as_str()) {
        batch.put_file(run.folder()?.join(TEXT_FILE)?, Vec::new())?;
        new.reversal = Reversal::Command { command: note.command.clone() };
    }
    let is_changed = new.reversal != note.reversal || new.memories != note.memories;
    Ok(is_changed.then_some(new))
}

/// The runs of a store, the newest first, also within one second.
pub fn ordered_runs(store: &Store) -> Result<Vec<RunId>, FsError> {
    let mut runs = Vec::new();
    for run in list(store)? {
        let sequence = read_note(store, &run)?.map_or(0, |note| note.sequence);
        runs.push((run.stamp().to_owned(), sequence, run));
    }
    runs.sort_by(|a, b| b.cmp(a));
    Ok(runs.into_iter().map(|(_, _, run)| run).collect())
}

/// The changes of a store, the newest first.
pub fn changes(store: &Store) -> Result<Vec<StoredChange>, FsError> {
    let mut by_id: BTreeMap<String, StoredChange> = BTreeMap::new();
    let mut runs = Vec::new();
    for run in list(store)? {
        let change = match read_note(store, &run)? {
            Some(note) => of_note(&run, note),
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

fn of_note(run: &RunId, note: ChangeNote) -> StoredChange {
    StoredChange {
        id: note.change,
        command: note.command,
        at: note.at,
        sequence: note.sequence,
        counts: note.counts,
        memories: note.memories,
        reversal: note.reversal,
        runs: vec![run.clone()],
        undoes: note.undoes,
        undone_by: None,
        is_own: true,
    }
}

/// A run of an older version, or of a stranger: all that is known is its name.
fn without_note(store: &Store, run: &RunId) -> Result<StoredChange, FsError> {
    /// What an undo of an older version says of what it took back.
    #[derive(Deserialize)]
    struct Undo {
        of: String,
    }

    let actions = run.folder()?.join(run.actions_file())?;
    let bytes = match run.is_of(RunMode::Undo) {
        true => store.scope().read_optional(&actions, MAX_ARTIFACT_BYTES).unwrap_or_default(),
        false => None,
    };
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

/// Adds a later run to a change.
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

/// Says of each change which undo took it back, unless that was taken back itself.
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
