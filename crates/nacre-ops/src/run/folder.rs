//! Defines run ids, run directories and undo plans. A run directory is committed together with the
//! run's memories, so that a crash cannot leave only one of them.

use std::str::FromStr;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use nacre_base::fs::{EntryKind, Writer};
use nacre_memory::{Batch, MemoryError, PlannedChange};
use nacre_types::{KeptFile, RunMode};
use serde::{Deserialize, Deserializer, Serialize};

use crate::prelude::*;

pub const WORKSPACE: &str = "workspace";

/// Maintenance runs use a different file name.
pub(crate) const ACTIONS_FILE: &str = "memory_actions.json";

pub(crate) const METRICS_FILE: &str = "metrics.json";

pub(crate) const CHANGE_FILE: &str = "change.json";

pub(crate) const TEXT_FILE: &str = "before.txt";

const UNDO_FILE: &str = "undo.json";

const PLAN_VERSION: u32 = 1;

/// The directory for local counters, whose values can change between a run and its undo.
pub(crate) const LOCAL_STATE: &str = "meta/state/";

/// Maximum size of a file in a run directory. Nacre writes no larger files. Maintenance runs have a
/// higher limit, because they can change every memory in a store.
pub(crate) const MAX_ARTIFACT_BYTES: u64 = 8 << 20;
const MAX_UNDO_BYTES: u64 = 8 << 20;
const MAX_MAINTENANCE_UNDO_BYTES: u64 = 64 << 20;

/// Minimum length of a prefix. A shorter prefix would match too many runs.
const MIN_SHORT: usize = 4;

/// Maximum number of steps in a plan written by Nacre.
const MAX_UNDO_STEPS: usize = 50_000;

/// An id in the form `<mode>-<YYYYMMDD-HHMMSS>-<shortid>`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunId(String);

impl RunId {
    /// Creates an id. The same mode, time and input always produce the same id.
    pub fn new(mode: RunMode, now: Timestamp, input: &str) -> Self {
        let stamp = now.to_zoned(TimeZone::UTC).strftime("%Y%m%d-%H%M%S").to_string();
        let short = &ContentHash::of(input.as_bytes()).short()[..8];
        Self(format!("{}-{stamp}-{short}", mode.as_str()))
    }

    pub fn folder(&self) -> Result<RelPath, FsError> {
        RelPath::new(&format!("{WORKSPACE}/{}", self.0))
    }

    pub(crate) fn mode(&self) -> &str {
        self.0.split('-').next().unwrap_or_default()
    }

    fn tail(&self) -> &str {
        self.0.split_once('-').map_or(&self.0, |(_, rest)| rest)
    }

    pub(crate) fn stamp(&self) -> &str {
        self.tail().rsplit_once('-').map_or("", |(stamp, _)| stamp)
    }

    fn short(&self) -> &str {
        self.0.rsplit('-').next().unwrap_or_default()
    }

    /// Returns the time contained in the id, or the Unix epoch if it contains no time.
    pub fn time(&self) -> Timestamp {
        let time = DateTime::strptime("%Y%m%d-%H%M%S", self.stamp());
        let zoned = time.and_then(|time| time.to_zoned(TimeZone::UTC));
        zoned.map_or(Timestamp::UNIX_EPOCH, |zoned| zoned.timestamp())
    }

    /// Returns whether `text` is a prefix or suffix of the id, or a prefix of its short id.
    pub fn is_named(&self, text: &str) -> bool {
        let is_short = || text.len() >= MIN_SHORT && self.short().starts_with(text);
        !text.is_empty() && (self.0.starts_with(text) || self.tail().ends_with(text) || is_short())
    }

    pub fn is_of(&self, mode: RunMode) -> bool {
        self.mode() == mode.as_str()
    }

    pub fn actions_file(&self) -> &'static str {
        if self.is_of(RunMode::Maintain) { "maintain_actions.json" } else { ACTIONS_FILE }
    }
}

nacre_base::text_type!(RunId);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a valid run id; expected an id such as `sync-20261115-083000-1a2b3c4d`", nacre_base::ShownLine(.0))]
pub struct BadRunId(pub String);

impl FromStr for RunId {
    type Err = BadRunId;

    fn from_str(text: &str) -> Result<Self, BadRunId> {
        let parts: Vec<&str> = text.split('-').collect();
        let is_number = |part: &str, n: usize| {
            part.len() == n && part.bytes().all(|byte| byte.is_ascii_digit())
        };
        let is_run = matches!(parts.as_slice(), [mode, day, time, short]
            if RunMode::ALL.iter().any(|known| known.as_str() == *mode)
                && is_number(day, 8)
                && is_number(time, 6)
                && short.len() == 8
                && short.bytes().all(|byte| byte.is_ascii_hexdigit()));
        if is_run {
            Ok(Self(text.to_owned()))
        } else {
            Err(BadRunId(text.chars().take(80).collect()))
        }
    }
}

nacre_types::text_in_json!(RunId);

pub fn list(store: &Store) -> Result<Vec<RunId>, FsError> {
    let entries = store.scope().list(&RelPath::new(WORKSPACE)?)?;
    let folders = entries.into_iter().filter(|entry| entry.kind == EntryKind::Folder);
    let mut runs: Vec<RunId> = folders.filter_map(|entry| entry.name.parse().ok()).collect();
    runs.sort_by(|a, b| b.tail().cmp(a.tail()).then_with(|| b.cmp(a)));
    Ok(runs)
}

pub fn prune(store: &Store, writer: &Writer<'_>, keep: usize) -> Result<usize, FsError> {
    let runs = list(store)?;
    let mut n_removed = 0;
    for mode in RunMode::ALL.iter().copied() {
        let of_mode = runs.iter().filter(|run| run.mode() == mode.as_str());
        for run in of_mode.skip(keep) {
            writer.remove_derived_folder(&run.folder()?)?;
            n_removed += 1;
        }
    }
    Ok(n_removed)
}

/// Covers memories and evidence, but not local counters. The session remains marked as read, so
/// that the next sync does not restore what was undone.
pub(crate) const OF_SYNC: &[&str] = &["memory/", "meta/evidence/"];

/// Also includes local counters, because maintenance moves them between files.
pub(crate) const OF_MAINTENANCE: &[&str] = &["memory/", "meta/evidence/", LOCAL_STATE];

/// Also includes tombstones, so that undoing a rejection removes its tombstone.
pub(crate) const OF_COMMAND: &[&str] =
    &["memory/", "meta/evidence/", LOCAL_STATE, "meta/tombstones/"];

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct UndoPlan {
    version: u32,
    #[serde(deserialize_with = "at_most_steps")]
    changes: Vec<UndoStep>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct UndoStep {
    path: RelPath,
    before: Option<String>,
    after: Option<String>,
}

impl UndoPlan {
    /// Returns the undo plan for the files below `tops`.
    pub fn of(plan: &[PlannedChange], tops: &[&str]) -> Self {
        let is_undone =
            |change: &&PlannedChange| tops.iter().any(|top| change.path.as_str().starts_with(top));
        let text = |bytes: &Option<Vec<u8>>| {
            bytes.as_ref().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        };
        let step = |change: &PlannedChange| UndoStep {
            path: change.path.clone(),
            before: text(&change.before),
            after: text(&change.after),
        };
        Self { version: PLAN_VERSION, changes: plan.iter().filter(is_undone).map(step).collect() }
    }

    /// Reads a run's undo plan. Returns an error if any part of the plan is invalid.
    pub fn read(store: &Store, id: &RunId) -> Result<Option<Self>> {
        let path = id.folder()?.join(UNDO_FILE)?;
        let is_of_session =
            [RunMode::Sync, RunMode::Hot, RunMode::Cold].iter().any(|mode| id.is_of(*mode));
        let limit = if is_of_session { MAX_UNDO_BYTES } else { MAX_MAINTENANCE_UNDO_BYTES };
        let Some(bytes) = store.scope().read_optional(&path, limit)? else {
            return Ok(None);
        };
        let bad = |source| UndoError::BadPlan { id: id.clone(), source };
        let plan: Self = serde_json::from_slice(&bytes).map_err(bad)?;
        match plan.version {
            PLAN_VERSION => Ok(Some(plan)),
            version => Err(bad(serde::de::Error::custom(format!("unknown version {version}")))),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Returns the plan without the memory `id`. Returns `None` if no step belongs to or mentions
    /// this memory.
    pub(crate) fn without(&self, id: &MemoryId) -> Option<Self> {
        let says =
            |text: &Option<String>| text.as_ref().is_some_and(|text| text.contains(id.as_str()));
        let names = |step: &&UndoStep| says(&step.before) || says(&step.after);
        let mut left_out: BTreeSet<&str> =
            self.changes.iter().filter(names).map(|step| stem(step.path.as_str())).collect();
        left_out.insert(id.as_str());
        let is_other = |step: &&UndoStep| !left_out.contains(stem(step.path.as_str()));
        let rest: Vec<UndoStep> = self.changes.iter().filter(is_other).cloned().collect();
        let is_less = rest.len() != self.changes.len();
        is_less.then_some(Self { version: self.version, changes: rest })
    }

    pub fn changes(&self) -> Vec<PlannedChange> {
        let bytes = |text: &Option<String>| text.as_ref().map(|text| text.clone().into_bytes());
        let change = |step: &UndoStep| PlannedChange {
            path: step.path.clone(),
            before: bytes(&step.before),
            after: bytes(&step.after),
        };
        self.changes.iter().map(change).collect()
    }

    pub fn file(&self, id: &RunId) -> Result<(RelPath, Vec<u8>), FsError> {
        Ok((id.folder()?.join(UNDO_FILE)?, pretty(self)))
    }
}

/// Returns the file stem, which is the memory id for every file that belongs to a memory.
pub(crate) fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split('.').next().unwrap_or(name)
}

fn at_most_steps<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<UndoStep>, D::Error> {
    let steps = Vec::<UndoStep>::deserialize(from)?;
    if steps.len() > MAX_UNDO_STEPS {
        let message = format!("{} steps, but at most {MAX_UNDO_STEPS} are supported", steps.len());
        return Err(serde::de::Error::custom(message));
    }
    Ok(steps)
}

pub fn pretty<T: Serialize>(value: &T) -> Vec<u8> {
    // Serializing these plain types cannot fail.
    let mut json = serde_json::to_vec_pretty(value).unwrap_or_default();
    json.push(b'\n');
    json
}

pub(crate) type Result<T, E = UndoError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    #[error("Run `{}` not found", nacre_base::ShownLine(.0))]
    Unknown(String),
    #[error("`{}` matches {n_found} runs", nacre_base::ShownLine(id))]
    Ambiguous { id: String, n_found: usize },
    #[error("`{}` did not change any memories", nacre_base::ShownLine(.0))]
    Nothing(String),
    #[error("`{}` has already been undone by `{by}`", nacre_base::ShownLine(id))]
    AlreadyUndone { id: String, by: String },
    #[error("`{}` cannot be undone: `forget` does not keep what it removes", nacre_base::ShownLine(.0))]
    Gone(String),
    #[error("`{}` cannot be undone with this command", nacre_base::ShownLine(id))]
    OtherCommand { id: String, command: String },
    #[error("Run `{id}` cannot be undone: its undo plan is invalid")]
    BadPlan { id: RunId, source: serde_json::Error },
    #[error("`{}` cannot be undone: its files have changed since", nacre_base::ShownLine(id))]
    Changed { id: String, files: Vec<KeptFile>, has_rest: bool },
    #[error(transparent)]
    Memory(#[from] MemoryError),
    #[error(transparent)]
    Fs(#[from] FsError),
}

pub fn find(store: &Store, text: &str) -> Result<RunId> {
    let runs = list(store)?;
    let mut found: Vec<RunId> = runs.into_iter().filter(|run| run.is_named(text)).collect();
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(UndoError::Unknown(text.to_owned())),
        n_found => Err(UndoError::Ambiguous { id: text.to_owned(), n_found }),
    }
}

const FORGOTTEN: &str = "[forgotten]";

/// Shorter strings are not removed, because they are likely to occur elsewhere by chance.
const MIN_BYTES: usize = 8;

/// The strings to remove, each with its replacement, longest first.
type SaidWords = Vec<(String, String)>;

/// Returns a memory's words. Must be called before the memory's file is removed.
pub(crate) fn said_words(store: &Store, id: &MemoryId) -> Result<SaidWords, MemoryError> {
    let memory = store.get(id.as_str())?;
    let evidence = store.evidence(id).ok().flatten();
    let quotes = evidence.iter().flat_map(|evidence| &evidence.quotes);
    let mut lines = vec![memory.title.as_str()];
    lines.extend(memory.document.body().lines());
    lines.extend(quotes.flat_map(|quote| quote.text.lines()));
    // A heading or list item may also occur elsewhere without its marker.
    let lines = lines.into_iter().map(|line| line.trim_start_matches(['#', '-', '*', '>', ' ']));
    let mut words = vec![(id.to_string(), format!("{}-forgotten", id.date()))];
    for line in lines.map(str::trim).filter(|line| line.len() >= MIN_BYTES) {
        words.push((line.to_owned(), FORGOTTEN.to_owned()));
        // The text can also occur in JSON files, where some characters are escaped.
        let escaped = serde_json::Value::from(line).to_string();
        let escaped = escaped.trim_matches('"');
        if escaped != line {
            words.push((escaped.to_owned(), FORGOTTEN.to_owned()));
        }
    }
    // Longer strings are removed first, because they can contain shorter ones.
    words.sort_by_key(|(words, _)| std::cmp::Reverse(words.len()));
    words.dedup();
    Ok(words)
}

fn files_of(store: &Store, run: &RunId) -> Result<Vec<RelPath>, FsError> {
    let folder = run.folder()?;
    let entries = store.scope().list(&folder)?.into_iter();
    let files = entries.filter(|entry| entry.kind == EntryKind::File);
    files.map(|entry| folder.join(&entry.name)).collect()
}

/// Stages the removal of the given strings from run files. The caller is responsible for scrubbing
/// undo plans and change files.
pub(crate) fn stage_without(
    store: &Store,
    batch: &mut Batch<'_>,
    run: &RunId,
    words: &[(String, String)],
) -> Result<(), MemoryError> {
    for path in files_of(store, run)? {
        if [UNDO_FILE, CHANGE_FILE, TEXT_FILE].contains(&path.name()) {
            continue;
        }
        let bytes = match store.scope().read_optional(&path, MAX_ARTIFACT_BYTES) {
            // Nacre does not write files that are too large or not regular files.
            Err(FsError::TooLarge { .. } | FsError::NotAFile { .. }) => continue,
            bytes => bytes?.unwrap_or_default(),
        };
        let text = String::from_utf8_lossy(&bytes);
        let held: Vec<_> = words.iter().filter(|(said, _)| text.contains(said.as_str())).collect();
        if !held.is_empty() {
            let replace = |text: String, (said, with): &(String, String)| text.replace(said, with);
            let without = held.into_iter().fold(text.into_owned(), replace);
            batch.put_file(path, without.into_bytes())?;
        }
    }
    Ok(())
}

pub fn is_named_by_runs(store: &Store, id: &MemoryId) -> Result<bool, FsError> {
    for run in list(store)? {
        for path in files_of(store, &run)? {
            let bytes = store.scope().read_optional(&path, MAX_ARTIFACT_BYTES).ok().flatten();
            let text = bytes.unwrap_or_default();
            if String::from_utf8_lossy(&text).contains(id.as_str()) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_input_at_the_same_time_is_the_same_run() {
        let now: Timestamp = "2026-11-15T08:30:00Z".parse().unwrap();
        let id = RunId::new(RunMode::Sync, now, "a trace");
        assert_eq!(id, RunId::new(RunMode::Sync, now, "a trace"));
        assert_ne!(id, RunId::new(RunMode::Sync, now, "another"));
        assert!(id.as_str().starts_with("sync-20261115-083000-"), "{id}");
        assert_eq!(id.as_str().parse::<RunId>().unwrap(), id);
    }

    #[test]
    fn a_plan_has_so_many_steps_at_most() {
        let plan = |n_steps: usize| {
            let step = r#"{"path":"memory/decisions/a.md","before":null,"after":null}"#;
            format!(r#"{{"version":1,"changes":[{}]}}"#, vec![step; n_steps].join(","))
        };
        let read = |n_steps| serde_json::from_str::<UndoPlan>(&plan(n_steps));
        assert_eq!(read(MAX_UNDO_STEPS).unwrap().changes.len(), MAX_UNDO_STEPS);
        let error = read(MAX_UNDO_STEPS + 1).unwrap_err().to_string();
        assert!(error.contains("50001 steps, but at most 50000 are supported"), "{error}");
    }

    #[test]
    fn only_runs_are_runs() {
        for text in ["", "sync", "sync-2026-083000-abcdef12", "../x", "sync-20261115-083000-xyz"] {
            assert!(text.parse::<RunId>().is_err(), "{text}");
        }
    }
}
