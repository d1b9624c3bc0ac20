//! Takes the changes of calls back, the last first.
//!
//! What a call is about to change is known from its footprint, so it is kept before the call runs, whatever the tool. A
//! file that somebody changed afterwards is not touched.

use std::collections::VecDeque;
use std::sync::Arc;

use nacre_core::base::ContentHash;
use nacre_core::safefs::RelPath;

use super::super::footprint::{Area, Exec, Footprint};
use super::super::tool::ToolError;
use super::super::workspace::Workspace;
use crate::record::{Change, ChangeKind, Fault};

/// Larger files are not kept, and calls that changed one are not taken back.
pub(super) const MAX_FILE_BYTES: usize = 1 << 20;

/// What is kept of all calls together; the oldest go first.
const MAX_TOTAL_BYTES: usize = 32 << 20;
const MAX_CALLS: usize = 200;

/// A file at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Image {
    Absent,
    File {
        bytes: Arc<[u8]>,
        /// Its permission bits, where they are known.
        mode: Option<u32>,
    },
    /// It is there, and cannot be kept.
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

    /// The hash of what is there, or that nothing is; `None` when it is not known.
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

/// A file that is different after a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ChangedFile {
    pub(super) path: RelPath,
    pub(super) before: Image,
    pub(super) after: Image,
}

impl ChangedFile {
    pub(super) fn change(&self) -> Change {
        let kind = match (&self.before, &self.after) {
            (Image::Absent, _) => ChangeKind::Created,
            (_, Image::Absent) => ChangeKind::Deleted,
            (_, _) => ChangeKind::Edited,
        };
        Change::new(&self.path, kind)
    }
}

/// The files of one call before it ran.
#[derive(Debug)]
pub(super) struct Before {
    files: Vec<(RelPath, Image)>,
}

impl Before {
    /// Looks at what a call may change; `None` when that is nothing or unknown.
    pub(super) fn look(footprint: &Footprint, workspace: &Workspace) -> Option<Self> {
        if footprint.writes.is_empty() || footprint.exec != Exec::Nothing {
            return None;
        }
        let mut files = Vec::with_capacity(footprint.writes.len());
        for area in &footprint.writes {
            let Area::File(path) = area else { return None };
            files.push((path.clone(), Image::look(workspace, path)));
        }
        Some(Self { files })
    }

    /// Whether a file is among them.
    pub(super) fn has(&self, path: &RelPath) -> bool {
        self.files.iter().any(|(known, _)| known == path)
    }

    /// Looks again after the call; returns what is different, or may be. `changed` is what the call says it did, which
    /// counts where a file is too large to compare.
    pub(super) fn done(self, changed: &[Change], workspace: &Workspace) -> Vec<ChangedFile> {
        let mut files = Vec::new();
        for (path, before) in self.files {
            let after = Image::look(workspace, &path);
            let is_different = match (&before, &after) {
                (Image::TooLarge, Image::TooLarge) => {
                    changed.iter().any(|change| change.path == path.as_str())
                }
                (before, after) => before != after,
            };
            if is_different {
                files.push(ChangedFile { path, before, after });
            }
        }
        files
    }
}

/// What one call changed.
#[derive(Debug)]
pub(super) struct UndoStep {
    call_id: String,
    files: Vec<Undoable>,
}

#[derive(Debug)]
struct Undoable {
    path: RelPath,
    before: Option<Arc<[u8]>>,
    mode: Option<u32>,
    after: Option<ContentHash>,
}

impl UndoStep {
    /// `None` when nothing changed, or something that was not kept.
    pub(super) fn new(call_id: &str, changed: &[ChangedFile]) -> Option<Self> {
        let mut files = Vec::with_capacity(changed.len());
        for ChangedFile { path, before, after } in changed {
            let mode = before.mode();
            let before = match before {
                Image::Absent => None,
                Image::File { bytes, .. } => Some(Arc::clone(bytes)),
                Image::TooLarge => return None,
            };
            files.push(Undoable { path: path.clone(), before, mode, after: after.hash()? });
        }
        (!files.is_empty()).then(|| Self { call_id: call_id.to_owned(), files })
    }

    fn kept_bytes(&self) -> usize {
        self.files.iter().filter_map(|file| file.before.as_ref()).map(|bytes| bytes.len()).sum()
    }

    /// Puts everything back, if all of it is as the call left it.
    fn take_back(&self, workspace: &Workspace) -> Result<Vec<Change>, ToolError> {
        for Undoable { path, after, .. } in &self.files {
            if Image::look(workspace, path).hash() != Some(*after) {
                let what = format!("`{path}` changed since");
                return Err(ToolError::new(Fault::Stale, what, "Change it by hand."));
            }
        }
        // What a move took away comes back before its copy goes.
        let (gone, there): (Vec<&Undoable>, Vec<&Undoable>) =
            self.files.iter().partition(|file| file.after.is_none());
        gone.into_iter()
            .chain(there)
            .map(|file| {
                let before = file.before.as_deref().map(|bytes| (bytes, file.mode));
                put_back(workspace, &file.path, before, file.after)
            })
            .collect()
    }
}

/// Makes a file what it was `before`, with its permission bits, if it is what it was `after`.
pub(super) fn put_back(
    workspace: &Workspace,
    path: &RelPath,
    before: Option<(&[u8], Option<u32>)>,
    after: Option<ContentHash>,
) -> Result<Change, ToolError> {
    let kind = match (before, after) {
        (Some((bytes, mode)), Some(after)) => {
            workspace.replace_as(path, after, bytes, mode)?;
            ChangeKind::Edited
        }
        (Some((bytes, mode)), None) => {
            workspace.create_as(path, bytes, mode)?;
            ChangeKind::Created
        }
        (None, Some(after)) => {
            workspace.remove(path, after)?;
            ChangeKind::Deleted
        }
        // Such a file did not change, and was never kept.
        (None, None) => ChangeKind::Edited,
    };
    Ok(Change::new(path, kind))
}

/// The calls that can be taken back.
#[derive(Debug, Default)]
pub(super) struct UndoLog {
    steps: VecDeque<UndoStep>,
}

impl UndoLog {
    pub(super) fn keep(&mut self, step: Option<UndoStep>) {
        self.steps.extend(step);
        while MAX_CALLS < self.steps.len() || MAX_TOTAL_BYTES < self.kept_bytes() {
            self.steps.pop_front();
        }
    }

    fn kept_bytes(&self) -> usize {
        self.steps.iter().map(UndoStep::kept_bytes).sum()
    }

    /// Takes the last call back; returns its id and what changed.
    pub(super) fn take_back(
        &mut self,
        workspace: &Workspace,
    ) -> Option<Result<(String, Vec<Change>), ToolError>> {
        let step = self.steps.pop_back()?;
        let taken = step.take_back(workspace).map(|changed| (step.call_id.clone(), changed));
        if taken.is_err() {
            self.steps.push_back(step);
        }
        Some(taken)
    }
}
