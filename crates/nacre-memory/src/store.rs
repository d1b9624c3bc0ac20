//! Reads a store: finds memories, computes their trust levels, and reports broken files.

use std::io::ErrorKind;
use std::sync::atomic::AtomicUsize;

use nacre_base::LocalNames;
use nacre_base::fs::FsAction;
use nacre_base::git::GitProgram;
use nacre_base::redact::ExtraWords;

use super::document::Broken;
use super::layout;
use super::ledger::{Ledger, LedgerPlace};
use super::record::RecordFault;
use super::tombstone;
use crate::prelude::*;

const DEFAULT_FILE_BYTES: u64 = 64 * 1024;

/// Longer IDs are invalid, and messages show only their beginning.
const MAX_SHOWN_ID: usize = 96;

/// How many times to try reading a memory that is being moved at the same time.
const MAX_LOOKS: usize = 5;

const MAX_NEAREST: usize = 3;

/// The memories of a project, or the user's personal memories.
#[derive(Debug)]
pub struct Store {
    scope: WriteScope,
    rules: Rules,
    extra: ExtraWords,
    pub(super) ledger: Ledger,
    /// How many bytes of foreign text have been checked for instructions.
    pub(super) n_judged: AtomicUsize,
}

#[derive(Clone, Debug)]
pub struct Rules {
    /// Larger files are reported but not read.
    pub max_file_bytes: u64,
    /// Text to redact in addition to detected secrets.
    pub redact_extra: Vec<String>,
    /// The names of this machine and its user, which are removed from all text in shared stores.
    pub local_names: Option<LocalNames>,
    pub index: IndexPlace,
    /// How long one command may update the index, or `None` if there is no limit. The next command
    /// continues the update.
    pub index_time: Option<Duration>,
    pub actor: Actor,
    /// Whether evidence makes a memory trusted even if it was written on another machine.
    pub trusts_evidence: bool,
    /// Whether the store is the user's personal directory, which is never part of a clone.
    pub is_personal: bool,
    pub hides_summaries: bool,
    /// Git, used to recognize the user's own edits. If `None`, no edits are attributed to the user.
    pub git: Option<GitProgram>,
    /// Where the trust ledger is. If `None`, trust levels are kept only in this process.
    pub ledger: Option<LedgerPlace>,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            max_file_bytes: DEFAULT_FILE_BYTES,
            redact_extra: Vec::new(),
            local_names: None,
            index: IndexPlace::default(),
            index_time: None,
            actor: Actor::Owner,
            trusts_evidence: false,
            is_personal: false,
            hides_summaries: false,
            git: None,
            ledger: None,
        }
    }
}

/// Where a store's index is. Because the index is trusted, an index inside a repository is never
/// read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum IndexPlace {
    /// Inside the store, if the store is personal.
    #[default]
    InStore,
    Below(PathBuf),
    /// In memory only; rebuilt for each command.
    Nowhere,
}

pub type Result<T, E = MemoryError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    #[error(transparent)]
    Fs(#[from] FsError),
    #[error("Memory `{}` not found", nacre_base::ShownLine(id))]
    Unknown { id: String, nearest: Vec<MemoryId> },
    #[error("`{}` matches the IDs of {n_found} memories", nacre_base::ShownLine(id))]
    Ambiguous { id: String, n_found: usize, nearest: Vec<MemoryId> },
    #[error("{n_files} files have the ID `{id}`")]
    Duplicate { id: MemoryId, n_files: usize },
    #[error("Cannot use the memory `{}`", .0.path)]
    Unreadable(#[source] Unreadable),
    #[error("A memory needs a title with at least one visible character")]
    EmptyTitle,
    #[error("The {what} is {size} bytes, which exceeds the limit of {limit}")]
    TooLong { what: &'static str, size: usize, limit: usize },
    #[error("The memory `{id}` is already archived")]
    AlreadyArchived { id: MemoryId },
    #[error("The memory `{id}` is not archived")]
    NotArchived { id: MemoryId },
    #[error("The summary `{id}` cannot be archived: summaries are a record of what happened")]
    SummaryNotArchivable { id: MemoryId },
    #[error("The summary `{id}` cannot be judged: it is a record of what happened")]
    SummaryNotJudged { id: MemoryId },
    #[error("The memory `{id}` is {}, not a candidate", status.as_str())]
    NotACandidate { id: MemoryId, status: Status },
    #[error("The memory `{id}` cannot be superseded: {reason}")]
    NotSupersedable { id: MemoryId, reason: &'static str },
    #[error("`{path}` is not a file of a run")]
    NotARunFile { path: RelPath },
    #[error("`{path}` cannot be undone: {reason}")]
    NotUndoable { path: RelPath, reason: &'static str },
    #[error("Only the user can {what} the memory `{id}`")]
    OwnerOnly { id: MemoryId, what: &'static str },
    #[error("The memory `{id}` contains the user's words; an agent cannot rewrite it")]
    UsersWords { id: MemoryId },
    #[error("`{path}` has no trust level")]
    NoLevel { path: RelPath },
    #[error("The review did not show the current version of the memory `{id}`: {why}")]
    NotShown { id: MemoryId, why: &'static str },
    #[error("Not a valid memory")]
    InvalidText(#[source] RecordFault),
    #[error("Cannot read the sidecar `{path}`")]
    Sidecar { path: RelPath, source: serde_json::Error },
}

#[derive(Debug, thiserror::Error)]
#[error("{fault}")]
pub struct Unreadable {
    pub path: RelPath,
    pub fault: UnreadableFault,
}

#[derive(Debug, thiserror::Error)]
pub enum UnreadableFault {
    #[error(transparent)]
    Record(#[from] RecordFault),
    #[error(transparent)]
    Fs(#[from] FsError),
    #[error("Store too large: the read limit was reached")]
    LeftOut,
}

impl Unreadable {
    pub fn reason(&self) -> String {
        match &self.fault {
            UnreadableFault::Record(fault) => fault.reason(),
            fault @ (UnreadableFault::Fs(_) | UnreadableFault::LeftOut) => fault.to_string(),
        }
    }

    pub(super) fn is_gone(&self) -> bool {
        match &self.fault {
            UnreadableFault::Fs(error) => error.is_missing(),
            UnreadableFault::Record(_) | UnreadableFault::LeftOut => false,
        }
    }

    pub fn line(&self) -> Option<usize> {
        match &self.fault {
            UnreadableFault::Record(fault) => Some(fault.line()),
            UnreadableFault::Fs(_) | UnreadableFault::LeftOut => None,
        }
    }
}

impl Store {
    pub fn new(scope: WriteScope, rules: Rules) -> Self {
        let extra = ExtraWords::new(&rules.redact_extra);
        let ledger = Ledger::new(rules.ledger.clone());
        Self { scope, rules, extra, ledger, n_judged: AtomicUsize::new(0) }
    }

    /// Attributes changes to another actor. Only the owner can be replaced, so this never adds
    /// permissions.
    pub fn acting_as(mut self, actor: Actor) -> Self {
        if self.rules.actor == Actor::Owner {
            self.rules.actor = actor;
        }
        self
    }

    pub fn path(&self) -> &Path {
        self.scope.path()
    }

    pub fn scope(&self) -> &WriteScope {
        &self.scope
    }

    pub(crate) fn rules(&self) -> &Rules {
        &self.rules
    }

    pub fn hides(&self, at: &Located) -> bool {
        self.rules.hides_summaries && at.memory_type == MemoryType::Summary
    }

    pub fn words(&self) -> &ExtraWords {
        &self.extra
    }

    pub fn read_file(&self, path: &RelPath) -> Result<Vec<u8>> {
        Ok(self.scope.read(path, self.rules.max_file_bytes)?)
    }

    /// Completes or reverts a change that an earlier process left unfinished. Returns quickly if
    /// every change is complete, and does nothing while another process is writing.
    pub fn settle(&self, owner: &Owner) -> Result<()> {
        // A store that is not writable can still be read.
        let is_denied = |error: &FsError| {
            matches!(
                error.io_kind(),
                Some(ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
            )
        };
        match self.scope.is_interrupted() {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            Err(error) if is_denied(&error) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        match self.scope.lock(owner, Duration::ZERO) {
            Ok(_) | Err(FsError::Busy { .. }) => Ok(()),
            Err(FsError::Io { action: FsAction::Lock, .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads a memory by its ID or a unique prefix of it.
    pub fn get(&self, id: &str) -> Result<Memory> {
        let mut n_looks = 0;
        loop {
            n_looks += 1;
            let at = self.locate(id)?;
            match self.scope.read(&at.path, self.rules.max_file_bytes) {
                // The memory was archived or restored in the meantime, so locate it again.
                Err(error) if error.is_missing() && n_looks < MAX_LOOKS => {}
                bytes => return memory_of(&at, bytes).map_err(MemoryError::Unreadable),
            }
        }
    }

    /// Finds a memory's file, even if it is broken.
    pub fn locate(&self, id: &str) -> Result<Located> {
        if let Ok(id) = id.parse::<MemoryId>()
            && let Some(at) = self.locate_exactly(&id)?
            && !self.hides(&at)
        {
            return Ok(at);
        }
        let located = self.files()?.located;
        let is_meant = |at: &&Located| !id.is_empty() && at.id.as_str().starts_with(id);
        let mut matching: Vec<&Located> = located.iter().filter(is_meant).collect();
        // If two files have this ID, the active one is used.
        let mut seen = BTreeSet::new();
        matching.sort_by_key(|at| at.area);
        matching.retain(|at| seen.insert(&at.id));
        match matching.as_slice() {
            [at] => Ok((*at).clone()),
            [_, _, ..] => Err(MemoryError::Ambiguous {
                id: id.to_owned(),
                n_found: matching.len(),
                nearest: matching.iter().take(MAX_NEAREST).map(|at| at.id.clone()).collect(),
            }),
            _ => Err(MemoryError::Unknown {
                id: id.chars().take(MAX_SHOWN_ID).collect(),
                nearest: nearest(id, &located),
            }),
        }
    }

    pub fn evidence(&self, id: &MemoryId) -> Result<Option<Evidence>> {
        self.sidecar(layout::evidence_path(id)?)
    }

    pub(super) fn evidence_bytes(&self, id: &MemoryId) -> Result<Option<Vec<u8>>> {
        Ok(self.scope.read_optional(&layout::evidence_path(id)?, MAX_SIDECAR_BYTES)?)
    }

    /// Returns a memory's local state, if any. A repository could contain a forged state file, so
    /// `own` and the feedback are dropped unless they have a valid mark.
    pub fn state(&self, id: &MemoryId) -> Result<Option<LocalState>> {
        let state: Option<LocalState> = self.sidecar(layout::state_path(id)?)?;
        Ok(state.map(|state| match state.id == *id && self.is_marked(&state) {
            true => state,
            false => LocalState { own: false, mark: None, feedback: Vec::new(), ..state },
        }))
    }

    /// Returns the IDs of memories that were never offered on this machine. Skips memories whose
    /// state cannot be read.
    pub fn never_offered(&self, ids: &[MemoryId]) -> BTreeSet<MemoryId> {
        let is_new = |id: &&MemoryId| {
            self.state(id).is_ok_and(|state| state.is_none_or(|state| state.offered.is_none()))
        };
        ids.iter().filter(is_new).cloned().collect()
    }

    pub fn is_own(&self, id: &MemoryId) -> bool {
        self.state(id).ok().flatten().is_some_and(|state| state.own)
    }

    /// Returns whether evidence alone makes a memory trusted. Evidence can be forged, so each
    /// repository has its own setting.
    pub fn trusts_evidence(&self) -> bool {
        self.rules.trusts_evidence
    }

    /// Returns the keyed hash that proves that the user owns a memory.
    pub fn own_mark(&self, id: &MemoryId) -> Result<String> {
        self.mark(&mark_text(id, true))
    }

    pub(super) fn mark(&self, text: &str) -> Result<String> {
        let (action, path) = (FsAction::Write, self.path().to_owned());
        let marked = self.scope.mark(text);
        Ok(marked.map_err(|source| FsError::Io { action, path, source })?)
    }

    /// Returns the keyed hash that protects feedback on a memory that the user does not own, or
    /// `None` if there is no key.
    pub(super) fn feedback_mark(&self, state: &LocalState) -> Option<String> {
        self.scope.mark(&mark_text(&state.id, false)).ok()
    }

    pub(super) fn is_marked(&self, state: &LocalState) -> bool {
        let mark = state.mark.as_deref();
        mark.is_some_and(|mark| self.scope.is_marked(&mark_text(&state.id, state.own), mark))
    }

    /// Returns `text` with secrets redacted, because users may add secrets to a file by hand.
    pub fn redact_text(&self, text: &str) -> String {
        redact_counting(&self.extra, text, &mut Redactions::new())
    }

    /// Returns `text` without the names of this machine, its directories and its user.
    pub fn shareable<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match &self.rules.local_names {
            Some(names) => names.remove_from(text),
            None => Cow::Borrowed(text),
        }
    }

    /// Returns whether the user removed this claim. Such a claim must not be added again
    /// automatically.
    pub fn is_forgotten(&self, title: &str, body: &str) -> Result<bool> {
        Ok(self.scope.has(&tombstone::path(self.claim_hash(title, body))?)?)
    }

    /// Returns a hash that identifies a claim, ignoring case, spacing and punctuation.
    pub fn claim_hash(&self, title: &str, body: &str) -> ContentHash {
        tombstone::claim_hash(&self.shareable(title), &self.shareable(body))
    }

    fn sidecar<T: serde::de::DeserializeOwned>(&self, path: RelPath) -> Result<Option<T>> {
        let Some(bytes) = self.scope.read_optional(&path, MAX_SIDECAR_BYTES)? else {
            return Ok(None);
        };
        serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|source| MemoryError::Sidecar { path, source })
    }

    pub(super) fn locate_exactly(&self, id: &MemoryId) -> Result<Option<Located>, FsError> {
        Ok(self.places(id)?.into_iter().next())
    }

    /// Returns all files with this ID, the active one first. Normally, there is at most one such
    /// file.
    pub fn places(&self, id: &MemoryId) -> Result<Vec<Located>, FsError> {
        let mut places = Vec::new();
        for (memory_type, area, _) in layout::claim_folders() {
            let path = layout::claim_path(memory_type, area, id)?;
            if self.scope.has(&path)? {
                places.push(Located { id: id.clone(), memory_type, area, path });
            }
        }
        for time in self.scope.list(&RelPath::new(&format!("memory/summaries/{}", id.date()))?)? {
            let Ok(path) = layout::summary_path(id, &time.name) else { continue };
            if time.kind == EntryKind::Folder && self.scope.has(&path)? {
                let (memory_type, area) = (MemoryType::Summary, StoreArea::Active);
                places.push(Located { id: id.clone(), memory_type, area, path });
            }
        }
        places.sort_by_key(|at| at.area);
        Ok(places)
    }
}

pub(super) fn display_mark_text(memory: &Memory) -> String {
    let hash = ContentHash::of(memory.document.as_str().as_bytes());
    format!("shown memory {} {hash}", memory.at.id)
}

fn mark_text(id: &MemoryId, is_own: bool) -> String {
    let what = if is_own { "own memory" } else { "feedback on" };
    format!("{what} {id}")
}

pub(super) fn memory_of(
    at: &Located,
    bytes: Result<Vec<u8>, FsError>,
) -> Result<Memory, Unreadable> {
    let read = bytes.map_err(UnreadableFault::from).and_then(|bytes| {
        let document =
            Document::from_bytes(bytes).map_err(|broken: Broken| RecordFault::from(broken))?;
        Ok(Memory::read(at.clone(), document)?)
    });
    read.map_err(|fault| Unreadable { path: at.path.clone(), fault })
}

fn nearest(id: &str, located: &[Located]) -> Vec<MemoryId> {
    if id.len() > MAX_SHOWN_ID {
        return Vec::new();
    }
    let likeness = |at: &Located| {
        let whole = strsim::normalized_damerau_levenshtein(id, at.id.as_str());
        let slug = strsim::normalized_damerau_levenshtein(id, at.id.slug());
        let contained = if !id.is_empty() && at.id.as_str().contains(id) { 0.8 } else { 0.0 };
        whole.max(slug).max(contained)
    };
    let mut scored: Vec<(f64, &Located)> =
        located.iter().map(|at| (likeness(at), at)).filter(|(score, _)| *score > 0.4).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.id.cmp(&b.1.id)));
    scored.into_iter().take(MAX_NEAREST).map(|(_, at)| at.id.clone()).collect()
}

pub type Redactions = BTreeMap<&'static str, usize>;

pub(super) fn redact_counting(extra: &ExtraWords, text: &str, found: &mut Redactions) -> String {
    let clean = extra.redact_counted(text);
    for (kind, n_found) in clean.hits {
        *found.entry(kind).or_default() += n_found;
    }
    clean.text.into_owned()
}
