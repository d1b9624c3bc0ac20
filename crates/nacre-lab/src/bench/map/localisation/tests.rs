//! Tests `OldState` with hostile and incomplete repositories.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use nacre_base::git::GitProgram;

use super::*;

/// Runs git with the given input and returns its output.
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

/// Creates a commit whose tree has these entries, and writes its state. `OBJECT` is replaced by the
/// ID of a blob.
fn write(entries: &[(&str, &str, &str)]) -> (tempfile::TempDir, Result<OldState, Unmeasured>) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let repo = root.join("repo");
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
    let state = OldState::write(&opened, &commit);
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
    let (_dir, state) = write(&[
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
    let folder = state.folder().to_owned();
    drop(state);
    assert!(!folder.exists());
}

#[test]
fn a_clone_without_its_objects_is_not_measured() {
    let (_dir, state) =
        write(&[("100644 blob", "OBJECT", "a.rs"), ("100644 blob", "gone", "b.rs")]);
    assert!(matches!(state, Err(Unmeasured::Reason(_))), "{state:?}");
}
