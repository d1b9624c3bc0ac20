//! A bounded walk over the directories where an agent keeps its traces.
//!
//! Links are never followed, except that a root itself may be one: a link inside could lead out of
//! what the person agreed to, or in circles.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use jiff::Timestamp;

use super::adapter::{Discovery, Problem, Source, Stamp};
use super::error::Error;
use super::facts::Agent;
use crate::base::on_all_cores;
use crate::platform::ext::MetadataExt as _;

/// Agents nest a handful of levels; anything deeper is not theirs.
const MAX_DEPTH: usize = 16;
/// Beyond this many entries a root is not a place for traces.
const MAX_ENTRIES: usize = 2_000_000;
/// Agents have a folder a project or a day; so many are worth a thread.
const FOLDERS_PER_THREAD: usize = 16;

/// Which files and directories a walk cares for.
pub struct Wanted<'a> {
    pub agent: Agent,
    /// Whether a file of this name is a trace.
    pub file: &'a (dyn Fn(&OsStr) -> bool + Sync),
    /// Whether traces can lie below a directory of this name.
    pub directory: &'a (dyn Fn(&OsStr) -> bool + Sync),
}

/// How many entries may still be looked at below a root, by all threads together.
struct EntriesLeft(AtomicUsize);

impl EntriesLeft {
    /// Takes one of them; tells whether there was one.
    fn take(&self) -> bool {
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1))
            .is_ok()
    }
}

/// Finds all wanted files below the roots; a root may also be one file.
pub fn walk(roots: &[PathBuf], wanted: &Wanted<'_>) -> Discovery {
    let mut discovery = Discovery::default();
    for root in roots {
        match fs::metadata(root) {
            Ok(metadata) if metadata.is_dir() => walk_root(root, wanted, &mut discovery),
            Ok(metadata) if metadata.is_file() => {
                discovery.sources.push(source(wanted.agent, root.clone(), &metadata));
            }
            Ok(_) => {
                let error = Error::NotAFile { path: root.clone() };
                discovery.problems.push(Problem { path: root.clone(), error });
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => note(&mut discovery, root, error),
        }
    }
    // By bytes: comparing paths part by part costs more than finding them.
    discovery.sources.sort_unstable_by(|a, b| a.path.as_os_str().cmp(b.path.as_os_str()));
    discovery.sources.dedup_by(|a, b| a.path == b.path);
    discovery
}

/// The outside of a file.
pub fn stamp(metadata: &Metadata) -> Stamp {
    Stamp {
        size: metadata.len(),
        modified: metadata.modified().ok().and_then(|time| Timestamp::try_from(time).ok()),
        inode: metadata.ino(),
    }
}

/// What of a file lies on the disk. A little more is allowed for, because a file system may keep small files and new ones
/// elsewhere, or pack them.
pub(super) fn size_on_disk(metadata: &Metadata) -> u64 {
    const UNTOLD: u64 = 8 * 1024 * 1024;

    metadata.len().min(metadata.blocks().saturating_mul(512).saturating_add(UNTOLD))
}

fn source(agent: Agent, path: PathBuf, metadata: &Metadata) -> Source {
    Source { agent, path, stamp: stamp(metadata) }
}

fn note(discovery: &mut Discovery, path: &Path, source: std::io::Error) {
    let error = Error::Walk { path: path.to_owned(), source };
    discovery.problems.push(Problem { path: path.to_owned(), error });
}

/// Walks the folders of a root on all cores.
fn walk_root(root: &Path, wanted: &Wanted<'_>, discovery: &mut Discovery) {
    let left = EntriesLeft(AtomicUsize::new(MAX_ENTRIES));
    let folders = look_into(root, &left, wanted, discovery);
    let found = on_all_cores(&folders, FOLDERS_PER_THREAD, |piece| {
        let mut discovery = Discovery::default();
        for folder in piece {
            walk_directory(folder, MAX_DEPTH - 1, &left, wanted, &mut discovery);
        }
        vec![discovery]
    });
    for Discovery { sources, problems, links_skipped } in found {
        discovery.sources.extend(sources);
        discovery.problems.extend(problems);
        discovery.links_skipped += links_skipped;
    }
}

fn walk_directory(
    directory: &Path,
    depth: usize,
    left: &EntriesLeft,
    wanted: &Wanted<'_>,
    discovery: &mut Discovery,
) {
    let folders = look_into(directory, left, wanted, discovery);
    for folder in folders.iter().filter(|_| 0 < depth) {
        walk_directory(folder, depth - 1, left, wanted, discovery);
    }
}

/// Takes the files of one directory, and returns the folders in it.
fn look_into(
    directory: &Path,
    left: &EntriesLeft,
    wanted: &Wanted<'_>,
    discovery: &mut Discovery,
) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) => {
            note(discovery, directory, error);
            return folders;
        }
    };
    for entry in entries {
        if !left.take() {
            let error = Error::TooManyEntries { path: directory.to_owned(), limit: MAX_ENTRIES };
            discovery.problems.push(Problem { path: directory.to_owned(), error });
            break;
        }
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                note(discovery, directory, error);
                continue;
            }
        };
        let Ok(file_type) = entry.file_type() else { continue };
        let name = entry.file_name();
        if file_type.is_symlink() {
            discovery.links_skipped += 1;
        } else if file_type.is_dir() && (wanted.directory)(&name) {
            folders.push(entry.path());
        } else if file_type.is_file() && (wanted.file)(&name) {
            // A file that vanished meanwhile is no longer there to be found.
            if let Ok(metadata) = entry.metadata() {
                discovery.sources.push(source(wanted.agent, entry.path(), &metadata));
            }
        }
    }
    folders
}

#[cfg(test)]
mod tests {
    use super::super::testing::write;
    use super::*;

    fn find(roots: &[PathBuf]) -> Discovery {
        let wanted = Wanted {
            agent: Agent::Generic,
            file: &|name| name.to_string_lossy().ends_with(".jsonl"),
            directory: &|name| name != OsStr::new("skipped"),
        };
        walk(roots, &wanted)
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a link is what is tested")]
    fn links_are_never_followed_below_a_root() {
        let folder = tempfile::tempdir().unwrap();
        let (outside, root) = (folder.path().join("outside"), folder.path().join("root"));
        write(&outside.join("secret.jsonl"), b"x");
        write(&root.join("a/b/own.jsonl"), b"xy");
        write(&root.join("skipped/own.jsonl"), b"x");
        std::os::unix::fs::symlink(&outside, root.join("a/out")).unwrap();
        std::os::unix::fs::symlink(outside.join("secret.jsonl"), root.join("s.jsonl")).unwrap();
        std::os::unix::fs::symlink(&root, root.join("a/circle")).unwrap();
        let found = find(&[root.clone(), root.clone(), folder.path().join("none")]);
        assert_eq!(found.sources.len(), 1);
        assert_eq!(
            (found.sources[0].path.clone(), found.sources[0].stamp.size),
            (root.join("a/b/own.jsonl"), 2)
        );
        assert!(found.sources[0].stamp.modified.is_some());
        assert_eq!((found.links_skipped, found.problems.len()), (6, 0));
        // A root may be a link: the person named it.
        std::os::unix::fs::symlink(&root, folder.path().join("link")).unwrap();
        assert_eq!(find(&[folder.path().join("link")]).sources.len(), 1);
    }

    #[test]
    fn a_root_may_be_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("any.name");
        write(&path, b"x");
        assert_eq!(find(std::slice::from_ref(&path)).sources[0].path, path);
        let found = find(&[PathBuf::from("/dev/null")]);
        assert!(found.sources.is_empty());
        assert!(matches!(found.problems[0].error, Error::NotAFile { .. }));
    }

    #[test]
    fn folders_without_end_are_left() {
        let folder = tempfile::tempdir().unwrap();
        let deep: PathBuf = (0..MAX_DEPTH + 4).map(|_| "d").collect();
        write(&folder.path().join(deep).join("x.jsonl"), b"x");
        assert!(find(&[folder.path().to_owned()]).sources.is_empty());
    }
}
