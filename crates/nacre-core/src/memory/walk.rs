//! The memory files of a store, found by their names alone.

use super::id::MemoryId;
use super::kinds::MemoryType;
use super::layout::{self, Located, StoreArea};
use super::store::Store;
use crate::safefs::{Entry, EntryKind, FsError, RelPath};

/// The memory files of a store, and what else lies among them.
#[derive(Debug, Default)]
pub(super) struct Files {
    pub(super) located: Vec<Located>,
    pub(super) strays: Vec<Stray>,
}

/// Something in a memory folder that is no memory.
#[derive(Debug)]
pub(super) struct Stray {
    pub(super) path: String,
    pub(super) kind: StrayKind,
}

/// Why it is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StrayKind {
    /// A person's version that could only be kept beside ours.
    Copy,
    Name,
    /// A link, pipe, device or folder.
    NotAFile,
}

impl Stray {
    pub(super) fn new(path: String, entry: &Entry) -> Self {
        let kind = match entry.kind {
            EntryKind::File if path.contains(".conflict-") => StrayKind::Copy,
            EntryKind::File => StrayKind::Name,
            EntryKind::Folder | EntryKind::Other => StrayKind::NotAFile,
        };
        Self { path, kind }
    }
}

impl Store {
    /// Walks the memory folders.
    pub(super) fn files(&self) -> Result<Files, FsError> {
        let mut files = Files::default();
        for (memory_type, area, folder) in layout::claim_folders() {
            let folder = RelPath::new(folder)?;
            for entry in self.scope().list(&folder)? {
                files.take(memory_type, area, &folder, &entry, stem(&entry).parse().ok());
            }
        }
        self.walk_summaries(&mut files)?;
        Ok(files)
    }

    fn walk_summaries(&self, files: &mut Files) -> Result<(), FsError> {
        let root = RelPath::new("memory/summaries")?;
        for day in self.scope().list(&root)? {
            let Some(day_folder) = files.stamped(&root, &day) else { continue };
            for time in self.scope().list(&day_folder)? {
                let Some(folder) = files.stamped(&day_folder, &time) else { continue };
                for entry in self.scope().list(&folder)? {
                    let id = format!("{}-{}", day.name, stem(&entry)).parse().ok();
                    files.take(MemoryType::Summary, StoreArea::Active, &folder, &entry, id);
                }
            }
        }
        Ok(())
    }
}

impl Files {
    /// Takes a plain file whose name is an id for a memory, and anything else for a stray.
    fn take(
        &mut self,
        memory_type: MemoryType,
        area: StoreArea,
        folder: &RelPath,
        entry: &Entry,
        id: Option<MemoryId>,
    ) {
        match (id, folder.join(&entry.name)) {
            (Some(id), Ok(path)) if entry.kind == EntryKind::File => {
                self.located.push(Located { id, memory_type, area, path });
            }
            _ => self.strays.push(Stray::new(format!("{folder}/{}", entry.name), entry)),
        }
    }

    /// The path of a folder that is named by a day or a time.
    fn stamped(&mut self, parent: &RelPath, entry: &Entry) -> Option<RelPath> {
        match parent.join(&entry.name) {
            Ok(path) if entry.kind == EntryKind::Folder && layout::is_stamp(&entry.name) => {
                Some(path)
            }
            _ => {
                self.strays.push(Stray::new(format!("{parent}/{}", entry.name), entry));
                None
            }
        }
    }
}

/// A file's name without `.md`; empty when it has another ending, which is no id.
fn stem(entry: &Entry) -> &str {
    entry.name.strip_suffix(".md").unwrap_or_default()
}
