//! Parses git's index (versions 2 to 4) to find the tracked paths. For split and sparse indexes,
//! which are not supported, the caller runs git instead.

use std::ops::ControlFlow;

use super::options::Deadline;
use crate::artifact::RelativePath;

/// Maximum depth of nested directories to open.
pub(super) const MAX_DEPTH: usize = 128;
pub(super) const MAX_FOLDER_BYTES: usize = 3_800;

pub(super) fn is_too_deep(path: &str) -> bool {
    let (n_folders, n_bytes) = (path.matches('/').count(), path.rfind('/').unwrap_or(0));
    MAX_FOLDER_BYTES < n_bytes || MAX_DEPTH < n_folders
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct IndexPaths {
    pub(super) files: Vec<String>,
    pub(super) links: Vec<String>,
    /// Number of entries left out because they are nested too deeply or exceed the budget.
    pub(super) n_left_out: u32,
}

impl IndexPaths {
    fn add(&mut self, mode: u32, path: &str) {
        match mode & KIND {
            PLAIN | GIT_LINK if is_too_deep(path) => self.leave_out(1),
            _ if !is_clean(path) => {}
            PLAIN => self.files.push(path.to_owned()),
            GIT_LINK => self.links.push(path.to_owned()),
            _ => {}
        }
    }

    fn leave_out(&mut self, n_entries: usize) {
        let n_entries = u32::try_from(n_entries).unwrap_or(u32::MAX);
        self.n_left_out = self.n_left_out.saturating_add(n_entries);
    }
}

/// Limit for all of a project's indexes together: twice the number of files in the largest known
/// projects. The limit is needed because a compressed index of a few megabytes can contain
/// gigabytes of paths.
const MAX_PATHS: usize = 1_000_000;
const MAX_PATHS_BYTES: usize = 64 << 20;

/// Number of paths to read between deadline checks.
const PATHS_A_LOOK: usize = 1_000;

#[derive(Clone, Debug)]
pub(super) struct PathBudget<'d> {
    n_paths: usize,
    n_bytes: usize,
    deadline: &'d Deadline,
}

impl<'d> PathBudget<'d> {
    pub(super) fn new(deadline: &'d Deadline) -> Self {
        Self { n_paths: MAX_PATHS, n_bytes: MAX_PATHS_BYTES, deadline }
    }

    /// Deducts one path from the budget. Returns `Break` once the budget is spent.
    pub(super) fn take(&mut self, n_bytes: usize) -> ControlFlow<()> {
        let left = self.n_paths.checked_sub(1).zip(self.n_bytes.checked_sub(n_bytes));
        let is_late =
            |n_paths: usize| n_paths.is_multiple_of(PATHS_A_LOOK) && self.deadline.is_over();
        match left.filter(|(n_paths, _)| !is_late(*n_paths)) {
            Some(left) => {
                (self.n_paths, self.n_bytes) = left;
                ControlFlow::Continue(())
            }
            None => {
                self.n_paths = 0;
                ControlFlow::Break(())
            }
        }
    }
}

/// Length of the file metadata that precedes the object ID.
const STAT_BYTES: usize = 40;
const MTIME_AT: usize = 8;
const MODE_AT: usize = 24;
const SIZE_AT: usize = 36;

const MAX_PATH_BYTES: usize = 4096;
const MAX_PATH_DEPTH: usize = 256;

/// Set on entries that have two additional bytes of flags.
const IS_EXTENDED: u32 = 0x4000;
const STAGE: u32 = 0x3000;
const SKIP_WORKTREE: u32 = 1 << 30;

const KIND: u32 = 0o170_000;
const PLAIN: u32 = 0o100_000;
const GIT_LINK: u32 = 0o160_000;
const FOLDER: u32 = 0o040_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IndexEntry<'i> {
    pub(super) mode: u32,
    pub(super) object: &'i [u8],
    /// The file's modification time when git last checked the file.
    pub(super) mtime_ns: i64,
    pub(super) size: u32,
    pub(super) flags: u32,
    pub(super) path: &'i [u8],
}

impl IndexEntry<'_> {
    pub(super) fn is_unmerged(&self) -> bool {
        self.flags & STAGE != 0
    }

    /// Returns whether the file is deliberately not checked out (`skip-worktree`).
    pub(super) fn is_left_out(&self) -> bool {
        self.flags & SKIP_WORKTREE != 0
    }
}

/// Reads the paths in an index whose object IDs are `hash_bytes` bytes long. Returns `None` for
/// unsupported formats. Each path's cost includes `n_above`, the length of the repository's path.
pub(super) fn parse(
    index: &[u8],
    hash_bytes: usize,
    budget: &mut PathBudget<'_>,
    n_above: usize,
) -> Option<IndexPaths> {
    let mut paths = IndexPaths::default();
    let n_left_out = each_entry(index, hash_bytes, |entry| {
        budget.take(n_above + entry.path.len())?;
        // Names that are not UTF-8 are skipped, as when walking the file tree.
        if let Ok(path) = std::str::from_utf8(entry.path) {
            paths.add(entry.mode, path);
        }
        ControlFlow::Continue(())
    })?;
    paths.leave_out(n_left_out);
    Some(paths)
}

/// Like [`parse`], for the output of `git ls-files --stage -z`.
pub(super) fn parse_listing(
    listing: &[u8],
    budget: &mut PathBudget<'_>,
    n_above: usize,
) -> IndexPaths {
    let mut paths = IndexPaths::default();
    let mut entries = listing.split(|byte| *byte == 0);
    while let Some(entry) = entries.next() {
        let Some((about, path)) = text(entry).split_once('\t') else { continue };
        if budget.take(n_above + path.len()).is_break() {
            paths.leave_out(1 + entries.filter(|entry| !entry.is_empty()).count());
            break;
        }
        let mode = about.split(' ').next().unwrap_or_default();
        paths.add(u32::from_str_radix(mode, 8).unwrap_or(0), path);
    }
    paths
}

/// Returns whether a path is inside the repository and outside `.git` directories. A malicious
/// index may contain other paths.
pub(super) fn is_clean(path: &str) -> bool {
    let mut names = path.as_bytes().split(|byte| *byte == b'/');
    path.len() <= MAX_PATH_BYTES
        && names.clone().count() <= MAX_PATH_DEPTH
        && !names.any(|name| name.eq_ignore_ascii_case(b".git"))
        && RelativePath::is_valid(path)
}

/// Visits the entries of an index in order until `visit` breaks. Returns the number of entries that
/// were not visited, or `None` for unsupported formats.
pub(super) fn each_entry(
    index: &[u8],
    hash_bytes: usize,
    mut visit: impl FnMut(IndexEntry<'_>) -> ControlFlow<()>,
) -> Option<usize> {
    let body = index.get(..index.len().checked_sub(hash_bytes)?)?;
    let (head, mut rest) = body.split_at_checked(12)?;
    let version = big(&head[4..8]);
    if !head.starts_with(b"DIRC") || !(2..=4).contains(&version) {
        return None;
    }
    let mut path: Vec<u8> = Vec::new();
    let n_entries = big(&head[8..12]);
    for number in 0..n_entries {
        let (entry, after) = entry_head(rest, hash_bytes)?;
        let used = rest.len() - after.len();
        let after = match version {
            4 => read_compressed(after, &mut path)?,
            _ => read_padded(after, used, &mut path)?,
        };
        if entry.mode & KIND == FOLDER {
            return None;
        }
        // Only a malicious index contains paths longer than the operating system accepts.
        let is_over =
            MAX_PATH_BYTES < path.len() || visit(IndexEntry { path: &path, ..entry }).is_break();
        if is_over {
            // Do not trust the count in the header.
            return Some(((n_entries - number) as usize).min(1 + after.len() / STAT_BYTES));
        }
        rest = after;
    }
    is_whole(rest).then_some(0)
}

pub(super) fn each_listed(
    listing: &[u8],
    mut visit: impl FnMut(IndexEntry<'_>) -> ControlFlow<()>,
) {
    let mut rest = listing;
    while let Some(end) = memchr::memchr(0, rest) {
        let (head, after) = (&rest[..end], &rest[end + 1..]);
        // The path is followed by five lines of file metadata.
        let lines = memchr::memchr_iter(b'\n', after).nth(4).map_or(after.len(), |at| at + 1);
        let (about, next) = after.split_at(lines);
        let tab = memchr::memchr(b'\t', head).unwrap_or(head.len());
        let words: Vec<&str> = text(&head[..tab]).split(' ').collect();
        if let ([mode, object, stage], Some(path)) = (&words[..], head.get(tab + 1..)) {
            let about = text(about);
            let stage = stage.parse::<u32>().unwrap_or(0);
            let goes_on = visit(IndexEntry {
                mode: u32::from_str_radix(mode, 8).unwrap_or(0),
                object: &bytes_of_hex(object),
                mtime_ns: moment(word_after(about, "mtime: ")),
                size: word_after(about, "size: ").parse().unwrap_or(0),
                flags: u32::from_str_radix(word_after(about, "flags: "), 16).unwrap_or(0)
                    | stage << STAGE.trailing_zeros(),
                path,
            });
            if goes_on.is_break() {
                return;
            }
        }
        rest = next;
    }
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

fn word_after<'t>(text: &'t str, name: &str) -> &'t str {
    let rest = text.split_once(name).map_or("", |(_, rest)| rest);
    rest.split(char::is_whitespace).next().unwrap_or_default()
}

/// Converts `seconds:nanoseconds` to nanoseconds.
fn moment(text: &str) -> i64 {
    let (seconds, nanos) = text.split_once(':').unwrap_or((text, "0"));
    let number = |text: &str| text.parse::<i64>().unwrap_or(0);
    number(seconds).saturating_mul(1_000_000_000).saturating_add(number(nanos))
}

fn bytes_of_hex(text: &str) -> Vec<u8> {
    let digits = (0..text.len() / 2).filter_map(|at| text.get(2 * at..2 * at + 2));
    digits.filter_map(|digits| u8::from_str_radix(digits, 16).ok()).collect()
}

fn big(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// Parses an entry up to its path. Returns the entry and the bytes after its flags.
fn entry_head(rest: &[u8], hash_bytes: usize) -> Option<(IndexEntry<'_>, &[u8])> {
    let (stat, after) = rest.split_at_checked(STAT_BYTES)?;
    let (object, after) = after.split_at_checked(hash_bytes)?;
    let mut flags = big(after.get(..2)?);
    let mut after = after.get(2..)?;
    if flags & IS_EXTENDED != 0 {
        flags |= big(after.get(..2)?) << 16;
        after = after.get(2..)?;
    }
    let number = |at: usize| big(&stat[at..at + 4]);
    let mtime_ns = i64::from(number(MTIME_AT)) * 1_000_000_000 + i64::from(number(MTIME_AT + 4));
    let entry = IndexEntry {
        mode: number(MODE_AT),
        object,
        mtime_ns,
        size: number(SIZE_AT),
        flags,
        path: &[],
    };
    Some((entry, after))
}

/// Reads a path that is zero-padded to make the length of its entry a multiple of eight.
fn read_padded<'r>(rest: &'r [u8], used: usize, path: &mut Vec<u8>) -> Option<&'r [u8]> {
    let len = memchr::memchr(0, rest)?;
    path.clear();
    path.extend(&rest[..len]);
    let padding = 8 - (used + len) % 8;
    rest.get(len + padding..)
}

/// Reads a path that is prefix-compressed against the previous path (version 4).
fn read_compressed<'r>(rest: &'r [u8], path: &mut Vec<u8>) -> Option<&'r [u8]> {
    let (&first, mut rest) = rest.split_first()?;
    let mut n_left_out = usize::from(first & 0x7f);
    let mut byte = first;
    while byte & 0x80 != 0 {
        (byte, rest) = rest.split_first().map(|(byte, rest)| (*byte, rest))?;
        n_left_out = n_left_out.checked_add(1)?.checked_mul(128)? + usize::from(byte & 0x7f);
    }
    path.truncate(path.len().checked_sub(n_left_out)?);
    let len = memchr::memchr(0, rest)?;
    path.extend(&rest[..len]);
    rest.get(len + 1..)
}

/// Returns whether the index is self-contained. Extensions with lower-case names change the meaning
/// of the entries.
fn is_whole(mut extensions: &[u8]) -> bool {
    while let Some((head, rest)) = extensions.split_at_checked(8) {
        let is_optional = head[0].is_ascii_uppercase();
        let Some(after) = rest.get(big(&head[4..8]) as usize..) else { return false };
        if !is_optional {
            return false;
        }
        extensions = after;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_that_lead_down_are_clean() {
        for path in ["a", "a/b.rs", ".github/x", "a/.gitignore", "..a/b"] {
            assert!(is_clean(path), "{path}");
        }
        let (deep, long) = ("a/".repeat(300) + "b", "x".repeat(5000));
        for path in [
            "",
            "/etc/passwd",
            "../a",
            "a/../b",
            "a//b",
            "a/",
            "./a",
            ".git/config",
            "a/.GIT/x",
            &deep,
            &long,
        ] {
            assert!(!is_clean(path), "{path}");
        }
    }

    /// Builds a version 4 index. Each entry says how many bytes to drop from the previous path (at
    /// most 127) and which bytes to append.
    fn index(entries: &[(u8, &str)]) -> Vec<u8> {
        let mut index = b"DIRC\0\0\0\x04".to_vec();
        index.extend(u32::try_from(entries.len()).unwrap().to_be_bytes());
        for (n_left_out, name) in entries {
            let mut entry = [0; 62];
            entry[MODE_AT..MODE_AT + 4].copy_from_slice(&0o100_644_u32.to_be_bytes());
            index.extend(entry);
            index.push(*n_left_out);
            index.extend(name.bytes().chain([0]));
        }
        index.extend([0; 20]);
        index
    }

    fn parse_all(index: &[u8]) -> IndexPaths {
        parse(index, 20, &mut PathBudget::new(&Deadline::never()), 0).unwrap()
    }

    #[test]
    fn an_index_that_grows_a_name_for_ever_is_left() {
        let paths = parse_all(&index(&[(0, "a"); 10_000]));
        assert_eq!(paths.files.iter().map(String::len).max(), Some(MAX_PATH_BYTES));
        assert_eq!(paths.n_left_out as usize, 10_000 - MAX_PATH_BYTES);
    }

    #[test]
    fn paths_that_lie_deeper_than_the_walk_goes_are_counted_and_not_kept() {
        let deep = |n_folders: usize| "a/".repeat(n_folders) + "x";
        let (fits, too_deep, deepest) = (deep(128), deep(129), deep(255));
        assert_eq!(parse_all(&index(&[(0, fits.as_str())])).files.len(), 1);
        for path in [&too_deep, &deepest] {
            let paths = parse_all(&index(&[(0, path.as_str())]));
            assert_eq!((paths.files.len(), paths.n_left_out), (0, 1));
        }
    }

    #[test]
    fn all_paths_together_are_bounded_and_the_rest_is_counted() {
        // A two-megabyte index with thirty thousand paths of three thousand bytes each.
        let long = "x".repeat(3_000);
        let mut entries = vec![(0, long.as_str())];
        entries.extend((1..30_000).map(|number| (1, if number % 2 == 0 { "a" } else { "b" })));
        let paths = parse_all(&index(&entries));
        let n_kept = paths.files.len();
        assert_eq!(n_kept, MAX_PATHS_BYTES / 3_000);
        assert_eq!(n_kept + paths.n_left_out as usize, 30_000);
    }

    #[test]
    fn an_index_is_read_until_the_deadline() {
        let mut entries = vec![(1, "a"); 5_000];
        entries[0].0 = 0;
        let deadline = Deadline::new(|| true);
        let paths = parse(&index(&entries), 20, &mut PathBudget::new(&deadline), 0).unwrap();
        assert_eq!(paths.files.len(), PATHS_A_LOOK - 1);
        assert_eq!(paths.n_left_out as usize, 5_000 - (PATHS_A_LOOK - 1));
    }
}
