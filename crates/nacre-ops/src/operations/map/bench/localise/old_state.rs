//! The files of an old commit, written into a folder of Nacre's own cache and removed when it is dropped.
//!
//! `git worktree` would write into the person's `.git`, which a killed process leaves behind, and run the repository's checkout
//! rules. Reading objects and writing their bytes touches nothing of the repository, and what a killed process leaves here is
//! removed by the next one. The copy has no `.git`: whatever looks at history sees none, and so nothing of what came later.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use nacre_core::base::git::{Git, GitFault, next_object};
use nacre_core::safefs::{FsError, RelPath, ScratchFolder};
use nacre_map::indexer::MAX_READ_BYTES;

use super::Unmeasured;
use crate::cancel::Cancel;

/// The folders of the copy and of its map, inside the scratch folder.
const TREE: &str = "tree";
const CACHE: &str = "map";

/// A commit may name any number of files by naming one folder many times over.
const MAX_LISTING_BYTES: u64 = 32 << 20;
const MAX_FILES: usize = 100_000;
const MAX_BYTES: u64 = 1 << 30;

/// So many objects, and bytes of them, are asked for at once.
const BATCH_OBJECTS: usize = 2_000;
const BATCH_BYTES: u64 = 32 << 20;

/// What git says about each object.
const HEADER_BYTES: u64 = 128;

/// A clone without this part of its objects says too little: one in ten.
const MISSING_PART: usize = 10;

/// The files of a commit, on the disk for a while.
#[derive(Debug)]
pub(super) struct OldState {
    folder: ScratchFolder,
    files: HashSet<String>,
}

/// A plain file of a commit.
struct TreeFile<'t> {
    object: &'t str,
    size: u64,
    path: RelPath,
}

impl OldState {
    /// Writes the plain files of a commit below `parent`. Links, submodules and names that are no plain paths are left out.
    pub(super) fn write(
        git: &Git,
        commit: &str,
        parent: &Path,
        cancel: &Cancel,
    ) -> Result<Self, Unmeasured> {
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
        let folder = ScratchFolder::create(parent)?;
        let mut state = Self { folder, files: HashSet::with_capacity(files.len()) };
        for batch in batches(&files) {
            cancel.check()?;
            state.write_batch(git, batch)?;
        }
        let n_missing = files.len() - state.files.len();
        if files.len() / MISSING_PART < n_missing {
            let reason = format!("{n_missing} files of the old commit are not in this clone");
            return Err(Unmeasured::Reason(reason));
        }
        Ok(state)
    }

    pub(super) fn tree(&self) -> PathBuf {
        self.folder.path().join(TREE)
    }

    /// Where the map of the copy is kept.
    pub(super) fn cache(&self) -> PathBuf {
        self.folder.path().join(CACHE)
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
            match self.folder.write(&RelPath::new(TREE)?.join(file.path.as_str())?, bytes) {
                Ok(()) => {
                    self.files.insert(file.path.to_string());
                }
                // Two names that are one on this disk: a file, or a file and a folder.
                Err(FsError::Io { source, .. }) if is_taken(&source) => {}
                Err(FsError::NotAFile { .. } | FsError::NotAFolder { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
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

/// What `git ls-tree -r -z -l` lists, as far as it is written.
fn tree_files(listing: &[u8]) -> Vec<TreeFile<'_>> {
    let lines = listing.split(|byte| *byte == 0);
    lines.filter_map(|line| tree_file(std::str::from_utf8(line).ok()?)).collect()
}

/// A line is `MODE blob OBJECT SIZE`, a tab and the path.
fn tree_file(line: &str) -> Option<TreeFile<'_>> {
    let (about, path) = line.split_once('\t')?;
    let mut about = about.split_ascii_whitespace();
    let is_plain = about.next()?.starts_with("100") && about.next()? == "blob";
    // An object that is not here has no size; git says so again when it is asked for it.
    let (object, size) = (about.next()?, about.next()?.parse::<u64>().unwrap_or(0));
    let path = RelPath::new(path).ok().filter(is_written)?;
    (is_plain && size <= MAX_READ_BYTES).then_some(TreeFile { object, size, path })
}

/// Nothing that would make the copy a repository. Ignore rules are left out, too: git tracked all of these files, whatever they say.
fn is_written(path: &RelPath) -> bool {
    let is_of_git = |name: &str| name.eq_ignore_ascii_case(".git");
    // One more for the folder that the copy lies in.
    path.components().count() < ScratchFolder::MAX_COMPONENTS
        && !path.components().any(is_of_git)
        && path.name() != ".gitignore"
}

/// Files in order, as many at once as git is asked for.
fn batches<'b, 't>(files: &'b [TreeFile<'t>]) -> Vec<&'b [TreeFile<'t>]> {
    let mut batches = Vec::new();
    let mut rest = files;
    while !rest.is_empty() {
        let mut n_bytes = 0;
        let fits = |file: &&TreeFile<'_>| {
            n_bytes += file.size;
            n_bytes <= BATCH_BYTES
        };
        // One file may be larger than a batch.
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
        let deep = vec!["d"; ScratchFolder::MAX_COMPONENTS].join("/");
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
            (&format!("100644 blob aa      3\t{deep}"), false),
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
