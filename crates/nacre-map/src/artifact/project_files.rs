//! The artifact of one project on disk: how it is read, and how a change of it is kept.
//!
//! A change is appended to the log, or the whole is written to the next generation's file when the log has grown long or
//! was torn; a reader that meets the moment in between sees the state before or after it. Only a writer that read the
//! last state may write the next, so that two processes that saw the same change do not record it twice.

use std::borrow::Cow;
use std::panic::resume_unwind;
use std::path::Path;
use std::thread;

use nacre_core::safefs::{Access, FsError, RelPath, WriteScope, Writer};

use super::base::Base;
use super::cache::{Cache, names_in};
use super::commit::{Commit, Head};
use super::fresh::NewPack;
use super::limits::MAX_LOG_BYTES;
use super::log;
use super::mapped::Mapped;
use super::model::Project;
use super::packs::{self, Packs};
use super::state::{Artifact, PackPlace};

/// So many projects are kept; the one that was used longest ago goes first.
const MAX_PROJECTS: usize = 64;

/// A log that is longer than this and an eighth of its artifact is folded in.
const MIN_FOLD_BYTES: u64 = 256 << 10;

/// What became of a change that was to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    Yes,
    /// Another process wrote meanwhile: look again.
    Moved,
}

impl Cache {
    /// The artifact of a project; `None` when there is none that can be read.
    pub fn open(&self, project: &Project) -> Option<Artifact> {
        // A file that is gone between looking and opening was replaced; a third time, it is not worth it.
        (0..3).find_map(|_| self.try_open(project))
    }

    fn try_open(&self, project: &Project) -> Option<Artifact> {
        let id = self.name_of(project.id);
        for generation in generations(&self.folder().join(&id)).into_iter().rev() {
            let Some(base) = self.base(project, generation) else { continue };
            let log = format!("{id}/{}", log_name(generation));
            let (commits, n_read, n_log) = self.read_log(&log, &base.head);
            let place = PackPlace { generation, n_read, n_log };
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
        artifact.place = PackPlace { n_read: n_log, n_log, ..artifact.place };
        Ok(Kept::Yes)
    }

    fn add_analyses(&self, writer: &Writer<'_>, new: &[NewPack]) -> Result<(), FsError> {
        if new.is_empty() {
            return Ok(());
        }
        WriteScope::create_inside(self.folder(), packs::FOLDER, Access::Private)?;
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
        let old = generations(&self.folder().join(&id));
        let generation = old.last().map_or(1, |last| last + 1);
        // A process that was killed while it removed a whole folder may have left the log of another life.
        writer.remove_derived(&RelPath::new(&format!("{id}/{}", log_name(generation)))?)?;
        self.put(writer, &format!("{id}/{}", base_name(generation)), &bytes)?;
        let place = PackPlace { generation, n_read: 0, n_log: 0 };
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

    /// Whether a reader would find the last state there. What was read already is not read again: a log only grows.
    fn is_last(&self, project: &Project, place: PackPlace) -> bool {
        let id = self.name_of(project.id);
        let is_whole =
            |number: &u64| *number == place.generation || self.base(project, *number).is_some();
        match generations(&self.folder().join(&id)).into_iter().rev().find(is_whole) {
            Some(generation) => {
                let log = format!("{id}/{}", log_name(generation));
                generation == place.generation && self.log_len(&log) == place.n_log
            }
            None => place == PackPlace::default(),
        }
    }

    /// A record of a log as it is kept at `place` of it.
    fn frame(&self, commit: &Commit, log: &str, place: u64) -> Vec<u8> {
        log::frame(commit, |bytes| match self.seal() {
            Some(seal) => seal.close(&format!("{log}@{place}"), &bytes),
            None => bytes,
        })
    }

    /// The records of a log that go on from `head`, and how much of how many bytes they take.
    fn read_log(&self, name: &str, head: &Head) -> (Vec<Commit>, u64, u64) {
        let Some(log) = self.read(name, MAX_LOG_BYTES) else {
            return (Vec::new(), 0, self.log_len(name));
        };
        let (commits, n_read) = log::read(&log, *head, |place, bytes| match self.seal() {
            Some(seal) => seal.open(&format!("{name}@{place}"), bytes.to_vec()).map(Cow::Owned),
            None => Some(Cow::Borrowed(bytes)),
        });
        (commits, n_read, log.len() as u64)
    }

    fn log_len(&self, name: &str) -> u64 {
        let metadata = self.folder().join(name).symlink_metadata();
        metadata.ok().filter(std::fs::Metadata::is_file).map_or(0, |metadata| metadata.len())
    }
}

fn base_name(generation: u64) -> String {
    format!("base-{generation}")
}

fn log_name(generation: u64) -> String {
    format!("log-{generation}")
}

/// The generations that have a file, in order.
fn generations(folder: &Path) -> Vec<u64> {
    let mut numbers: Vec<u64> = names_in(folder)
        .filter_map(|name| name.strip_prefix("base-").and_then(|number| number.parse().ok()))
        .collect();
    numbers.sort_unstable();
    numbers
}
