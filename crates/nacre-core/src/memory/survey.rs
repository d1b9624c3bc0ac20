//! The files of a store with their stamps: what a derived index compares itself with.
//!
//! Every search takes one, so it does nothing for a file but look at it: what a path means is found out for those that
//! changed.

use super::layout::{self, Located};
use super::reader::as_text;
use super::record::Memory;
use super::sidecar::{Evidence, MAX_SIDECAR_BYTES};
use super::store::{FILES_PER_THREAD, MemoryError, Store, Unreadable, memory_of};
use crate::base::on_all_cores;
use crate::safefs::{Entry, EntryKind, FileStamp, Folder, FsError, RelPath};

/// The folder of summaries, by day and time.
const SUMMARIES: &str = "memory/summaries";

/// More days than this and starting a thread costs less than looking at them.
const DAYS_PER_THREAD: usize = 4;

/// Everything that a store holds, without having read any of it.
#[derive(Debug)]
pub struct Survey {
    /// In the order of their paths within each folder. Some may lie where no memory does.
    pub files: Vec<Surveyed>,
    /// Of the folder with all evidence; changes whenever evidence comes, goes or is replaced.
    pub evidence: Option<FileStamp>,
}

/// A file that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surveyed {
    /// Below the store.
    pub path: String,
    pub stamp: FileStamp,
}

/// A memory's file as it was read.
#[derive(Debug)]
pub struct FileRead {
    pub bytes: Vec<u8>,
    pub memory: Result<Memory, Unreadable>,
    pub evidence: Option<Evidence>,
}

impl Store {
    /// Looks at every memory's file; one that vanishes meanwhile is left out.
    pub fn survey(&self) -> Result<Survey, MemoryError> {
        let mut files = Vec::new();
        for (_, _, path) in layout::claim_folders() {
            let Some(folder) = self.scope().folder(&RelPath::new(path)?)? else { continue };
            let entries = folder.list()?;
            files.extend(on_all_cores(&entries, FILES_PER_THREAD, |piece| {
                piece.iter().filter_map(|entry| surveyed(&folder, path, entry)).collect()
            }));
        }
        files.extend(self.survey_summaries()?);
        let evidence = self.scope().folder(&RelPath::new(layout::EVIDENCE_FOLDER)?)?;
        Ok(Survey { files, evidence: evidence.and_then(|folder| folder.own_stamp()) })
    }

    fn survey_summaries(&self) -> Result<Vec<Surveyed>, FsError> {
        let Some(root) = self.scope().folder(&RelPath::new(SUMMARIES)?)? else {
            return Ok(Vec::new());
        };
        let days = root.list()?;
        let looked = on_all_cores(&days, DAYS_PER_THREAD, |piece| {
            piece.iter().map(|day| survey_day(&root, day)).collect()
        });
        let looked: Result<Vec<Vec<Surveyed>>, FsError> = looked.into_iter().collect();
        Ok(looked?.into_iter().flatten().collect())
    }

    /// The stamps of the evidence of these memories, where they have any.
    pub fn evidence_stamps(
        &self,
        of: &[Option<Located>],
    ) -> Result<Vec<Option<FileStamp>>, FsError> {
        let Some(folder) = self.scope().folder(&RelPath::new(layout::EVIDENCE_FOLDER)?)? else {
            return Ok(vec![None; of.len()]);
        };
        Ok(on_all_cores(of, FILES_PER_THREAD, |piece| {
            let stamp = |at: &Option<Located>| folder.stamp(&format!("{}.json", at.as_ref()?.id));
            piece.iter().map(stamp).collect()
        }))
    }

    /// Reads a memory with its evidence, as leniently as a search does.
    pub fn read_for_search(&self, at: &Located) -> Result<FileRead, FsError> {
        let bytes = self.scope().read(&at.path, self.rules().max_file_bytes)?;
        let text = as_text(bytes.clone());
        let evidence = layout::evidence_path(&at.id)
            .and_then(|path| self.scope().read_optional(&path, MAX_SIDECAR_BYTES))
            .ok()
            .flatten()
            .and_then(|bytes| super::sidecar::parse(&bytes).ok());
        Ok(FileRead { memory: memory_of(at, Ok(text)), bytes, evidence })
    }

    /// The stamp of a memory's file; `None` when it is gone.
    pub fn stamp_of(&self, at: &Located) -> Option<FileStamp> {
        let folder = self.scope().folder(&at.path.parent()?).ok().flatten()?;
        folder.stamp(at.path.name())
    }

    /// Reads a memory strictly: as every command but a search does.
    pub fn load(&self, at: &Located) -> Result<Memory, Unreadable> {
        memory_of(at, self.scope().read(&at.path, self.rules().max_file_bytes))
    }
}

/// The summaries of a day, each in a folder of its own.
fn survey_day(root: &Folder, day: &Entry) -> Result<Vec<Surveyed>, FsError> {
    let mut files = Vec::new();
    let Some(day_folder) = stamped(root, day)? else { return Ok(files) };
    for time in day_folder.list()? {
        let Some(folder) = stamped(&day_folder, &time)? else { continue };
        let path = format!("{SUMMARIES}/{}/{}", day.name, time.name);
        files.extend(folder.list()?.iter().filter_map(|entry| surveyed(&folder, &path, entry)));
    }
    Ok(files)
}

/// Opens a folder that is named by a day or a time.
fn stamped(parent: &Folder, entry: &Entry) -> Result<Option<Folder>, FsError> {
    if entry.kind == EntryKind::Folder && layout::is_stamp(&entry.name) {
        parent.folder(&RelPath::new(&entry.name)?)
    } else {
        Ok(None)
    }
}

fn surveyed(folder: &Folder, path: &str, entry: &Entry) -> Option<Surveyed> {
    let is_page = entry.kind == EntryKind::File && entry.name.ends_with(".md");
    let stamp = is_page.then(|| folder.stamp(&entry.name))??;
    // As long as it will be, and no `format!`: this is done for every memory by every search.
    let mut full = String::with_capacity(path.len() + 1 + entry.name.len());
    full.push_str(path);
    full.push('/');
    full.push_str(&entry.name);
    Some(Surveyed { path: full, stamp })
}
