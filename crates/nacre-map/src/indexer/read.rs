//! Reads files that are new or not as they were: what their bytes are known by, and what is in them.

use std::collections::HashSet;
use std::io::Read as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use foldhash::fast::RandomState;
use nacre_core::platform;
use nacre_core::platform::fd::{BorrowedFd, OwnedFd};
use nacre_core::platform::fs::{FileType, Mode};
use nacre_core::platform::io::Errno;

use super::deadline::Deadline;
use super::look::{READABLE_FILE, is_racy, stamp_of};
use super::progress::ReadProgress;
use super::verify::{AHEAD, Stairs};
use crate::artifact::{
    Analyses, AnalysisKey, BagKey, FileHash, FileRow, Marks, NewAnalyses, NewBags, NewPack, Stamp,
};
use crate::languages::{self, Depth, Language, MAX_TEXT_BYTES};
use crate::words::BagMaker;

/// Larger files are data: they are known by their stamps and not read.
pub const MAX_READ_BYTES: u64 = 32 << 20;

/// So many files are taken from the list at once.
const BATCH: usize = 16;

/// So many bytes of analyses are held by a thread; then they are kept.
const MAX_HELD_BYTES: usize = 10 << 20;

/// A file to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Doubt {
    pub(super) path: String,
    /// Where it was looked at already.
    pub(super) size: Option<u64>,
    /// What was known of it before.
    pub(super) before: Option<FileRow>,
}

/// What reading needs to know.
pub(super) struct Reading<'r> {
    pub(super) root: &'r OwnedFd,
    pub(super) analyses: &'r Analyses,
    /// How closely new texts are looked at.
    pub(super) depth: Depth,
    pub(super) looked_ns: i64,
    pub(super) n_threads: usize,
    /// Files that it comes too late for are left as they are known.
    pub(super) deadline: &'r Deadline,
    pub(super) progress: &'r ReadProgress,
    /// Keeps analyses that are too many to hold, and gives back what could not be kept.
    pub(super) keep: &'r Keep<'r>,
    /// The same for words of new texts; `None` where they are not counted.
    pub(super) keep_words: Option<&'r Keep<'r>>,
}

/// Keeps a pack, and gives back what could not be kept.
pub(super) type Keep<'k> = dyn Fn(NewPack) -> Option<NewPack> + Sync + 'k;

/// What is known of texts already, and where more of that is kept while there is too much to hold.
pub(super) struct KnownTexts<'k> {
    pub(super) analyses: &'k Analyses,
    pub(super) keep: &'k Keep<'k>,
    /// The same for words of new texts; `None` where they are not counted.
    pub(super) keep_words: Option<&'k Keep<'k>>,
}

/// What came of reading files.
pub(super) struct ReadFiles {
    /// The row of each, in their order; `None` where it is gone or no plain file any more.
    pub(super) rows: Vec<Option<FileRow>>,
    /// Analyses that are not kept yet.
    pub(super) packs: Vec<NewPack>,
    /// Words of texts that are not kept yet.
    pub(super) words: Vec<NewPack>,
    /// How many were not read because time was over. They stay in doubt, so that the next look reads them.
    pub(super) n_postponed: usize,
}

/// Reads all of `doubts`, on all threads.
pub(super) fn read_all(reading: &Reading<'_>, doubts: &[Doubt]) -> ReadFiles {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Done::default());
    let n_threads = reading.n_threads.min(doubts.len().div_ceil(BATCH)).max(1);
    std::thread::scope(|scope| {
        for _ in 0..n_threads {
            scope.spawn(|| {
                let mut reader = Reader::new(reading, &done);
                let mut read = reader.read_batches(doubts, &next);
                let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
                done.batches.append(&mut read);
                done.new.append(reader.new);
                done.words.extend(reader.words.into_pack());
                done.n_postponed += reader.n_postponed;
            });
        }
    });
    let Done { mut batches, new, mut packs, words, n_postponed } =
        done.into_inner().unwrap_or_else(PoisonError::into_inner);
    packs.extend(new.into_pack());
    batches.sort_unstable_by_key(|(first, _)| *first);
    let mut rows = Vec::with_capacity(doubts.len());
    batches.into_iter().for_each(|(_, batch)| rows.extend(batch));
    ReadFiles { rows, packs, words, n_postponed }
}

/// What all threads have done.
#[derive(Default)]
struct Done {
    /// Files that were read, with the place of the first.
    batches: Vec<(usize, Vec<Option<FileRow>>)>,
    new: NewAnalyses,
    /// What could not be kept on the way.
    packs: Vec<NewPack>,
    words: Vec<NewPack>,
    n_postponed: usize,
}

/// One thread's part.
struct Reader<'r> {
    reading: &'r Reading<'r>,
    done: &'r Mutex<Done>,
    buffer: Vec<u8>,
    new: NewAnalyses,
    /// All that were ever in `new`.
    seen: HashSet<AnalysisKey, RandomState>,
    maker: BagMaker,
    words: NewBags,
    n_postponed: usize,
}

impl<'r> Reader<'r> {
    fn new(reading: &'r Reading<'r>, done: &'r Mutex<Done>) -> Self {
        let (buffer, new, seen) = (Vec::new(), NewAnalyses::default(), HashSet::default());
        let (maker, words) = (BagMaker::default(), NewBags::default());
        Self { reading, done, buffer, new, seen, maker, words, n_postponed: 0 }
    }

    /// Takes batches from the list until there are none.
    fn read_batches(
        &mut self,
        doubts: &[Doubt],
        next: &AtomicUsize,
    ) -> Vec<(usize, Vec<Option<FileRow>>)> {
        let mut read = Vec::new();
        let mut stairs = Stairs::new(self.reading.root);
        loop {
            let first = next.fetch_add(BATCH, Ordering::Relaxed);
            let Some(rest) = doubts.get(first..).filter(|rest| !rest.is_empty()) else {
                return read;
            };
            let batch = &rest[..rest.len().min(BATCH)];
            let rows = batch.iter().enumerate().map(|(idx, doubt)| {
                let ahead = rest.get(idx + AHEAD).map(|ahead| ahead.path.as_str());
                let (folder, name) = stairs.nearest(&doubt.path, ahead);
                self.read(doubt, folder, name)
            });
            read.push((first, rows.collect()));
            self.reading.progress.report(first + batch.len(), doubts.len());
        }
    }

    /// Reads a file by its name below an open folder.
    fn read(&mut self, doubt: &Doubt, folder: BorrowedFd<'_>, name: &str) -> Option<FileRow> {
        if self.reading.deadline.is_over() {
            return self.postponed(doubt, folder, name);
        }
        let opened = platform::fs::openat(folder, name, READABLE_FILE, Mode::empty());
        let file = match opened {
            Ok(file) => std::fs::File::from(file),
            Err(error) => return self.unopened(error, folder, name),
        };
        let before = plain_stamp(&file)?;
        if MAX_READ_BYTES < before.size {
            return Some(self.unread(before));
        }
        if read_whole(&file, before.size, &mut self.buffer).is_err() {
            return Some(self.unread(before));
        }
        let after = plain_stamp(&file)?;
        // What changed while it was read is read again next time.
        let is_doubtful = before != after
            || self.buffer.len() as u64 != after.size
            || is_racy(after, self.reading.looked_ns);
        let hash = FileHash::of(&self.buffer);
        self.analyse(doubt, hash);
        self.count_words(doubt, hash);
        let lines = count_lines(&self.buffer);
        let marks = Marks { is_doubtful, is_unread: false };
        Some(FileRow { stamp: after, hash, lines, marks })
    }

    /// What is known of a file that could not be opened; `None` when it is gone, or no plain file.
    fn unopened(&self, error: Errno, folder: BorrowedFd<'_>, name: &str) -> Option<FileRow> {
        let is_gone = [Errno::NOENT, Errno::NOTDIR, Errno::LOOP, Errno::NXIO, Errno::ISDIR];
        if is_gone.contains(&error) {
            return None;
        }
        let mut row = self.unread(super::look::file_stamp(folder, name)?);
        // Who may not read it is told so by its stamp when that changes; anything else may pass.
        row.marks.is_doubtful |= !matches!(error, Errno::ACCESS | Errno::PERM);
        Some(row)
    }

    /// What is known of a file that is not read for lack of time: what was known before or, of a new one, its stamp.
    fn postponed(&mut self, doubt: &Doubt, folder: BorrowedFd<'_>, name: &str) -> Option<FileRow> {
        let stamp = || super::look::file_stamp(folder, name);
        let mut row = doubt.before.or_else(|| Some(self.unread(stamp()?)))?;
        row.marks.is_doubtful = true;
        self.n_postponed += 1;
        Some(row)
    }

    fn unread(&self, stamp: Stamp) -> FileRow {
        let words = [stamp.size, stamp.mtime_ns.cast_unsigned(), stamp.inode];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let marks = Marks { is_doubtful: is_racy(stamp, self.reading.looked_ns), is_unread: true };
        FileRow { stamp, hash: FileHash::of(&bytes), lines: 0, marks }
    }

    /// Counts the words of a text that is new. Of others they are known, or counted when somebody asks for words.
    fn count_words(&mut self, doubt: &Doubt, hash: FileHash) {
        let is_known = doubt.before.is_some_and(|before| before.hash == hash);
        let Some(keep) = self.reading.keep_words.filter(|_| !is_known) else { return };
        if MAX_TEXT_BYTES < self.buffer.len() {
            return;
        }
        let is_code = Language::of_path(&doubt.path).is_some();
        let bag = self.maker.make(&self.buffer, is_code);
        self.words.insert(BagKey::new(hash, is_code), &bag);
        if MAX_HELD_BYTES < self.words.n_bytes() {
            let held = std::mem::take(&mut self.words).into_pack();
            let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
            done.words.extend(held.and_then(keep));
        }
    }

    /// Looks into a text that nobody has looked into as closely.
    fn analyse(&mut self, doubt: &Doubt, hash: FileHash) {
        let Some(language) = Language::of_path(&doubt.path) else { return };
        if MAX_TEXT_BYTES < self.buffer.len() {
            return;
        }
        let known = |hash| self.reading.analyses.depth(AnalysisKey::new(hash, language));
        // Two looks that are not alike cannot be compared, and what a text held before is gone.
        let before = doubt.before.map(|row| row.hash);
        let is_glanced = before.and_then(known) == Some(Depth::Glance);
        let is_changed = before.is_some_and(|before| before != hash);
        let depth = if is_changed && is_glanced { Depth::Glance } else { self.reading.depth };
        let key = AnalysisKey::new(hash, language);
        let is_known = known(hash).is_some_and(|known| depth <= known);
        if is_known || !self.seen.insert(key) {
            return;
        }
        match depth {
            Depth::Full => {
                self.new.insert(key, &languages::analyse(language, &self.buffer).as_ref());
            }
            Depth::None | Depth::Glance => {
                self.new.insert(key, &languages::glimpse(language, &self.buffer));
            }
        }
        if MAX_HELD_BYTES < self.new.n_bytes() {
            let held = std::mem::take(&mut self.new).into_pack();
            // One after the other: they all go to one folder.
            let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
            done.packs.extend(held.and_then(self.reading.keep));
        }
    }
}

/// Reads a file that had this size a moment ago. One that grows meanwhile is cut: its size tells.
fn read_whole(file: &std::fs::File, size: u64, buffer: &mut Vec<u8>) -> std::io::Result<()> {
    buffer.clear();
    if size == 0 {
        // Some files say so and hold something.
        file.take(MAX_READ_BYTES).read_to_end(buffer)?;
        return Ok(());
    }
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    buffer.reserve(size);
    while buffer.len() < size {
        match platform::read_more(file, buffer) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn plain_stamp(file: &std::fs::File) -> Option<Stamp> {
    let stat = platform::fs::fstat(file).ok()?;
    FileType::from_raw_mode(stat.st_mode).is_file().then(|| stamp_of(&stat))
}

fn count_lines(bytes: &[u8]) -> u32 {
    let n_breaks = memchr::memchr_iter(b'\n', bytes).count();
    let has_rest = bytes.last().is_some_and(|byte| *byte != b'\n');
    u32::try_from(n_breaks + usize::from(has_rest)).unwrap_or(u32::MAX)
}
