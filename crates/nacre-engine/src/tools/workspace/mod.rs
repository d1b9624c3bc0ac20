//! The files that an agent works on: read in bounds, walked without following links, changed one at a time.
//!
//! The root is opened once and everything below it is reached through open handles, so that a folder that is swapped for
//! a link during a call leads nowhere. What is denied by name is denied here again, after permission, because a walk
//! meets files that no footprint names.

mod denied;
mod digest;
mod fault;
mod walk;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use nacre_core::base::ContentHash;
use nacre_core::safefs::{Access, FsError, OpenFile, RelPath, WriteScope};

pub(crate) use denied::is_machinery;
pub use denied::{BadGlob, Denied};
pub(crate) use fault::{folder_below, not_text, place, place_below, tool_error};
pub(crate) use walk::{Walk, WalkEnd, WalkedFile};

use super::footprint::Area;
use super::tool::ToolError;
use crate::record::Fault;

/// No file is read or written that is larger.
pub(crate) const MAX_FILE_BYTES: u64 = 16 << 20;

/// The root of an agent's files, and what of it is closed.
#[derive(Debug)]
pub struct Workspace {
    root: Arc<PathBuf>,
    scope: WriteScope,
    denied: Denied,
    /// Tells this root with these denials from any other.
    identity: String,
}

/// Why a folder cannot be worked in.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    #[error("Cannot work in the folder")]
    Folder(#[from] FsError),
    #[error("Cannot deny what the agent may not touch")]
    Glob(#[from] BadGlob),
}

impl Workspace {
    /// Opens the folder. `denied` are globs of the agent, besides those that hold for everybody.
    pub fn open(root: &Path, denied: &[String]) -> Result<Self, WorkspaceError> {
        let scope = WriteScope::open(root, Access::Shared)?;
        let denied = Denied::new(denied)?;
        let stamp = scope.root()?.own_stamp();
        let inode = stamp.map_or(0, |stamp| stamp.inode);
        let identity = format!("{}\0{inode}\0{}", root.display(), denied.identity());
        Ok(Self { root: Arc::new(root.to_owned()), scope, denied, identity })
    }

    pub fn root(&self) -> &Arc<PathBuf> {
        &self.root
    }

    /// The place that a path names: below the root, or absolute and leading there.
    pub fn place(&self, text: &str) -> Result<RelPath, ToolError> {
        place_below(&self.root, text)
    }

    /// The same for a folder; `None` is the root itself.
    pub(crate) fn folder(&self, text: Option<&str>) -> Result<Option<RelPath>, ToolError> {
        text.map_or(Ok(None), |text| folder_below(&self.root, text))
    }

    pub fn denied(&self) -> &Denied {
        &self.denied
    }

    pub(crate) fn identity(&self) -> &str {
        &self.identity
    }

    /// Reads a plain file.
    pub fn read(&self, path: &RelPath) -> Result<Vec<u8>, ToolError> {
        if self.denied.forbids_reading(&Area::File(path.clone())) {
            return Err(protected(path));
        }
        self.scope.read(path, MAX_FILE_BYTES).map_err(|error| tool_error(&error, path))
    }

    /// Opens a plain file of any size, to be read piece by piece.
    pub(crate) fn open_file(&self, path: &RelPath) -> Result<OpenFile, ToolError> {
        if self.denied.forbids_reading(&Area::File(path.clone())) {
            return Err(protected(path));
        }
        self.scope.open_file(path).map_err(|error| tool_error(&error, path))
    }

    /// The permission bits of a plain file; `None` when there is none.
    pub(crate) fn mode(&self, path: &RelPath) -> Option<u32> {
        self.scope.mode(path)
    }

    /// Reads a plain file of text.
    pub fn read_text(&self, path: &RelPath) -> Result<String, ToolError> {
        let bytes = self.read(path)?;
        if is_binary(&bytes) {
            return Err(not_text(path));
        }
        String::from_utf8(bytes).map_err(|_| not_text(path))
    }

    pub(crate) fn create(&self, path: &RelPath, bytes: &[u8]) -> Result<(), ToolError> {
        self.create_as(path, bytes, None)
    }

    /// Makes a file with the permission bits that it had.
    pub(crate) fn create_as(
        &self,
        path: &RelPath,
        bytes: &[u8],
        mode: Option<u32>,
    ) -> Result<(), ToolError> {
        self.check_writing(path)?;
        self.scope.create_file_as(path, bytes, mode).map_err(|error| tool_error(&error, path))
    }

    pub(crate) fn replace(
        &self,
        path: &RelPath,
        before: ContentHash,
        bytes: &[u8],
    ) -> Result<(), ToolError> {
        self.replace_as(path, before, bytes, None)
    }

    /// Replaces a file, and gives it the permission bits that it had.
    pub(crate) fn replace_as(
        &self,
        path: &RelPath,
        before: ContentHash,
        bytes: &[u8],
        mode: Option<u32>,
    ) -> Result<(), ToolError> {
        self.check_writing(path)?;
        let replaced = self.scope.replace_file_as(path, before, bytes, mode);
        replaced.map_err(|error| tool_error(&error, path))
    }

    pub(crate) fn remove(&self, path: &RelPath, before: ContentHash) -> Result<(), ToolError> {
        self.check_writing(path)?;
        self.scope.remove_file(path, before).map_err(|error| tool_error(&error, path))
    }

    pub(crate) fn rename(
        &self,
        from: &RelPath,
        to: &RelPath,
        before: ContentHash,
    ) -> Result<(), ToolError> {
        self.check_writing(from)?;
        self.check_writing(to)?;
        self.scope.move_file(from, to, before).map_err(|error| tool_error(&error, to))
    }

    fn check_writing(&self, path: &RelPath) -> Result<(), ToolError> {
        match self.denied.forbids_writing(&Area::File(path.clone())) {
            true => Err(protected(path)),
            false => Ok(()),
        }
    }
}

fn protected(path: &RelPath) -> ToolError {
    ToolError::new(Fault::Denied, format!("`{path}` is protected"), "Do without it.")
}

/// Whether a file is no text, by the sign that git goes by.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    bytes.iter().take(8_000).any(|byte| *byte == 0)
}

/// Names the state of a file, so that a call can say which one it means.
pub(crate) fn version_of(bytes: &[u8]) -> String {
    ContentHash::of(bytes).to_string()[..12].to_owned()
}
