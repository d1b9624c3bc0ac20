//! Finds and reads a store's memory files, using all cores. Memory use is limited, because a cloned
//! store may contain any number of files.

use std::ops::ControlFlow;

use nacre_base::fs::{Folder, FolderEntry};
use nacre_base::on_all_cores;

use super::layout;
use super::store::{UnreadableFault, memory_of};
use crate::prelude::*;

/// Minimum number of files per thread. Reading fewer files takes less time than starting a thread.
pub(super) const FILES_PER_THREAD: usize = 256;

const FILES_AT_ONCE: usize = 1024;

/// The source of an imported memory begins with this prefix, followed by the label of the file.
pub const IMPORTED: &str = "import:";

/// Memory limit for one listing. A hundred thousand memories without bodies take up less than this.
pub(super) const MAX_HELD_BYTES: usize = 128 << 20;

#[derive(Debug, Default)]
pub struct Listing {
    pub memories: Vec<Memory>,
    /// Files that cannot be read, and files omitted because of the memory limit.
    pub broken: Vec<Unreadable>,
}

impl Store {
    pub fn locate_all(&self) -> Result<Vec<Located>> {
        Ok(self.files()?.located)
    }

    /// Reads all memories for which `wanted` returns true, up to the memory limit.
    pub fn list(&self, wanted: impl Fn(&Located) -> bool) -> Result<Listing> {
        Ok(self.read_within(&self.locate_matching(wanted)?, memory_of, MAX_HELD_BYTES))
    }

    /// Like [`Store::list`], but drops the bodies.
    pub fn outlines(&self, wanted: impl Fn(&Located) -> bool) -> Result<Listing> {
        Ok(self.read_within(&self.locate_matching(wanted)?, outline_of, MAX_HELD_BYTES))
    }

    /// Reads files in order until `each` returns `Break`. Only a limited number of memories is
    /// loaded at a time.
    pub fn visit(
        &self,
        files: &[Located],
        mut each: impl FnMut(&Located, Result<Memory, Unreadable>) -> ControlFlow<()>,
    ) {
        for piece in files.chunks(FILES_AT_ONCE) {
            for (at, memory) in piece.iter().zip(self.read_all(piece, memory_of)) {
                if each(at, memory).is_break() {
                    return;
                }
            }
        }
    }

    /// Reads files on all cores and applies `each` to every memory. The results are in file order.
    /// At most one memory per core is loaded at a time.
    pub fn map_all<T: Send>(
        &self,
        files: &[Located],
        each: impl Fn(Result<Memory, Unreadable>) -> T + Sync,
    ) -> Vec<T> {
        self.read_all(files, |at, bytes| each(memory_of(at, bytes)))
    }

    fn locate_matching(&self, wanted: impl Fn(&Located) -> bool) -> Result<Vec<Located>> {
        Ok(self.files()?.located.into_iter().filter(wanted).collect())
    }

    /// Reads files until their memories exceed `limit` bytes in total, and reports the rest as
    /// omitted. Files that were removed in the meantime are skipped.
    pub(super) fn read_within(
        &self,
        files: &[Located],
        read: impl Fn(&Located, Result<Vec<u8>, FsError>) -> Result<Memory, Unreadable> + Sync,
        limit: usize,
    ) -> Listing {
        let mut listing = Listing::default();
        let mut n_bytes = 0;
        for piece in files.chunks(FILES_AT_ONCE) {
            if limit < n_bytes {
                listing.broken.extend(piece.iter().map(left_out));
                continue;
            }
            for memory in self.read_all(piece, &read) {
                match memory {
                    Ok(memory) => {
                        n_bytes += memory.weight();
                        listing.memories.push(memory);
                    }
                    Err(unreadable) if unreadable.is_gone() => {}
                    Err(unreadable) => listing.broken.push(unreadable),
                }
            }
        }
        listing
    }

    pub(super) fn read_all<T: Send>(
        &self,
        files: &[Located],
        each: impl Fn(&Located, Result<Vec<u8>, FsError>) -> T + Sync,
    ) -> Vec<T> {
        on_all_cores(files, FILES_PER_THREAD, |chunk| {
            let mut reader = Reader::new(self);
            chunk.iter().map(|at| each(at, reader.read(&at.path))).collect()
        })
    }
}

fn outline_of(at: &Located, bytes: Result<Vec<u8>, FsError>) -> Result<Memory, Unreadable> {
    memory_of(at, bytes).map(Memory::into_outline)
}

fn left_out(at: &Located) -> Unreadable {
    Unreadable { path: at.path.clone(), fault: UnreadableFault::LeftOut }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests write an untrusted store")]
mod tests {
    use std::fs;

    use super::*;
    use crate::Rules;
    use nacre_base::fs::{Access, WriteScope};

    fn store_of(n_memories: usize) -> (tempfile::TempDir, Store) {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("memory/decisions");
        fs::create_dir_all(&folder).unwrap();
        let (tags, body) = ("a,".repeat(5000), "word ".repeat(9000));
        for n in 0..n_memories {
            let id = format!("20260101-m{n:05}");
            let text = format!("---\nid: {id}\ntitle: Number {n}\ntags: [{tags}]\n---\n{body}");
            fs::write(folder.join(format!("{id}.md")), text).unwrap();
        }
        let scope = WriteScope::open(dir.path(), Access::Shared).unwrap();
        let store = Store::new(scope, Rules::default());
        (dir, store)
    }

    #[test]
    fn an_outline_holds_no_body_and_no_thousands_of_tags() {
        let (_dir, store) = store_of(3);
        let whole = store.list(|_| true).unwrap();
        let outlines = store.outlines(|_| true).unwrap();
        let weigh = |listing: &Listing| listing.memories.iter().map(Memory::weight).sum::<usize>();
        assert_eq!((outlines.memories.len(), outlines.memories[0].title.as_str()), (3, "Number 0"));
        assert!(outlines.memories.iter().all(|memory| memory.document.body().is_empty()));
        assert!(weigh(&outlines) * 4 < weigh(&whole), "{}", weigh(&outlines));
        assert_eq!(outlines.memories[0].document.line_of("tags"), Some(4));
    }

    #[test]
    fn what_is_gone_by_the_time_it_is_read_is_no_fault() {
        let (dir, store) = store_of(3);
        let files = store.locate_all().unwrap();
        fs::remove_file(dir.path().join(files[1].path.as_str())).unwrap();
        let listing = store.read_within(&files, outline_of, MAX_HELD_BYTES);
        assert_eq!((listing.memories.len(), listing.broken.len()), (2, 0));
    }

    #[test]
    fn what_a_list_has_no_room_for_is_named() {
        let (_dir, store) = store_of(FILES_AT_ONCE + 3);
        let files = store.locate_all().unwrap();
        let listing = store.read_within(&files, outline_of, 1 << 20);
        assert_eq!((listing.memories.len(), listing.broken.len()), (FILES_AT_ONCE, 3));
        assert!(listing.broken[0].reason().starts_with("Store too large"), "{}", listing.broken[0]);
    }
}

/// Maximum number of open directories: one each for active decisions, archived decisions, active
/// learnings and archived learnings.
const MAX_OPEN: usize = 4;

#[derive(Debug)]
pub struct Reader<'a> {
    store: &'a Store,
    /// Least recently used first.
    open: Vec<(String, Folder)>,
}

impl<'a> Reader<'a> {
    pub fn new(store: &'a Store) -> Self {
        Self { store, open: Vec::new() }
    }

    /// Reads a memory for a search, without its evidence. A file that is not valid UTF-8 is decoded
    /// as Windows-1252 so that searches can find it.
    pub fn read_leniently(&mut self, at: &Located) -> Option<Memory> {
        let bytes = self.read(&at.path).ok()?;
        memory_of(at, Ok(as_text(bytes))).ok()
    }

    pub(super) fn read(&mut self, path: &RelPath) -> Result<Vec<u8>, FsError> {
        let limit = self.store.rules().max_file_bytes;
        let Some(parent) = path.parent() else { return self.store.scope().read(path, limit) };
        match self.folder(&parent)? {
            Some(folder) => folder.read(path.name(), limit),
            // Fails with the same error as a normal read.
            None => self.store.scope().read(path, limit),
        }
    }

    fn folder(&mut self, path: &RelPath) -> Result<Option<&Folder>, FsError> {
        let known = self.open.iter().position(|(open, _)| open == path.as_str());
        let folder = match known {
            Some(idx) => Some(self.open.remove(idx).1),
            None => self.store.scope().folder(path)?,
        };
        let Some(folder) = folder else { return Ok(None) };
        if self.open.len() == MAX_OPEN {
            self.open.remove(0);
        }
        self.open.push((path.as_str().to_owned(), folder));
        Ok(self.open.last().map(|(_, folder)| folder))
    }
}

pub(super) fn as_text(bytes: Vec<u8>) -> Vec<u8> {
    let text = String::from_utf8(bytes);
    text.unwrap_or_else(|error| from_windows_1252(error.as_bytes())).into_bytes()
}

/// Decodes Windows-1252. The encoding's five undefined bytes become replacement characters.
fn from_windows_1252(bytes: &[u8]) -> String {
    const HIGH: [char; 32] = [
        '€', '\u{fffd}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{fffd}', 'Ž',
        '\u{fffd}', '\u{fffd}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ',
        '\u{fffd}', 'ž', 'Ÿ',
    ];
    let decode = |byte: &u8| match byte {
        0x80..=0x9f => HIGH[usize::from(byte - 0x80)],
        byte => char::from(*byte),
    };
    bytes.iter().map(decode).collect()
}

#[cfg(test)]
mod reader_tests {
    use super::*;

    #[test]
    fn old_encodings_become_text() {
        assert_eq!(from_windows_1252(b"caf\xe9 \x93x\x94 \x80 \x81"), "café “x” € \u{fffd}");
    }
}

#[derive(Debug, Default)]
pub(super) struct StoreFiles {
    pub(super) located: Vec<Located>,
    pub(super) strays: Vec<Stray>,
}

#[derive(Debug)]
pub(super) struct Stray {
    pub(super) path: String,
    pub(super) kind: StrayKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StrayKind {
    /// The user's version of a file, saved next to Nacre's version because of a conflict.
    Copy,
    Name,
    NotAFile,
}

impl Stray {
    pub(super) fn new(path: String, entry: &FolderEntry) -> Self {
        let kind = match entry.kind {
            EntryKind::File if path.contains(".conflict-") => StrayKind::Copy,
            EntryKind::File => StrayKind::Name,
            EntryKind::Folder | EntryKind::Other => StrayKind::NotAFile,
        };
        Self { path, kind }
    }
}

impl Store {
    pub(super) fn files(&self) -> Result<StoreFiles, FsError> {
        let mut files = StoreFiles::default();
        for (memory_type, area, folder) in layout::claim_folders() {
            let folder = RelPath::new(folder)?;
            for entry in self.scope().list(&folder)? {
                files.take(memory_type, area, &folder, &entry, stem(&entry).parse().ok());
            }
        }
        if !self.rules().hides_summaries {
            self.walk_summaries(&mut files)?;
        }
        Ok(files)
    }

    fn walk_summaries(&self, files: &mut StoreFiles) -> Result<(), FsError> {
        let root = RelPath::new("memory/summaries")?;
        for day in self.scope().list(&root)? {
            let Some(day_folder) = files.stamp_directory(&root, &day) else { continue };
            for time in self.scope().list(&day_folder)? {
                let Some(folder) = files.stamp_directory(&day_folder, &time) else { continue };
                for entry in self.scope().list(&folder)? {
                    let id = format!("{}-{}", day.name, stem(&entry)).parse().ok();
                    files.take(MemoryType::Summary, StoreArea::Active, &folder, &entry, id);
                }
            }
        }
        Ok(())
    }
}

impl StoreFiles {
    fn take(
        &mut self,
        memory_type: MemoryType,
        area: StoreArea,
        folder: &RelPath,
        entry: &FolderEntry,
        id: Option<MemoryId>,
    ) {
        match (id, folder.join(&entry.name)) {
            (Some(id), Ok(path)) if entry.kind == EntryKind::File => {
                self.located.push(Located { id, memory_type, area, path });
            }
            _ => self.strays.push(Stray::new(format!("{folder}/{}", entry.name), entry)),
        }
    }

    fn stamp_directory(&mut self, parent: &RelPath, entry: &FolderEntry) -> Option<RelPath> {
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

/// Returns the file name without `.md`. For other extensions, returns an empty string, which is not
/// a valid ID.
fn stem(entry: &FolderEntry) -> &str {
    entry.name.strip_suffix(".md").unwrap_or_default()
}

/// Whether a memory has been superseded, and whether its own file confirms that.
///
/// The older file confirms this with `superseded_by` or the status `superseded`. A `supersedes`
/// link in the newer file alone is an unverified claim, which any cloned file can contain. Such a
/// claim is reported but does not hide the older memory from briefs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overturned {
    No,
    /// The memory's own file confirms the claim.
    Agreed,
    /// Only a newer file claims it.
    Claimed,
}

impl Overturned {
    /// `is_claimed` is set if another memory claims to supersede this one; see [`Memory::claims`].
    pub fn of(memory: &Memory, is_claimed: bool) -> Self {
        if memory.says_overturned() {
            Self::Agreed
        } else if is_claimed {
            Self::Claimed
        } else {
            Self::No
        }
    }
}

impl Memory {
    /// Returns the label of the file from which the memory was imported.
    pub fn imported_from(&self) -> Option<&str> {
        self.source.as_deref()?.strip_prefix(IMPORTED)
    }

    pub fn says_overturned(&self) -> bool {
        self.status == Status::Superseded || self.superseded_by.is_some()
    }

    pub fn is_archived(&self) -> bool {
        self.at.area == StoreArea::Archived || self.status == Status::Archived
    }

    /// Returns whether this memory claims to supersede `older`. An archived memory supersedes
    /// nothing, and a memory never supersedes itself.
    pub fn claims(&self, older: &MemoryId) -> bool {
        !self.is_archived() && self.at.id != *older && self.supersedes.contains(older)
    }

    /// Returns whether the memory is current according to its own file, ignoring unverified claims.
    pub fn is_only_claimed(&self) -> bool {
        !self.is_archived() && Overturned::of(self, true) == Overturned::Claimed
    }
}

impl Store {
    /// Returns the memories that claim to supersede `older`. Only files that contain the ID of
    /// `older` are parsed.
    pub fn claimants(&self, older: &MemoryId) -> Result<Vec<Memory>> {
        let name = memchr::memmem::Finder::new(older.as_str().as_bytes());
        let claimant = |at: &Located, bytes: Result<Vec<u8>, _>| {
            let bytes = bytes.ok().filter(|bytes| name.find(bytes).is_some())?;
            memory_of(at, Ok(bytes)).ok().filter(|memory| memory.claims(older))
        };
        Ok(self.read_all(&self.files()?.located, claimant).into_iter().flatten().collect())
    }

    /// Returns the memories that `memory` claims to supersede, but whose own files do not confirm
    /// the claim.
    pub fn find_unverified_claims(&self, memory: &Memory) -> Vec<MemoryId> {
        let is_unverified = |older: &&MemoryId| {
            let known = self.locate_exactly(older).ok().flatten();
            let known = known.filter(|_| memory.claims(older)).and_then(|at| self.load(&at).ok());
            known.is_some_and(|known| known.is_only_claimed())
        };
        memory.supersedes.iter().filter(is_unverified).cloned().collect()
    }
}
