//! A derived file, looked at where it lies instead of copied: a place with `unsafe`.
//!
//! Only for files that are replaced and never changed in place. What is read from one may be anything all the same, so
//! whoever maps a file checks what it says.

use std::fs::File;
use std::io;
use std::ops::Deref;

use memmap2::Mmap;

/// A file's bytes, which come into memory as they are looked at.
#[derive(Debug)]
pub struct Mapped(Mmap);

impl Mapped {
    pub(super) fn new(file: &File) -> io::Result<Self> {
        #[expect(
            unsafe_code,
            reason = "derived files are replaced by a rename and never changed in place"
        )]
        // SAFETY: the bytes below the map do not change: `put_derived` makes a new file and renames it, and a file that
        // was replaced or removed stays as it was for whoever has it open.
        let map = unsafe { Mmap::map(file) };
        map.map(Self)
    }
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}
