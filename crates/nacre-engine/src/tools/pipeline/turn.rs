//! What the calls of a run changed, taken together, so that a whole turn can be taken back.
//!
//! It is handed out as data: whoever keeps a session stores it, and puts the files back later, in another process. A
//! file is put back only if it is as the turn left it. What is not kept is named.

use std::collections::BTreeMap;

use nacre_core::base::ContentHash;
use nacre_core::safefs::RelPath;

use super::super::workspace::Workspace;
use super::undo::{ChangedFile, Image, put_back};
use super::watch::ProgramChanges;
use crate::record::{Change, Fault};

/// What is kept of all files together.
const MAX_TOTAL_BYTES: usize = 64 << 20;

/// More than these are counted and not named.
const MAX_NOT_KEPT: usize = 200;

/// The files that a turn changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnChanges {
    /// By path.
    pub files: Vec<TurnFile>,
    pub not_kept: Vec<NotKept>,
}

/// A file before and after a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnFile {
    pub path: RelPath,
    /// All of it; `None` when it was not there.
    pub before: Option<Vec<u8>>,
    /// Its permission bits before, where they are known.
    pub mode: Option<u32>,
    /// `None` when it is gone.
    pub after: Option<ContentHash>,
}

/// Something that is not taken back, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotKept {
    /// A path, or what else it is.
    pub what: String,
    pub why: String,
}

/// What became of a turn that was taken back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TakenBack {
    pub changed: Vec<Change>,
    /// Files that stay as they are, and what was not kept from the beginning.
    pub kept: Vec<NotKept>,
}

impl TurnChanges {
    /// Puts every file back that is as the turn left it; the others stay, and are named.
    pub fn take_back(&self, workspace: &Workspace) -> TakenBack {
        let mut taken = TakenBack { changed: Vec::new(), kept: self.not_kept.clone() };
        // What a move took away comes back before its copy goes.
        let (gone, there): (Vec<&TurnFile>, Vec<&TurnFile>) =
            self.files.iter().partition(|file| file.after.is_none());
        for file in gone.into_iter().chain(there) {
            let TurnFile { path, before, mode, after } = file;
            let before = before.as_deref().map(|bytes| (bytes, *mode));
            match put_back(workspace, path, before, *after) {
                Ok(change) => taken.changed.push(change),
                Err(error) => {
                    let has_changed = matches!(error.fault, Fault::Stale | Fault::NotFound);
                    let why = if has_changed { "it changed since".to_owned() } else { error.what };
                    taken.kept.push(NotKept { what: path.to_string(), why });
                }
            }
        }
        taken
    }
}

/// What the calls of a run changed so far.
#[derive(Debug, Default)]
pub(super) struct TurnLog {
    files: BTreeMap<RelPath, Entry>,
    not_kept: BTreeMap<String, &'static str>,
    n_bytes: usize,
}

#[derive(Debug)]
struct Entry {
    before: Option<Vec<u8>>,
    mode: Option<u32>,
    after: Option<ContentHash>,
    mode_after: Option<u32>,
}

impl TurnLog {
    /// Takes in what one call did to a file.
    pub(super) fn add(&mut self, changed: &ChangedFile) {
        let ChangedFile { path, before, after } = changed;
        if self.not_kept.contains_key(path.as_str()) {
            return;
        }
        let (mode, mode_after) = (before.mode(), after.mode());
        let (before, after) = match (before, after.hash()) {
            (Image::TooLarge, _) => return self.lose(path, "it is too large to be kept"),
            (_, None) => return self.lose(path, "it became too large to be kept"),
            (Image::Absent, Some(after)) => (None, after),
            (Image::File { bytes, .. }, Some(after)) => (Some(bytes), after),
        };
        if let Some(entry) = self.files.get_mut(path) {
            // Between two calls somebody else may have changed it, and their change is not ours to take back.
            if entry.after != before.map(|bytes| ContentHash::of(bytes)) {
                return self.lose(path, "somebody else changed it meanwhile");
            }
            (entry.after, entry.mode_after) = (after, mode_after);
            return;
        }
        self.n_bytes += before.map_or(0, |bytes| bytes.len());
        if MAX_TOTAL_BYTES < self.n_bytes {
            return self.lose(path, "the turn changed more than is kept");
        }
        let before = before.map(|bytes| bytes.to_vec());
        self.files.insert(path.clone(), Entry { before, mode, after, mode_after });
    }

    /// Takes in what formatters and linters did to other files than the edited ones.
    pub(super) fn add_effects(&mut self, changes: &ProgramChanges) {
        changes.files.iter().for_each(|file| self.add(file));
        self.name_cut(changes);
    }

    /// Takes in what a program did, and what of it cannot be known.
    pub(super) fn add_program(&mut self, changes: &ProgramChanges) {
        changes.files.iter().for_each(|file| self.add(file));
        self.name("files that git ignores", "what programs changed there is not known");
        self.name_cut(changes);
    }

    fn name_cut(&mut self, changes: &ProgramChanges) {
        if changes.is_cut {
            self.name("other files of the workspace", "there are more than are watched");
        }
    }

    fn lose(&mut self, path: &RelPath, why: &'static str) {
        self.files.remove(path);
        self.name(path.as_str(), why);
    }

    /// Names something that cannot be taken back.
    pub(super) fn name(&mut self, what: &str, why: &'static str) {
        if self.not_kept.len() < MAX_NOT_KEPT {
            self.not_kept.insert(what.to_owned(), why);
        }
    }

    pub(super) fn changes(&self) -> TurnChanges {
        let is_different = |(_, entry): &(&RelPath, &Entry)| {
            entry.before.as_deref().map(ContentHash::of) != entry.after
                || (entry.before.is_some() && entry.mode != entry.mode_after)
        };
        let file = |(path, entry): (&RelPath, &Entry)| TurnFile {
            path: path.clone(),
            before: entry.before.clone(),
            mode: entry.mode,
            after: entry.after,
        };
        let not_kept = |(what, why): (&String, &&'static str)| NotKept {
            what: what.clone(),
            why: (*why).to_owned(),
        };
        TurnChanges {
            files: self.files.iter().filter(is_different).map(file).collect(),
            not_kept: self.not_kept.iter().map(not_kept).collect(),
        }
    }
}
