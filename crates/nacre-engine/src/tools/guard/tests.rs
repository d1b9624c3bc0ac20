//! Tests for the paths that the guard refuses.

#![expect(clippy::disallowed_methods, reason = "the tests lay the traps")]

use std::fs;
use std::os::unix::fs::symlink;

use tempfile::TempDir;

use super::*;

fn world() -> TempDir {
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path();
    for folder in ["repo/src", "repo/.git", "repo/.nacre/memory", "out", "home/.ssh", "free"] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    fs::write(root.join("out/a.txt"), "mine").unwrap();
    fs::write(root.join("repo/src/a.rs"), "x").unwrap();
    symlink(root.join("out"), root.join("repo/link")).unwrap();
    symlink("src", root.join("repo/inner")).unwrap();
    symlink(".nacre", root.join("repo/own")).unwrap();
    symlink("nowhere", root.join("repo/loose")).unwrap();
    fs::hard_link(root.join("out/a.txt"), root.join("repo/hard")).unwrap();
    temp
}

fn guard(temp: &TempDir) -> Guard {
    let root = temp.path().canonicalize().unwrap();
    Guard::new(GuardRules {
        root: root.join("repo"),
        folder: root.join("repo/src"),
        home: Some(root.join("home")),
        secrets: vec![root.join("home/.ssh")],
        folders: vec![root.join("free")],
        denied: Vec::new(),
    })
    .unwrap()
}

#[test]
fn writes_stay_inside_and_out_of_what_is_protected() {
    let temp = world();
    let guard = guard(&temp);
    let root = temp.path().canonicalize().unwrap();
    let absolute = |path: &str| root.join(path).display().to_string();
    for path in ["a.rs", "new/deep/b.rs", "../README.md", "../inner/c.rs", "./a.rs", ".env.example"]
    {
        assert_eq!(guard.refuse_path(path, ToolAccess::Write), None, "{path}");
    }
    assert_eq!(guard.refuse_path(&absolute("repo/x.md"), ToolAccess::Write), None);
    assert_eq!(guard.refuse_path(&absolute("free/x.md"), ToolAccess::Write), None);
    for path in [
        "",
        "..",
        "../..",
        "../../out/a.txt",
        "../link/x",
        "../link/../x",
        "../hard",
        "../loose",
        "../loose/x",
        "new/../../../x",
        "../own/memory/x.md",
        "../.nacre/memory/x.md",
        "../.GIT/hooks/post-commit",
        ".env",
        "../certs/server.pem",
        "~/.bashrc",
        "~root/x",
        "/etc/passwd",
        "/proc/self/cwd/x",
        "/dev/null",
        "a\0b",
        "a\u{202e}b",
        "%2e%2e/%2e%2e/x",
        "．．/x",
        "C:\\x",
        "\\\\host\\share",
        "file:///etc/passwd",
    ] {
        assert!(guard.refuse_path(path, ToolAccess::Write).is_some(), "{path:?}");
    }
    assert!(guard.refuse_path(&absolute("out/x"), ToolAccess::Write).is_some());
}

#[test]
fn reads_stay_out_of_secrets() {
    let temp = world();
    let guard = guard(&temp);
    for path in ["a.rs", "../.git/HEAD", "/usr/include/stdio.h", "../.nacre/memory/x.md", "~/notes"]
    {
        assert_eq!(guard.refuse_path(path, ToolAccess::Read), None, "{path}");
    }
    for path in [
        "~/.ssh/id_rsa",
        "../.env",
        "~/.netrc",
        "../app/.env.local",
        "~/.gemini/oauth_creds.json",
        "~/.claude.json",
        "~/.cache/huggingface/token",
        "/home/somebody/.m2/settings.xml",
    ] {
        assert!(guard.refuse_path(path, ToolAccess::Read).is_some(), "{path}");
    }
}

#[test]
fn a_command_is_judged_by_its_words() {
    let temp = world();
    let guard = guard(&temp);
    for command in [
        "cargo test",
        "grep -r 'x > /etc/passwd' .",
        "make 2>&1 | tail -5 > /dev/null",
        "cat ../.nacre/memory/x.md",
        "cp /usr/share/x ./x",
        "sed -i 's/a/b/' a.rs",
        "git commit -m 'rm -rf /'",
        "echo $X > \"$OUT\"",
    ] {
        assert_eq!(guard.refuse_command(command), None, "{command}");
    }
    for command in [
        "echo x > ../.nacre/journal/lock",
        "rm -rf ../.git",
        "echo x>>../../out/a.txt",
        "cat ~/.ssh/id_rsa",
        "cat $HOME/.ssh/id_rsa",
        "cat \"${HOME}/.claude.json\"",
        "cd .. && mv src /tmp/elsewhere",
        "X=1 sudo tee /etc/hosts",
        "cp a.rs ../link/a.rs",
        "sed -i 's/a/b/' /etc/hosts",
        "dd if=/dev/zero of=/dev/sda",
    ] {
        assert!(guard.refuse_command(command).is_some(), "{command}");
    }
}

#[test]
fn a_refusal_is_one_short_line() {
    let temp = world();
    let refused =
        guard(&temp).refuse_path(&format!("/x\u{1b}[2J{}", "y".repeat(9000)), ToolAccess::Write);
    let why = refused.unwrap();
    assert!(why.len() < 400 && !why.contains(['\n', '\u{1b}']), "{why}");
}
