//! Runs: their names, their flat folders, and what is kept of them.
//!
//! A run's folder is written in the same change set as its memories, so a kill leaves both or none. What it did and
//! what was there before stand in it, which is all that `undo` needs.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use nacre_core::base::ContentHash;
use nacre_core::memory::{MemoryError, MemoryId, PlannedChange, Store};
use nacre_core::safefs::{EntryKind, FsError, RelPath, Writer};
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// Where run folders lie.
pub const WORKSPACE: &str = "workspace";

/// What every run of a sync leaves behind.
pub const ARTIFACTS: &[&str] = &[
    "extract.json",
    "summary.json",
    "memory_actions.json",
    METRICS_FILE,
    "agent.log",
    "subagents.log",
    "session.log",
];

/// What a run took.
pub(super) const METRICS_FILE: &str = "metrics.json";

/// The session of a lead inside another program, where it is kept.
pub(super) const LEAD_SESSION_FILE: &str = "lead-session.jsonl";

/// The note about the change that a run belongs to.
pub(super) const CHANGE_FILE: &str = "change.json";

/// The text that a command replaced.
pub(super) const TEXT_FILE: &str = "before.txt";

/// What a run did and what was there before.
pub(super) const UNDO_FILE: &str = "undo.json";

/// The version of that file.
const PLAN_VERSION: u32 = 1;

/// Counters of this machine, which go on while a run waits to be undone.
pub(super) const LOCAL_STATE: &str = "meta/state/";

/// Larger files are not ours. A sync changes a handful of memories; a maintenance, and what undoes it, may change all of them.
pub(super) const MAX_ARTIFACT_BYTES: u64 = 8 << 20;
const MAX_UNDO_BYTES: u64 = 8 << 20;
const MAX_MAINTENANCE_UNDO_BYTES: u64 = 64 << 20;

/// Fewer characters of a short id name too many runs.
const MIN_SHORT: usize = 4;

/// A plan with more steps is not ours.
const MAX_UNDO_STEPS: usize = 50_000;

/// What a run is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunMode {
    Sync,
    /// A sync of a session that just ended.
    Hot,
    /// A sync of sessions from before Nacre was there.
    Cold,
    Maintain,
    Undo,
    /// A person added, changed or removed memories.
    Memory,
    /// A person accepted or rejected candidates.
    Review,
    Import,
    /// A person connected agents, or disconnected them.
    Connect,
    /// A person changed a setting.
    Config,
    /// A person wrote memories into a file of instructions.
    Export,
    /// A person changed the register of projects.
    Project,
    /// A person trusted memories that came from elsewhere.
    Trust,
}

impl RunMode {
    pub const ALL: [Self; 13] = [
        Self::Sync,
        Self::Hot,
        Self::Cold,
        Self::Maintain,
        Self::Undo,
        Self::Memory,
        Self::Review,
        Self::Import,
        Self::Connect,
        Self::Config,
        Self::Export,
        Self::Project,
        Self::Trust,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sync => "sync",
            Self::Hot => "hot",
            Self::Cold => "cold",
            Self::Maintain => "maintain",
            Self::Undo => "undo",
            Self::Memory => "memory",
            Self::Review => "review",
            Self::Import => "import",
            Self::Connect => "connect",
            Self::Config => "config",
            Self::Export => "export",
            Self::Project => "project",
            Self::Trust => "trust",
        }
    }
}

/// The name of a run: `<mode>-<YYYYMMDD-HHMMSS>-<shortid>`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunId(String);

impl RunId {
    /// The run of `mode` at `now` over this input: the same input at the same time is the same run.
    pub fn new(mode: RunMode, now: Timestamp, input: &str) -> Self {
        let stamp = now.to_zoned(TimeZone::UTC).strftime("%Y%m%d-%H%M%S").to_string();
        let short = &ContentHash::of(input.as_bytes()).short()[..8];
        Self(format!("{}-{stamp}-{short}", mode.as_str()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its folder below a store.
    pub fn folder(&self) -> Result<RelPath, FsError> {
        RelPath::new(&format!("{WORKSPACE}/{}", self.0))
    }

    pub(super) fn mode(&self) -> &str {
        self.0.split('-').next().unwrap_or_default()
    }

    /// Day, time of day and short id.
    fn tail(&self) -> &str {
        self.0.split_once('-').map_or(&self.0, |(_, rest)| rest)
    }

    /// Day and time of day: the second in which it was made.
    pub(super) fn stamp(&self) -> &str {
        self.tail().rsplit_once('-').map_or("", |(stamp, _)| stamp)
    }

    fn short(&self) -> &str {
        self.0.rsplit('-').next().unwrap_or_default()
    }

    /// When it was made; the beginning of time where its name tells none.
    pub fn time(&self) -> Timestamp {
        let time = DateTime::strptime("%Y%m%d-%H%M%S", self.stamp());
        let zoned = time.and_then(|time| time.to_zoned(TimeZone::UTC));
        zoned.map_or(Timestamp::UNIX_EPOCH, |zoned| zoned.timestamp())
    }

    /// Whether `text` is the start or the end of its name, or the start of its short id.
    pub fn is_named(&self, text: &str) -> bool {
        let is_short = || text.len() >= MIN_SHORT && self.short().starts_with(text);
        !text.is_empty() && (self.0.starts_with(text) || self.tail().ends_with(text) || is_short())
    }

    pub fn is_of(&self, mode: RunMode) -> bool {
        self.mode() == mode.as_str()
    }

    /// The file with what it did and why.
    pub fn actions_file(&self) -> &'static str {
        if self.is_of(RunMode::Maintain) { "maintain_actions.json" } else { "memory_actions.json" }
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A text that names no run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a run; one looks like `sync-20261115-083000-1a2b3c4d`", nacre_core::base::ShownLine(.0))]
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

impl TryFrom<String> for RunId {
    type Error = BadRunId;

    fn try_from(text: String) -> Result<Self, BadRunId> {
        text.parse()
    }
}

impl From<RunId> for String {
    fn from(id: RunId) -> Self {
        id.0
    }
}

/// The runs of a store, newest first.
pub fn list(store: &Store) -> Result<Vec<RunId>, FsError> {
    let entries = store.scope().list(&RelPath::new(WORKSPACE)?)?;
    let folders = entries.into_iter().filter(|entry| entry.kind == EntryKind::Folder);
    let mut runs: Vec<RunId> = folders.filter_map(|entry| entry.name.parse().ok()).collect();
    runs.sort_by(|a, b| b.tail().cmp(a.tail()).then_with(|| b.cmp(a)));
    Ok(runs)
}

/// Removes all but the newest `keep` run folders of each mode.
pub fn prune(store: &Store, writer: &Writer<'_>, keep: usize) -> Result<usize, FsError> {
    let runs = list(store)?;
    let mut n_removed = 0;
    for mode in RunMode::ALL {
        let of_mode = runs.iter().filter(|run| run.mode() == mode.as_str());
        for run in of_mode.skip(keep) {
            writer.remove_derived_folder(&run.folder()?)?;
            n_removed += 1;
        }
    }
    Ok(n_removed)
}

/// What a run did to the files that can be taken back.
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
    /// What of a plan can be taken back: memories and their evidence. Counters are this machine's, and what was
    /// read stays read, so that the next sync does not bring back what a person undid.
    pub fn of(plan: &[PlannedChange]) -> Self {
        Self::below(&["memory/", "meta/evidence/"], plan)
    }

    /// What of the plan of a maintenance can be taken back: what was counted stands in other files afterwards, so
    /// that has to go back, too.
    pub fn of_maintenance(plan: &[PlannedChange]) -> Self {
        Self::below(&["memory/", "meta/evidence/", LOCAL_STATE], plan)
    }

    /// What of the plan of a person's command can be taken back. A rejected candidate may come back, so its tombstone goes.
    pub fn of_command(plan: &[PlannedChange]) -> Self {
        Self::below(&["memory/", "meta/evidence/", LOCAL_STATE, "meta/tombstones/"], plan)
    }

    fn below(tops: &[&str], plan: &[PlannedChange]) -> Self {
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

    /// The plan that a run left; a file that is not a plan is refused whole.
    pub fn read(store: &Store, id: &RunId) -> Result<Option<Self>, UndoError> {
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

    /// The plan without the memories that are or name `id`; `None` where there are none.
    pub(super) fn without(&self, id: &MemoryId) -> Option<Self> {
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

    /// The changes, as they were made.
    pub fn changes(&self) -> Vec<PlannedChange> {
        let bytes = |text: &Option<String>| text.as_ref().map(|text| text.clone().into_bytes());
        let change = |step: &UndoStep| PlannedChange {
            path: step.path.clone(),
            before: bytes(&step.before),
            after: bytes(&step.after),
        };
        self.changes.iter().map(change).collect()
    }

    /// Its file in the folder of `id`, and what stands in it.
    pub fn file(&self, id: &RunId) -> Result<(RelPath, Vec<u8>), FsError> {
        Ok((id.folder()?.join(UNDO_FILE)?, pretty(self)))
    }
}

/// The memory that a path belongs to.
pub(super) fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split('.').next().unwrap_or(name)
}

/// Reads the steps of a plan one by one, and no more than there can be.
fn at_most_steps<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<UndoStep>, D::Error> {
    struct Steps;

    impl<'de> Visitor<'de> for Steps {
        type Value = Vec<UndoStep>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "at most {MAX_UNDO_STEPS} steps")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Self::Value, A::Error> {
            let mut steps = Vec::new();
            while let Some(step) = from.next_element()? {
                if steps.len() == MAX_UNDO_STEPS {
                    return Err(serde::de::Error::invalid_length(steps.len() + 1, &self));
                }
                steps.push(step);
            }
            Ok(steps)
        }
    }

    from.deserialize_seq(Steps)
}

/// JSON as it stands in run folders.
pub fn pretty<T: Serialize>(value: &T) -> Vec<u8> {
    // Our own plain types; serialising them cannot fail.
    let mut json = serde_json::to_vec_pretty(value).unwrap_or_default();
    json.push(b'\n');
    json
}

/// A file that is no longer what a change made of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedSince {
    pub path: String,
    /// The later change that it is of; `None` where somebody edited the file.
    pub by: Option<String>,
}

/// Why a run could not be taken back.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    #[error("No run is named `{}`", nacre_core::base::ShownLine(.0))]
    Unknown(String),
    #[error("`{}` is the start of {n_found} runs", nacre_core::base::ShownLine(id))]
    Ambiguous { id: String, n_found: usize },
    #[error("`{}` changed no memory", nacre_core::base::ShownLine(.0))]
    Nothing(String),
    #[error("`{}` is undone already, by `{by}`", nacre_core::base::ShownLine(id))]
    AlreadyUndone { id: String, by: String },
    #[error("`{}` cannot be undone: `forget` keeps nothing of what it removes", nacre_core::base::ShownLine(.0))]
    Gone(String),
    #[error("`{}` is not undone here", nacre_core::base::ShownLine(id))]
    OtherCommand { id: String, command: String },
    #[error("The run `{id}` cannot be undone: what it left is not an undo plan")]
    BadPlan { id: RunId, source: serde_json::Error },
    #[error("`{}` cannot be undone: its files were changed since", nacre_core::base::ShownLine(id))]
    Changed {
        id: String,
        files: Vec<ChangedSince>,
        /// Whether something else of it can be put back.
        has_rest: bool,
    },
    #[error(transparent)]
    Memory(#[from] MemoryError),
    #[error(transparent)]
    Fs(#[from] FsError),
}

/// The run whose name starts with `text`.
pub fn find(store: &Store, text: &str) -> Result<RunId, UndoError> {
    let runs = list(store)?;
    let mut found: Vec<RunId> = runs.into_iter().filter(|run| run.is_named(text)).collect();
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(UndoError::Unknown(text.to_owned())),
        n_found => Err(UndoError::Ambiguous { id: text.to_owned(), n_found }),
    }
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
        assert!(error.contains("at most 50000 steps"), "{error}");
    }

    #[test]
    fn only_runs_are_runs() {
        for text in ["", "sync", "sync-2026-083000-abcdef12", "../x", "sync-20261115-083000-xyz"] {
            assert!(text.parse::<RunId>().is_err(), "{text}");
        }
    }
}
