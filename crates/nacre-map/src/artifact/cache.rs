//! Reads and writes the cache directory, which holds every project's artifacts. Only writers take a
//! lock.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use nacre_base::fs::{Access, FileBytes, FsError, Owner, RelPath, WriteScope, Writer};
use serde::Serialize;
use serde::de::DeserializeOwned;
use xxhash_rust::xxh3::xxh3_64;

use super::model::{Blobs, MapState, Project, Stamp};
use super::seal::Seal;
use super::state::Artifact;

pub(super) type Result<T, E = FsError> = std::result::Result<T, E>;

/// The timeout is short because skipping a write is harmless: the next refresh repeats the work.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

const MAX_PROJECTS: usize = 64;

/// Maximum size of a file to read. The cache never writes larger files.
const MAX_FILE_BYTES: u64 = 1 << 30;

const MAX_DERIVED_BYTES: usize = 256 << 20;

pub(super) const ANALYSES: &str = "analyses";

const ARTIFACT: &str = "artifact";

/// Marks a plain cache as retired while an encrypted one is in use.
const MARKER: &str = "encrypted";

const MARKER_TEXT: &[u8] = b"The map is kept encrypted. Nothing is written here.\n";

/// Values that are cached because they are expensive to compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derived {
    Overview,
    Imports,
    /// How many times each file had changed up to a commit.
    Churn,
    Client,
}

impl Derived {
    /// Returns the file name prefix and how many files to keep. Older files are removed.
    fn files(self) -> (&'static str, usize) {
        match self {
            Self::Overview => ("overview-", 16),
            Self::Imports => ("imports-", 2),
            Self::Churn => ("churn-", 1),
            Self::Client => ("client-", 256),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Cache {
    pub(super) folder: PathBuf,
    owner: Owner,
    seal: Option<Seal>,
}

impl Cache {
    /// The directory is created on the first write. `owner` is shown to other processes waiting for
    /// the lock.
    pub fn new(folder: PathBuf, owner: Owner) -> Self {
        Self { folder, owner, seal: None }
    }

    /// Encrypts all cache files. On reads, files are decrypted into memory instead of being
    /// memory-mapped.
    #[must_use]
    pub fn with_seal(self, seal: Seal) -> Self {
        Self { seal: Some(seal), ..self }
    }

    pub fn open(&self, project: &Project) -> Option<Artifact> {
        let name = self.artifact_file(project);
        // Take the stamp before reading the file. If another process replaces the file in between,
        // the older stamp marks the content as stale.
        let source = Stamp::at(&self.folder.join(&name))?;
        Artifact::read(&self.read_checked(&name)?, &project.root, source)
    }

    /// Stores a changed artifact and the analyses of new file contents. Returns false if another
    /// process wrote the artifact in the meantime; the caller must then refresh again.
    pub fn store(
        &self,
        project: &Project,
        artifact: &mut Artifact,
        analyses: &Blobs,
    ) -> Result<bool> {
        let scope = self.scope()?;
        let id = self.name_of(project);
        let writer = self.writer(&scope, &id)?;
        let name = self.artifact_file(project);
        // An unreadable artifact may be overwritten.
        let is_ours = match artifact.source {
            Some(source) => Stamp::at(&self.folder.join(&name)) == Some(source),
            None => self.open(project).is_none(),
        };
        if !is_ours {
            return Ok(false);
        }
        self.add_analyses(&writer, analyses)?;
        artifact.trim();
        let bytes = artifact.render(&project.root).unwrap_or_default();
        let is_new = artifact.source.is_none();
        if is_new {
            self.remove_old_files(&id, &writer);
        }
        self.put_checked(&writer, &name, bytes)?;
        artifact.source = Stamp::at(&self.folder.join(&name));
        if is_new {
            self.evict(&id, &writer);
        }
        Ok(true)
    }

    pub fn load_derived<T: DeserializeOwned>(
        &self,
        project: &Project,
        kind: Derived,
        key: u64,
    ) -> Option<T> {
        serde_json::from_slice(&self.read_checked(&self.name_derived_file(project, kind, key))?)
            .ok()
    }

    /// Stores a derived value. Most callers ignore errors, because the value can be recomputed.
    pub fn store_derived<T: Serialize>(
        &self,
        project: &Project,
        kind: Derived,
        key: u64,
        value: &T,
    ) -> Result<()> {
        let bytes = serde_json::to_vec(value).unwrap_or_default();
        if MAX_DERIVED_BYTES < bytes.len() {
            return Ok(());
        }
        let scope = self.scope()?;
        let id = self.name_of(project);
        let writer = self.writer(&scope, &id)?;
        self.put_checked(&writer, &self.name_derived_file(project, kind, key), bytes)?;
        let (prefix, n_kept) = kind.files();
        let folder = self.folder.join(&id);
        let modified = |name: &String| {
            let metadata = folder.join(name).symlink_metadata();
            metadata.and_then(|metadata| metadata.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
        };
        let mut names: Vec<String> =
            names_in(&folder).filter(|name| name.starts_with(prefix)).collect();
        names.sort_by_key(modified);
        let n_over = names.len().saturating_sub(n_kept);
        for name in &names[..n_over] {
            writer.remove_derived(&RelPath::new(&format!("{id}/{name}"))?)?;
        }
        Ok(())
    }

    pub fn seen_by(&self, project: &Project, client: &str) -> Option<MapState> {
        self.load_derived(project, Derived::Client, xxh3_64(client.as_bytes()))
    }

    /// Records the last map state that a client has seen. Does nothing if the state is unchanged.
    pub fn remember(&self, project: &Project, client: &str, state: MapState) -> Result<()> {
        if self.seen_by(project, client) == Some(state) {
            return Ok(());
        }
        self.store_derived(project, Derived::Client, xxh3_64(client.as_bytes()), &state)
    }

    /// Returns a project's directory name. In an encrypted cache, the name does not reveal the
    /// project's path, even to someone who guesses many paths.
    pub(super) fn name_of(&self, project: &Project) -> String {
        self.seal.as_ref().map_or_else(|| project.id.clone(), |seal| seal.name(&project.id))
    }

    fn artifact_file(&self, project: &Project) -> String {
        format!("{}/{ARTIFACT}", self.name_of(project))
    }

    /// In an encrypted cache, the file name does not reveal the key.
    pub(super) fn name_derived_file(&self, project: &Project, kind: Derived, key: u64) -> String {
        let (folder, (prefix, _)) = (self.name_of(project), kind.files());
        let plain = format!("{folder}/{prefix}{key:016x}");
        match &self.seal {
            Some(seal) => format!("{folder}/{prefix}{}", seal.name(&plain)),
            None => plain,
        }
    }

    pub(super) fn bytes(&self, name: &str) -> Option<FileBytes> {
        let scope = WriteScope::open(&self.folder, Access::Private).ok()?;
        let path = RelPath::new(name).ok()?;
        match &self.seal {
            // Another process may change the untrusted file at any time, so it is read into memory
            // before it is decrypted.
            Some(seal) => {
                let bytes = scope.read(&path, MAX_FILE_BYTES).ok()?;
                seal.open(name, bytes).map(FileBytes::Memory)
            }
            None => scope.map_derived(&path, MAX_FILE_BYTES).ok(),
        }
    }

    pub(super) fn put(&self, writer: &Writer<'_>, name: &str, bytes: &[u8]) -> Result<()> {
        let path = RelPath::new(name)?;
        match &self.seal {
            Some(seal) => writer.put_derived(&path, &seal.close(name, bytes)),
            None => writer.put_derived(&path, bytes),
        }
    }

    fn read_checked(&self, name: &str) -> Option<Vec<u8>> {
        let bytes = self.bytes(name)?;
        let (kept, check) = bytes.split_last_chunk()?;
        (u64::from_le_bytes(*check) == xxh3_64(kept)).then(|| kept.to_vec())
    }

    fn put_checked(&self, writer: &Writer<'_>, name: &str, mut bytes: Vec<u8>) -> Result<()> {
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        self.put(writer, name, &bytes)
    }

    fn lock<'s>(&self, scope: &'s WriteScope) -> Result<Writer<'s>> {
        scope.lock(&self.owner, LOCK_TIMEOUT)
    }

    /// Acquires a directory's write lock, creating the directory if needed. Fails if the plain
    /// cache is retired, which can be checked reliably only while the lock is held.
    pub(super) fn writer<'s>(&self, scope: &'s WriteScope, folder: &str) -> Result<Writer<'s>> {
        let writer = self.lock(scope)?;
        let marker = RelPath::new(MARKER)?;
        if self.seal.is_none() && scope.has(&marker)? {
            return Err(FsError::Conflict { paths: vec![marker] });
        }
        WriteScope::create_inside(&self.folder, folder, Access::Private)?;
        Ok(writer)
    }

    pub(super) fn scope(&self) -> Result<WriteScope> {
        let missing: Vec<&Path> =
            self.folder.ancestors().take_while(|folder| !folder.is_dir()).collect();
        for folder in missing.into_iter().rev() {
            if let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) {
                WriteScope::create_inside(parent, &name.to_string_lossy(), Access::Private)?;
            }
        }
        WriteScope::open(&self.folder, Access::Private)
    }

    fn remove_old_files(&self, id: &str, writer: &Writer<'_>) {
        for name in names_in(&self.folder.join(id)) {
            let _ =
                RelPath::new(&format!("{id}/{name}")).and_then(|path| writer.remove_derived(&path));
        }
    }

    fn evict(&self, kept: &str, writer: &Writer<'_>) {
        let mut projects = self.projects();
        let n_over = projects.len().saturating_sub(MAX_PROJECTS);
        projects.retain(|name| name != kept);
        projects.sort_by_cached_key(|name| last_use(&self.folder.join(name)));
        for name in projects.iter().take(n_over) {
            let _ = RelPath::new(name).and_then(|path| writer.remove_derived_folder(&path));
        }
    }

    fn projects(&self) -> Vec<String> {
        let is_project =
            |name: &String| name.len() == 16 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        names_in(&self.folder).filter(is_project).collect()
    }

    pub fn clear(&self) -> Result<()> {
        if self.list_stored_directories().is_empty() {
            return Ok(());
        }
        let scope = self.scope()?;
        self.remove_all(&self.lock(&scope)?)
    }

    /// Removes a plain cache and stops running processes, such as a watcher, from writing to it
    /// again.
    pub fn retire(&self) -> Result<()> {
        let is_empty = || self.list_stored_directories().is_empty();
        if self.folder.join(MARKER).is_file() && is_empty() {
            return Ok(());
        }
        match self.mark_and_remove() {
            Err(error @ FsError::Busy { .. }) => Err(error),
            // The cache is empty and not writable, so other processes cannot write to it either.
            Err(_) if is_empty() => Ok(()),
            retired => retired,
        }
    }

    fn mark_and_remove(&self) -> Result<()> {
        let scope = self.scope()?;
        let writer = self.lock(&scope)?;
        writer.put_derived(&RelPath::new(MARKER)?, MARKER_TEXT)?;
        self.remove_all(&writer)
    }

    /// Undoes [`Self::retire`].
    pub fn reopen(&self) -> Result<()> {
        if !self.folder.join(MARKER).exists() {
            return Ok(());
        }
        let scope = self.scope()?;
        self.lock(&scope)?.remove_derived(&RelPath::new(MARKER)?)
    }

    fn remove_all(&self, writer: &Writer<'_>) -> Result<()> {
        let folders = self.list_stored_directories();
        folders.iter().try_for_each(|name| writer.remove_derived_folder(&RelPath::new(name)?))
    }

    fn list_stored_directories(&self) -> Vec<String> {
        let mut folders = self.projects();
        folders.extend(self.folder.join(ANALYSES).is_dir().then(|| ANALYSES.to_owned()));
        folders
    }
}

pub(super) fn names_in(folder: &Path) -> impl Iterator<Item = String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok())
}

/// Returns when a project was last used. Reads do not modify any file, so this is the access time,
/// or the modification time on file systems without access times.
fn last_use(folder: &Path) -> SystemTime {
    let times = names_in(folder).filter_map(|name| {
        let metadata = folder.join(name).symlink_metadata().ok()?;
        metadata.accessed().ok().max(metadata.modified().ok())
    });
    times.max().unwrap_or(SystemTime::UNIX_EPOCH)
}
