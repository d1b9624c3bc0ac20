//! Reading many memories, on all cores and within bounds: a clone may bring as many as git can pack.

use std::ops::ControlFlow;

use super::layout::Located;
use super::reader::Reader;
use super::record::Memory;
use super::store::{MemoryError, Store, Unreadable, UnreadableFault, memory_of};
use crate::base::on_all_cores;
use crate::safefs::FsError;

/// More than this and starting a thread costs less than the files it reads.
pub(super) const FILES_PER_THREAD: usize = 256;

/// Files that are read before what was read is counted.
const FILES_AT_ONCE: usize = 1024;

/// What one list holds in memory. A store of a hundred thousand memories takes less without their bodies.
pub(super) const MAX_HELD_BYTES: usize = 128 << 20;

/// Memories, and the files that are none.
#[derive(Debug, Default)]
pub struct Listing {
    /// In the order of their paths.
    pub memories: Vec<Memory>,
    /// Those that cannot be read, and those that were left out because there are too many.
    pub broken: Vec<Unreadable>,
}

impl Store {
    /// The files of all memories, found by their names alone.
    pub fn located(&self) -> Result<Vec<Located>, MemoryError> {
        Ok(self.files()?.located)
    }

    /// Reads every memory of the areas and types that `wanted` accepts, up to a bound.
    pub fn list(&self, wanted: impl Fn(&Located) -> bool) -> Result<Listing, MemoryError> {
        Ok(self.read_within(&self.wanted(wanted)?, memory_of, MAX_HELD_BYTES))
    }

    /// The same without the bodies of the memories.
    pub fn outlines(&self, wanted: impl Fn(&Located) -> bool) -> Result<Listing, MemoryError> {
        Ok(self.read_within(&self.wanted(wanted)?, outline_of, MAX_HELD_BYTES))
    }

    /// Reads files one after another and hands each memory to `each`, which says when it has enough. Little more is held than
    /// one piece of them.
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

    /// Reads files on all cores and returns what `each` makes of them, in their order. No more memories are held than there are cores.
    pub fn map_all<T: Send>(
        &self,
        files: &[Located],
        each: impl Fn(Result<Memory, Unreadable>) -> T + Sync,
    ) -> Vec<T> {
        self.read_all(files, |at, bytes| each(memory_of(at, bytes)))
    }

    fn wanted(&self, wanted: impl Fn(&Located) -> bool) -> Result<Vec<Located>, MemoryError> {
        Ok(self.files()?.located.into_iter().filter(wanted).collect())
    }

    /// Reads files until their memories weigh more than `limit`; the others are told as left out. What was archived or forgotten
    /// since it was found is no longer there to be listed.
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

    /// Reads files on all cores and hands each to `each`; results come in the order of `files`.
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
#[expect(clippy::disallowed_methods, reason = "the tests play the stranger who wrote a store")]
mod tests {
    use std::fs;

    use super::*;
    use crate::memory::Rules;
    use crate::safefs::{Access, WriteScope};

    /// A store with this many memories of 60 KB and 5000 tags each.
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
        let files = store.located().unwrap();
        fs::remove_file(dir.path().join(files[1].path.as_str())).unwrap();
        let listing = store.read_within(&files, outline_of, MAX_HELD_BYTES);
        assert_eq!((listing.memories.len(), listing.broken.len()), (2, 0));
    }

    #[test]
    fn what_a_list_has_no_room_for_is_named() {
        let (_dir, store) = store_of(FILES_AT_ONCE + 3);
        let files = store.located().unwrap();
        let listing = store.read_within(&files, outline_of, 1 << 20);
        assert_eq!((listing.memories.len(), listing.broken.len()), (FILES_AT_ONCE, 3));
        assert!(listing.broken[0].reason().starts_with("Not read"), "{}", listing.broken[0]);
    }
}
