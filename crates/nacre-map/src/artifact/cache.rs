//! The folder of all artifacts: how its files are called, read and written, and who may write. Readers take no lock.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use nacre_core::safefs::{Access, FsError, Owner, RelPath, WriteScope, Writer};
use xxhash_rust::xxh3::xxh3_64;

use super::limits::{CLIENT_PREFIX, limit_of};
use super::mapped::Mapped;
use super::model::{Project, ProjectId, State};
use super::open_packs::OpenPacks;
use super::seal::Seal;

/// How long a writer waits for another one. Nobody needs what is written, so not long.
const PATIENCE: Duration = Duration::from_secs(2);

/// So many names are remembered with what they have seen.
const MAX_CLIENTS: usize = 256;

/// Where artifacts lie.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
    owner: Owner,
    seal: Option<Seal>,
    packs: Arc<OpenPacks>,
}

impl Cache {
    /// The cache in `folder`, which is made when something is first written. `owner` is told to who waits.
    pub fn new(folder: PathBuf, owner: Owner) -> Self {
        Self { folder, owner, seal: None, packs: Arc::default() }
    }

    /// The same cache, with files that only who has the key can read. They are decrypted into memory to be looked at.
    #[must_use]
    pub fn sealed(self, seal: Seal) -> Self {
        Self { seal: Some(seal), packs: Arc::default(), ..self }
    }

    pub(super) fn seal(&self) -> Option<&Seal> {
        self.seal.as_ref()
    }

    pub(super) fn is_sealed(&self) -> bool {
        self.seal.is_some()
    }

    /// The folder of a project. Under seal it does not tell of which, not even to who tries many paths.
    pub(super) fn name_of(&self, project: ProjectId) -> String {
        match &self.seal {
            Some(seal) => seal.name(&project.to_string()),
            None => project.to_string(),
        }
    }

    /// A file in a project's folder that is found by a key, which says what it is about.
    pub(super) fn name_in(&self, folder: &str, prefix: &str, key: u64) -> String {
        let plain = format!("{folder}/{prefix}{key:016x}");
        match &self.seal {
            Some(seal) => format!("{folder}/{prefix}{}", seal.name(&plain)),
            None => plain,
        }
    }

    /// What a file of the cache holds, by its name below the folder.
    pub(super) fn bytes(&self, name: &str) -> Option<Mapped> {
        match &self.seal {
            // What lies there may be anything, and may change while it is looked at: it is read before it is believed.
            Some(seal) => seal.open(name, self.read(name, limit_of(name))?).map(Mapped::Memory),
            None => {
                let scope = WriteScope::open(&self.folder, Access::Private).ok()?;
                let mapped = scope.map_derived(&RelPath::new(name).ok()?, limit_of(name));
                mapped.ok().map(Mapped::File)
            }
        }
    }

    /// Puts a file of the cache in place.
    pub(super) fn put(&self, writer: &Writer<'_>, name: &str, bytes: &[u8]) -> Result<(), FsError> {
        let path = RelPath::new(name)?;
        match &self.seal {
            Some(seal) => writer.put_derived(&path, &seal.close(name, bytes)),
            None => writer.put_derived(&path, bytes),
        }
    }

    /// A plain file of the cache, if it is not larger than that.
    pub(super) fn read(&self, name: &str, limit: u64) -> Option<Vec<u8>> {
        let scope = WriteScope::open(&self.folder, Access::Private).ok()?;
        scope.read(&RelPath::new(name).ok()?, limit).ok()
    }

    pub(super) fn open_packs(&self) -> &OpenPacks {
        &self.packs
    }

    /// The folders of projects, with when each was last used.
    ///
    /// A use that changes nothing writes nothing, so it is the system's own note of the last reading that tells; where
    /// it keeps none, the last change does.
    pub(super) fn projects(&self) -> Vec<(SystemTime, String)> {
        let Ok(entries) = std::fs::read_dir(&self.folder) else { return Vec::new() };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let is_project =
            |name: &String| name.len() == 16 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        names.filter(is_project).map(|name| (last_use(&self.folder.join(&name)), name)).collect()
    }

    /// What a client has seen of a project; `None` when it has seen nothing.
    pub fn seen_by(&self, project: &Project, client: &str) -> Option<State> {
        let bytes = self.bytes(&self.client_file(&self.name_of(project.id), client))?;
        std::str::from_utf8(&bytes).ok()?.trim().parse().ok()
    }

    /// Remembers that a client has seen a project in `state`; writes only what is new.
    pub fn remember(&self, project: &Project, client: &str, state: State) -> Result<(), FsError> {
        if self.seen_by(project, client) == Some(state) {
            return Ok(());
        }
        let scope = self.scope()?;
        let id = self.name_of(project.id);
        let writer = self.writer(&scope, &id)?;
        self.put(&writer, &self.client_file(&id, client), format!("{state}\n").as_bytes())?;
        self.remove_oldest(&writer, &id, CLIENT_PREFIX, MAX_CLIENTS)
    }

    pub(super) fn client_file(&self, folder: &str, client: &str) -> String {
        self.name_in(folder, CLIENT_PREFIX, xxh3_64(client.as_bytes()))
    }

    /// Removes files of a project whose names begin so, the oldest first, until few enough are left.
    pub(super) fn remove_oldest(
        &self,
        writer: &Writer<'_>,
        id: &str,
        prefix: &str,
        n_kept: usize,
    ) -> Result<(), FsError> {
        let mut files = dated(&self.folder.join(id), prefix);
        files.sort();
        let n_over = files.len().saturating_sub(n_kept);
        for (_, name) in files.into_iter().take(n_over) {
            writer.remove_derived(&RelPath::new(&format!("{id}/{name}"))?)?;
        }
        Ok(())
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn lock<'s>(&self, scope: &'s WriteScope) -> Result<Writer<'s>, FsError> {
        scope.lock(&self.owner, PATIENCE)
    }

    /// Takes the lock to write into a folder of the cache, which is made where it is missing.
    pub(super) fn writer<'s>(
        &self,
        scope: &'s WriteScope,
        folder: &str,
    ) -> Result<Writer<'s>, FsError> {
        let writer = self.lock(scope)?;
        self.check_not_retired(scope)?;
        WriteScope::create_inside(&self.folder, folder, Access::Private)?;
        Ok(writer)
    }

    /// The folder as a scope, made where it is missing.
    pub(super) fn scope(&self) -> Result<WriteScope, FsError> {
        let missing: Vec<&Path> =
            self.folder.ancestors().take_while(|folder| !folder.is_dir()).collect();
        for folder in missing.into_iter().rev() {
            if let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) {
                WriteScope::create_inside(parent, &name.to_string_lossy(), Access::Private)?;
            }
        }
        WriteScope::open(&self.folder, Access::Private)
    }
}

/// The files whose names begin so, with when each was written.
fn dated(folder: &Path, prefix: &str) -> Vec<(SystemTime, String)> {
    let modified = |name: &str| {
        let metadata = folder.join(name).symlink_metadata();
        metadata.and_then(|metadata| metadata.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
    };
    let files = names_in(folder).filter(|name| name.starts_with(prefix));
    files.map(|name| (modified(&name), name)).collect()
}

/// The names in a folder; none when it cannot be listed.
pub(super) fn names_in(folder: &Path) -> impl Iterator<Item = String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok())
}

fn last_use(folder: &Path) -> SystemTime {
    let times = names_in(folder).filter_map(|name| {
        let metadata = folder.join(name).symlink_metadata().ok()?;
        metadata.accessed().ok().max(metadata.modified().ok())
    });
    times.max().unwrap_or(SystemTime::UNIX_EPOCH)
}
