//! The trust ledger records which versions of memories are trusted on this machine, and at which
//! level.
//!
//! Each store's ledger is in the user's own directory, outside every repository, so cloned files
//! cannot grant trust. An entry contains a memory's ID and the hash of its complete file, so a
//! changed file is no longer trusted. The ledger is sealed with a keyed hash, and is ignored if the
//! seal does not match. A command reads the ledger at most once.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::ledger_entries::{Entries, KeptLedgers, LedgerEntry, Version};
use crate::prelude::*;
use nacre_base::fs::Access;

const FOLDER: &str = "trust";

const HEADING: &str = "nacre-trust-1";

/// Maximum size of a ledger. A ledger for ten thousand memories takes about 1 MiB.
const MAX_BYTES: u64 = 64 << 20;

/// Maximum number of other ledgers to search for a store that has none of its own.
const MAX_LEDGERS: usize = 256;

const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Clone, Debug)]
pub struct LedgerPlace {
    pub(super) home: PathBuf,
    name: String,
    /// `false` in a dry run.
    is_written: bool,
    kept: Option<Arc<KeptLedgers>>,
}

impl LedgerPlace {
    pub fn of_store(home: &Path, store: &Path) -> Self {
        let whole = nacre_base::platform::canonicalize(store);
        let store = whole.as_deref().unwrap_or(store);
        let hash = ContentHash::of(store.as_os_str().as_encoded_bytes());
        Self { home: home.to_owned(), name: hash.short(), is_written: true, kept: None }
    }

    #[must_use]
    pub fn without_writing(self) -> Self {
        Self { is_written: false, ..self }
    }

    /// Uses a cache so that the file is read again only after it changes.
    #[must_use]
    pub fn with_cache(self, kept: Option<&Arc<KeptLedgers>>) -> Self {
        Self { kept: kept.map(Arc::clone), ..self }
    }

    fn file(&self) -> Result<RelPath, FsError> {
        RelPath::new(&self.name)
    }
}

#[derive(Debug, Default)]
struct Known {
    entries: Arc<Entries>,
    is_stored: bool,
}

#[derive(Debug)]
pub(super) struct Ledger {
    /// `None` if the entries exist only in this process.
    place: Option<LedgerPlace>,
    known: Mutex<Option<Known>>,
    elsewhere: OnceLock<Entries>,
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
        self.with(store, |known| {
            let version = known.entries.versions(id).iter().find(|version| version.hash == hash);
            version.map(|version| version.trust)
        })
    }

    /// Returns whether the ID has an entry. Also returns true if there is no ledger, because older
    /// versions of Nacre did not create ledgers.
    pub(super) fn may_know(&self, store: &WriteScope, id: &str) -> bool {
        self.with(store, |known| !known.is_stored || known.entries.knows(id))
    }

    pub(super) fn last_trust(&self, store: &WriteScope, id: &str) -> Option<Trust> {
        self.with(store, |known| known.entries.versions(id).first().map(|version| version.trust))
    }

    pub(super) fn versions(&self, store: &WriteScope, id: &str) -> Vec<Version> {
        self.with(store, |known| known.entries.versions(id).to_vec())
    }

    pub(super) fn knows_evidence(&self, store: &WriteScope, id: &str, hash: ContentHash) -> bool {
        self.with(store, |known| known.entries.knows_evidence(id, hash))
    }

    pub(super) fn n_known(&self, store: &WriteScope) -> usize {
        self.with(store, |known| known.entries.by_id.len())
    }

    /// Returns whether the store has a ledger. Stores created by older versions of Nacre may have
    /// none.
    pub(super) fn is_stored(&self, store: &WriteScope) -> bool {
        self.with(store, |known| known.is_stored)
    }

    /// Returns the entries in this machine's other ledgers, for repositories that were moved or
    /// checked out twice.
    pub(super) fn elsewhere(&self, store: &WriteScope) -> &Entries {
        self.elsewhere.get_or_init(|| self.read_others(store).unwrap_or_default())
    }

    fn read_others(&self, store: &WriteScope) -> Option<Entries> {
        let place = self.place.as_ref()?;
        let scope = WriteScope::open_inside(&place.home, FOLDER, Access::Private).ok()?;
        let files = scope.root().and_then(|root| root.list()).ok()?;
        let others = files.into_iter().filter(|entry| entry.name != place.name).take(MAX_LEDGERS);
        let mut known = Entries::default();
        for entry in others {
            let read = RelPath::new(&entry.name).ok().and_then(|path| read(&scope, store, &path));
            known.append(read.unwrap_or_default());
        }
        Some(known)
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
            self.with(store, |known| Arc::make_mut(&mut known.entries).take(changes));
            return Ok(());
        };
        let scope = create(place)?;
        let writer = scope.lock(owner, PATIENCE)?;
        let path = place.file()?;
        // Another process may have written the ledger in the meantime.
        let mut entries = read(&scope, store, &path).unwrap_or_default();
        entries.take(changes);
        writer.write_atomic(&path, render(store, &entries).as_bytes())?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        *known = Some(Known { entries: Arc::new(entries), is_stored: true });
        Ok(())
    }

    fn with<T>(&self, store: &WriteScope, look: impl FnOnce(&mut Known) -> T) -> T {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        look(known.get_or_insert_with(|| {
            let stored = self.load_entries(store);
            Known { is_stored: stored.is_some(), entries: stored.unwrap_or_default() }
        }))
    }

    fn load_entries(&self, store: &WriteScope) -> Option<Arc<Entries>> {
        let place = self.place.as_ref()?;
        let scope = WriteScope::open_inside(&place.home, FOLDER, Access::Private).ok()?;
        let path = place.file().ok()?;
        let Some(kept) = &place.kept else { return read(&scope, store, &path).map(Arc::new) };
        // Take the stamp before reading. If the file changes in between, the next call reads it
        // again.
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

fn create(place: &LedgerPlace) -> Result<WriteScope, FsError> {
    if let (Some(parent), Some(name)) = (place.home.parent(), place.home.file_name()) {
        WriteScope::create_inside(parent, &name.to_string_lossy(), Access::Private)?;
    }
    WriteScope::create_inside(&place.home, FOLDER, Access::Private)
}

fn read(scope: &WriteScope, store: &WriteScope, path: &RelPath) -> Option<Entries> {
    let text = String::from_utf8(scope.read_optional(path, MAX_BYTES).ok()??).ok()?;
    let (heading, body) = text.split_once('\n')?;
    let mark = heading.strip_prefix(HEADING)?.trim();
    store.is_marked(&add_heading(body), mark).then(|| Entries::parse(body))
}

fn add_heading(body: &str) -> String {
    format!("{HEADING}\n{body}")
}

fn render(store: &WriteScope, entries: &Entries) -> String {
    let body = entries.render();
    // Without a key, the seal is empty. The next command then ignores the ledger, which is safe.
    let mark = store.mark(&add_heading(&body)).unwrap_or_default();
    format!("{HEADING} {mark}\n{body}")
}
