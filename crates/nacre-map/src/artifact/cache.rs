//! The folder of all artifacts: who may write, what is written when, and what goes when there are too many.
//!
//! Readers take no lock. A change is appended to the log, or the whole is written to the next generation's file when
//! the log has grown long or was torn; a reader that meets the moment in between sees the state before or after it.
//! Only a writer that read the last state may write the next, so that two processes that saw the same change do not
//! record it twice.

use std::borrow::Cow;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime};

use nacre_core::safefs::{Access, FsError, Owner, RelPath, WriteScope, Writer};
use xxhash_rust::xxh3::xxh3_64;

use super::analyses::Analyses;
use super::base::Base;
use super::commit::{Commit, Head};
use super::fresh::NewPack;
use super::log;
use super::mapped::Mapped;
use super::model::{Project, ProjectId, State};
use super::packs::{self, OpenPacks, Packs};
use super::seal::Seal;
use super::slice::{MAX_SLICE_BYTES, MAX_SURVEY_BYTES};
use super::state::{Artifact, Place};

/// So many projects are kept; the one that was used longest ago goes first.
const MAX_PROJECTS: usize = 64;

/// A log that is longer than this and an eighth of its artifact is folded in.
const MIN_FOLD_BYTES: u64 = 256 << 10;

/// No log is longer; what is, was not written here.
const MAX_LOG_BYTES: u64 = 64 << 20;

/// How large a file of each kind can be, by how its name begins. A larger one was not written here, and is not read.
const LIMITS: &[(&str, u64)] = &[
    ("base-", 1 << 30),
    ("graph-", 256 << 20),
    ("slice-", MAX_SLICE_BYTES),
    ("survey", MAX_SURVEY_BYTES),
    (CLIENT_PREFIX, 64),
];

/// All others are packs of analyses.
const MAX_PACK_BYTES: u64 = 256 << 20;

/// What is around what is kept: checksums and the seal.
const MAX_WRAPPING_BYTES: u64 = 16 + Seal::MORE_BYTES as u64;

/// How long a writer waits for another one. Nobody needs what is written, so not long.
const PATIENCE: Duration = Duration::from_secs(2);

/// So many names are remembered with what they have seen.
const MAX_CLIENTS: usize = 256;

const CLIENT_PREFIX: &str = "client-";

/// What became of a change that was to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    Yes,
    /// Another process wrote meanwhile: look again.
    Moved,
}

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

    /// A record of a log as it is kept at `place` of it.
    fn frame(&self, commit: &Commit, log: &str, place: u64) -> Vec<u8> {
        log::frame(commit, |bytes| match &self.seal {
            Some(seal) => seal.close(&format!("{log}@{place}"), &bytes),
            None => bytes,
        })
    }

    /// The records of a log that go on from `head`, and how much of how many bytes they take.
    fn read_log(&self, name: &str, head: &Head) -> (Vec<Commit>, u64, u64) {
        let Some(log) = self.read(name, MAX_LOG_BYTES) else {
            return (Vec::new(), 0, self.log_len(name));
        };
        let (commits, n_read) = log::read(&log, *head, |place, bytes| match &self.seal {
            Some(seal) => seal.open(&format!("{name}@{place}"), bytes.to_vec()).map(Cow::Owned),
            None => Some(Cow::Borrowed(bytes)),
        });
        (commits, n_read, log.len() as u64)
    }

    fn log_len(&self, name: &str) -> u64 {
        let metadata = self.folder.join(name).symlink_metadata();
        metadata.ok().filter(std::fs::Metadata::is_file).map_or(0, |metadata| metadata.len())
    }

    /// A plain file of the cache, if it is not larger than that.
    fn read(&self, name: &str, limit: u64) -> Option<Vec<u8>> {
        let scope = WriteScope::open(&self.folder, Access::Private).ok()?;
        scope.read(&RelPath::new(name).ok()?, limit).ok()
    }

    pub(super) fn open_packs(&self) -> &OpenPacks {
        &self.packs
    }

    pub fn analyses(&self) -> Analyses {
        Analyses::open(self)
    }

    /// The artifact of a project; `None` when there is none that can be read.
    pub fn open(&self, project: &Project) -> Option<Artifact> {
        // A file that is gone between looking and opening was replaced; a third time, it is not worth it.
        (0..3).find_map(|_| self.try_open(project))
    }

    fn try_open(&self, project: &Project) -> Option<Artifact> {
        let id = self.name_of(project.id);
        for generation in generations(&self.folder.join(&id)).into_iter().rev() {
            let Some(base) = self.base(project, generation) else { continue };
            let log = format!("{id}/{}", log_name(generation));
            let (commits, n_read, n_log) = self.read_log(&log, &base.head);
            let place = Place { generation, n_read, n_log };
            return Some(Artifact::read(base, place, commits));
        }
        None
    }

    fn base(&self, project: &Project, generation: u64) -> Option<Base> {
        let id = self.name_of(project.id);
        let bytes = self.bytes(&format!("{id}/{}", base_name(generation)))?;
        Base::open(bytes, &project.root)
    }

    /// Keeps a change of an artifact and what was found in new texts, and takes the change in.
    pub fn keep(
        &self,
        project: &Project,
        artifact: &mut Artifact,
        commit: &Commit,
        new: &[NewPack],
    ) -> Result<Kept, FsError> {
        let scope = self.scope()?;
        let id = self.name_of(project.id);
        let writer = self.writer(&scope, &id)?;
        if !self.is_last(project, artifact.place) {
            return Ok(Kept::Moved);
        }
        let is_torn = artifact.place.n_read != artifact.place.n_log;
        let is_new = artifact.place.generation == 0;
        let log = format!("{id}/{}", log_name(artifact.place.generation));
        let frame = (!is_torn && !is_new).then(|| self.frame(commit, &log, artifact.place.n_log));
        let base_bytes = artifact.base.as_ref().map_or(0, Base::n_bytes);
        let frame = frame.filter(|frame| {
            artifact.place.n_log + frame.len() as u64 <= MIN_FOLD_BYTES + base_bytes / 8
        });
        let Some(frame) = frame else {
            // Of a large project both take a moment, and neither needs the other.
            let (added, bytes) = thread::scope(|scope| {
                let bytes = scope.spawn(|| artifact.rendered_with(&project.root, commit));
                let added = self.add_analyses(&writer, new);
                (added, bytes.join().unwrap_or_else(|panic| resume_unwind(panic)))
            });
            added?;
            self.fold(project, artifact, (commit, bytes), &writer)?;
            self.evict(&id, &writer);
            return Ok(Kept::Yes);
        };
        self.add_analyses(&writer, new)?;
        let n_log = writer.append(&RelPath::new(&log)?, &frame)?;
        artifact.apply(commit.clone());
        artifact.place = Place { n_read: n_log, n_log, ..artifact.place };
        Ok(Kept::Yes)
    }

    fn add_analyses(&self, writer: &Writer<'_>, new: &[NewPack]) -> Result<(), FsError> {
        if new.is_empty() {
            return Ok(());
        }
        WriteScope::create_inside(&self.folder, packs::FOLDER, Access::Private)?;
        Packs::add(self, writer, new)
    }

    /// Keeps what was found in texts, without a change of any artifact.
    pub fn keep_analyses(&self, new: &[NewPack]) -> Result<(), FsError> {
        let scope = self.scope()?;
        let writer = self.writer(&scope, packs::FOLDER)?;
        self.add_analyses(&writer, new)
    }

    /// Keeps what was found in texts, and gives back what could not be kept.
    pub fn keep_held(&self, held: NewPack) -> Option<NewPack> {
        let kept = self.keep_analyses(std::slice::from_ref(&held));
        kept.is_err().then_some(held)
    }

    /// Writes the whole artifact after a change to the next generation's file, and removes the older ones.
    fn fold(
        &self,
        project: &Project,
        artifact: &mut Artifact,
        (commit, bytes): (&Commit, Vec<u8>),
        writer: &Writer<'_>,
    ) -> Result<(), FsError> {
        let id = self.name_of(project.id);
        let old = generations(&self.folder.join(&id));
        let generation = old.last().map_or(1, |last| last + 1);
        // A process that was killed while it removed a whole folder may have left the log of another life.
        writer.remove_derived(&RelPath::new(&format!("{id}/{}", log_name(generation)))?)?;
        self.put(writer, &format!("{id}/{}", base_name(generation)), &bytes)?;
        let place = Place { generation, n_read: 0, n_log: 0 };
        // What was just written is looked at as any reader will.
        match Base::open(Mapped::Memory(bytes), &project.root) {
            Some(base) => *artifact = Artifact::read(base, place, Vec::new()),
            None => {
                artifact.apply(commit.clone());
                artifact.place = place;
            }
        }
        // The change is kept: what cannot be tidied up now is passed by, and tried again the next time.
        for generation in old {
            for name in [base_name(generation), log_name(generation)] {
                let _ = RelPath::new(&format!("{id}/{name}"))
                    .and_then(|path| writer.remove_derived(&path));
            }
        }
        Ok(())
    }

    /// Removes the projects that were used longest ago, when there are too many. One that cannot be removed is passed by.
    fn evict(&self, kept: &str, writer: &Writer<'_>) {
        let mut projects = self.projects();
        if projects.len() <= MAX_PROJECTS {
            return;
        }
        projects.retain(|(_, name)| name != kept);
        projects.sort();
        let n_over = projects.len() + 1 - MAX_PROJECTS;
        for (_, name) in projects.into_iter().take(n_over) {
            let _ = RelPath::new(&name).and_then(|path| writer.remove_derived_folder(&path));
        }
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

    /// Whether a reader would find the last state there. What was read already is not read again: a log only grows.
    fn is_last(&self, project: &Project, place: Place) -> bool {
        let id = self.name_of(project.id);
        let is_whole =
            |number: &u64| *number == place.generation || self.base(project, *number).is_some();
        match generations(&self.folder.join(&id)).into_iter().rev().find(is_whole) {
            Some(generation) => {
                let log = format!("{id}/{}", log_name(generation));
                generation == place.generation && self.log_len(&log) == place.n_log
            }
            None => place == Place::default(),
        }
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

/// How large a file of that name can be.
fn limit_of(name: &str) -> u64 {
    let file = name.rsplit('/').next().unwrap_or_default();
    let kind = LIMITS.iter().find(|(start, _)| file.starts_with(start));
    kind.map_or(MAX_PACK_BYTES, |(_, limit)| *limit) + MAX_WRAPPING_BYTES
}

fn base_name(generation: u64) -> String {
    format!("base-{generation}")
}

fn log_name(generation: u64) -> String {
    format!("log-{generation}")
}

/// The generations that have a file, in order.
fn generations(folder: &Path) -> Vec<u64> {
    let mut numbers: Vec<u64> = names(folder)
        .filter_map(|name| name.strip_prefix("base-").and_then(|number| number.parse().ok()))
        .collect();
    numbers.sort_unstable();
    numbers
}

/// The files whose names begin so, with when each was written.
fn dated(folder: &Path, prefix: &str) -> Vec<(SystemTime, String)> {
    let modified = |name: &str| {
        let metadata = folder.join(name).symlink_metadata();
        metadata.and_then(|metadata| metadata.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
    };
    let files = names(folder).filter(|name| name.starts_with(prefix));
    files.map(|name| (modified(&name), name)).collect()
}

fn names(folder: &Path) -> impl Iterator<Item = String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok())
}

fn last_use(folder: &Path) -> SystemTime {
    let times = names(folder).filter_map(|name| {
        let metadata = folder.join(name).symlink_metadata().ok()?;
        metadata.accessed().ok().max(metadata.modified().ok())
    });
    times.max().unwrap_or(SystemTime::UNIX_EPOCH)
}
