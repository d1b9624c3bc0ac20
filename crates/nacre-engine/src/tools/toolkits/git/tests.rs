//! Tests for the git tools, using harmless and hostile repositories.

#![expect(clippy::disallowed_methods, reason = "the tests play the person at the keyboard")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use nacre_base::git::GitProgram;
use serde_json::json;

use crate::tools::Permissions;
use crate::tools::pipeline::support_tests::{Bay, Plan, full_access, write};
use crate::tools::workspace::Workspace;

fn environment(home: &Path) -> BTreeMap<String, String> {
    let path = std::env::var("PATH").unwrap_or_default();
    [("PATH", path), ("HOME", home.to_string_lossy().into_owned())]
        .map(|(key, value)| (key.to_owned(), value))
        .into()
}

fn program(home: &Path) -> GitProgram {
    GitProgram::new(std::env::var_os("PATH").unwrap_or_default()).with_home(home)
}

fn git(root: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
    let output = Command::new("git")
        .args(identity)
        .args(arguments)
        .current_dir(root)
        .env_clear()
        .envs(environment(root))
        .env("GIT_AUTHOR_DATE", "2026-01-02T03:04:05Z")
        .env("GIT_COMMITTER_DATE", "2026-01-02T03:04:05Z")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn repository(permissions: Permissions) -> Bay {
    let root = tempfile::tempdir().unwrap();
    git(root.path(), &["init", "-q", "-b", "main"]);
    git(root.path(), &["config", "user.name", "Ada"]);
    git(root.path(), &["config", "user.email", "ada@example.org"]);
    write(root.path(), "a.txt", "one\n");
    write(root.path(), ".env", "TOKEN=1\n");
    git(root.path(), &["add", "a.txt", ".env"]);
    git(root.path(), &["commit", "-q", "-m", "first"]);
    bay(root, permissions)
}

fn bay(root: tempfile::TempDir, permissions: Permissions) -> Bay {
    let workspace = Arc::new(Workspace::open(root.path(), &[]).unwrap());
    let tools = super::tools(&workspace, program(root.path()));
    Bay::at(root, Plan { permissions, tools, ..Plan::default() })
}

#[tokio::test]
async fn state_and_history_are_shown() {
    let mut bay = repository(Permissions::read_only());
    assert_eq!(bay.tools(), "file_find file_read file_search git_diff git_log git_show git_status");
    bay.write("a.txt", "one\ntwo\n");
    bay.write("new.txt", "x");
    bay.write(".env", "TOKEN=2\n");
    let mut shown = String::new();
    for (tool, arguments) in [
        ("git_status", json!({})),
        ("git_diff", json!({ "context": 0 })),
        ("git_diff", json!({ "staged": true })),
        ("git_diff", json!({ "path": ".env" })),
        ("git_log", json!({ "path": "a.txt" })),
        ("git_show", json!({ "path": "a.txt" })),
        ("git_show", json!({ "revision": "nothing" })),
        ("git_show", json!({ "revision": "HEAD:.env" })),
        ("git_show", json!({ "revision": "--output=x" })),
    ] {
        let said = bay.call(tool, arguments).await;
        shown += &format!("> {tool}\n{}\n", said.trim_end());
    }
    assert!(!shown.contains("TOKEN"), "{shown}");
    insta::assert_snapshot!(shown, @"
    > git_status
    ## main
     M a.txt
    ?? new.txt
    > git_diff
    diff --git a/a.txt b/a.txt
    index 5626abf..814f4a4 100644
    --- a/a.txt
    +++ b/a.txt
    @@ -1,0 +2 @@ one
    +two
    > git_diff
    No difference.
    > git_diff
    Error (denied): You may not read `.env`: it is protected. Continue without it, or explain why you need it.
    > git_log
    f8c25f1 2026-01-02 Ada: first
    > git_show
    commit f8c25f1e644f212bd3831015d18dd9b306e1432b
    author Ada, 2026-01-02T03:04:05Z

    first


    diff --git a/a.txt b/a.txt
    new file mode 100644
    index 0000000..5626abf
    --- /dev/null
    +++ b/a.txt
    @@ -0,0 +1 @@
    +one
    > git_show
    Error (exec): git failed: fatal: bad revision 'nothing^{commit}'. Look at `git_status`.
    > git_show
    Error (arguments): `HEAD:.env` does not name a commit. Name one such as `HEAD~1` or a hash.
    > git_show
    Error (arguments): `--output=x` does not name a commit. Name one such as `HEAD~1` or a hash.
    ");
}

#[tokio::test]
async fn commits_hold_what_was_staged_and_no_secrets() {
    let mut bay = repository(full_access());
    bay.write("src/b.txt", "two\n");
    bay.write("src/.env.local", "TOKEN=3\n");
    let staged = bay.call("git_add", json!({ "paths": ["src"] })).await;
    assert_eq!(staged, "Staged src");
    let denied = bay.call("git_add", json!({ "paths": [".env"] })).await;
    assert!(denied.starts_with("Error (denied)"), "{denied}");
    let made = bay.call("git_commit", json!({ "message": "second\n\nbecause" })).await;
    assert!(made.starts_with("Committed ") && made.ends_with(" second"), "{made}");
    let shown = bay.call("git_show", json!({})).await;
    assert!(shown.contains("src/b.txt") && !shown.contains(".env.local"), "{shown}");
    let status = bay.call("git_status", json!({})).await;
    assert_eq!(status, "## main\nNothing changed.");
    let empty = bay.call("git_commit", json!({ "message": "third" })).await;
    assert!(empty.starts_with("Error (exec)"), "{empty}");
}

#[tokio::test]
async fn nothing_that_a_repository_configures_is_started() {
    let mut bay = repository(full_access());
    let root = bay.path().to_owned();
    let trap = root.join("trap.sh");
    fs::write(&trap, "#!/bin/sh\necho sprung >> \"$(dirname \"$0\")/sprung\"\ncat\n").unwrap();
    fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).unwrap();
    let trap = trap.to_str().unwrap();
    fs::write(root.join(".gitattributes"), "*.txt filter=evil diff=evil merge=evil\n").unwrap();
    for key in [
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "core.sshCommand",
        "diff.external",
        "diff.evil.textconv",
        "diff.evil.command",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "gpg.program",
        "pager.log",
        "pager.status",
    ] {
        git(&root, &["config", key, trap]);
    }
    git(&root, &["config", "commit.gpgSign", "true"]);
    git(&root, &["config", "log.showSignature", "true"]);
    for hook in
        ["pre-commit", "post-commit", "prepare-commit-msg", "commit-msg", "post-index-change"]
    {
        fs::copy(trap, root.join(".git/hooks").join(hook)).unwrap();
    }
    let _ = fs::remove_file(root.join("sprung"));
    bay.write("a.txt", "two\n");
    for (tool, arguments) in [
        ("git_status", json!({})),
        ("git_diff", json!({})),
        ("git_log", json!({})),
        ("git_show", json!({})),
        ("git_add", json!({ "paths": ["a.txt"] })),
        ("git_commit", json!({ "message": "trapped?" })),
    ] {
        let said = bay.call(tool, arguments).await;
        assert!(!said.starts_with("Error"), "{tool}: {said}");
    }
    assert!(!root.join("sprung").exists(), "{}", bay.read("sprung"));
}

#[tokio::test]
async fn a_repository_elsewhere_is_not_looked_into() {
    let outside = repository(Permissions::read_only());
    let inside = tempfile::tempdir().unwrap();
    symlink(outside.path().join(".git"), inside.path().join(".git")).unwrap();
    let mut linked = bay(inside, Permissions::read_only());
    let said = linked.call("git_log", json!({})).await;
    assert!(said.starts_with("Error (unsupported)"), "{said}");
    let root = tempfile::tempdir_in(outside.path()).unwrap();
    let mut below = bay(root, Permissions::read_only());
    let said = below.call("git_status", json!({})).await;
    assert!(said.starts_with("Error (unsupported)"), "{said}");
}

#[tokio::test]
async fn the_files_of_another_folder_are_not_those_of_the_repository() {
    let mut bay = repository(Permissions::read_only());
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("a.txt"), "stolen\n").unwrap();
    git(bay.path(), &["config", "core.worktree", outside.path().to_str().unwrap()]);
    let said = bay.call("git_diff", json!({})).await;
    assert!(!said.contains("stolen"), "{said}");
}
