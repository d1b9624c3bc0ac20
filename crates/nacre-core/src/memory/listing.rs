//! Reading many memories at once, on all cores.

use super::layout::Located;
use super::reader::Reader;
use super::record::Memory;
use super::store::{MemoryError, Store, Unreadable, memory_of};
use crate::base::on_all_cores;
use crate::safefs::FsError;

/// More than this and starting a thread costs less than the files it reads.
pub(super) const FILES_PER_THREAD: usize = 256;

/// Memories, and the files that are none.
#[derive(Debug, Default)]
pub struct Listing {
    /// In the order of their paths.
    pub memories: Vec<Memory>,
    pub broken: Vec<Unreadable>,
}

impl Store {
    /// Reads every memory of the shelves and types that `wanted` accepts.
    pub fn list(&self, wanted: impl Fn(&Located) -> bool) -> Result<Listing, MemoryError> {
        let files = self.files()?.located.into_iter().filter(|at| wanted(at)).collect::<Vec<_>>();
        let mut listing = Listing::default();
        for read in self.read_all(&files, memory_of) {
            match read {
                Ok(memory) => listing.memories.push(memory),
                Err(unreadable) => listing.broken.push(unreadable),
            }
        }
        Ok(listing)
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
