//! The files of a store with their stamps: what a derived index compares itself with.
//!
//! Every search looks, so it does nothing for a file but that: what a path means is found out for those that changed.
//! Who remembers the stamps of all files and folders asks `is_unchanged`, which lists nothing: no name comes or
//! goes without its folder's stamp changing.

use super::layout::{self, Located};
use super::listing::FILES_PER_THREAD;
use super::reader::as_text;
use super::record::Memory;
use super::sidecar::{Evidence, MAX_SIDECAR_BYTES};
use super::store::{MemoryError, Store, Unreadable, memory_of};
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
    /// Where memories lie or could lie, as they were before they were listed.
    pub folders: Vec<SurveyedFolder>,
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

/// A folder that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SurveyedFolder {
    /// Below the store, with a slash at its end: no file has such a path.
    pub path: String,
    /// `None` when it is not there.
    pub stamp: Option<FileStamp>,
}

/// What somebody remembers of a file or a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remembered<'a> {
    /// As in a survey.
    pub path: &'a str,
    /// The number of its stamp; 1 when it was not there.
    pub stamp: u64,
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
        let (mut files, mut folders) = (Vec::new(), Vec::new());
        for (_, _, path) in layout::claim_folders() {
            let folder = self.scope().folder(&RelPath::new(path)?)?;
            folders.push(surveyed_folder(path.to_owned(), folder.as_ref()));
            let Some(folder) = folder else { continue };
            let entries = folder.list()?;
            files.extend(on_all_cores(&entries, FILES_PER_THREAD, |piece| {
                piece.iter().filter_map(|entry| surveyed(&folder, path, entry)).collect()
            }));
        }
        let root = self.scope().folder(&RelPath::new(SUMMARIES)?)?;
        folders.push(surveyed_folder(SUMMARIES.to_owned(), root.as_ref()));
        for day in root.as_ref().map_or_else(|| Ok(Vec::new()), survey_days)? {
            files.extend(day.files);
            folders.extend(day.folders);
        }
        Ok(Survey { files, folders, evidence: self.evidence_stamp()? })
    }

    /// Whether everything is as it is remembered. What is not remembered at all is not missed, so this wants every
    /// file and every folder of a survey.
    pub fn is_unchanged(&self, remembered: &[Remembered<'_>]) -> Result<bool, MemoryError> {
        let store = self.scope().root()?;
        let open = |path| Ok((path, self.scope().folder(&RelPath::new(path)?)?));
        let folders = layout::claim_folders().map(|(_, _, path)| path).chain([SUMMARIES]);
        let folders: Result<Vec<(&str, Option<Folder>)>, FsError> = folders.map(open).collect();
        let folders = folders?;
        let is_same = |remembered: &Remembered<'_>| {
            remembered.stamp == stamp_number(&store, &folders, remembered.path)
        };
        let pieces =
            on_all_cores(remembered, FILES_PER_THREAD, |piece| vec![piece.iter().all(is_same)]);
        Ok(pieces.into_iter().all(|is_same| is_same))
    }

    /// The stamp of the folder with all evidence.
    pub fn evidence_stamp(&self) -> Result<Option<FileStamp>, FsError> {
        let folder = self.scope().folder(&RelPath::new(layout::EVIDENCE_FOLDER)?)?;
        Ok(folder.and_then(|folder| folder.own_stamp()))
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

/// The number of the stamp of a file or folder as it is now, looked up from the nearest open folder.
fn stamp_number(store: &Folder, folders: &[(&str, Option<Folder>)], path: &str) -> u64 {
    let (path, kind) = match path.strip_suffix('/') {
        Some(path) => (path, EntryKind::Folder),
        None => (path, EntryKind::File),
    };
    let below = |(folder, open): &'_ (&str, Option<Folder>)| {
        let rest = path.strip_prefix(folder)?.strip_prefix('/')?;
        Some(open.as_ref()?.glance(rest, kind))
    };
    let stamp = folders.iter().find_map(below).unwrap_or_else(|| store.glance(path, kind));
    stamp.map_or(1, FileStamp::number)
}

/// The days of all summaries.
fn survey_days(root: &Folder) -> Result<Vec<Day>, FsError> {
    let days = root.list()?;
    let looked = on_all_cores(&days, DAYS_PER_THREAD, |piece| {
        piece.iter().map(|day| survey_day(root, day)).collect()
    });
    looked.into_iter().collect()
}

/// The summaries of one day.
#[derive(Debug, Default)]
struct Day {
    files: Vec<Surveyed>,
    folders: Vec<SurveyedFolder>,
}

/// Looks at the summaries of a day, each in a folder of its own.
fn survey_day(root: &Folder, day: &Entry) -> Result<Day, FsError> {
    let mut looked = Day::default();
    let Some(day_folder) = stamped(root, day)? else { return Ok(looked) };
    let day_path = format!("{SUMMARIES}/{}", day.name);
    looked.folders.push(surveyed_folder(day_path.clone(), Some(&day_folder)));
    for time in day_folder.list()? {
        let Some(folder) = stamped(&day_folder, &time)? else { continue };
        let path = format!("{day_path}/{}", time.name);
        looked.folders.push(surveyed_folder(path.clone(), Some(&folder)));
        let files = folder.list()?;
        looked.files.extend(files.iter().filter_map(|entry| surveyed(&folder, &path, entry)));
    }
    Ok(looked)
}

fn surveyed_folder(mut path: String, folder: Option<&Folder>) -> SurveyedFolder {
    path.push('/');
    SurveyedFolder { path, stamp: folder.and_then(Folder::own_stamp) }
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
