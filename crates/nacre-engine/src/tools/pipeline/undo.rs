//! Takes the changes of calls back, the last first.
//!
//! What a call is about to change is known from its footprint, so it is kept before the call runs, whatever the tool. A
//! file that somebody changed afterwards is not touched.

use std::collections::VecDeque;

use nacre_core::base::ContentHash;
use nacre_core::safefs::RelPath;

use super::super::footprint::{Area, Exec, Footprint};
use super::super::tool::ToolError;
use super::super::workspace::Workspace;
use crate::record::{Change, ChangeKind, Fault};

/// Larger files are not kept, and calls that changed one are not taken back.
const MAX_FILE_BYTES: usize = 1 << 20;

/// What is kept of all calls together; the oldest go first.
const MAX_TOTAL_BYTES: usize = 32 << 20;
const MAX_CALLS: usize = 200;

/// The files of one call before it ran.
#[derive(Debug)]
pub(super) struct Before {
    files: Vec<(RelPath, Option<Vec<u8>>)>,
}

impl Before {
    /// Looks at what a call may change; `None` when that is nothing, unknown or too much.
    pub(super) fn look(footprint: &Footprint, workspace: &Workspace) -> Option<Self> {
        if footprint.writes.is_empty() || footprint.exec != Exec::Nothing {
            return None;
        }
        let mut files = Vec::with_capacity(footprint.writes.len());
        for area in &footprint.writes {
            let Area::File(path) = area else { return None };
            files.push((path.clone(), state(workspace, path)?));
        }
        Some(Self { files })
    }

    /// Looks again after the call; `None` when nothing is different.
    pub(super) fn done(self, call_id: &str, workspace: &Workspace) -> Option<UndoStep> {
        let mut files = Vec::new();
        for (path, before) in self.files {
            let after = state(workspace, &path)?;
            if before != after {
                files.push(Changed { path, before, after: after.as_deref().map(ContentHash::of) });
            }
        }
        (!files.is_empty()).then(|| UndoStep { call_id: call_id.to_owned(), files })
    }
}

/// The bytes of a file, or that it is not there; `None` when it cannot be kept.
fn state(workspace: &Workspace, path: &RelPath) -> Option<Option<Vec<u8>>> {
    match workspace.read(path) {
        Ok(bytes) if bytes.len() <= MAX_FILE_BYTES => Some(Some(bytes)),
        Err(error) if error.fault == Fault::NotFound => Some(None),
        Ok(_) | Err(_) => None,
    }
}

/// What one call changed.
#[derive(Debug)]
pub(super) struct UndoStep {
    call_id: String,
    files: Vec<Changed>,
}

#[derive(Debug)]
struct Changed {
    path: RelPath,
    before: Option<Vec<u8>>,
    after: Option<ContentHash>,
}

impl UndoStep {
    fn kept_bytes(&self) -> usize {
        self.files.iter().filter_map(|file| file.before.as_ref()).map(Vec::len).sum()
    }

    /// Puts everything back, if all of it is as the call left it.
    fn take_back(&self, workspace: &Workspace) -> Result<Vec<Change>, ToolError> {
        for Changed { path, after, .. } in &self.files {
            let now = state(workspace, path).map(|state| state.as_deref().map(ContentHash::of));
            if now != Some(*after) {
                let what = format!("`{path}` changed since");
                return Err(ToolError::new(Fault::Stale, what, "Change it by hand."));
            }
        }
        // What a move took away comes back before its copy goes.
        let (gone, there): (Vec<&Changed>, Vec<&Changed>) =
            self.files.iter().partition(|file| file.after.is_none());
        gone.into_iter().chain(there).map(|file| file.take_back(workspace)).collect()
    }
}

impl Changed {
    fn take_back(&self, workspace: &Workspace) -> Result<Change, ToolError> {
        let path = &self.path;
        let kind = match (&self.before, self.after) {
            (Some(bytes), Some(after)) => {
                workspace.replace(path, after, bytes)?;
                ChangeKind::Edited
            }
            (Some(bytes), None) => {
                workspace.create(path, bytes)?;
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
}

/// The calls that can be taken back.
#[derive(Debug, Default)]
pub(super) struct UndoLog {
    steps: VecDeque<UndoStep>,
}

impl UndoLog {
    pub(super) fn keep(&mut self, step: UndoStep) {
        self.steps.push_back(step);
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
