//! The files of a store with their stamps: what a derived index compares itself with.

use super::layout::{self, Located};
use super::record::Memory;
use super::sidecar::{Evidence, MAX_SIDECAR_BYTES};
use super::store::{FILES_PER_THREAD, MemoryError, Store, Unreadable, memory_of};
use crate::base::on_all_cores;
use crate::safefs::{FileStamp, Folder, FsError, RelPath};

/// Everything that a store holds, without having read any of it.
#[derive(Debug)]
pub struct Survey {
    /// In the order of their paths within each folder.
    pub files: Vec<(Located, FileStamp)>,
    /// Of the folder with all evidence; changes whenever evidence comes, goes or is replaced.
    pub evidence: Option<FileStamp>,
}

/// A memory's file as it was read.
#[derive(Debug)]
pub struct FileRead {
    pub bytes: Vec<u8>,
    pub memory: Result<Memory, Unreadable>,
    pub evidence: Option<Evidence>,
}

impl Store {
    /// Looks at every memory's file; one that vanishes meanwhile is left out.
    pub fn survey(&self) -> Result<Survey, MemoryError> {
        let located = self.files()?.located;
        let stamps = on_all_cores(&located, FILES_PER_THREAD, |piece| self.stamps(piece));
        let files = located.into_iter().zip(stamps);
        let evidence = self.scope().folder(&RelPath::new(layout::EVIDENCE_FOLDER)?)?;
        Ok(Survey {
            files: files.filter_map(|(at, stamp)| Some((at, stamp?))).collect(),
            evidence: evidence.and_then(|folder| folder.own_stamp()),
        })
    }

    /// The stamps of the evidence of these memories, where they have any.
    pub fn evidence_stamps(&self, of: &[&Located]) -> Result<Vec<Option<FileStamp>>, FsError> {
        let Some(folder) = self.scope().folder(&RelPath::new(layout::EVIDENCE_FOLDER)?)? else {
            return Ok(vec![None; of.len()]);
        };
        Ok(on_all_cores(of, FILES_PER_THREAD, |piece| {
            piece.iter().map(|at| folder.stamp(&format!("{}.json", at.id))).collect()
        }))
    }

    /// Reads a memory as a search does, without its evidence.
    pub fn read_leniently(&self, at: &Located) -> Option<Memory> {
        let bytes = self.scope().read(&at.path, self.rules().max_file_bytes).ok()?;
        memory_of(at, Ok(as_text(bytes))).ok()
    }

    /// Reads a memory with its evidence, as a search does: an old file that is no UTF-8 is taken for
    /// Windows-1252, so that it is found and can be mended.
    pub fn read_for_search(&self, at: &Located) -> Result<FileRead, FsError> {
        let bytes = self.scope().read(&at.path, self.rules().max_file_bytes)?;
        let text = as_text(bytes.clone());
        let evidence = layout::evidence_path(&at.id)
            .and_then(|path| self.scope().read_optional(&path, MAX_SIDECAR_BYTES))
            .ok()
            .flatten()
            .and_then(|bytes| super::sidecar::parse(&bytes).ok());
        Ok(FileRead { memory: memory_of(at, Ok(text)), bytes, evidence })
    }

    /// The stamp of a memory's file; `None` when it is gone.
    pub fn stamp_of(&self, at: &Located) -> Option<FileStamp> {
        self.stamps(std::slice::from_ref(at)).pop().flatten()
    }

    /// Reads a memory strictly: as every command but a search does.
    pub fn load(&self, at: &Located) -> Result<Memory, Unreadable> {
        memory_of(at, self.scope().read(&at.path, self.rules().max_file_bytes))
    }

    fn stamps(&self, files: &[Located]) -> Vec<Option<FileStamp>> {
        let mut open: Option<(&str, Option<Folder>)> = None;
        let mut stamps = Vec::with_capacity(files.len());
        for at in files {
            let Some((parent, name)) = at.path.as_str().rsplit_once('/') else {
                stamps.push(None);
                continue;
            };
            if open.as_ref().is_none_or(|(last, _)| *last != parent) {
                let folder = RelPath::new(parent).and_then(|path| self.scope().folder(&path));
                open = Some((parent, folder.ok().flatten()));
            }
            let folder = open.as_ref().and_then(|(_, folder)| folder.as_ref());
            stamps.push(folder.and_then(|folder| folder.stamp(name)));
        }
        stamps
    }
}

/// Bytes that are UTF-8, whatever they were.
fn as_text(bytes: Vec<u8>) -> Vec<u8> {
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
