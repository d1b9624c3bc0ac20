//! Brings an artifact up to date with the disk and stores the changes.
//!
//! There are three cases, from cheapest to most expensive: nothing changed; some stamps changed, so
//! those files are read; or the selection rules changed, so the whole tree is walked. The result is
//! always the same as building the map from scratch.

use std::collections::BTreeSet;

use nacre_base::platform::fd::OwnedFd;
use nacre_types::{CacheStatus, MapRevision, MapStats};

use super::git::{self, Tracked};
use super::look::{
    file_stamp, find_changed_directories, find_changed_files, folder_stamp, open_root,
};
use super::options::{CacheWrites, RefreshOptions, Verify, WordCounting};
use super::read::{CHUNK, FoundTexts, ReadFiles, Reading, UnverifiedFile};
use super::rules::RULES_FILE;
use super::selection::Selection;
use super::walk::{relist, walk};
use crate::artifact::{
    Artifact, Cache, Commit, ContentChange, FileRow, FolderRow, Head, PackSet, Project, Stamp,
    first_identity, identity_after,
};
use crate::languages::{Depth, Language};

/// Once this much time has passed since the last full read, every file is read again, even if its
/// stamp is unchanged.
const MAX_AGE_NS: i64 = 24 * 60 * 60 * 1_000_000_000;

/// How many times to try to store the result while other processes are writing. After that, the
/// result is returned without being stored.
const MAX_TRIES: usize = 4;

/// A full walk is cheaper if more directories than this have changed and they make up more than a
/// quarter of all directories.
const MAX_RELISTED: usize = 256;

/// New code up to this total size is parsed immediately, which takes about a second. Larger amounts
/// of new code are first analysed line by line.
const MAX_FULL_BYTES: u64 = 8 << 20;

#[derive(Debug)]
pub struct Current {
    pub project: Project,
    pub artifact: Artifact,
    pub analyses: PackSet,
    pub status: CacheStatus,
    pub stats: MapStats,
    /// The revision before this refresh; `None` if there was no readable artifact.
    pub before: Option<MapRevision>,
    /// Whether the changes could be stored. If not, the next refresh repeats the work.
    pub is_kept: bool,
}

#[derive(Debug, thiserror::Error)]
#[error("Cannot read the directory `{root}`")]
pub struct RefreshError {
    root: String,
    #[source]
    source: std::io::Error,
}

impl RefreshError {
    pub fn is_late(&self) -> bool {
        self.source.kind() == std::io::ErrorKind::TimedOut
    }
}

pub fn refresh(
    cache: &Cache,
    project: &Project,
    options: &RefreshOptions,
) -> Result<Current, RefreshError> {
    let failed =
        |source| RefreshError { root: project.root.to_string_lossy().into_owned(), source };
    let mut tries = 0;
    loop {
        tries += 1;
        let old = cache.open(project);
        let before = old.as_ref().map(|old| old.head().revision);
        let mut artifact = old.unwrap_or_default();
        let mut texts = FoundTexts::default();
        let look = Look::take(cache, project, &artifact, options, &mut texts).map_err(failed)?;
        let mut is_kept = true;
        if let Some(commit) = look.found {
            artifact.apply(commit);
            let is_stored = options.keeping == CacheWrites::On;
            match is_stored.then(|| cache.store(project, &mut artifact, &texts.analyses)) {
                Some(Ok(true)) => {}
                Some(Ok(false)) if tries < MAX_TRIES => continue,
                // Return a result even if the disk is full or read-only.
                Some(Ok(false) | Err(_)) | None => is_kept = false,
            }
        }
        let mut analyses = cache.analyses();
        if !is_kept {
            analyses.hold(texts.analyses);
        }
        let status = look.status;
        let stats = stats(&artifact, look.n_read, look.n_postponed);
        let project = project.clone();
        let current = Current { project, artifact, analyses, status, stats, before, is_kept };
        if is_kept && !texts.words.is_empty() {
            // Errors are ignored, because missing words can be counted again.
            let _ = current.store_words(cache, &texts.words);
        }
        return Ok(current);
    }
}

fn stats(artifact: &Artifact, n_read: usize, n_postponed: usize) -> MapStats {
    let files = artifact.files();
    MapStats {
        file_count: files.len(),
        total_bytes: files.iter().map(|(_, row)| row.stamp.size).sum(),
        reused_entries: files.len().saturating_sub(n_read),
        rehashed_entries: n_read,
        unread_files: files.iter().filter(|(_, row)| row.is_unread).count(),
        postponed_files: n_postponed,
        skipped: artifact.count_skipped(),
    }
}

impl Current {
    /// Returns whether a refresh is needed even if no file changed: the rules changed, the root is
    /// a different directory, files are doubtful, results were not stored, or a full verification
    /// is due.
    pub fn is_due(&self, options: &RefreshOptions) -> bool {
        let head = self.artifact.head();
        let folders = self.artifact.folders();
        let root = folders.get("").map(|root| root.stamp.inode);
        let root_now = || folder_stamp(open_root(&self.project.root).ok()?, "");
        !self.is_kept
            || is_old(head, options)
            || git_now(&self.project, options) != Some(head.git)
            || root.is_none()
            || root_now().map(|now| now.inode) != root
            || self.artifact.files().iter().any(|(_, row)| row.is_doubtful)
            || folders.values().any(|row| row.is_doubtful)
    }

    /// Records that a refresh found no changes.
    pub fn stays(&mut self) {
        self.before = Some(self.revision());
        self.status = CacheStatus::Hit;
        self.stats.rehashed_entries = 0;
        self.stats.reused_entries = self.stats.file_count;
    }
}

struct Look {
    status: CacheStatus,
    n_read: usize,
    n_postponed: usize,
    /// The changes; `None` if nothing changed.
    found: Option<Commit>,
}

#[derive(Default)]
struct Differences {
    unverified: Vec<UnverifiedFile>,
    gone: Vec<String>,
    folders: Vec<(String, Option<FolderRow>)>,
}

impl Look {
    /// Adds the analyses and words of new file contents to `texts`, unless they are already stored.
    fn take(
        cache: &Cache,
        project: &Project,
        artifact: &Artifact,
        options: &RefreshOptions,
        texts: &mut FoundTexts,
    ) -> std::io::Result<Self> {
        let root = open_root(&project.root)?;
        let head = artifact.head();
        let is_new = head.created_ns == 0;
        let is_old = !is_new && is_old(head, options);
        let is_distrusted = options.trust == Verify::Contents || is_old;
        let (rules, git, tracked) = rules_now(project, head, options);
        let looker = Looker { cache, project, artifact, options, root: &root };
        let is_partial = !is_new && !is_distrusted && rules == head.rules;
        let partial = if is_partial { looker.partial(tracked.as_ref())? } else { None };
        let differences = match partial {
            Some(differences) => differences,
            None => {
                looker.whole(&tracked.unwrap_or_else(|| looker.read_tracked()), is_distrusted)?
            }
        };
        let status = if is_new {
            CacheStatus::Miss
        } else if is_old && options.trust == Verify::Stamps {
            CacheStatus::StaleRebuild
        } else {
            CacheStatus::Refreshed
        };
        let verified_ns = if is_distrusted || is_new { options.now_ns } else { head.verified_ns };
        let head = Head { verified_ns, rules, git, ..*head };
        Ok(looker.conclude(differences, head, status, texts))
    }
}

fn is_old(head: &Head, options: &RefreshOptions) -> bool {
    options.now_ns.saturating_sub(head.verified_ns) > MAX_AGE_NS
}

/// Returns the current value of [`Head::git`], or `None` if changes can only be detected by reading
/// the index.
fn git_now(project: &Project, options: &RefreshOptions) -> Option<u64> {
    git::stamp(&project.root).map(|stamp| stamp ^ own_rules(options))
}

fn own_rules(options: &RefreshOptions) -> u64 {
    options.sensitive.identity() ^ options.excludes.identity
}

/// Returns the current hash of all rules that select files. Reads git's index only if it changed.
fn rules_now(
    project: &Project,
    head: &Head,
    options: &RefreshOptions,
) -> (u64, u64, Option<Tracked>) {
    let git = git_now(project, options);
    if git == Some(head.git) && head.created_ns != 0 {
        return (head.rules, head.git, None);
    }
    let tracked = Tracked::read(&project.root, &options.git, &options.deadline);
    let rules = tracked.identity ^ own_rules(options);
    (rules, git.unwrap_or(u64::MAX), Some(tracked))
}

struct Looker<'l> {
    cache: &'l Cache,
    project: &'l Project,
    artifact: &'l Artifact,
    options: &'l RefreshOptions,
    root: &'l OwnedFd,
}

impl Looker<'_> {
    fn read_tracked(&self) -> Tracked {
        Tracked::read(&self.project.root, &self.options.git, &self.options.deadline)
    }

    fn selection<'s>(&'s self, tracked: &'s Tracked) -> Selection<'s> {
        Selection { root: &self.project.root, tracked, options: self.options, is_unstamped: false }
    }

    /// Compares all known files and directories with the disk. Returns `None` if a full walk is
    /// required.
    fn partial(&self, tracked: Option<&Tracked>) -> std::io::Result<Option<Differences>> {
        let n_threads = self.options.n_threads;
        let folders: Vec<(&String, &FolderRow)> = self.artifact.folders().iter().collect();
        let files = self.artifact.files();
        let mut differences = Differences::default();
        for (idx, stamp) in find_changed_files(self.root, &files, n_threads) {
            let (path, row) = &files[idx];
            // A full walk is required if a rules file may have changed.
            if is_rules(path) {
                return Ok(None);
            }
            match stamp {
                Some(stamp) => {
                    differences.unverified.push(to_unverified(
                        (*path).to_owned(),
                        Some(stamp),
                        Some(row),
                    ));
                }
                None => differences.gone.push((*path).to_owned()),
            }
        }
        let changed = find_changed_directories(self.root, &folders, n_threads);
        let is_unlisted = |(idx, _): &(usize, Option<Stamp>)| !folders[*idx].1.is_listed;
        let is_much = MAX_RELISTED < changed.len() && folders.len() / 4 < changed.len();
        // All rules share one budget, so changing one rules file can affect which others are read.
        let has_unread_rules =
            !changed.is_empty() && self.artifact.count_skipped().unread_rules != 0;
        if is_much || has_unread_rules || changed.iter().any(is_unlisted) {
            return Ok(None);
        }
        let (there, gone): (Vec<_>, Vec<_>) =
            changed.into_iter().partition(|(_, stamp)| stamp.is_some());
        for (idx, _) in gone {
            differences.lose_folder(folders[idx].0, &files, &folders);
        }
        if there.is_empty() {
            return Ok(Some(differences));
        }
        let again: Vec<String> = there.iter().map(|(idx, _)| folders[*idx].0.clone()).collect();
        let own = if tracked.is_none() { Some(self.read_tracked()) } else { None };
        let Some(tracked) = tracked.or(own.as_ref()) else { return Ok(None) };
        let known = |path: &str| self.artifact.folders().contains_key(path);
        let found = relist(&self.selection(tracked), &again, &known)?;
        // A full walk is also required if other rules or nested repositories changed.
        let was_nested = |path: &String| {
            self.artifact.folders().get(path).is_some_and(|row| row.skipped.nested == 1)
        };
        let is_undecided = found.has_hidden_rules || found.has_unread_rules;
        if is_undecided || !found.nested.iter().all(was_nested) {
            return Ok(None);
        }
        let known_borders = |path: &String| was_nested(path) && !found.nested.contains(path);
        if found.folders.iter().any(|(path, _)| known_borders(path)) {
            return Ok(None);
        }
        let new = found.files.into_iter().filter(|(path, _)| self.artifact.find(path).is_none());
        for (path, stamp) in new {
            if is_rules(&path) {
                return Ok(None);
            }
            differences.unverified.push(to_unverified(path, stamp, None));
        }
        for (path, row) in found.folders {
            if self.artifact.folders().get(&path) != Some(&row) {
                differences.folders.push((path, Some(row)));
            }
        }
        differences.unverified.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        differences.unverified.dedup_by(|a, b| a.path == b.path);
        Ok(Some(differences))
    }

    fn whole(&self, tracked: &Tracked, is_distrusted: bool) -> std::io::Result<Differences> {
        let is_unstamped = is_distrusted || self.artifact.head().created_ns == 0;
        let found = walk(&Selection { is_unstamped, ..self.selection(tracked) })?;
        let mut differences = Differences::default();
        let known = self.artifact.files();
        let mut known = known.iter().peekable();
        for (path, stamp) in found.files {
            while let Some((gone, _)) = known.next_if(|(known, _)| *known < path.as_str()) {
                differences.gone.push((*gone).to_owned());
            }
            let row = known.next_if(|(known, _)| *known == path.as_str()).map(|(_, row)| row);
            let is_clean = row.is_some_and(|row| Some(row.stamp) == stamp && !row.is_doubtful);
            if is_distrusted || !is_clean {
                differences.unverified.push(to_unverified(path, stamp, row));
            }
        }
        differences.gone.extend(known.map(|(path, _)| (*path).to_owned()));
        let known = self.artifact.folders();
        if !known.is_empty() {
            let kept: BTreeSet<&String> = found.folders.iter().map(|(path, _)| path).collect();
            let gone = known.keys().filter(|path| !kept.contains(path));
            differences.folders.extend(gone.map(|path| (path.clone(), None)));
        }
        let is_new = |(path, row): &(String, FolderRow)| known.get(path) != Some(row);
        let new = found.folders.into_iter().filter(is_new);
        differences.folders.extend(new.map(|(path, row)| (path, Some(row))));
        Ok(differences)
    }

    fn conclude(
        &self,
        differences: Differences,
        mut head: Head,
        status: CacheStatus,
        texts: &mut FoundTexts,
    ) -> Look {
        let Differences { unverified, gone, folders } = differences;
        let options = self.options;
        let is_stored = options.keeping == CacheWrites::On;
        let analyses = &self.cache.analyses();
        let reading = Reading {
            root: self.root,
            analyses,
            options,
            depth: self.depth(&unverified),
            counts_words: is_stored && options.words == WordCounting::Now,
        };
        let ReadFiles { rows, n_postponed } = reading.read_all(&unverified, |mut found| {
            // A single chunk is stored together with the artifact. With several chunks, each one is
            // stored as soon as it is complete.
            let is_stored_now = is_stored && CHUNK < unverified.len();
            if is_stored_now && self.cache.store_analyses(&found.analyses).is_ok() {
                found.analyses.clear();
            }
            let store_words = || self.cache.store_words(self.project, &found.words, &|_| true);
            if is_stored_now && store_words().is_ok() {
                found.words.clear();
            }
            texts.append(found);
        });
        let n_read = rows.len() - n_postponed;
        let mut commit = Commit { folders, ..Commit::default() };
        for (file, row) in unverified.into_iter().zip(rows) {
            self.compare(&mut commit, file.path, row);
        }
        for path in gone {
            self.compare(&mut commit, path, None);
        }
        let old = *self.artifact.head();
        if old.created_ns == 0 {
            let epoch = u32::try_from(options.now_ns / 1_000_000_000).unwrap_or(u32::MAX);
            head.created_ns = options.now_ns.max(1);
            head.revision = MapRevision { epoch, number: 1 };
            let hashes = commit.files.iter().filter_map(|(_, row)| row.map(|row| row.hash));
            head.identity = first_identity(head.created_ns, hashes);
        } else if !commit.changes.is_empty() {
            head.revision.number += 1;
            head.identity = identity_after(old.identity, &commit.changes);
        }
        commit.head = head;
        let is_same = commit.files.is_empty() && commit.folders.is_empty() && head == old;
        let is_hit = is_same && options.trust == Verify::Stamps;
        let status = if is_hit { CacheStatus::Hit } else { status };
        let found = (!is_same || !texts.analyses.is_empty()).then_some(commit);
        Look { status, n_read, n_postponed, found }
    }

    /// To save time, the first analysis of a large project does not parse every file.
    fn depth(&self, files: &[UnverifiedFile]) -> Depth {
        if self.options.trust == Verify::Contents {
            return Depth::Full;
        }
        let code = files.iter().filter(|file| Language::of_path(&file.path).is_some());
        let size = |file: &UnverifiedFile| {
            let look = || file_stamp(self.root, &file.path).map_or(0, |stamp| stamp.size);
            file.size.unwrap_or_else(look)
        };
        let total = code.map(size).try_fold(0_u64, |total, size| {
            Some(total.saturating_add(size)).filter(|total| *total <= MAX_FULL_BYTES)
        });
        if total.is_some() { Depth::Full } else { Depth::Glance }
    }

    fn compare(&self, commit: &mut Commit, path: String, row: Option<FileRow>) {
        let old = self.artifact.find(&path);
        if old == row {
            return;
        }
        let (before, after) = (old.map(|row| row.hash), row.map(|row| row.hash));
        // The files in a new artifact are not recorded as changes.
        let is_first = self.artifact.head().created_ns == 0;
        if before != after && !is_first {
            commit.changes.push(ContentChange { path: path.clone(), before, after });
        }
        commit.files.push((path, row));
    }
}

impl Differences {
    /// Records that a directory and everything in it were removed. If a path inside the directory
    /// still exists, it now leads through a link.
    fn lose_folder(
        &mut self,
        folder: &str,
        files: &[(&str, FileRow)],
        folders: &[(&String, &FolderRow)],
    ) {
        if self.folders.iter().any(|(lost, _)| lost == folder) {
            return;
        }
        let start = format!("{folder}/");
        let first = files.partition_point(|(path, _)| *path < start.as_str());
        let below = files[first..].iter().take_while(|(path, _)| path.starts_with(&start));
        self.gone.extend(below.map(|(path, _)| (*path).to_owned()));
        self.gone.sort_unstable();
        self.gone.dedup();
        self.unverified.retain(|file| !file.path.starts_with(&start));
        let first = folders.partition_point(|(path, _)| path.as_str() < start.as_str());
        let below = folders[first..].iter().take_while(|(path, _)| path.starts_with(&start));
        let lost = below.map(|(path, _)| (*path).clone()).chain([folder.to_owned()]);
        self.folders.extend(lost.map(|path| (path, None)));
    }
}

fn to_unverified(path: String, stamp: Option<Stamp>, row: Option<&FileRow>) -> UnverifiedFile {
    UnverifiedFile { path, size: stamp.map(|stamp| stamp.size), before: row.copied() }
}

fn is_rules(path: &str) -> bool {
    path.rsplit('/').next() == Some(RULES_FILE)
}
