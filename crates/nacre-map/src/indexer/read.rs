//! Reads new and changed files, and computes their hashes, analyses and word counts.

use std::io::Read as _;
use std::sync::atomic::{AtomicUsize, Ordering};

use nacre_base::platform;
use nacre_base::platform::fd::OwnedFd;
use nacre_base::platform::fs::{FileType, Mode};
use nacre_base::platform::io::Errno;

use super::look::{READABLE_FILE, file_stamp, is_racy};
use super::options::RefreshOptions;
use crate::artifact::{AnalysisKey, Blobs, FileHash, FileRow, PackSet, Stamp, words_key};
use crate::languages::{Analysis, Depth, Language, MAX_TEXT_BYTES, analyse, glance};
use crate::shares::in_batches;
use crate::words::render_bag;

/// Larger files are not read; their hash is computed from their stamp.
pub const MAX_READ_BYTES: u64 = 32 << 20;

const BATCH: usize = 16;

/// Number of files per batch. Batches limit memory use.
pub(super) const CHUNK: usize = 4_096;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UnverifiedFile {
    pub(super) path: String,
    pub(super) size: Option<u64>,
    pub(super) before: Option<FileRow>,
}

pub(super) struct Reading<'r> {
    pub(super) root: &'r OwnedFd,
    pub(super) analyses: &'r PackSet,
    pub(super) options: &'r RefreshOptions,
    pub(super) depth: Depth,
    pub(super) counts_words: bool,
}

#[derive(Debug, Default)]
pub(super) struct FoundTexts {
    pub(super) analyses: Blobs,
    pub(super) words: Blobs,
}

impl FoundTexts {
    pub(super) fn append(&mut self, mut other: Self) {
        self.analyses.append(&mut other.analyses);
        self.words.append(&mut other.words);
    }
}

#[derive(Default)]
pub(super) struct ReadFiles {
    /// One row per file, in the same order as the files. A row is `None` if the file was removed or
    /// is not a plain file.
    pub(super) rows: Vec<Option<FileRow>>,
    /// Number of files that were not read before the deadline. These files are marked as doubtful
    /// so that the next refresh reads them.
    pub(super) n_postponed: usize,
}

#[derive(Default)]
struct Batch {
    rows: Vec<Option<FileRow>>,
    texts: FoundTexts,
    n_postponed: usize,
}

impl Reading<'_> {
    pub(super) fn read_all(
        &self,
        files: &[UnverifiedFile],
        mut take: impl FnMut(FoundTexts),
    ) -> ReadFiles {
        let mut all = ReadFiles::default();
        let n_done = AtomicUsize::new(0);
        for chunk in files.chunks(CHUNK) {
            let batches = in_batches(chunk.len(), BATCH, self.options.n_threads, |range| {
                let n_files = range.len();
                let mut batch = Batch::default();
                for file in &chunk[range] {
                    let row = self.read(file, &mut batch);
                    batch.rows.push(row);
                }
                let n_before = n_done.fetch_add(n_files, Ordering::Relaxed);
                self.options.progress.report(n_before + n_files, files.len());
                batch
            });
            let mut texts = FoundTexts::default();
            for batch in batches {
                all.rows.extend(batch.rows);
                all.n_postponed += batch.n_postponed;
                texts.append(batch.texts);
            }
            take(texts);
        }
        all
    }

    fn read(&self, file: &UnverifiedFile, batch: &mut Batch) -> Option<FileRow> {
        if self.options.deadline.is_over() {
            let stamp = || file_stamp(self.root, &file.path);
            let row = file.before.or_else(|| Some(self.unread(stamp()?)))?;
            batch.n_postponed += 1;
            return Some(FileRow { is_doubtful: true, ..row });
        }
        let opened = platform::fs::openat(self.root, &*file.path, READABLE_FILE, Mode::empty());
        let open = match opened {
            Ok(open) => std::fs::File::from(open),
            Err(error) => return self.row_of_unopened(error, &file.path),
        };
        let before = plain_stamp(&open)?;
        if MAX_READ_BYTES < before.size {
            return Some(self.unread(before));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(before.size).unwrap_or_default() + 1);
        if (&open).take(MAX_READ_BYTES).read_to_end(&mut bytes).is_err() {
            return Some(self.unread(before));
        }
        let after = plain_stamp(&open)?;
        let hash = FileHash::of(&bytes);
        self.analyse(file, hash, &bytes, batch);
        self.count_words(file, hash, &bytes, batch);
        Some(FileRow {
            stamp: after,
            hash,
            lines: count_lines(&bytes),
            // A file that changed while it was being read is read again on the next refresh.
            is_doubtful: before != after
                || bytes.len() as u64 != after.size
                || is_racy(after, self.options.looked_ns),
            is_unread: false,
        })
    }

    /// Returns the row for a file that could not be opened, or `None` if the file was removed or is
    /// not a plain file.
    fn row_of_unopened(&self, error: Errno, path: &str) -> Option<FileRow> {
        let gone = [Errno::NOENT, Errno::NOTDIR, Errno::LOOP, Errno::NXIO, Errno::ISDIR];
        if gone.contains(&error) {
            return None;
        }
        let mut row = self.unread(file_stamp(self.root, path)?);
        // Errors other than missing permissions may be temporary, so the file is read again later.
        // Permission changes alter the stamp and are detected anyway.
        row.is_doubtful |= !matches!(error, Errno::ACCESS | Errno::PERM);
        Some(row)
    }

    fn unread(&self, stamp: Stamp) -> FileRow {
        let words = [stamp.size, stamp.mtime_ns.cast_unsigned(), stamp.inode];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let is_doubtful = is_racy(stamp, self.options.looked_ns);
        FileRow { stamp, hash: FileHash::of(&bytes), lines: 0, is_doubtful, is_unread: true }
    }

    /// Counts the words in new file contents. Contents seen before either already have stored
    /// counts or are counted when a query needs them.
    fn count_words(&self, file: &UnverifiedFile, hash: FileHash, bytes: &[u8], batch: &mut Batch) {
        let is_known = file.before.is_some_and(|before| before.hash == hash);
        if self.counts_words && !is_known && bytes.len() <= MAX_TEXT_BYTES {
            let is_code = Language::of_path(&file.path).is_some();
            batch.texts.words.insert(words_key(hash, is_code), render_bag(bytes, is_code));
        }
    }

    /// Analyses a file's content unless it already has an analysis of at least this depth.
    fn analyse(&self, file: &UnverifiedFile, hash: FileHash, bytes: &[u8], batch: &mut Batch) {
        let Some(language) = Language::of_path(&file.path) else { return };
        if MAX_TEXT_BYTES < bytes.len() {
            return;
        }
        // Only analyses of equal depth can be compared. The previous content is gone and cannot be
        // analysed again, so analyse the new content to the same depth.
        let before = file.before.filter(|before| before.hash != hash);
        let before = before.map(|before| AnalysisKey::new(before.hash, language));
        let was_glanced =
            before.and_then(|key| depth_of(self.analyses, key)) == Some(Depth::Glance);
        let depth = if was_glanced { Depth::Glance } else { self.depth };
        let key = AnalysisKey::new(hash, language);
        if depth_of(self.analyses, key).is_some_and(|known| depth <= known) {
            return;
        }
        let analysis = match depth {
            Depth::Full => analyse(language, bytes),
            Depth::None | Depth::Glance => glance(language, bytes),
        };
        if let Ok(bytes) = serde_json::to_vec(&analysis) {
            batch.texts.analyses.insert(key.at(analysis.depth), bytes);
        }
    }
}

pub(super) fn analysis_in(analyses: &PackSet, key: AnalysisKey) -> Option<Analysis> {
    serde_json::from_slice(closest(analyses, key)?.1).ok()
}

pub(super) fn depth_of(analyses: &PackSet, key: AnalysisKey) -> Option<Depth> {
    closest(analyses, key).map(|(depth, _)| depth)
}

fn closest(analyses: &PackSet, key: AnalysisKey) -> Option<(Depth, &[u8])> {
    let depths = [Depth::Full, Depth::Glance, Depth::None];
    depths.into_iter().find_map(|depth| Some((depth, analyses.get(key.at(depth))?)))
}

fn plain_stamp(file: &std::fs::File) -> Option<Stamp> {
    let stat = platform::fs::fstat(file).ok()?;
    FileType::from_raw_mode(stat.st_mode).is_file().then(|| Stamp::of(&stat))
}

fn count_lines(bytes: &[u8]) -> u32 {
    let n_breaks = memchr::memchr_iter(b'\n', bytes).count();
    let has_rest = bytes.last().is_some_and(|byte| *byte != b'\n');
    u32::try_from(n_breaks + usize::from(has_rest)).unwrap_or(u32::MAX)
}
