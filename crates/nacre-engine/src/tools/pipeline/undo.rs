//! Records file contents before and after each call, so that a turn's changes can be undone.
//!
//! The footprint lists the files that a call may change. Those files are read before the call runs.
//! A file is not restored if anyone else has changed it since.

use std::collections::BTreeMap;
use std::sync::Arc;

use nacre_base::ContentHash;
use nacre_base::fs::RelPath;
use nacre_types::PathProblem;

use crate::record::{ChangeKind, Fault, FileChange};
use crate::tools::footprint::{Area, Exec, Footprint};
use crate::tools::pipeline::watch::ProgramChanges;
use crate::tools::tool::Result;
use crate::tools::workspace::Workspace;

/// Maximum size of a stored file. Changes to larger files cannot be undone.
pub(super) const MAX_FILE_BYTES: usize = 1 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Image {
    Absent,
    File { bytes: Arc<[u8]>, mode: Option<u32> },
    TooLarge,
}

impl Image {
    pub(super) fn look(workspace: &Workspace, path: &RelPath) -> Self {
        match workspace.read(path) {
            Ok(bytes) if bytes.len() <= MAX_FILE_BYTES => {
                Self::File { bytes: bytes.into(), mode: workspace.mode(path) }
            }
            Err(error) if error.fault == Fault::NotFound => Self::Absent,
            Ok(_) | Err(_) => Self::TooLarge,
        }
    }

    /// Returns the hash of the content, `Some(None)` if the file is missing, or `None` if the
    /// content is unknown.
    pub(super) fn hash(&self) -> Option<Option<ContentHash>> {
        match self {
            Self::Absent => Some(None),
            Self::File { bytes, .. } => Some(Some(ContentHash::of(bytes))),
            Self::TooLarge => None,
        }
    }

    pub(super) fn mode(&self) -> Option<u32> {
        match self {
            Self::File { mode, .. } => *mode,
            Self::Absent | Self::TooLarge => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ChangedFile {
    pub(super) path: RelPath,
    pub(super) before: Image,
    pub(super) after: Image,
}

impl ChangedFile {
    pub(super) fn change(&self) -> FileChange {
        let kind = match (&self.before, &self.after) {
            (Image::Absent, _) => ChangeKind::Created,
            (_, Image::Absent) => ChangeKind::Deleted,
            (_, _) => ChangeKind::Edited,
        };
        FileChange::new(&self.path, kind)
    }
}

pub(super) type FilesBefore = Vec<(RelPath, Image)>;

/// Reads the files that a call may change. Returns `None` if there are no such files or the
/// footprint does not list them.
pub(super) fn look_before(footprint: &Footprint, workspace: &Workspace) -> Option<FilesBefore> {
    if footprint.writes.is_empty() || footprint.exec != Exec::Nothing {
        return None;
    }
    let image = |area: &Area| match area {
        Area::File(path) => Some((path.clone(), Image::look(workspace, path))),
        Area::Tree(_) => None,
    };
    footprint.writes.iter().map(image).collect()
}

/// Reads the files again and returns those that may have changed. `changed` is the call's own
/// report, which is used for files that are too large to compare.
pub(super) fn find_changed_files(
    before: FilesBefore,
    changed: &[FileChange],
    workspace: &Workspace,
) -> Vec<ChangedFile> {
    let is_reported = |path: &RelPath| changed.iter().any(|change| change.path == path.as_str());
    let mut files = Vec::new();
    for (path, before) in before {
        let after = Image::look(workspace, &path);
        let is_unknown = before == Image::TooLarge && after == Image::TooLarge;
        if before != after || (is_unknown && is_reported(&path)) {
            files.push(ChangedFile { path, before, after });
        }
    }
    files
}

/// Restores the file's content and permission bits to `before` if its content is still `after`.
pub(super) fn put_back(
    workspace: &Workspace,
    path: &RelPath,
    before: Option<(&[u8], Option<u32>)>,
    after: Option<ContentHash>,
) -> Result<FileChange> {
    let kind = match (before, after) {
        (Some((bytes, mode)), Some(after)) => {
            workspace.replace(path, after, bytes, mode)?;
            ChangeKind::Edited
        }
        (Some((bytes, mode)), None) => {
            workspace.create(path, bytes, mode)?;
            ChangeKind::Created
        }
        (None, Some(after)) => {
            workspace.remove(path, after)?;
            ChangeKind::Deleted
        }
        (None, None) => ChangeKind::Edited,
    };
    Ok(FileChange::new(path, kind))
}

const MAX_TURN_BYTES: usize = 64 << 20;

const MAX_NOT_KEPT: usize = 200;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnChanges {
    pub files: Vec<TurnFile>,
    /// Changes that cannot be undone. Each entry is a path or a description of several files.
    pub not_kept: Vec<PathProblem>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnFile {
    pub path: RelPath,
    pub before: Option<Vec<u8>>,
    pub mode: Option<u32>,
    pub after: Option<ContentHash>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TakenBack {
    pub changed: Vec<FileChange>,
    /// Files that were not restored, including those whose content was never stored.
    pub kept: Vec<PathProblem>,
}

impl TurnChanges {
    /// Restores every file that has not changed since the turn. Lists all other files and leaves
    /// them unchanged.
    pub fn take_back(&self, workspace: &Workspace) -> TakenBack {
        let mut taken = TakenBack { changed: Vec::new(), kept: self.not_kept.clone() };
        // Restore the source of a move before removing its target.
        let (gone, there): (Vec<&TurnFile>, Vec<&TurnFile>) =
            self.files.iter().partition(|file| file.after.is_none());
        for file in gone.into_iter().chain(there) {
            let TurnFile { path, before, mode, after } = file;
            let before = before.as_deref().map(|bytes| (bytes, *mode));
            match put_back(workspace, path, before, *after) {
                Ok(change) => taken.changed.push(change),
                Err(error) => {
                    let has_changed = matches!(error.fault, Fault::Stale | Fault::NotFound);
                    let why =
                        if has_changed { "it has changed since".to_owned() } else { error.what };
                    taken.kept.push(PathProblem { path: path.to_string(), why });
                }
            }
        }
        taken
    }
}

#[derive(Debug, Default)]
pub(super) struct TurnLog {
    files: BTreeMap<RelPath, (TurnFile, Option<u32>)>,
    not_kept: BTreeMap<String, &'static str>,
    n_bytes: usize,
}

impl TurnLog {
    pub(super) fn add(&mut self, changed: &ChangedFile) {
        let ChangedFile { path, before, after } = changed;
        if self.not_kept.contains_key(path.as_str()) {
            return;
        }
        let (mode, mode_after) = (before.mode(), after.mode());
        let (before, after) = match (before, after.hash()) {
            (Image::TooLarge, _) => return self.lose(path, "it is too large to store"),
            (_, None) => return self.lose(path, "it became too large to store"),
            (Image::Absent, Some(after)) => (None, after),
            (Image::File { bytes, .. }, Some(after)) => (Some(bytes), after),
        };
        if let Some((file, mode_now)) = self.files.get_mut(path) {
            // Someone else changed the file between two calls, and that change must not be undone.
            if file.after != before.map(|bytes| ContentHash::of(bytes)) {
                return self.lose(path, "it was changed by someone else in the meantime");
            }
            (file.after, *mode_now) = (after, mode_after);
            return;
        }
        self.n_bytes += before.map_or(0, |bytes| bytes.len());
        if MAX_TURN_BYTES < self.n_bytes {
            return self.lose(path, "the turn changed more than can be stored");
        }
        let before = before.map(|bytes| bytes.to_vec());
        let file = TurnFile { path: path.clone(), before, mode, after };
        self.files.insert(path.clone(), (file, mode_after));
    }

    pub(super) fn add_effects(&mut self, changes: &ProgramChanges) {
        changes.files.iter().for_each(|file| self.add(file));
        self.name_cut(changes);
    }

    pub(super) fn add_program(&mut self, changes: &ProgramChanges) {
        changes.files.iter().for_each(|file| self.add(file));
        self.name("files that git ignores", "changes made by programs there are unknown");
        self.name_cut(changes);
    }

    fn name_cut(&mut self, changes: &ProgramChanges) {
        if changes.is_cut {
            self.name("other files of the workspace", "too many files to watch");
        }
    }

    fn lose(&mut self, path: &RelPath, why: &'static str) {
        self.files.remove(path);
        self.name(path.as_str(), why);
    }

    pub(super) fn name(&mut self, what: &str, why: &'static str) {
        if self.not_kept.len() < MAX_NOT_KEPT {
            self.not_kept.insert(what.to_owned(), why);
        }
    }

    pub(super) fn changes(&self) -> TurnChanges {
        let is_different = |(file, mode_now): &&(TurnFile, Option<u32>)| {
            file.before.as_deref().map(ContentHash::of) != file.after
                || (file.before.is_some() && file.mode != *mode_now)
        };
        let not_kept = |(what, why): (&String, &&'static str)| PathProblem {
            path: what.clone(),
            why: (*why).to_owned(),
        };
        TurnChanges {
            files: self.files.values().filter(is_different).map(|(file, _)| file.clone()).collect(),
            not_kept: self.not_kept.iter().map(not_kept).collect(),
        }
    }
}
