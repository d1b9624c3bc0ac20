//! Writes the files of an old commit to a temporary directory.
//!
//! `git worktree` would write to the user's `.git`, leave files behind if the process is killed,
//! and run checkout filters. Reading objects does not modify the repository. The copy has no
//! `.git`, so it shows no newer history.

use std::collections::HashSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use nacre_base::fs::RelPath;
use nacre_base::git::{Git, GitFault, next_object};
use nacre_map::indexer::MAX_READ_BYTES;

use super::Unmeasured;

const TREE: &str = "tree";

/// Limits the size of the file list. A small commit can list any number of files by repeating one
/// tree.
const MAX_LISTING_BYTES: u64 = 32 << 20;
const MAX_FILES: usize = 100_000;
const MAX_BYTES: u64 = 1 << 30;

const BATCH_OBJECTS: usize = 2_000;
const BATCH_BYTES: u64 = 32 << 20;

/// Upper bound for the length of the header that git prints before each object.
const HEADER_BYTES: u64 = 128;

/// The copy is rejected if more than one in this many files is missing, as in a partial clone.
const MISSING_PART: usize = 10;

#[derive(Debug)]
pub(super) struct OldState {
    _folder: tempfile::TempDir,
    path: PathBuf,
    files: HashSet<String>,
}

struct TreeFile<'t> {
    object: &'t str,
    size: u64,
    path: RelPath,
}

impl OldState {
    /// Writes the regular files of a commit. Symbolic links, submodules and invalid paths are
    /// skipped.
    pub(super) fn write(git: &Git, commit: &str) -> Result<Self, Unmeasured> {
        let args = ["ls-tree", "-r", "-z", "-l", "--full-tree", commit];
        let listing = match git.ask_within(&args, MAX_LISTING_BYTES) {
            Err(GitFault::TooLong { .. }) => return Err(too_large()),
            answer => answer?,
        };
        let files = tree_files(&listing);
        let n_bytes: u64 = files.iter().map(|file| file.size).sum();
        if MAX_FILES < files.len() || MAX_BYTES < n_bytes {
            return Err(too_large());
        }
        let folder = tempfile::tempdir()?;
        let path = folder.path().canonicalize()?;
        let mut state = Self { _folder: folder, path, files: HashSet::with_capacity(files.len()) };
        for batch in batches(&files) {
            state.write_batch(git, batch)?;
        }
        let n_missing = files.len() - state.files.len();
        if files.len() / MISSING_PART < n_missing {
            let reason = format!("{n_missing} files of the old commit are not in this clone");
            return Err(Unmeasured::Reason(reason));
        }
        Ok(state)
    }

    /// Returns the temporary directory, which contains the copy and possibly derived files.
    pub(super) fn folder(&self) -> &Path {
        &self.path
    }

    pub(super) fn tree(&self) -> PathBuf {
        self.path.join(TREE)
    }

    pub(super) fn has(&self, path: &str) -> bool {
        self.files.contains(path)
    }

    fn write_batch(&mut self, git: &Git, batch: &[TreeFile<'_>]) -> Result<(), Unmeasured> {
        let lines: String = batch.iter().flat_map(|file| [file.object, "\n"]).collect();
        let limit = batch.iter().map(|file| file.size + HEADER_BYTES).sum();
        let answer = git.ask_with(&["cat-file", "--batch"], lines.into_bytes(), limit)?;
        let mut rest = answer.as_slice();
        for file in batch {
            let Some((bytes, after)) = next_object(rest) else { break };
            rest = after;
            let Some(bytes) = bytes else { continue };
            match write_new(&self.tree().join(file.path.as_str()), bytes) {
                Ok(()) => {
                    self.files.insert(file.path.to_string());
                }
                // A path that this file system treats as the same name has already been written.
                Err(error) if is_taken(&error) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

fn write_new(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::File::create_new(path)?.write_all(bytes)
}

fn is_taken(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(
        error.kind(),
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory | ErrorKind::IsADirectory
    )
}

fn too_large() -> Unmeasured {
    let most = MAX_BYTES >> 30;
    Unmeasured::Reason(format!("the old state has more than {MAX_FILES} files or {most} GB"))
}

fn tree_files(listing: &[u8]) -> Vec<TreeFile<'_>> {
    let lines = listing.split(|byte| *byte == 0);
    lines.filter_map(|line| tree_file(std::str::from_utf8(line).ok()?)).collect()
}

/// Parses a line of the form `MODE blob OBJECT SIZE`, a tab and the path.
fn tree_file(line: &str) -> Option<TreeFile<'_>> {
    let (about, path) = line.split_once('\t')?;
    let mut about = about.split_ascii_whitespace();
    let is_plain = about.next()?.starts_with("100") && about.next()? == "blob";
    // Git prints no size for a missing object and reports the object again when it is requested.
    let (object, size) = (about.next()?, about.next()?.parse::<u64>().unwrap_or(0));
    let path = RelPath::new(path).ok().filter(is_written)?;
    (is_plain && size <= MAX_READ_BYTES).then_some(TreeFile { object, size, path })
}

/// Returns whether to write the file. Files named `.git` are skipped because they would turn the
/// copy into a repository, and `.gitignore` files because git tracked all listed files regardless
/// of them.
fn is_written(path: &RelPath) -> bool {
    let is_of_git = |name: &str| name.eq_ignore_ascii_case(".git");
    !path.components().any(is_of_git) && path.name() != ".gitignore"
}

fn batches<'b, 't>(files: &'b [TreeFile<'t>]) -> Vec<&'b [TreeFile<'t>]> {
    let mut batches = Vec::new();
    let mut rest = files;
    while !rest.is_empty() {
        let mut n_bytes = 0;
        let fits = |file: &&TreeFile<'_>| {
            n_bytes += file.size;
            n_bytes <= BATCH_BYTES
        };
        // A single file may exceed the batch limit.
        let n_files = rest.iter().take(BATCH_OBJECTS).take_while(fits).count().max(1);
        let (batch, after) = rest.split_at(n_files);
        batches.push(batch);
        rest = after;
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_files_with_plain_names_are_written() {
        for (line, expected) in [
            ("100644 blob aa      3\tsrc/a.rs", true),
            ("100755 blob aa      3\trun", true),
            ("100644 blob aa      3\t.nacre/config.toml", true),
            ("120000 blob aa      3\tlink", false),
            ("160000 commit aa       -\tmodule", false),
            ("100644 blob aa      3\t../a.rs", false),
            ("100644 blob aa      3\ta/../../a.rs", false),
            ("100644 blob aa      3\t/etc/passwd", false),
            ("100644 blob aa      3\t.git/config", false),
            ("100644 blob aa      3\ta/.GIT/hooks/x", false),
            ("100644 blob aa      3\ta/.gitignore", false),
            ("100644 blob aa 99999999999\tlarge.bin", false),
            ("100644 blob aa      3\ta\u{202e}b.rs", false),
            ("", false),
        ] {
            assert_eq!(tree_file(line).is_some(), expected, "{line}");
        }
    }

    #[test]
    fn files_are_asked_for_in_batches_that_fit() {
        let file = |size: u64| TreeFile { object: "", size, path: RelPath::new("a").unwrap() };
        let sizes = [1, BATCH_BYTES * 2, BATCH_BYTES / 2, BATCH_BYTES / 2, 1];
        let files: Vec<TreeFile<'_>> = sizes.map(file).into();
        let lengths: Vec<usize> = batches(&files).iter().map(|batch| batch.len()).collect();
        assert_eq!(lengths, [1, 1, 2, 1]);
    }
}
