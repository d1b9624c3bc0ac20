//! The whole of an artifact as one file: a table of fixed rows that is searched where it lies.
//!
//! Four sections, each with its checksum: what is known of the project and its folders, the rows of the files in the
//! order of their paths, the paths, and the history. The history is looked at only when somebody asks what changed.

use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::codec::{Decoder, Encoder};
use super::commit::{Head, History};
use super::mapped::Mapped;
use super::row::{FileRow, FolderRow, ROW_BYTES};

/// Grows whenever the meaning of any byte changes; an artifact of another number is built anew.
const FORMAT: u32 = 4;

const MAGIC: [u8; 8] = *b"NACREMAP";

const N_SECTIONS: usize = 4;

/// Magic and format, the place and the checksum of each section, and a checksum of all that.
const HEADER_BYTES: usize = 16 + N_SECTIONS * 24 + 8;

/// Renders a whole artifact. The files must come in the order of their paths.
pub(super) fn render<'f>(
    root: &Path,
    head: &Head,
    folders: &[(&String, &FolderRow)],
    files: impl Iterator<Item = (&'f str, FileRow)>,
    history: &History,
) -> Vec<u8> {
    let mut project = Encoder::default();
    project.text(&root.to_string_lossy());
    head.encode(&mut project);
    project.list(folders, |to, (path, row)| {
        to.text(path);
        row.encode(to);
    });
    let (mut table, mut paths) = (Vec::new(), Vec::new());
    for (path, row) in files {
        let start = u32::try_from(paths.len()).unwrap_or(u32::MAX);
        row.to_table(start, u32::try_from(path.len()).unwrap_or(u32::MAX), &mut table);
        paths.extend(path.as_bytes());
    }
    assemble([project.into_bytes(), table, paths, history.encode()])
}

fn assemble(sections: [Vec<u8>; N_SECTIONS]) -> Vec<u8> {
    let body: usize = sections.iter().map(Vec::len).sum();
    let mut file = Vec::with_capacity(HEADER_BYTES + body);
    file.extend(MAGIC);
    file.extend(FORMAT.to_le_bytes());
    file.extend(0_u32.to_le_bytes());
    let mut start = HEADER_BYTES;
    for section in &sections {
        file.extend((start as u64).to_le_bytes());
        file.extend((section.len() as u64).to_le_bytes());
        file.extend(xxh3_64(section).to_le_bytes());
        start += section.len();
    }
    file.extend(xxh3_64(&file).to_le_bytes());
    for section in sections {
        file.extend(section);
    }
    file
}

/// An artifact's file, open.
#[derive(Debug)]
pub(super) struct Base {
    map: Mapped,
    table: std::ops::Range<usize>,
    paths: std::ops::Range<usize>,
    history: Section,
    pub(super) head: Head,
    pub(super) folders: Vec<(String, FolderRow)>,
}

#[derive(Clone, Debug)]
struct Section {
    range: std::ops::Range<usize>,
    checksum: u64,
}

impl Base {
    /// Opens the artifact of the project at `root`; `None` for anything that is not whole, of this format and of this
    /// project.
    pub(super) fn open(map: Mapped, root: &Path) -> Option<Self> {
        let [project, table, paths, history] = sections(&map)?;
        for section in [&project, &table, &paths] {
            if xxh3_64(map.get(section.range.clone())?) != section.checksum {
                return None;
            }
        }
        let mut from = Decoder::new(map.get(project.range)?);
        if from.text()? != root.to_string_lossy() {
            return None;
        }
        let head = Head::decode(&mut from)?;
        let folders =
            from.list(|from| Some((from.text()?.to_owned(), FolderRow::decode(from)?)))?;
        // A path that is no text would be found at each look at it; better once.
        std::str::from_utf8(map.get(paths.range.clone())?).ok()?;
        Some(Self { table: table.range, paths: paths.range, history, head, folders, map })
    }

    pub(super) fn n_bytes(&self) -> u64 {
        self.map.len() as u64
    }

    /// All files in the order of their paths.
    pub(super) fn files(&self) -> impl ExactSizeIterator<Item = (&str, FileRow)> {
        let paths = std::str::from_utf8(&self.map[self.paths.clone()]).unwrap_or_default();
        self.rows().iter().map(move |row| {
            let ((start, len), row) = FileRow::of_table(row);
            (paths.get(start..start.saturating_add(len)).unwrap_or_default(), row)
        })
    }

    pub(super) fn find(&self, path: &str) -> Option<FileRow> {
        let at = self.position(path).ok()?;
        self.rows().get(at).map(|row| FileRow::of_table(row).1)
    }

    /// The place of a file among all, or where it would be.
    pub(super) fn position(&self, path: &str) -> Result<usize, usize> {
        let paths = &self.map[self.paths.clone()];
        self.rows().binary_search_by(|row| {
            let ((start, len), _) = FileRow::of_table(row);
            paths.get(start..start.saturating_add(len)).unwrap_or_default().cmp(path.as_bytes())
        })
    }

    fn rows(&self) -> &[[u8; ROW_BYTES]] {
        self.map[self.table.clone()].as_chunks().0
    }

    /// What was changed so far; `None` when that part is damaged.
    pub(super) fn history(&self) -> Option<History> {
        let bytes = self.map.get(self.history.range.clone())?;
        if xxh3_64(bytes) != self.history.checksum {
            return None;
        }
        History::decode(bytes)
    }
}

fn sections(file: &[u8]) -> Option<[Section; N_SECTIONS]> {
    let (header, checksum) = file.get(..HEADER_BYTES)?.split_at(HEADER_BYTES - 8);
    let is_ours = header.starts_with(&MAGIC) && header[8..12] == FORMAT.to_le_bytes();
    if !is_ours || xxh3_64(header).to_le_bytes() != checksum {
        return None;
    }
    let mut from = Decoder::new(&header[16..]);
    let mut section = || {
        let start = usize::try_from(from.word()?).ok()?;
        let end = start.checked_add(usize::try_from(from.word()?).ok()?)?;
        file.get(start..end)?;
        Some(Section { range: start..end, checksum: from.word()? })
    };
    Some([section()?, section()?, section()?, section()?])
}
