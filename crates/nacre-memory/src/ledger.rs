//! The trust ledger records which versions of memories are trusted on this machine, and at which
//! level.
//!
//! The ledger of each store is in the user's own folder, outside every repository, so cloned files
//! cannot grant trust. Entries contain the ID and the hash of the whole file, so a changed file is
//! no longer trusted. The ledger is sealed with a keyed hash and is ignored if the seal does not
//! match. A command reads it at most once, and parses it only to change it; `ledger_text.rs` looks
//! up single lines.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use super::id::MemoryId;
use super::ledger_text::{EVIDENCE, KeptLedgers, LedgerText, Version};
use super::trust::Trust;
use nacre_base::ContentHash;
use nacre_base::fs::{Access, FsError, Owner, RelPath, WriteScope};

const FOLDER: &str = "trust";

const HEADING: &str = "nacre-trust-1";

/// Ten thousand memories take about 1 MiB.
const MAX_BYTES: u64 = 64 << 20;

/// Number of versions to keep for each memory. Earlier versions are kept because an undo or a
/// checkout can restore them.
const MAX_VERSIONS: usize = 8;

/// Maximum number of other ledgers to search if a store has none.
const MAX_LEDGERS: usize = 256;

const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Clone, Debug)]
pub struct LedgerPlace {
    home: PathBuf,
    name: String,
    /// `false` in a dry run.
    is_written: bool,
    kept: Option<Arc<KeptLedgers>>,
}

impl LedgerPlace {
    pub fn of_store(home: &Path, store: &Path) -> Self {
        let whole = std::fs::canonicalize(store);
        let store = whole.as_deref().unwrap_or(store);
        let hash = ContentHash::of(store.as_os_str().as_encoded_bytes());
        Self { home: home.to_owned(), name: hash.short(), is_written: true, kept: None }
    }

    /// Disables writing, for a dry run.
    #[must_use]
    pub fn rehearsed(self) -> Self {
        Self { is_written: false, ..self }
    }

    /// Uses a cache, so the file is read again only if it has changed.
    #[must_use]
    pub fn kept_in(self, kept: Option<&Arc<KeptLedgers>>) -> Self {
        Self { kept: kept.map(Arc::clone), ..self }
    }

    pub(super) fn home(&self) -> &Path {
        &self.home
    }

    fn file(&self) -> Result<RelPath, FsError> {
        RelPath::new(&self.name)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Entries {
    by_id: BTreeMap<String, Vec<Version>>,
    /// Evidence that was written on this machine or accepted by the user, newest first.
    evidence: BTreeMap<String, Vec<ContentHash>>,
    is_stored: bool,
}

#[derive(Debug)]
enum Known {
    Nothing,
    Stored(Arc<LedgerText>),
    Held(Entries),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LedgerEntry {
    Memory(MemoryId, Version),
    Evidence(MemoryId, ContentHash),
    Gone(MemoryId),
}

#[derive(Debug)]
pub(super) struct Ledger {
    /// `None` if entries exist only in this process.
    place: Option<LedgerPlace>,
    known: Mutex<Option<Known>>,
    elsewhere: OnceLock<KnownElsewhere>,
}

impl Ledger {
    pub(super) fn new(place: Option<LedgerPlace>) -> Self {
        Self { place, known: Mutex::new(None), elsewhere: OnceLock::new() }
    }

    pub(super) fn judgement(&self, text: ContentHash, judge: impl FnOnce() -> bool) -> bool {
        match self.place.as_ref().and_then(|place| place.kept.as_ref()) {
            Some(kept) => kept.judgement(text, judge),
            None => judge(),
        }
    }

    pub(super) fn trust(&self, store: &WriteScope, id: &str, hash: ContentHash) -> Option<Trust> {
        let of_these = |version: &Version| version.hash == hash;
        self.with(store, |known| known.versions(id).into_iter().find(of_these))
            .map(|version| version.trust)
    }

    /// Returns whether the ID has an entry. Also returns true if there is no ledger, because older
    /// versions of Nacre did not create ledgers.
    pub(super) fn may_know(&self, store: &WriteScope, id: &str) -> bool {
        self.with(store, |known| match known {
            Known::Nothing => true,
            Known::Stored(text) => text.has(id),
            Known::Held(entries) => !entries.is_stored || entries.by_id.contains_key(id),
        })
    }

    pub(super) fn last_trust(&self, store: &WriteScope, id: &str) -> Option<Trust> {
        self.with(store, |known| known.last_version(id)).map(|version| version.trust)
    }

    pub(super) fn versions(&self, store: &WriteScope, id: &str) -> Vec<Version> {
        self.with(store, |known| known.versions(id))
    }

    pub(super) fn knows_evidence(&self, store: &WriteScope, id: &str, hash: ContentHash) -> bool {
        self.with(store, |known| match known {
            Known::Nothing => false,
            Known::Stored(text) => text.evidence(id).any(|known| known == hash),
            Known::Held(entries) => {
                entries.evidence.get(id).is_some_and(|versions| versions.contains(&hash))
            }
        })
    }

    pub(super) fn n_known(&self, store: &WriteScope) -> usize {
        self.with(store, |known| match known {
            Known::Nothing => 0,
            Known::Stored(text) => text.n_memories(),
            Known::Held(entries) => entries.by_id.len(),
        })
    }

    /// Returns whether the store has a ledger. Stores created by older versions of Nacre may have
    /// none.
    pub(super) fn is_stored(&self, store: &WriteScope) -> bool {
        self.with(store, |known| match known {
            Known::Nothing => false,
            Known::Stored(_) => true,
            Known::Held(entries) => entries.is_stored,
        })
    }

    /// Returns the entries in other ledgers on this machine. They are needed for repositories that
    /// were moved or checked out twice.
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

    /// Records new entries. Must be called before the files are written.
    pub(super) fn enter(
        &self,
        store: &WriteScope,
        changes: &[LedgerEntry],
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
        // Another process may have written the ledger in the meantime.
        let mut entries = read(&scope, store, &path).as_ref().map(parse).unwrap_or_default();
        entries.take(changes);
        writer.write_atomic(&path, render(store, &entries).as_bytes())?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        *known = Some(Known::Held(Entries { is_stored: true, ..entries }));
        Ok(())
    }

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
        // The stamp is taken before reading, so a concurrent change causes the next call to read
        // the file again.
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

#[derive(Debug, Default)]
pub(super) struct KnownElsewhere {
    by_id: BTreeMap<String, Vec<Version>>,
    evidence: BTreeMap<String, Vec<ContentHash>>,
}

impl KnownElsewhere {
    /// Returns the lowest level that is recorded for these bytes in any ledger.
    pub(super) fn trust(&self, id: &str, hash: ContentHash) -> Option<Trust> {
        let versions = self.by_id.get(id)?;
        versions.iter().filter(|version| version.hash == hash).map(|version| version.trust).min()
    }

    pub(super) fn knows(&self, id: &str) -> bool {
        self.by_id.contains_key(id)
    }

    pub(super) fn knows_evidence(&self, id: &str, hash: ContentHash) -> bool {
        self.evidence.get(id).is_some_and(|versions| versions.contains(&hash))
    }
}

impl Entries {
    fn take(&mut self, changes: &[LedgerEntry]) {
        for change in changes {
            match change {
                LedgerEntry::Memory(id, new) => {
                    let versions = self.by_id.entry(id.as_str().to_owned()).or_default();
                    // A version that another process recorded in the meantime does not count as a
                    // new edit.
                    let is_known = versions.iter().any(|version| version.hash == new.hash);
                    if is_known && new.is_unseen_edit {
                        continue;
                    }
                    versions.retain(|version| version.hash != new.hash);
                    versions.insert(0, *new);
                    versions.truncate(MAX_VERSIONS);
                }
                LedgerEntry::Evidence(id, hash) => {
                    let versions = self.evidence.entry(id.as_str().to_owned()).or_default();
                    versions.retain(|version| version != hash);
                    versions.insert(0, *hash);
                    versions.truncate(MAX_VERSIONS);
                }
                LedgerEntry::Gone(id) => {
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

fn read(scope: &WriteScope, store: &WriteScope, path: &RelPath) -> Option<LedgerText> {
    let text = String::from_utf8(scope.read_optional(path, MAX_BYTES).ok()??).ok()?;
    let (heading, body) = text.split_once('\n')?;
    let mark = heading.strip_prefix(HEADING)?.trim();
    let (is_ours, start) =
        (store.is_marked_in_parts(&[&sealed(""), body], mark), text.len() - body.len());
    is_ours.then(|| LedgerText::new(text, start))
}

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
    // Without a key, the seal is empty. The next command then ignores the ledger, which is safe.
    let mark = store.mark(&sealed(&body)).unwrap_or_default();
    format!("{HEADING} {mark}\n{body}")
}
