//! Tests repositories of a few kilobytes whose index or commits contain far more paths than any
//! real project.

use std::os::unix::fs::PermissionsExt as _;

use super::super::{SinceError, delta_since_git};
use super::*;

/// The object ID of an empty file.
const EMPTY: &str = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";

const FILE: &str = "100644";
const FOLDER: &str = "40000";

impl TestTree {
    /// Adds paths to git's index that do not exist on disk.
    fn add_to_index(&self, paths: impl Iterator<Item = String>) {
        let mut args = vec!["update-index".to_owned(), "--add".to_owned()];
        for path in paths {
            args.extend(["--cacheinfo".to_owned(), format!("{FILE},{EMPTY},{path}")]);
        }
        self.git(&args.iter().map(String::as_str).collect::<Vec<_>>());
    }

    /// Writes a git tree object with sorted entries, and returns its ID.
    fn tree(&self, entries: impl Iterator<Item = (&'static str, String, String)>) -> String {
        let mut bytes = Vec::new();
        for (mode, name, object) in entries {
            bytes.extend(format!("{mode} {name}\0").bytes());
            let digits = (0..20).map(|at| &object[2 * at..2 * at + 2]);
            bytes.extend(digits.map(|digits| u8::from_str_radix(digits, 16).unwrap()));
        }
        let file = self.dir.path().join("tree");
        fs::write(&file, bytes).unwrap();
        let file = file.to_string_lossy().into_owned();
        self.git(&["hash-object", "-t", "tree", "-w", &file]).trim().to_owned()
    }

    fn commit_tree(&self, tree: &str) {
        let commit = self.git(&["commit-tree", "-m", "a bomb", tree]);
        self.git(&["update-ref", "HEAD", commit.trim()]);
    }

    /// Writes a git tree object with `n_files` empty files, and returns its ID.
    fn many_files(&self, n_files: usize) -> String {
        self.git(&["hash-object", "-w", "/dev/null"]);
        self.tree((0..n_files).map(|number| (FILE, format!("{number:06}.rs"), EMPTY.to_owned())))
    }
}

/// Creates a git program that records how it is started.
fn noting_git(folder: &Path) -> GitProgram {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let git =
        std::env::split_paths(&path).map(|folder| folder.join("git")).find(|git| git.is_file());
    let (git, notes) = (git.unwrap(), folder.join("notes"));
    let script = format!(
        "#!/bin/sh\necho \"$*\" >> '{}'\nexec '{}' \"$@\"\n",
        notes.display(),
        git.display()
    );
    fs::create_dir(folder.join("bin")).unwrap();
    fs::write(folder.join("bin/git"), script).unwrap();
    fs::set_permissions(folder.join("bin/git"), fs::Permissions::from_mode(0o755)).unwrap();
    let folders = [folder.join("bin")].into_iter().chain(std::env::split_paths(&path));
    GitProgram::new(std::env::join_paths(folders).unwrap()).with_patience(Duration::from_secs(60))
}

#[test]
fn tracked_files_that_are_not_on_the_disk_cost_one_row_for_each_missing_folder() {
    let repo = TestTree::with_git();
    repo.write("a.rs", "fn a() {}\n");
    let folders = "a/".repeat(100);
    repo.add_to_index((0..200).map(|number| format!("{number:03}/{folders}x.rs")));
    let current = repo.look();
    assert_eq!((current.stats.file_count, current.artifact.folders().len()), (1, 201));
    assert_eq!(current.stats.skipped.too_deep, 0);
    // New files are detected even if a rule ignores them.
    repo.write(".gitignore", "*\n");
    repo.look();
    repo.write(&format!("007/{folders}x.rs"), "");
    assert_eq!(repo.paths(), [format!("007/{folders}x.rs")]);
    assert_eq!(seen(&repo.look()), repo.cold());
}

#[test]
fn tracked_files_that_lie_too_deep_are_counted() {
    let repo = TestTree::with_git();
    repo.write("a.rs", "fn a() {}\n");
    let folders = "a/".repeat(200);
    repo.add_to_index((0..50).map(|number| format!("{number:03}/{folders}x.rs")));
    let current = repo.look();
    assert_eq!((current.artifact.folders().len(), current.stats.skipped.too_deep), (1, 50));
    repo.write("b.rs", "fn b() {}\n");
    assert_eq!(repo.settle().stats.skipped.too_deep, 50, "a new listing of the root keeps it");
}

#[test]
fn a_commit_of_one_folder_many_times_over_is_refused() {
    let repo = TestTree::with_git();
    repo.write("a.rs", "fn a() {}\n");
    let mut tree = repo.many_files(1_000);
    for _ in 0..14 {
        tree = repo.tree([(FOLDER, "d".repeat(250), tree)].into_iter());
    }
    let tree = repo.tree((0..30).map(|number| (FOLDER, format!("{number:02}"), tree.clone())));
    repo.commit_tree(&tree);
    let options =
        RefreshOptions { git: program().with_patience(Duration::from_secs(60)), ..options() };
    let told = delta_since_git(&repo.look(), &options, "HEAD");
    assert_eq!(told.map(|delta| delta.files.len()), Err(SinceError::TooLarge));
}

#[test]
fn a_commit_is_compared_until_the_deadline() {
    let repo = TestTree::with_git();
    repo.write("a.rs", "fn a() {}\n");
    let tree = repo.many_files(1_500);
    repo.commit_tree(&tree);
    let current = repo.look();
    let over = RefreshOptions { deadline: Deadline::new(|| true), ..options() };
    assert_eq!(delta_since_git(&current, &over, "HEAD"), Err(SinceError::TimedOut));
    assert_eq!(
        delta_since_git(&current, &options(), "HEAD")
            .unwrap()
            .count(nacre_types::CodeChange::Removed),
        1_500
    );
}

#[test]
fn git_is_asked_once_for_a_content_that_many_files_had() {
    let repo = TestTree::with_git();
    repo.write("a.rs", "fn a() {}\n");
    let tree = repo.many_files(1_000);
    repo.commit_tree(&tree);
    let current = repo.look();
    let options = RefreshOptions { git: noting_git(repo.dir.path()), ..options() };
    assert_eq!(
        delta_since_git(&current, &options, "HEAD")
            .unwrap()
            .count(nacre_types::CodeChange::Removed),
        1_000
    );
    let notes = fs::read_to_string(repo.dir.path().join("notes")).unwrap();
    assert_eq!(notes.lines().filter(|line| line.contains("cat-file")).count(), 1, "{notes}");
}
