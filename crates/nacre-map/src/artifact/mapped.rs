//! The bytes of a file of ours: where they lie, or as they were deciphered.

use std::ops::Deref;

use nacre_core::safefs;

/// Bytes that are only looked at.
#[derive(Debug)]
pub(super) enum Mapped {
    /// A file's, which are brought into memory as they are looked at.
    File(safefs::Mapped),
    /// Bytes that are on no disk as they are.
    Memory(Vec<u8>),
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
