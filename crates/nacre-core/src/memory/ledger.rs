//! What this machine knows of the memories of a store: which bytes it trusts, and how far.
//!
//! One file a store in the person's own folder, outside every repository, so that nothing that can be cloned grants trust.
//! A memory is known by its id and the hash of its whole file, its evidence likewise: a file that something else changed is
//! not known any more. The ledger carries a keyed hash of its content; without the person's key it says nothing. It is read once by a command,
//! and only when a memory is about to be told; taken apart (`ledger_text.rs` looks lines up) only when it is written.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use super::id::MemoryId;
use super::ledger_text::{EVIDENCE, KeptLedgers, LedgerText, Version};
use super::trust::Trust;
use crate::base::ContentHash;
use crate::safefs::{Access, FsError, Owner, RelPath, WriteScope};

/// The folder of all ledgers, in the person's own folder.
const FOLDER: &str = "trust";

/// The first word of a ledger.
const HEADING: &str = "nacre-trust-1";

/// Ten thousand memories take about one.
const MAX_BYTES: u64 = 64 << 20;

/// Versions of one memory that are known: an undo or a checkout brings an earlier one back.
const MAX_VERSIONS: usize = 8;

/// Ledgers that are looked through for a store that has none yet.
const MAX_LEDGERS: usize = 256;

/// How long to wait for another command that writes a ledger.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where the ledger of a store lies.
#[derive(Clone, Debug)]
pub struct LedgerPlace {
    /// The person's own folder.
    home: PathBuf,
    /// The name of the file.
    name: String,
    /// Whether anything is written: a rehearsal leaves nothing behind.
    is_written: bool,
    /// Where a process with many calls keeps what it read.
    kept: Option<Arc<KeptLedgers>>,
}

impl LedgerPlace {
    /// The ledger of the store at `store`, kept in the person's own folder `home`.
    pub fn of_store(home: &Path, store: &Path) -> Self {
        let whole = std::fs::canonicalize(store);
        let store = whole.as_deref().unwrap_or(store);
        let hash = ContentHash::of(store.as_os_str().as_encoded_bytes());
        Self { home: home.to_owned(), name: hash.short(), is_written: true, kept: None }
    }

    /// The same, of which nothing is written.
    #[must_use]
    pub fn rehearsed(self) -> Self {
        Self { is_written: false, ..self }
    }

    /// The same, read anew only where it changed.
    #[must_use]
    pub fn kept_in(self, kept: Option<&Arc<KeptLedgers>>) -> Self {
        Self { kept: kept.map(Arc::clone), ..self }
    }

    fn file(&self) -> Result<RelPath, FsError> {
        RelPath::new(&self.name)
    }
}

/// Every known memory with its versions, the newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Entries {
    by_id: BTreeMap<String, Vec<Version>>,
    /// The evidence that this machine wrote or a person here agreed to, the newest first.
    evidence: BTreeMap<String, Vec<ContentHash>>,
    /// Whether there is a ledger for this store already.
    is_stored: bool,
}

/// What a process knows of a ledger.
#[derive(Debug)]
enum Known {
    /// There is none.
    Nothing,
    Stored(Arc<LedgerText>),
    /// What it says was changed by this process.
    Held(Entries),
}

/// What is to be entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// The bytes of a memory, and their level.
    Memory(MemoryId, Version),
    /// The bytes of a memory's evidence.
    Evidence(MemoryId, ContentHash),
    /// A memory is gone.
    Gone(MemoryId),
}

/// The ledger of one store.
#[derive(Debug)]
pub(super) struct Ledger {
    /// `None`: what this process wrote is known to this process.
    place: Option<LedgerPlace>,
    known: Mutex<Option<Known>>,
    elsewhere: OnceLock<KnownElsewhere>,
}

impl Ledger {
    pub(super) fn new(place: Option<LedgerPlace>) -> Self {
        Self { place, known: Mutex::new(None), elsewhere: OnceLock::new() }
    }

    /// What `judge` says of the text with this hash; a process with many calls asks once.
    pub(super) fn judgement(&self, text: ContentHash, judge: impl FnOnce() -> bool) -> bool {
        match self.place.as_ref().and_then(|place| place.kept.as_ref()) {
            Some(kept) => kept.judgement(text, judge),
            None => judge(),
        }
    }

    /// The level of these bytes of a memory; `None` where they are not known.
    pub(super) fn trust(&self, store: &WriteScope, id: &str, hash: ContentHash) -> Option<Trust> {
        let of_these = |version: &Version| version.hash == hash;
        self.with(store, |known| known.versions(id).into_iter().find(of_these))
            .map(|version| version.trust)
    }

    /// Whether a memory of this id is known, or nothing is: a store from before there were ledgers has none.
    pub(super) fn may_know(&self, store: &WriteScope, id: &str) -> bool {
        self.with(store, |known| match known {
            Known::Nothing => true,
            Known::Stored(text) => text.has(id),
            Known::Held(entries) => !entries.is_stored || entries.by_id.contains_key(id),
        })
    }

    /// The level that the memory last had, whatever its bytes are now.
    pub(super) fn last_trust(&self, store: &WriteScope, id: &str) -> Option<Trust> {
        self.with(store, |known| known.last_version(id)).map(|version| version.trust)
    }

    /// The versions that are known, newest first.
    pub(super) fn versions(&self, store: &WriteScope, id: &str) -> Vec<Version> {
        self.with(store, |known| known.versions(id))
    }

    /// Whether these bytes are evidence of the memory that this machine stands behind.
    pub(super) fn knows_evidence(&self, store: &WriteScope, id: &str, hash: ContentHash) -> bool {
        self.with(store, |known| match known {
            Known::Nothing => false,
            Known::Stored(text) => text.evidence(id).any(|known| known == hash),
            Known::Held(entries) => {
                entries.evidence.get(id).is_some_and(|versions| versions.contains(&hash))
            }
        })
    }

    /// How many memories are known.
    pub(super) fn n_known(&self, store: &WriteScope) -> usize {
        self.with(store, |known| match known {
            Known::Nothing => 0,
            Known::Stored(text) => text.n_memories(),
            Known::Held(entries) => entries.by_id.len(),
        })
    }

    /// Whether the store has a ledger at all; one from before there were ledgers has none.
    pub(super) fn is_stored(&self, store: &WriteScope) -> bool {
        self.with(store, |known| match known {
            Known::Nothing => false,
            Known::Stored(_) => true,
            Known::Held(entries) => entries.is_stored,
        })
    }

    /// The ledger as it is stored, if it is; `None` where this process changed what it says.
    pub(super) fn text(&self, store: &WriteScope) -> Option<Option<Arc<LedgerText>>> {
        self.with(store, |known| match known {
            Known::Nothing => Some(None),
            Known::Stored(text) => Some(Some(Arc::clone(text))),
            Known::Held(_) => None,
        })
    }

    /// What the other ledgers of this machine say of memories: a repository that was moved, or checked out twice.
    pub(super) fn elsewhere(&self, store: &WriteScope) -> &KnownElsewhere {
        self.elsewhere.get_or_init(|| self.read_others(store))
    }

    fn read_others(&self, store: &WriteScope) -> KnownElsewhere {
        let mut known = KnownElsewhere::default();
        let Some(place) = &self.place else { return known };
        let Ok(scope) = WriteScope::open_inside(&place.home, FOLDER, Access::Private) else {
            return known;
        };
        let Ok(root) = scope.root().and_then(|root| root.list()) else { return known };
        for entry in root.into_iter().filter(|entry| entry.name != place.name).take(MAX_LEDGERS) {
            let read = RelPath::new(&entry.name).ok().and_then(|path| read(&scope, store, &path));
            let Entries { by_id, evidence, .. } = read.as_ref().map(parse).unwrap_or_default();
            for (id, versions) in by_id {
                known.by_id.entry(id).or_default().extend(versions);
            }
            for (id, versions) in evidence {
                known.evidence.entry(id).or_default().extend(versions);
            }
        }
        known
    }

    /// Enters what is about to be written.
    pub(super) fn enter(
        &self,
        store: &WriteScope,
        changes: &[Entry],
        owner: &Owner,
    ) -> Result<(), FsError> {
        if changes.is_empty() && self.is_stored(store) {
            return Ok(());
        }
        let Some(place) = self.place.as_ref().filter(|place| place.is_written) else {
            self.with(store, |known| known.held().take(changes));
            return Ok(());
        };
        let scope = create(place)?;
        let writer = scope.lock(owner, PATIENCE)?;
        let path = place.file()?;
        // Another command may have written it meanwhile.
        let mut entries = read(&scope, store, &path).as_ref().map(parse).unwrap_or_default();
        entries.take(changes);
        writer.write_atomic(&path, render(store, &entries).as_bytes())?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        *known = Some(Known::Held(Entries { is_stored: true, ..entries }));
        Ok(())
    }

    /// Looks at what is known, read once.
    fn with<T>(&self, store: &WriteScope, look: impl FnOnce(&mut Known) -> T) -> T {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        look(known.get_or_insert_with(|| match self.stored(store) {
            Some(text) => Known::Stored(text),
            None => Known::Nothing,
        }))
    }

    fn stored(&self, store: &WriteScope) -> Option<Arc<LedgerText>> {
        let place = self.place.as_ref()?;
        let scope = WriteScope::open_inside(&place.home, FOLDER, Access::Private).ok()?;
        let path = place.file().ok()?;
        let Some(kept) = &place.kept else { return read(&scope, store, &path).map(Arc::new) };
        // Every change replaces the file. Looked at first: one that comes meanwhile makes the next call read again.
        let (stamp, file) =
            (scope.root().ok()?.stamp(path.as_str())?, scope.path().join(&place.name));
        if let Some(text) = kept.get(&file, stamp) {
            return Some(text);
        }
        let text = Arc::new(read(&scope, store, &path)?);
        kept.keep(file, stamp, &text);
        Some(text)
    }
}

impl Known {
    fn versions(&self, id: &str) -> Vec<Version> {
        match self {
            Self::Nothing => Vec::new(),
            Self::Stored(text) => text.versions(id).collect(),
            Self::Held(entries) => entries.by_id.get(id).cloned().unwrap_or_default(),
        }
    }

    fn last_version(&self, id: &str) -> Option<Version> {
        match self {
            Self::Nothing => None,
            Self::Stored(text) => text.versions(id).next(),
            Self::Held(entries) => entries.by_id.get(id)?.first().copied(),
        }
    }

    /// The entries, to be changed in memory.
    fn held(&mut self) -> &mut Entries {
        let entries = match self {
            Self::Nothing => Entries::default(),
            Self::Stored(text) => parse(text),
            Self::Held(entries) => std::mem::take(entries),
        };
        *self = Self::Held(entries);
        match self {
            Self::Held(entries) => entries,
            Self::Nothing | Self::Stored(_) => unreachable!("it is held now"),
        }
    }
}

/// What other ledgers of this machine know.
#[derive(Debug, Default)]
pub(super) struct KnownElsewhere {
    by_id: BTreeMap<String, Vec<Version>>,
    evidence: BTreeMap<String, Vec<ContentHash>>,
}

impl KnownElsewhere {
    /// The lowest level that these very bytes have anywhere.
    pub(super) fn trust(&self, id: &str, hash: ContentHash) -> Option<Trust> {
        let versions = self.by_id.get(id)?;
        versions.iter().filter(|version| version.hash == hash).map(|version| version.trust).min()
    }

    /// Whether a memory of this id is known, whatever its bytes.
    pub(super) fn knows(&self, id: &str) -> bool {
        self.by_id.contains_key(id)
    }

    pub(super) fn knows_evidence(&self, id: &str, hash: ContentHash) -> bool {
        self.evidence.get(id).is_some_and(|versions| versions.contains(&hash))
    }
}

impl Entries {
    fn take(&mut self, changes: &[Entry]) {
        for change in changes {
            match change {
                Entry::Memory(id, new) => {
                    let versions = self.by_id.entry(id.as_str().to_owned()).or_default();
                    versions.retain(|version| version.hash != new.hash);
                    versions.insert(0, *new);
                    versions.truncate(MAX_VERSIONS);
                }
                Entry::Evidence(id, hash) => {
                    let versions = self.evidence.entry(id.as_str().to_owned()).or_default();
                    versions.retain(|version| version != hash);
                    versions.insert(0, *hash);
                    versions.truncate(MAX_VERSIONS);
                }
                Entry::Gone(id) => {
                    self.by_id.remove(id.as_str());
                    self.evidence.remove(id.as_str());
                }
            }
        }
    }
}

fn create(place: &LedgerPlace) -> Result<WriteScope, FsError> {
    if let (Some(parent), Some(name)) = (place.home.parent(), place.home.file_name()) {
        WriteScope::create_inside(parent, &name.to_string_lossy(), Access::Private)?;
    }
    WriteScope::create_inside(&place.home, FOLDER, Access::Private)
}

/// A ledger, if there is one and the person's key has sealed it.
fn read(scope: &WriteScope, store: &WriteScope, path: &RelPath) -> Option<LedgerText> {
    let text = String::from_utf8(scope.read_optional(path, MAX_BYTES).ok()??).ok()?;
    let (heading, body) = text.split_once('\n')?;
    let mark = heading.strip_prefix(HEADING)?.trim();
    let (is_ours, start) =
        (store.is_marked_in_parts(&[&sealed(""), body], mark), text.len() - body.len());
    is_ours.then(|| LedgerText::new(text, start))
}

/// What the seal of a ledger is made for.
fn sealed(body: &str) -> String {
    format!("{HEADING}\n{body}")
}

fn parse(text: &LedgerText) -> Entries {
    let mut entries = Entries { is_stored: true, ..Entries::default() };
    for line in text.body().lines() {
        let mut parts = line.split(' ');
        let (Some(id), Some(hash), Some(level)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        if let Some(version) = Version::parse(hash, level) {
            entries.by_id.entry(id.to_owned()).or_default().push(version);
        } else if let (EVIDENCE, Ok(hash)) = (level, hash.parse()) {
            entries.evidence.entry(id.to_owned()).or_default().push(hash);
        }
    }
    entries
}

fn render(store: &WriteScope, entries: &Entries) -> String {
    let mut body = String::new();
    for (id, versions) in &entries.by_id {
        for version in versions {
            let _ = writeln!(body, "{id} {version}");
        }
    }
    for (id, versions) in &entries.evidence {
        for hash in versions {
            let _ = writeln!(body, "{id} {hash} {EVIDENCE}");
        }
    }
    // Without a key the ledger is not believed by the next command, which is safe.
    let mark = store.mark(&sealed(&body)).unwrap_or_default();
    format!("{HEADING} {mark}\n{body}")
}
