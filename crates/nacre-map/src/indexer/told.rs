//! Looks only where something happened, for who was told of everything that did.
//!
//! A path that was told is compared, and the folder that it lies in, by whose stamp it is noticed that a name came or went.
//! What may change more than that, as a folder or a file with rules does, is left to a whole look. Whoever asks here vouches
//! for it that nothing else happened.

use std::collections::BTreeSet;
use std::path::Path;

use super::bag_keys::keep_bags;
use super::look::{folder_stamp, has_other_names, open_root};
use super::options::{CacheWrites, RefreshOptions, WordCounting};
use super::read::{Keep, KnownTexts};
use super::refresh::{CacheStatus, Current, Look, Looker, git_now, is_old, stats};
use super::totals::Totals;
use crate::artifact::{Cache, FileRow, FolderRow, Kept, NewPack};

/// Where something happened in a project, or may have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    paths: BTreeSet<String>,
    /// The folders that the paths lie in.
    folders: BTreeSet<String>,
}

impl Told {
    /// Adds a path, seen from the root.
    pub fn add(&mut self, path: &Path) {
        if let Some(folder) = path.parent().map_or(Some(""), Path::to_str) {
            self.folders.insert(folder.to_owned());
        }
        // What has no name of letters is counted by its folder.
        self.paths.extend(path.to_str().map(str::to_owned));
    }

    /// What changed so shortly before it was last looked at that another change may have left no trace.
    pub fn doubtful(current: &Current) -> Self {
        let mut told = Self::default();
        current.artifact.each(|path, row| {
            if row.marks.is_doubtful {
                told.paths.insert(path.to_owned());
            }
        });
        let folders = current.artifact.folders().iter().filter(|(_, row)| row.is_doubtful);
        told.folders.extend(folders.map(|(path, _)| path.clone()));
        told
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn len(&self) -> usize {
        self.paths.len() + self.folders.len()
    }
}

/// Whether only a whole look will do, although nobody told of anything: the rules may be others, it is time to read everything again,
/// the root is another folder, or what was last found is not kept.
pub fn is_due(current: &Current, options: &RefreshOptions) -> bool {
    let head = current.artifact.head();
    let root = current.artifact.folders().get("");
    let root_now = || folder_stamp(open_root(&current.project.root).ok()?, "");
    let is_root = |row: &FolderRow| root_now().is_some_and(|now| now.inode == row.stamp.inode);
    !current.is_kept
        || is_old(head, options)
        || git_now(&current.project, options) != Some(head.git)
        || !root.is_some_and(is_root)
}

/// Brings a project up to date by a look at what was told; `false` when only a whole look tells. Then `current` is of no use
/// before that.
pub fn refresh_told(
    cache: &Cache,
    current: &mut Current,
    told: &Told,
    options: &RefreshOptions,
) -> bool {
    let Some(look) = look(cache, current, told, options) else { return false };
    let before = current.artifact.head().revision;
    if let Some((commit, new)) = look.found {
        let kept = cache.keep(&current.project, &mut current.artifact, &commit, &new);
        if !matches!(kept, Ok(Kept::Yes)) {
            return false;
        }
    }
    if !look.words.is_empty() {
        // Best effort: what is not kept is counted again.
        let _ = keep_bags(cache, &current.project, &current.artifact, &look.words);
    }
    if 0 < look.n_read {
        current.analyses = cache.analyses();
    }
    let totals = Totals::of_all(&current.artifact);
    current.stats = stats(&current.artifact, totals, look.n_read, look.n_postponed);
    current.before = Some(before);
    current.status = look.status;
    true
}

fn look(cache: &Cache, current: &Current, told: &Told, options: &RefreshOptions) -> Option<Look> {
    let artifact = &current.artifact;
    let is_folder = |path: &String| artifact.folders().contains_key(path);
    if options.keeping == CacheWrites::Off || told.paths.iter().any(is_folder) {
        return None;
    }
    let root = open_root(&current.project.root).ok()?;
    // What one name of a file was told of happened to its other names, too.
    if told.paths.iter().any(|path| has_other_names(&root, path)) {
        return None;
    }
    let looker = Looker { project: &current.project, artifact, options, root: &root };
    let known = |path: &String| artifact.find(path);
    let files: Vec<(&str, FileRow)> =
        told.paths.iter().filter_map(|path| Some((path.as_str(), known(path)?))).collect();
    let folders: Vec<(&String, &FolderRow)> =
        told.folders.iter().filter_map(|path| artifact.folders().get_key_value(path)).collect();
    let differences = looker.compared(&files, &folders, None).ok()??;
    let keep = |held: NewPack| cache.keep_held(held);
    // What is told of is little: it is held until all of it is read.
    let keep_words: Option<&Keep<'_>> = match options.words {
        WordCounting::Now => Some(&Some),
        WordCounting::Later => None,
    };
    let known = KnownTexts { analyses: &current.analyses, keep: &keep, keep_words };
    Some(looker.conclude(differences, *artifact.head(), CacheStatus::Refreshed, &known))
}

impl Current {
    /// Notes that nothing changed since the last look.
    pub fn stays(&mut self) {
        self.before = Some(self.revision());
        self.status = CacheStatus::Hit;
        self.stats.rehashed_entries = 0;
        self.stats.reused_entries = self.stats.file_count;
    }
}
