//! Old states of repositories that were made to hurt, and of those that lack something.
#![expect(
    clippy::disallowed_methods,
    reason = "the tests play the stranger who made the repository"
)]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use nacre_core::base::git::GitProgram;

use super::*;

/// What git says to an input.
fn git(folder: &Path, args: &[&str], input: &str) -> String {
    let mut child = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.templateDir="])
        .args(args)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{args:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Writes the state of a commit whose tree has these entries; `OBJECT` stands for a text.
fn write(entries: &[(&str, &str, &str)]) -> (tempfile::TempDir, Result<OldState, Unmeasured>) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let (repo, copies) = (root.join("repo"), root.join("copies"));
    fs::create_dir(&repo).unwrap();
    git(&repo, &["init", "-q"], "");
    let text = git(&repo, &["hash-object", "-w", "--stdin"], "/etc/passwd");
    let gone = "1".repeat(40);
    let line = |(about, object, name): &(&str, &str, &str)| {
        let object = if *object == "OBJECT" { &text } else { &gone };
        format!("{about} {object}\t{name}\n")
    };
    let tree: String = entries.iter().map(line).collect();
    let tree = git(&repo, &["mktree", "--missing"], &tree);
    let commit = git(&repo, &["commit-tree", "-m", "all", &tree], "");
    let program = GitProgram::new(std::env::var_os("PATH").unwrap_or_default());
    let program = program.with_patience(GIT_PATIENCE);
    let opened = program.open(GitFolder::of(&repo).unwrap()).unwrap();
    let state = OldState::write(&opened, &commit, &copies, &Cancel::new());
    (dir, state)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_copy_has_plain_files_only_and_goes_when_it_is_dropped() {
    let (dir, state) = write(&[
        ("100644 blob", "OBJECT", ".git"),
        ("100644 blob", "OBJECT", ".."),
        ("100644 blob", "OBJECT", ".gitignore"),
        ("100644 blob", "OBJECT", "a.rs"),
        ("120000 blob", "OBJECT", "link.rs"),
        ("160000 commit", "gone", "module"),
    ]);
    let state = state.unwrap();
    assert_eq!(names(&state.tree()), ["a.rs"]);
    assert_eq!((state.has("a.rs"), state.has("link.rs")), (true, false));
    assert!(GitFolder::of(&state.tree()).is_none(), "the copy has no history");
    drop(state);
    assert_eq!(names(&dir.path().join("copies")), [""; 0]);
}

#[test]
fn a_panic_leaves_no_copy_behind() {
    let (dir, state) = write(&[("100644 blob", "OBJECT", "a.rs")]);
    let state = state.unwrap();
    let work = std::panic::AssertUnwindSafe(move || {
        let _state = state;
        std::panic::resume_unwind(Box::new("in the middle"));
    });
    assert!(std::panic::catch_unwind(work).is_err());
    assert_eq!(names(&dir.path().join("copies")), [""; 0]);
}

#[test]
fn a_clone_without_its_objects_is_not_measured() {
    let (dir, state) = write(&[("100644 blob", "OBJECT", "a.rs"), ("100644 blob", "gone", "b.rs")]);
    assert!(matches!(state, Err(Unmeasured::Reason(_))), "{state:?}");
    assert_eq!(names(&dir.path().join("copies")), [""; 0]);
}

#[test]
fn a_cancelled_copy_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    git(&root, &["init", "-q", "repo"], "");
    let repo = root.join("repo");
    fs::write(repo.join("a.rs"), "fn a() {}\n").unwrap();
    git(&repo, &["add", "-A"], "");
    git(&repo, &["commit", "-q", "-m", "all"], "");
    let program = GitProgram::new(std::env::var_os("PATH").unwrap_or_default());
    let opened = program.with_patience(GIT_PATIENCE).open(GitFolder::of(&repo).unwrap()).unwrap();
    let cancel = Cancel::new();
    cancel.cancel();
    let state = OldState::write(&opened, "HEAD", &root.join("copies"), &cancel);
    assert!(matches!(state, Err(Unmeasured::Failed(_))), "{state:?}");
    assert_eq!(names(&root.join("copies")), [""; 0]);
}
