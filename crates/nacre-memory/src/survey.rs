//! Lists a store's files and their stamps, to find out which parts of an index are stale.
//!
//! Every search needs this, so only files with new stamps are parsed. `is_unchanged` does not even
//! list directories, because adding or removing a file changes its directory's stamp.

use super::layout;
use super::listing::{FILES_PER_THREAD, as_text};
use super::store::memory_of;
use crate::prelude::*;
use nacre_base::fs::{FileStamp, Folder, FolderEntry};
use nacre_base::on_all_cores;

const SUMMARIES: &str = "memory/summaries";

/// Minimum number of directories per thread. Listing fewer directories takes less time than
/// starting a thread.
const DAYS_PER_THREAD: usize = 4;

#[derive(Debug, Default)]
pub struct Survey {
    /// Sorted within each directory. May include paths that are not valid for memories.
    pub files: Vec<Surveyed>,
    /// The directories that contain memories. The stamps were read before the directories were
    /// listed.
    pub folders: Vec<SurveyedFolder>,
    /// The evidence directory's stamp, which changes whenever a file is added, removed or replaced.
    pub evidence: Option<FileStamp>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surveyed {
    pub path: String,
    pub stamp: FileStamp,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SurveyedFolder {
    /// Relative to the store. A trailing slash distinguishes a directory from a file.
    pub path: String,
    /// `None` if the directory does not exist.
    pub stamp: Option<FileStamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remembered<'a> {
    pub path: &'a str,
    /// A number derived from the stamp. The number is 1 if the file did not exist.
    pub stamp: u64,
}

#[derive(Debug)]
pub struct FileRead {
    pub bytes: Vec<u8>,
    pub memory: Result<Memory, Unreadable>,
    pub evidence: Option<Evidence>,
}

impl Store {
    /// Lists all memory files, except those removed while listing.
    pub fn survey(&self) -> Result<Survey> {
        let (mut files, mut folders) = (Vec::new(), Vec::new());
        for (_, _, path) in layout::claim_folders() {
            let folder = self.scope().folder(&RelPath::new(path)?)?;
            folders.push(survey_directory(path.to_owned(), folder.as_ref()));
            let Some(folder) = folder else { continue };
            let entries = folder.list()?;
            files.extend(on_all_cores(&entries, FILES_PER_THREAD, |piece| {
                piece.iter().filter_map(|entry| survey_entry(&folder, path, entry)).collect()
            }));
        }
        let root = self.scope().folder(&RelPath::new(SUMMARIES)?)?;
        folders.push(survey_directory(SUMMARIES.to_owned(), root.as_ref()));
        for day in root.as_ref().map_or_else(|| Ok(Vec::new()), survey_days)? {
            files.extend(day.files);
            folders.extend(day.folders);
        }
        Ok(Survey { files, folders, evidence: self.evidence_stamp()? })
    }

    /// Returns whether all stamps are unchanged. `remembered` must contain all files and
    /// directories from the last survey; no other paths are checked.
    pub fn is_unchanged(&self, remembered: &[Remembered<'_>]) -> Result<bool> {
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

    pub fn evidence_stamp(&self) -> Result<Option<FileStamp>, FsError> {
        let folder = self.scope().folder(&RelPath::new(layout::EVIDENCE_FOLDER)?)?;
        Ok(folder.and_then(|folder| folder.own_stamp()))
    }

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

    /// Reads a memory with its evidence, decoding it as leniently as a search does.
    pub fn read_for_search(&self, at: &Located) -> Result<FileRead, FsError> {
        let bytes = self.scope().read(&at.path, self.rules().max_file_bytes)?;
        let text = as_text(bytes.clone());
        let evidence = layout::evidence_path(&at.id)
            .and_then(|path| self.scope().read_optional(&path, MAX_SIDECAR_BYTES))
            .ok()
            .flatten()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Ok(FileRead { memory: memory_of(at, Ok(text)), bytes, evidence })
    }

    pub fn stamp_of(&self, at: &Located) -> Option<FileStamp> {
        let folder = self.scope().folder(&at.path.parent()?).ok().flatten()?;
        folder.stamp(at.path.name())
    }

    /// Reads a memory with strict decoding.
    pub fn load(&self, at: &Located) -> Result<Memory, Unreadable> {
        memory_of(at, self.scope().read(&at.path, self.rules().max_file_bytes))
    }
}

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

fn survey_days(root: &Folder) -> Result<Vec<Survey>, FsError> {
    let days = root.list()?;
    let looked = on_all_cores(&days, DAYS_PER_THREAD, |piece| {
        piece.iter().map(|day| survey_day(root, day)).collect()
    });
    looked.into_iter().collect()
}

fn survey_day(root: &Folder, day: &FolderEntry) -> Result<Survey, FsError> {
    let mut looked = Survey::default();
    let Some(day_folder) = open_stamp_directory(root, day)? else { return Ok(looked) };
    let day_path = format!("{SUMMARIES}/{}", day.name);
    looked.folders.push(survey_directory(day_path.clone(), Some(&day_folder)));
    for time in day_folder.list()? {
        let Some(folder) = open_stamp_directory(&day_folder, &time)? else { continue };
        let path = format!("{day_path}/{}", time.name);
        looked.folders.push(survey_directory(path.clone(), Some(&folder)));
        let files = folder.list()?;
        looked.files.extend(files.iter().filter_map(|entry| survey_entry(&folder, &path, entry)));
    }
    Ok(looked)
}

fn survey_directory(mut path: String, folder: Option<&Folder>) -> SurveyedFolder {
    path.push('/');
    SurveyedFolder { path, stamp: folder.and_then(Folder::own_stamp) }
}

fn open_stamp_directory(parent: &Folder, entry: &FolderEntry) -> Result<Option<Folder>, FsError> {
    if entry.kind == EntryKind::Folder && layout::is_stamp(&entry.name) {
        parent.folder(&RelPath::new(&entry.name)?)
    } else {
        Ok(None)
    }
}

fn survey_entry(folder: &Folder, path: &str, entry: &FolderEntry) -> Option<Surveyed> {
    let is_page = entry.kind == EntryKind::File && entry.name.ends_with(".md");
    let stamp = is_page.then(|| folder.stamp(&entry.name))??;
    Some(Surveyed { path: format!("{path}/{}", entry.name), stamp })
}
