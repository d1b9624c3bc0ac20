//! A file of ours, looked at where it lies: the one place with `unsafe`.

use std::fs::File;
use std::ops::Deref;
use std::path::Path;

use memmap2::Mmap;

/// Bytes that are only looked at.
#[derive(Debug)]
pub(super) enum Mapped {
    /// A file's, which are brought into memory as they are looked at.
    File(Mmap),
    /// Bytes that are on no disk as they are.
    Memory(Vec<u8>),
}

impl Mapped {
    /// Maps a file that only this program writes, and only by putting another one in its place.
    pub(super) fn open(path: &Path) -> Option<Self> {
        let file = File::open(path).ok()?;
        if !file.metadata().ok()?.is_file() {
            return None;
        }
        #[expect(
            unsafe_code,
            reason = "files of the cache are private to their owner, replaced by rename and never changed in place"
        )]
        // SAFETY: the bytes below the map never change: writers make a new file and rename it, and a file that was
        // replaced stays as it was for whoever has it open.
        let map = unsafe { Mmap::map(&file) };
        map.ok().map(Self::File)
    }
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::File(map) => map,
            Self::Memory(bytes) => bytes,
        }
    }
}
