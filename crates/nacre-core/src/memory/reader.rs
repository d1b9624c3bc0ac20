//! Reads a store's files one after another, with the folders of the last ones kept open.
//!
//! Opening a file means to walk to it, one component at a time; a search that shows ten memories of one folder walks
//! once.

use super::layout::Located;
use super::record::Memory;
use super::store::{Store, memory_of};
use crate::safefs::{Folder, FsError, RelPath};

/// Decisions and learnings, active and archived.
const MAX_OPEN: usize = 4;

/// Reads files of one store.
#[derive(Debug)]
pub struct Reader<'a> {
    store: &'a Store,
    /// The last one at the end.
    open: Vec<(String, Folder)>,
}

impl<'a> Reader<'a> {
    pub fn new(store: &'a Store) -> Self {
        Self { store, open: Vec::new() }
    }

    /// Reads a memory as a search does, without its evidence: an old file that is no UTF-8 is taken for
    /// Windows-1252, so that it is found and can be mended.
    pub fn read_leniently(&mut self, at: &Located) -> Option<Memory> {
        let bytes = self.read(&at.path).ok()?;
        memory_of(at, Ok(as_text(bytes))).ok()
    }

    pub(super) fn read(&mut self, path: &RelPath) -> Result<Vec<u8>, FsError> {
        let limit = self.store.rules().max_file_bytes;
        let Some(parent) = path.parent() else { return self.store.scope().read(path, limit) };
        match self.folder(&parent)? {
            Some(folder) => folder.read(path.name(), limit),
            // Says what is missing, as reading any other file does.
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

/// Bytes that are UTF-8, whatever they were.
pub(super) fn as_text(bytes: Vec<u8>) -> Vec<u8> {
    match std::str::from_utf8(&bytes) {
        Ok(_) => bytes,
        Err(_) => from_windows_1252(&bytes).into_bytes(),
    }
}

/// The text of bytes in the old Western encoding; the five that mean nothing there are replaced.
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
mod tests {
    use super::*;

    #[test]
    fn old_encodings_become_text() {
        assert_eq!(from_windows_1252(b"caf\xe9 \x93x\x94 \x80 \x81"), "café “x” € \u{fffd}");
    }
}
