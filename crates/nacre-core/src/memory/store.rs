//! Reading a store: where memories lie, what they say, and which files are broken.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use super::document::{Broken, Document};
use super::id::MemoryId;
use super::kinds::{MemoryType, Status};
use super::layout::{self, Located, StoreArea};
use super::ledger::{Ledger, LedgerPlace};
use super::record::{Memory, RecordFault};
use super::redactions::{Redactions, redacted};
use super::sidecar::{self, Evidence, MAX_SIDECAR_BYTES, State};
use super::tombstone;
use super::trust::Actor;
use crate::base::LocalNames;
use crate::base::redact::ExtraWords;
use crate::safefs::{EntryKind, FsAction, FsError, Owner, RelPath, WriteScope};

/// A memory is a page, not a book.
const DEFAULT_FILE_BYTES: u64 = 64 * 1024;

/// What is longer than this is no id, and would only fill the screen.
const MAX_SHOWN_ID: usize = 96;

/// How often a memory is looked for that is moved while it is read.
const MAX_LOOKS: usize = 5;

/// How many near ids an unknown one is answered with.
const MAX_NEAREST: usize = 3;

/// The memories of one project, or of a person.
#[derive(Debug)]
pub struct Store {
    scope: WriteScope,
    rules: Rules,
    /// `rules.redact_extra`, ready to be looked for.
    extra: ExtraWords,
    /// Which bytes this machine trusts.
    pub(super) ledger: Ledger,
    /// How much text from elsewhere was judged already.
    pub(super) n_judged: AtomicUsize,
}

/// What a store refuses to read and to write.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Larger files are reported, not read.
    pub max_file_bytes: u64,
    /// Texts that are redacted wherever they occur, besides what looks like a secret.
    pub redact_extra: Vec<String>,
    /// What is taken out of every text because others read it; nothing where nobody else does.
    pub local_names: Option<LocalNames>,
    /// Where the index lies.
    pub index: IndexPlace,
    /// How long one command may take to bring the index up to date; what is left waits for the next. `None`: as long as it takes.
    pub index_time: Option<Duration>,
    /// Who changes it.
    pub actor: Actor,
    /// Whether evidence counts whoever wrote the memory.
    pub trusts_evidence: bool,
    /// Whether it is a person's own folder, which comes with no clone.
    pub is_personal: bool,
    /// Where it is written down which memories this machine trusts; without it that ends with the process.
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
            ledger: None,
        }
    }
}

/// Where the index of a store lies. It is mapped and believed, so one that a repository brings is never read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum IndexPlace {
    /// In the store, which is the person's own.
    #[default]
    InStore,
    /// Below the person's own data.
    Below(PathBuf),
    /// On no disk: it is made in memory each time.
    Nowhere,
}

/// Why a store could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    #[error(transparent)]
    Fs(#[from] FsError),
    #[error("No memory is named `{}`", crate::base::ShownLine(id))]
    Unknown { id: String, nearest: Vec<MemoryId> },
    #[error("`{}` is the start of {n_found} memories' ids", crate::base::ShownLine(id))]
    Ambiguous { id: String, n_found: usize, nearest: Vec<MemoryId> },
    #[error("Cannot use the memory `{}`", .0.path)]
    Unreadable(#[source] Unreadable),
    #[error("A memory needs a title with at least one visible character")]
    EmptyTitle,
    #[error("The {what} has {size} bytes, more than the {limit} allowed")]
    TooLong { what: &'static str, size: usize, limit: usize },
    #[error("The memory `{id}` is archived already")]
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
    #[error("`{path}` is no file of a run")]
    NotARunFile { path: RelPath },
    #[error("`{path}` cannot be undone: {reason}")]
    NotUndoable { path: RelPath, reason: &'static str },
    #[error("Only the owner can trust or replace the memory `{id}`")]
    OwnerOnly { id: MemoryId },
    #[error("The memory `{id}` has the user's words; an agent cannot rewrite it")]
    UsersWords { id: MemoryId },
    #[error("`{path}` has no trust level")]
    NoLevel { path: RelPath },
    #[error("The text is not a memory")]
    InvalidText(#[source] RecordFault),
    #[error("Cannot read the sidecar `{path}`")]
    Sidecar { path: RelPath, source: serde_json::Error },
}

/// A file that is no memory, and the line that tells why.
#[derive(Debug, thiserror::Error)]
#[error("{fault}")]
pub struct Unreadable {
    pub path: RelPath,
    pub fault: UnreadableFault,
}

/// Why a file is no memory.
#[derive(Debug, thiserror::Error)]
pub enum UnreadableFault {
    #[error(transparent)]
    Record(#[from] RecordFault),
    #[error(transparent)]
    Fs(#[from] FsError),
    #[error("Not read: the store holds more than one command takes in")]
    LeftOut,
}

impl Unreadable {
    /// What is wrong, without the line.
    pub fn reason(&self) -> String {
        match &self.fault {
            UnreadableFault::Record(fault) => fault.reason(),
            fault @ (UnreadableFault::Fs(_) | UnreadableFault::LeftOut) => fault.to_string(),
        }
    }

    /// Whether the file was not there any more.
    pub(super) fn is_gone(&self) -> bool {
        match &self.fault {
            UnreadableFault::Fs(error) => error.is_missing(),
            UnreadableFault::Record(_) | UnreadableFault::LeftOut => false,
        }
    }

    /// The line to look at, where there is one.
    pub fn line(&self) -> Option<usize> {
        match &self.fault {
            UnreadableFault::Record(fault) => Some(fault.line()),
            UnreadableFault::Fs(_) | UnreadableFault::LeftOut => None,
        }
    }
}

impl Store {
    /// Takes a `.nacre/` folder as a store.
    pub fn new(scope: WriteScope, rules: Rules) -> Self {
        let extra = ExtraWords::new(&rules.redact_extra);
        let ledger = Ledger::new(rules.ledger.clone());
        Self { scope, rules, extra, ledger, n_judged: AtomicUsize::new(0) }
    }

    /// The same store, changed by somebody else than the owner.
    pub fn acting_as(mut self, actor: Actor) -> Self {
        if self.rules.actor == Actor::Owner {
            self.rules.actor = actor;
        }
        self
    }

    /// The folder it lies in.
    pub fn path(&self) -> &Path {
        self.scope.path()
    }

    /// That folder, to be read.
    pub fn scope(&self) -> &WriteScope {
        &self.scope
    }

    pub(crate) fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The words that are kept out of it, and out of what is made from it.
    pub fn words(&self) -> &ExtraWords {
        &self.extra
    }

    /// Reads a file of the store as it is.
    pub fn read_file(&self, path: &RelPath) -> Result<Vec<u8>, MemoryError> {
        Ok(self.scope.read(path, self.rules.max_file_bytes)?)
    }

    /// Finishes or takes back a change that an earlier process left halfway. Costs one look when
    /// there is none; while another process is writing, the change is its own.
    pub fn settle(&self, owner: &Owner) -> Result<(), MemoryError> {
        // Who may not write here, or cannot now, can still read.
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

    /// Reads one memory by its id, or by a prefix of it that no other id shares.
    pub fn get(&self, id: &str) -> Result<Memory, MemoryError> {
        let mut n_looks = 0;
        loop {
            n_looks += 1;
            let at = self.locate(id)?;
            match self.scope.read(&at.path, self.rules.max_file_bytes) {
                // Archived or restored since it was found: it is found again where it is now.
                Err(error) if error.is_missing() && n_looks < MAX_LOOKS => {}
                bytes => return memory_of(&at, bytes).map_err(MemoryError::Unreadable),
            }
        }
    }

    /// Finds the file of a memory, also of a broken one.
    pub fn locate(&self, id: &str) -> Result<Located, MemoryError> {
        if let Ok(id) = id.parse::<MemoryId>()
            && let Some(at) = self.locate_exactly(&id)?
        {
            return Ok(at);
        }
        let located = self.files()?.located;
        let is_meant = |at: &&Located| !id.is_empty() && at.id.as_str().starts_with(id);
        let mut matching: Vec<&Located> = located.iter().filter(is_meant).collect();
        // An id that stands twice is one: the file in use is meant.
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

    /// The evidence of a memory, where it has any.
    pub fn evidence(&self, id: &MemoryId) -> Result<Option<Evidence>, MemoryError> {
        self.sidecar(layout::evidence_path(id)?)
    }

    /// The bytes of a memory's evidence, where it has any.
    pub(super) fn evidence_bytes(&self, id: &MemoryId) -> Result<Option<Vec<u8>>, MemoryError> {
        Ok(self.scope.read_optional(&layout::evidence_path(id)?, MAX_SIDECAR_BYTES)?)
    }

    /// The local state of a memory, where it has any. It is `own` only where the person's mark says so: a repository can ship
    /// such a file, and no mark.
    pub fn state(&self, id: &MemoryId) -> Result<Option<State>, MemoryError> {
        let state: Option<State> = self.sidecar(layout::state_path(id)?)?;
        Ok(state.map(|state| match state.own && state.id == *id && self.is_marked(&state) {
            true => state,
            false => State { own: false, mark: None, ..state },
        }))
    }

    /// Those of the memories that were never offered to anybody on this machine, each once. A state that cannot be read
    /// is left alone.
    pub fn never_offered(&self, ids: &[MemoryId]) -> BTreeSet<MemoryId> {
        let is_new = |id: &&MemoryId| {
            self.state(id).is_ok_and(|state| state.is_none_or(|state| state.offered.is_none()))
        };
        ids.iter().filter(is_new).cloned().collect()
    }

    /// Whether this person wrote a memory with this program, or took it over.
    pub fn is_own(&self, id: &MemoryId) -> bool {
        self.state(id).ok().flatten().is_some_and(|state| state.own)
    }

    /// Whether evidence alone lets a memory speak unasked: it can be made up, so that only a person can say so of a repository.
    pub fn trusts_evidence(&self) -> bool {
        self.rules.trusts_evidence
    }

    /// The mark of a memory that is this person's own.
    pub fn own_mark(&self, id: &MemoryId) -> Result<String, MemoryError> {
        Ok(self.scope.mark(&marked(id)).map_err(|source| FsError::Io {
            action: FsAction::Write,
            path: self.path().to_owned(),
            source,
        })?)
    }

    pub(super) fn is_marked(&self, state: &State) -> bool {
        let mark = state.mark.as_deref();
        mark.is_some_and(|mark| self.scope.is_marked(&marked(&state.id), mark))
    }

    /// `text` as it may leave the store: a person may have written a secret into a file by hand.
    pub fn redacted(&self, text: &str) -> String {
        redacted(&self.extra, text, &mut Redactions::new())
    }

    /// `text` as others may read it: without what names this machine, its folders and its user.
    pub fn shareable<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match &self.rules.local_names {
            Some(names) => names.remove_from(text),
            None => Cow::Borrowed(text),
        }
    }

    /// Whether a person forgot this very claim: such a one must not come back by itself.
    pub fn is_forgotten(&self, title: &str, body: &str) -> Result<bool, MemoryError> {
        let (title, body) = (&self.shareable(title), &self.shareable(body));
        Ok(self.scope.has(&tombstone::path(tombstone::claim_hash(title, body))?)?)
    }

    fn sidecar<T: serde::de::DeserializeOwned>(
        &self,
        path: RelPath,
    ) -> Result<Option<T>, MemoryError> {
        let Some(bytes) = self.scope.read_optional(&path, MAX_SIDECAR_BYTES)? else {
            return Ok(None);
        };
        sidecar::parse(&bytes).map(Some).map_err(|source| MemoryError::Sidecar { path, source })
    }

    pub(super) fn locate_exactly(&self, id: &MemoryId) -> Result<Option<Located>, FsError> {
        Ok(self.places(id)?.into_iter().next())
    }

    /// Every place where a file of this id lies, the one in use first. There should be one at most.
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

/// What the mark of a person's own memory is made for.
fn marked(id: &MemoryId) -> String {
    format!("own memory {id}")
}

/// Reads a memory out of its file's bytes.
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

/// The ids most like `id`, best first.
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
