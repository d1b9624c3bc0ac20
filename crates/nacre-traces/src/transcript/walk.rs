//! A bounded walk over the directories that contain an agent's transcripts. A root itself may be a
//! link, but links below it are not followed, because they could lead outside the directories that
//! the user agreed to or form a cycle.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::transcript::toolkit::*;
use nacre_base::platform::ext::MetadataExt as _;

/// Agents use only a few levels of directories.
const MAX_DEPTH: usize = 16;
/// A root with more entries is not a transcript directory.
const MAX_ENTRIES: usize = 2_000_000;

type NameFilter<'a> = &'a dyn Fn(&str) -> bool;

struct Wanted<'a> {
    agent: Agent,
    file: NameFilter<'a>,
    directory: NameFilter<'a>,
    /// Returns a source if the whole directory is a single source.
    whole: &'a dyn Fn(&Path) -> Option<TraceSource>,
}

/// Finds all files below the roots that `file` accepts, in directories that `directory` accepts. A
/// root may also be a file.
pub(crate) fn walk(
    roots: &[PathBuf],
    agent: Agent,
    file: NameFilter<'_>,
    directory: NameFilter<'_>,
) -> Discovery {
    walk_with(roots, agent, file, directory, &|_| None)
}

/// Like [`walk`], for agents whose sources are whole directories, which `whole` recognizes.
pub(crate) fn walk_with(
    roots: &[PathBuf],
    agent: Agent,
    file: NameFilter<'_>,
    directory: NameFilter<'_>,
    whole: &dyn Fn(&Path) -> Option<TraceSource>,
) -> Discovery {
    let wanted = &Wanted { agent, file, directory, whole };
    let mut discovery = Discovery::default();
    for root in roots {
        let mut n_left = MAX_ENTRIES;
        match fs::metadata(root) {
            Ok(metadata) if metadata.is_dir() => {
                walk_directory(root, MAX_DEPTH, &mut n_left, wanted, &mut discovery);
            }
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
    // Comparing bytes is much faster than comparing path components.
    discovery.sources.sort_unstable_by(|a, b| a.path.as_os_str().cmp(b.path.as_os_str()));
    discovery.sources.dedup_by(|a, b| a.path == b.path);
    discovery
}

pub(crate) fn stamp(metadata: &Metadata) -> Stamp {
    Stamp {
        size: metadata.len(),
        modified: metadata.modified().ok().and_then(|time| Timestamp::try_from(time).ok()),
        inode: metadata.ino(),
    }
}

/// Returns a file's allocated size plus an allowance, but at most its length. The allowance is
/// needed because file systems may store small or new files inline or compressed.
pub(crate) fn size_on_disk(metadata: &Metadata) -> u64 {
    const UNTOLD: u64 = 8 * 1024 * 1024;

    metadata.len().min(metadata.blocks().saturating_mul(512).saturating_add(UNTOLD))
}

fn source(agent: Agent, path: PathBuf, metadata: &Metadata) -> TraceSource {
    TraceSource { agent, path, stamp: stamp(metadata) }
}

fn note(discovery: &mut Discovery, path: &Path, source: std::io::Error) {
    let error = Error::Walk { path: path.to_owned(), source };
    discovery.problems.push(Problem { path: path.to_owned(), error });
}

fn walk_directory(
    directory: &Path,
    depth: usize,
    n_left: &mut usize,
    wanted: &Wanted<'_>,
    discovery: &mut Discovery,
) {
    if let Some(source) = (wanted.whole)(directory) {
        return discovery.sources.push(source);
    }
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) => return note(discovery, directory, error),
    };
    for entry in entries {
        if *n_left == 0 {
            let error = Error::TooManyEntries { path: directory.to_owned(), limit: MAX_ENTRIES };
            discovery.problems.push(Problem { path: directory.to_owned(), error });
            break;
        }
        *n_left -= 1;
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                note(discovery, directory, error);
                continue;
            }
        };
        let Ok(file_type) = entry.file_type() else { continue };
        let name = entry.file_name();
        let name = name.to_string_lossy();
        // A link is neither a directory nor a file here, so it is not followed.
        if file_type.is_dir() && depth > 0 && (wanted.directory)(&name) {
            walk_directory(&entry.path(), depth - 1, n_left, wanted, discovery);
        } else if file_type.is_file()
            && (wanted.file)(&name)
            && let Ok(metadata) = entry.metadata()
        {
            discovery.sources.push(source(wanted.agent, entry.path(), &metadata));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::tests::write;

    fn find(roots: &[PathBuf]) -> Discovery {
        walk(roots, Agent::Generic, &|name| name.ends_with(".jsonl"), &|name| name != "skipped")
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test requires a link")]
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
        assert!(found.problems.is_empty());
        // The user specified the root, so it may be a link.
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
