//! Brings an artifact up to what is on the disk now, and keeps what changed.
//!
//! Three ways, from cheap to dear: nothing changed, and nothing is written; some stamps did, and those files are read; what
//! decides which files belong did, and the whole tree is walked. All end in the same state as a build from nothing.

use nacre_core::platform::fd::OwnedFd;
use std::collections::BTreeSet;

use serde::Serialize;

use super::bag_keys::keep_bags;
use super::git::{self, Tracked};
use super::look::{file_stamp, open_root};
use super::options::{CacheWrites, RefreshOptions, Verify, WordCounting};
use super::read::{Doubt, KnownTexts, ReadFiles, Reading, read_all};
use super::rules::RULES_FILE;
use super::selection::{SelectedFiles, Selection};
use super::verify::{changed_files, changed_folders};
use super::walk::{relist, walk};
use crate::artifact::{
    Analyses, Artifact, Cache, Change, Commit, FileRow, FolderRow, Head, Kept, NewPack, Project,
    Revision, Skipped, Stamp, first_identity, identity_after,
};
use crate::languages::{Depth, Language};

/// After so long everything is read again before it is served, whatever the stamps say.
const MAX_AGE_NS: i64 = 24 * 60 * 60 * 1_000_000_000;

/// A rare race with other writers is run so often; then the answer is right and not kept.
const MAX_TRIES: usize = 4;

/// Where more folders changed than these, and a quarter of all, one walk is cheaper.
const MAX_RELISTED: usize = 256;

/// So much new code is looked at by its grammars at once, in about a second; more only line by line.
const MAX_FULL_BYTES: u64 = 8 << 20;

/// How an answer came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheStatus {
    /// Nothing had changed.
    Hit,
    /// There was no artifact that could be read.
    Miss,
    /// Something had changed, or everything was read because it was asked for.
    Refreshed,
    /// The artifact was old, and everything was read again.
    StaleRebuild,
}

impl CacheStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hit => "hit",
            Self::Miss => "miss",
            Self::Refreshed => "refreshed",
            Self::StaleRebuild => "stale_rebuild",
        }
    }
}

/// What a look at a project cost, and what it saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RefreshStats {
    pub file_count: usize,
    pub total_bytes: u64,
    pub reused_entries: usize,
    pub rehashed_entries: usize,
    /// Files that are too large, or that may not be read.
    pub unread_files: usize,
    /// Files that there was no time for; the next look reads them.
    pub postponed_files: usize,
    pub skipped: Skipped,
}

/// A project as it is now.
#[derive(Debug)]
pub struct Current {
    pub project: Project,
    pub artifact: Artifact,
    pub analyses: Analyses,
    pub status: CacheStatus,
    pub stats: RefreshStats,
    /// The revision before this look; `None` when there was none that could be read.
    pub before: Option<Revision>,
    /// Whether what changed could be kept; if not, the next look does the same work again.
    pub is_kept: bool,
}

/// A project that could not be looked at.
#[derive(Debug, thiserror::Error)]
#[error("Cannot read the folder `{root}`")]
pub struct RefreshError {
    root: String,
    #[source]
    source: std::io::Error,
}

impl RefreshError {
    /// Whether there was no time to list the folders.
    pub fn is_late(&self) -> bool {
        self.source.kind() == std::io::ErrorKind::TimedOut
    }
}

/// Brings the artifact of a project up to date.
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
        let mut analyses = cache.analyses();
        let keep = |held: NewPack| match options.keeping {
            CacheWrites::On => cache.keep_held(held),
            CacheWrites::Off => Some(held),
        };
        let keep_words = |held: NewPack| cache.keep_held_bags(project, held);
        let is_counted = options.keeping == CacheWrites::On && options.words == WordCounting::Now;
        let known = KnownTexts {
            analyses: &analyses,
            keep: &keep,
            keep_words: is_counted.then_some(&keep_words),
        };
        let look = Look::take(project, old.as_ref(), &known, options).map_err(failed)?;
        let before = old.as_ref().map(|old| old.head().revision);
        let mut artifact = old.unwrap_or_default();
        let is_same = look.found.is_none();
        let mut is_kept = true;
        if let Some((commit, new)) = look.found {
            let kept = match options.keeping {
                CacheWrites::On => cache.keep(project, &mut artifact, &commit, &new).ok(),
                CacheWrites::Off => None,
            };
            match kept {
                Some(Kept::Yes) => {}
                Some(Kept::Moved) if tries < MAX_TRIES => continue,
                // Whoever asks gets an answer, also from a disk that is full or not ours to write.
                Some(Kept::Moved) | None => {
                    is_kept = false;
                    artifact.apply(commit);
                }
            }
            analyses = cache.analyses();
            if !is_kept {
                analyses.hold(new);
            }
        } else if 0 < look.n_read {
            // Some may have been kept on the way.
            analyses = cache.analyses();
        }
        if is_kept && !look.words.is_empty() {
            // Best effort: what is not kept is counted again.
            let _ = keep_bags(cache, project, &artifact, &look.words);
        }
        // Where nothing changed, the files that were compared are those of the artifact.
        let totals = look.totals.filter(|_| is_same).unwrap_or_else(|| Totals::of_all(&artifact));
        let stats = stats(&artifact, totals, look.n_read, look.n_postponed);
        let project = project.clone();
        let status = look.status;
        return Ok(Current { project, artifact, analyses, status, stats, before, is_kept });
    }
}

/// What all files of a project amount to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    n_files: usize,
    n_bytes: u64,
    n_unread: usize,
}

impl Totals {
    pub(super) fn of_all(artifact: &Artifact) -> Self {
        let mut totals = Self::default();
        artifact.each(|_, row| totals.add(&row));
        totals
    }

    fn of(files: &[(&str, FileRow)]) -> Self {
        let mut totals = Self::default();
        files.iter().for_each(|(_, row)| totals.add(row));
        totals
    }

    fn add(&mut self, row: &FileRow) {
        self.n_files += 1;
        self.n_bytes += row.stamp.size;
        self.n_unread += usize::from(row.marks.is_unread);
    }
}

pub(super) fn stats(
    artifact: &Artifact,
    totals: Totals,
    n_read: usize,
    n_postponed: usize,
) -> RefreshStats {
    RefreshStats {
        file_count: totals.n_files,
        total_bytes: totals.n_bytes,
        reused_entries: totals.n_files.saturating_sub(n_read),
        rehashed_entries: n_read,
        unread_files: totals.n_unread,
        postponed_files: n_postponed,
        skipped: artifact.skipped(),
    }
}

/// What one look at the disk found.
pub(super) struct Look {
    pub(super) status: CacheStatus,
    pub(super) n_read: usize,
    /// Files that there was no time for.
    pub(super) n_postponed: usize,
    /// What there is to keep; `None` when nothing changed.
    pub(super) found: Option<(Commit, Vec<NewPack>)>,
    /// Words of new texts that are not kept yet.
    pub(super) words: Vec<NewPack>,
    /// What the files amount to that were compared, where those are all.
    totals: Option<Totals>,
}

/// Files to read, files that are gone, and new rows of folders.
#[derive(Default)]
pub(super) struct Differences {
    doubtful: Vec<Doubt>,
    gone: Vec<String>,
    folders: Vec<(String, Option<FolderRow>)>,
    /// What all files amounted to, where all were compared.
    totals: Option<Totals>,
}

impl Differences {
    /// Notes that a folder is gone, with everything in it: what is found there now is found through a link.
    fn lose(&mut self, folder: &str, files: &[(&str, FileRow)], folders: &[(&String, &FolderRow)]) {
        if self.folders.iter().any(|(lost, _)| lost == folder) {
            return;
        }
        let start = format!("{folder}/");
        let first = files.partition_point(|(path, _)| *path < start.as_str());
        let below = files[first..].iter().take_while(|(path, _)| path.starts_with(&start));
        self.gone.extend(below.map(|(path, _)| (*path).to_owned()));
        self.gone.sort_unstable();
        self.gone.dedup();
        self.doubtful.retain(|doubt| !doubt.path.starts_with(&start));
        let first = folders.partition_point(|(path, _)| path.as_str() < start.as_str());
        let below = folders[first..].iter().take_while(|(path, _)| path.starts_with(&start));
        let lost = below.map(|(path, _)| (*path).clone()).chain([folder.to_owned()]);
        self.folders.extend(lost.map(|path| (path, None)));
    }
}

impl Look {
    fn take(
        project: &Project,
        old: Option<&Artifact>,
        known: &KnownTexts<'_>,
        options: &RefreshOptions,
    ) -> std::io::Result<Self> {
        let root = open_root(&project.root)?;
        let none = Artifact::default();
        let artifact = old.unwrap_or(&none);
        let head = artifact.head();
        let is_old = is_old(head, options);
        let is_distrusted = options.trust == Verify::Contents || is_old;
        let (rules, git, tracked) = rules_now(project, head, options);
        let is_partial = old.is_some() && !is_distrusted && rules == head.rules;
        let looker = Looker { project, artifact, options, root: &root };
        let mut differences = None;
        if is_partial {
            differences = looker.partial(tracked.as_ref())?;
        }
        let differences = match differences {
            Some(differences) => differences,
            None => looker.whole(&tracked_or_read(tracked, project, options), is_distrusted)?,
        };
        let status = match old {
            None => CacheStatus::Miss,
            Some(_) if options.trust == Verify::Contents => CacheStatus::Refreshed,
            Some(_) if is_old => CacheStatus::StaleRebuild,
            Some(_) => CacheStatus::Refreshed,
        };
        let verified_ns =
            if is_distrusted || old.is_none() { options.now_ns } else { head.verified_ns };
        let head = Head { verified_ns, rules, git, ..*head };
        Ok(looker.conclude(differences, head, status, known))
    }
}

fn tracked_or_read(
    tracked: Option<Tracked>,
    project: &Project,
    options: &RefreshOptions,
) -> Tracked {
    tracked.unwrap_or_else(|| Tracked::read(&project.root, &options.git, &options.deadline))
}

/// Whether everything was last read so long ago that stamps are not believed any more.
pub(super) fn is_old(head: &Head, options: &RefreshOptions) -> bool {
    options.now_ns.saturating_sub(head.verified_ns) > MAX_AGE_NS
}

/// What [`Head::git`] would be now; `None` where only reading the index tells what is tracked.
pub(super) fn git_now(project: &Project, options: &RefreshOptions) -> Option<u64> {
    git::stamp(&project.root).map(|stamp| stamp ^ own_rules(options))
}

/// The rules that no repository has.
fn own_rules(options: &RefreshOptions) -> u64 {
    options.sensitive.identity() ^ options.excludes.identity()
}

/// What decides now which files belong; the index of git is read only when it is another one.
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
    let rules = tracked.identity() ^ own_rules(options);
    (rules, git.unwrap_or(u64::MAX), Some(tracked))
}

pub(super) struct Looker<'l> {
    pub(super) project: &'l Project,
    pub(super) artifact: &'l Artifact,
    pub(super) options: &'l RefreshOptions,
    pub(super) root: &'l OwnedFd,
}

impl Looker<'_> {
    fn selection<'s>(&'s self, tracked: &'s Tracked) -> Selection<'s> {
        Selection {
            root: &self.project.root,
            tracked,
            sensitive: &self.options.sensitive,
            excludes: &self.options.excludes,
            looked_ns: self.options.looked_ns,
            n_threads: self.options.n_threads,
            deadline: &self.options.deadline,
            is_unstamped: false,
        }
    }

    /// Compares all that is known with what is there; `None` when only a walk tells.
    fn partial(&self, tracked: Option<&Tracked>) -> std::io::Result<Option<Differences>> {
        let folders: Vec<(&String, &FolderRow)> = self.artifact.folders().iter().collect();
        let files = self.artifact.files();
        let found = self.compared(&files, &folders, tracked)?;
        let totals = Some(Totals::of(&files));
        Ok(found.map(|differences| Differences { totals, ..differences }))
    }

    /// Compares these files and folders with what is there, both in order; `None` when only a walk tells.
    pub(super) fn compared(
        &self,
        files: &[(&str, FileRow)],
        folders: &[(&String, &FolderRow)],
        tracked: Option<&Tracked>,
    ) -> std::io::Result<Option<Differences>> {
        let n_threads = self.options.n_threads;
        let mut differences = Differences::default();
        for (idx, stamp) in changed_files(self.root, files, n_threads) {
            let (path, row) = &files[idx];
            // Rules that may be others are believed no more than those that are.
            if is_rules(path) {
                return Ok(None);
            }
            match stamp {
                Some(stamp) => {
                    differences.doubtful.push(doubt((*path).to_owned(), Some(stamp), Some(row)));
                }
                None => differences.gone.push((*path).to_owned()),
            }
        }
        let changed = changed_folders(self.root, folders, n_threads);
        let is_elsewhere = |(idx, _): &(usize, Option<Stamp>)| !folders[*idx].1.is_listed;
        let is_much = MAX_RELISTED < changed.len() && folders.len() / 4 < changed.len();
        if is_much || changed.iter().any(is_elsewhere) {
            return Ok(None);
        }
        let (there, gone): (Vec<_>, Vec<_>) =
            changed.into_iter().partition(|(_, stamp)| stamp.is_some());
        // Which rules are read depends on all of them.
        let is_changed = !there.is_empty() || !gone.is_empty();
        if is_changed && self.artifact.skipped().unread_rules != 0 {
            return Ok(None);
        }
        let gone: Vec<&str> = gone.iter().map(|(idx, _)| folders[*idx].0.as_str()).collect();
        self.lose(&mut differences, &gone);
        if there.is_empty() {
            return Ok(Some(differences));
        }
        let again: Vec<String> = there.iter().map(|(idx, _)| folders[*idx].0.clone()).collect();
        let own;
        let tracked = match tracked {
            Some(tracked) => tracked,
            None => {
                let RefreshOptions { git, deadline, .. } = self.options;
                own = Tracked::read(&self.project.root, git, deadline);
                &own
            }
        };
        let known = |path: &str| self.artifact.folders().contains_key(path);
        let found = relist(&self.selection(tracked), &again, &known)?;
        Ok(self.with_found(differences, found))
    }

    /// Notes that folders are gone, with everything that is known to lie in them.
    fn lose(&self, differences: &mut Differences, gone: &[&str]) {
        if gone.is_empty() {
            return;
        }
        let files = self.artifact.files();
        let folders: Vec<(&String, &FolderRow)> = self.artifact.folders().iter().collect();
        for folder in gone {
            differences.lose(folder, &files, &folders);
        }
    }

    /// Adds what a new listing shows; `None` when it shows other rules or another repository.
    fn with_found(
        &self,
        mut differences: Differences,
        found: SelectedFiles,
    ) -> Option<Differences> {
        let was_nested = |path: &String| {
            self.artifact.folders().get(path).is_some_and(|row| row.skipped.nested == 1)
        };
        let is_undecided = found.has_hidden_rules || found.has_unread_rules;
        if is_undecided || !found.nested.iter().all(was_nested) {
            return None;
        }
        let known_borders = |path: &String| was_nested(path) && !found.nested.contains(path);
        if found.folders.iter().any(|(path, _)| known_borders(path)) {
            return None;
        }
        let new = found.files.into_iter().filter(|(path, _)| self.artifact.find(path).is_none());
        for (path, stamp) in new {
            if is_rules(&path) {
                return None;
            }
            differences.doubtful.push(doubt(path, stamp, None));
        }
        for (path, row) in found.folders {
            if self.artifact.folders().get(&path) != Some(&row) {
                differences.folders.push((path, Some(row)));
            }
        }
        differences.doubtful.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        differences.doubtful.dedup_by(|a, b| a.path == b.path);
        Some(differences)
    }

    /// Walks the whole tree and compares.
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
            let is_clean =
                row.is_some_and(|row| Some(row.stamp) == stamp && !row.marks.is_doubtful);
            if is_distrusted || !is_clean {
                differences.doubtful.push(doubt(path, stamp, row));
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

    /// Reads what is in doubt, and says what that changes.
    pub(super) fn conclude(
        &self,
        differences: Differences,
        mut head: Head,
        status: CacheStatus,
        known: &KnownTexts<'_>,
    ) -> Look {
        let Differences { doubtful, gone, folders, totals } = differences;
        let reading = Reading {
            root: self.root,
            analyses: known.analyses,
            keep: known.keep,
            keep_words: known.keep_words,
            depth: self.depth(&doubtful),
            looked_ns: self.options.looked_ns,
            n_threads: self.options.n_threads,
            deadline: &self.options.deadline,
            progress: &self.options.progress,
        };
        let ReadFiles { rows, packs: new, words, n_postponed } = read_all(&reading, &doubtful);
        let n_read = rows.len() - n_postponed;
        let mut commit = Commit { folders, ..Commit::default() };
        // All that was in doubt was read, and comes in that order.
        for (doubt, row) in doubtful.into_iter().zip(rows) {
            self.compare(&mut commit, doubt.path, row);
        }
        for path in gone {
            self.compare(&mut commit, path, None);
        }
        let old = *self.artifact.head();
        let is_first = old.created_ns == 0;
        if is_first {
            let epoch = u32::try_from(self.options.now_ns / 1_000_000_000).unwrap_or(u32::MAX);
            head.created_ns = self.options.now_ns.max(1);
            head.revision = Revision { epoch, number: 1 };
            let hashes = commit.files.iter().filter_map(|(_, row)| row.map(|row| row.hash));
            head.identity = first_identity(head.created_ns, hashes);
        } else if !commit.changes.is_empty() {
            head.revision.number += 1;
            head.identity = identity_after(old.identity, commit.changes.iter().map(Change::parts));
        }
        commit.head = head;
        let is_same = commit.files.is_empty() && commit.folders.is_empty() && head == old;
        let is_hit = is_same && self.options.trust == Verify::Stamps;
        let status = if is_hit { CacheStatus::Hit } else { status };
        let found = (!is_same || !new.is_empty()).then_some((commit, new));
        Look { status, n_read, n_postponed, found, words, totals }
    }

    /// How closely to look: a first answer about much code does not wait for every grammar.
    fn depth(&self, doubtful: &[Doubt]) -> Depth {
        match self.options.trust {
            Verify::Contents => Depth::Full,
            Verify::Stamps if self.is_little(doubtful) => Depth::Full,
            Verify::Stamps => Depth::Glance,
        }
    }

    /// Whether it takes no time worth mentioning to parse all of these.
    fn is_little(&self, doubtful: &[Doubt]) -> bool {
        let code = doubtful.iter().filter(|doubt| Language::of_path(&doubt.path).is_some());
        let size = |doubt: &Doubt| {
            let look = || file_stamp(self.root, &doubt.path).map_or(0, |stamp| stamp.size);
            doubt.size.unwrap_or_else(look)
        };
        // Whoever has seen enough looks no further.
        let total = code.map(size).try_fold(0_u64, |total, size| {
            let total = total.saturating_add(size);
            (total <= MAX_FULL_BYTES).then_some(total)
        });
        total.is_some()
    }

    fn compare(&self, commit: &mut Commit, path: String, row: Option<FileRow>) {
        let old = self.artifact.find(&path);
        if old == row {
            return;
        }
        let (before, after) = (old.map(|row| row.hash), row.map(|row| row.hash));
        // What is there when an artifact is first made is no change.
        let is_first = self.artifact.head().created_ns == 0;
        if before != after && !is_first {
            let lines = (old.map_or(0, |row| row.lines), row.map_or(0, |row| row.lines));
            commit.changes.push(Change { path: path.clone(), before, after, lines });
        }
        commit.files.push((path, row));
    }
}

fn doubt(path: String, stamp: Option<Stamp>, row: Option<&FileRow>) -> Doubt {
    Doubt { path, size: stamp.map(|stamp| stamp.size), before: row.copied() }
}

fn is_rules(path: &str) -> bool {
    path.rsplit('/').next() == Some(RULES_FILE)
}
