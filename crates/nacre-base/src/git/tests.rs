//! Tests git on malicious repositories: nothing from the repository is executed, and no call hangs.
#![expect(clippy::disallowed_methods, reason = "the tests create the malicious repositories")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::*;

fn program() -> GitProgram {
    GitProgram::new(std::env::var_os("PATH").unwrap_or_default())
        .with_patience(Duration::from_secs(60))
}

fn git(folder: &Path, args: &[&str]) {
    let output = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "protocol.file.allow=always"])
        .args(["-c", "init.templateDir="])
        .args(args)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_git_of_the_repository_is_never_started() {
    use std::os::unix::fs::PermissionsExt as _;
    let evil = Evil::new();
    let bin = evil.root().join("node_modules/.bin");
    fs::create_dir_all(&bin).unwrap();
    fs::write(bin.join("git"), format!("#!/bin/sh\ntouch {}\n", evil.mark().display())).unwrap();
    fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    let usual = std::env::var_os("PATH").unwrap_or_default();
    let path = std::iter::once(bin.clone()).chain(std::env::split_paths(&usual));
    let path = std::env::join_paths(path).unwrap();
    let git = GitProgram::new(path).with_patience(Duration::from_secs(60));
    let git = git.open(GitFolder::of(&evil.root()).unwrap()).unwrap();
    git.ask(&["log", "-1"]).unwrap();
    assert!(!evil.mark().exists(), "the repository's own git was started");
    let alone = GitProgram::new(bin).open(GitFolder::of(&evil.root()).unwrap());
    assert!(matches!(alone, Err(GitFault::NotInstalled)));
}

/// A repository with one commit, and a marker file that exists once a program has been started.
struct Evil {
    dir: tempfile::TempDir,
}

impl Evil {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let evil = Self { dir };
        fs::create_dir(evil.root()).unwrap();
        git(&evil.root(), &["init", "-q", "-b", "main"]);
        fs::write(evil.root().join("a.txt"), "one\n").unwrap();
        git(&evil.root(), &["add", "."]);
        git(&evil.root(), &["commit", "-q", "-m", "first"]);
        evil
    }

    fn root(&self) -> PathBuf {
        fs::canonicalize(self.dir.path()).unwrap().join("work")
    }

    fn mark(&self) -> PathBuf {
        self.dir.path().join("started")
    }

    fn set(&self, key: &str, value: &str) {
        git(&self.root(), &["config", key, value]);
    }

    fn open(&self) -> Result<Git, GitFault> {
        program().open(GitFolder::of(&self.root()).unwrap())
    }

    fn is_untouched(&self) -> bool {
        !self.mark().exists()
    }
}

fn text(answer: Result<Vec<u8>, GitFault>) -> String {
    String::from_utf8(answer.unwrap()).unwrap()
}

#[test]
fn no_setting_of_a_repository_starts_a_program() {
    let evil = Evil::new();
    let run = format!("touch {}; cat", evil.mark().display());
    let keys = [
        "gpg.program",
        "gpg.ssh.program",
        "gpg.openpgp.program",
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "core.sshCommand",
        "core.askPass",
        "core.alternateRefsCommand",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "filter.a=b.clean",
        "diff.external",
        "diff.evil.command",
        "diff.evil.textconv",
        "merge.evil.driver",
        "pager.log",
        "pager.diff",
        "alias.log",
        "alias.status",
        "credential.helper",
        "uploadpack.packObjectsHook",
        "hook.evil.command",
        "sequence.editor",
        "interactive.diffFilter",
        "trailer.evil.command",
        "tar.evil.command",
    ];
    for key in keys {
        evil.set(key, &run);
    }
    evil.set("log.showSignature", "true");
    evil.set("hook.evil.event", "reference-transaction");
    fs::write(evil.root().join(".gitattributes"), "*.txt filter=evil diff=evil\nb.md filter=a=b\n")
        .unwrap();
    fs::write(evil.root().join("a.txt"), "two\n").unwrap();
    fs::write(evil.root().join("b.md"), "two\n").unwrap();
    fs::create_dir_all(evil.root().join(".git/hooks")).unwrap();
    let git = evil.open().unwrap();
    for args in [
        &["log", "-p", "--stat"][..],
        &["show", "HEAD"],
        &["diff", "HEAD"],
        &["diff", "--raw", "HEAD"],
        &["status", "--short"],
        &["grep", "-q", "one", "HEAD"],
        &["add", "--all"],
        &["ls-files", "--stage"],
    ] {
        let answer = git.ask(args);
        assert!(answer.is_ok(), "{args:?}: {answer:?}");
        assert!(evil.is_untouched(), "{args:?} started a program");
    }
}

#[test]
fn a_signed_commit_is_shown_without_its_program() {
    let evil = Evil::new();
    evil.set("log.showSignature", "true");
    evil.set("gpg.program", &format!("touch {}; false", evil.mark().display()));
    let head = Command::new("git")
        .args(["cat-file", "commit", "HEAD"])
        .current_dir(evil.root())
        .output()
        .unwrap();
    let commit = String::from_utf8(head.stdout).unwrap();
    let (head, message) = commit.split_once("\n\n").unwrap();
    let signed = format!(
        "{head}\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n{message}"
    );
    let file = evil.dir.path().join("commit");
    fs::write(&file, signed).unwrap();
    let made = Command::new("git")
        .args(["hash-object", "-t", "commit", "-w"])
        .arg(&file)
        .current_dir(evil.root())
        .output()
        .unwrap();
    let name = String::from_utf8(made.stdout).unwrap();
    git(&evil.root(), &["update-ref", "HEAD", name.trim()]);
    assert!(text(evil.open().unwrap().ask(&["log", "--format=%s"])).contains("first"));
    assert!(evil.is_untouched());
}

#[test]
fn an_object_that_is_missing_is_not_fetched() {
    let evil = Evil::new();
    evil.set("remote.origin.url", &format!("ext::sh -c touch% {}", evil.mark().display()));
    evil.set("remote.origin.promisor", "true");
    evil.set("extensions.partialClone", "origin");
    evil.set("core.repositoryFormatVersion", "1");
    evil.set("protocol.ext.allow", "always");
    evil.set("protocol.allow", "always");
    let blobs = fs::read_dir(evil.root().join(".git/objects")).unwrap();
    let folders = blobs.flatten().filter(|entry| entry.file_name().len() == 2);
    for folder in folders {
        fs::remove_dir_all(folder.path()).unwrap();
    }
    let git = evil.open().unwrap();
    for args in [&["log"][..], &["show", "HEAD"], &["cat-file", "--batch-all-objects", "--batch"]] {
        let _ = git.ask(args);
    }
    assert!(matches!(git.ask(&["show", "HEAD"]), Err(GitFault::Failed { .. })));
    assert!(evil.is_untouched());
}

#[test]
fn settings_that_another_file_brings_start_nothing_either() {
    let evil = Evil::new();
    let more = format!("[filter \"evil\"]\n\tclean = touch {}; cat\n", evil.mark().display());
    fs::write(evil.root().join("more"), more).unwrap();
    evil.set("include.path", "../more");
    fs::write(evil.root().join(".gitattributes"), "* filter=evil\n").unwrap();
    fs::write(evil.root().join("a.txt"), "two\n").unwrap();
    assert!(text(evil.open().unwrap().ask(&["diff", "--name-only"])).contains("a.txt"));
    assert!(evil.is_untouched());
}

#[test]
fn a_pipe_a_link_or_a_device_in_git_s_folder_is_named_and_not_opened() {
    for name in ["HEAD", "config", "index", "packed-refs", "info/exclude"] {
        let evil = Evil::new();
        let path = evil.root().join(".git").join(name);
        let _ = fs::remove_file(&path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        let folder = GitFolder::of(&evil.root()).unwrap();
        assert_eq!(folder.read(name), None, "{name}");
        assert!(matches!(evil.open(), Err(GitFault::NotPlain(at)) if at == path), "{name}");
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        assert_eq!(folder.read(name), None, "{name}");
        assert!(matches!(evil.open(), Err(GitFault::NotPlain(_))), "{name}");
    }
}

#[test]
fn a_git_that_waits_is_ended_and_not_asked_again() {
    let evil = Evil::new();
    let file = evil.root().join(".git/refs/heads/main");
    fs::remove_file(&file).unwrap();
    assert!(Command::new("mkfifo").arg(&file).status().unwrap().success());
    let program = program().with_patience(Duration::from_millis(300));
    let git = program.open(GitFolder::of(&evil.root()).unwrap()).unwrap();
    assert!(matches!(git.ask(&["log"]), Err(GitFault::TimedOut)));
    assert!(matches!(git.ask(&["ls-files"]), Err(GitFault::TimedOut)));
}

#[test]
fn an_answer_is_bounded() {
    let evil = Evil::new();
    let git = evil.open().unwrap();
    assert!(matches!(git.ask_within(&["log"], 10), Err(GitFault::TooLong { limit: 10 })));
}

#[test]
fn a_linked_folder_counts_only_if_it_leads_back() {
    let evil = Evil::new();
    let tree = evil.dir.path().join("tree");
    git(&evil.root(), &["worktree", "add", "-q", tree.to_str().unwrap()]);
    let tree = fs::canonicalize(tree).unwrap();
    let folder = GitFolder::of(&tree).unwrap();
    assert_eq!(folder.common(), evil.root().join(".git"));
    let opened = program().open(folder).unwrap();
    assert!(text(opened.ask(&["log", "--format=%s"])).contains("first"));
    // A copy of the `.git` file in another directory names a git directory that does not point back
    // to it.
    let other = evil.dir.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::copy(tree.join(".git"), other.join(".git")).unwrap();
    assert_eq!(GitFolder::of(&other), None);
    let claims = format!("gitdir: {}\n", evil.root().join(".git").display());
    fs::write(other.join(".git"), claims).unwrap();
    assert_eq!(GitFolder::of(&other), None);
    fs::remove_file(other.join(".git")).unwrap();
    std::os::unix::fs::symlink(evil.root().join(".git"), other.join(".git")).unwrap();
    assert_eq!(GitFolder::of(&other), None);
    fs::remove_file(other.join(".git")).unwrap();
    fs::create_dir(other.join(".git")).unwrap();
    let common = evil.root().join(".git").display().to_string();
    fs::write(other.join(".git/commondir"), common).unwrap();
    assert_eq!(GitFolder::of(&other), None);
}

#[test]
fn a_submodule_is_known_by_both_sides() {
    let evil = Evil::new();
    let inner = Evil::new();
    git(&evil.root(), &["submodule", "--quiet", "add", inner.root().to_str().unwrap(), "sub"]);
    let folder = GitFolder::of(&evil.root().join("sub")).unwrap();
    assert!(folder.is_submodule());
    assert!(text(program().open(folder).unwrap().ask(&["log", "--format=%s"])).contains("first"));
}

#[test]
fn a_folder_of_the_path_that_is_not_absolute_is_not_searched() {
    let evil = Evil::new();
    let program = GitProgram::new(".:bin");
    assert!(matches!(
        program.open(GitFolder::of(&evil.root()).unwrap()),
        Err(GitFault::NotInstalled)
    ));
}

#[test]
fn objects_of_another_repository_are_not_read() {
    let victim = Evil::new();
    let links: [(&str, &str); 2] = [("objects", "objects"), ("refs", "refs")];
    for (name, to) in links {
        let evil = Evil::new();
        let own = evil.root().join(".git").join(name);
        fs::remove_dir_all(&own).unwrap();
        std::os::unix::fs::symlink(victim.root().join(".git").join(to), &own).unwrap();
        assert!(matches!(evil.open(), Err(GitFault::NotPlain(at)) if at == own), "{name}");
    }
    let evil = Evil::new();
    let alternates = evil.root().join(".git/objects/info/alternates");
    fs::create_dir_all(alternates.parent().unwrap()).unwrap();
    fs::write(&alternates, victim.root().join(".git/objects").display().to_string()).unwrap();
    assert!(matches!(evil.open(), Err(GitFault::SharedObjects)));
}

#[test]
fn a_filter_whose_name_is_not_text_is_taken_away() {
    let evil = Evil::new();
    let config = evil.root().join(".git/config");
    let mut text = fs::read(&config).unwrap();
    text.extend(b"[filter \"\xff\"]\n\tclean = \"touch ");
    text.extend(evil.mark().display().to_string().bytes());
    text.extend(b"; cat\"\n");
    fs::write(&config, text).unwrap();
    fs::write(evil.root().join(".gitattributes"), b"* filter=\xff\n").unwrap();
    fs::write(evil.root().join("a.txt"), "two\n").unwrap();
    evil.open().unwrap().ask(&["status", "--short"]).unwrap();
    assert!(evil.is_untouched());
}

#[test]
fn all_that_one_program_opens_shares_its_time() {
    let slow = || {
        let evil = Evil::new();
        git(&evil.root(), &["config", "include.path", "../pipe"]);
        let pipe = evil.root().join("pipe");
        assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
        evil
    };
    let program = program().with_patience(Duration::from_millis(200));
    let (first, second) = (slow(), Evil::new());
    let opened = program.open(GitFolder::of(&first.root()).unwrap());
    assert!(matches!(opened, Err(GitFault::TimedOut)));
    let opened = program.open(GitFolder::of(&second.root()).unwrap());
    assert!(matches!(opened, Err(GitFault::TimedOut)), "nothing is left for the next");
}

#[test]
fn a_repository_with_more_settings_than_git_is_given_is_not_opened() {
    let evil = Evil::new();
    let config = evil.root().join(".git/config");
    let mut text = fs::read_to_string(&config).unwrap();
    text.push_str("[pager]\n");
    text.extend((0..40_000).map(|number| format!("k{number}\n")));
    fs::write(&config, text).unwrap();
    let fault = evil.open().unwrap_err();
    assert!(matches!(fault, GitFault::TooManySettings), "{fault}");
}

#[test]
fn no_link_below_the_objects_leads_to_another_repository() {
    let evil = Evil::new();
    let other = evil.dir.path().join("other");
    fs::rename(evil.root().join(".git/objects"), &other).unwrap();
    for shape in ["folder", "file"] {
        let objects = evil.root().join(".git/objects");
        fs::create_dir(&objects).unwrap();
        for entry in fs::read_dir(&other).unwrap().flatten() {
            let own = objects.join(entry.file_name());
            if shape == "folder" && entry.file_name().len() == 2 {
                std::os::unix::fs::symlink(entry.path(), &own).unwrap();
                continue;
            }
            fs::create_dir(&own).unwrap();
            for file in fs::read_dir(entry.path()).unwrap().flatten() {
                let link = own.join(file.file_name());
                std::os::unix::fs::symlink(file.path(), link).unwrap();
            }
        }
        // Verify that, without Nacre's checks, git would read the other repository's objects.
        git(&evil.root(), &["cat-file", "commit", "HEAD"]);
        assert!(
            matches!(evil.open(), Err(GitFault::NotPlain(at)) if at.starts_with(&objects)),
            "{shape}"
        );
        fs::remove_dir_all(&objects).unwrap();
    }
}

#[test]
fn a_split_index_elsewhere_is_not_touched() {
    let evil = Evil::new();
    git(&evil.root(), &["update-index", "--split-index"]);
    let folder = fs::read_dir(evil.root().join(".git")).unwrap().flatten();
    let mut shared =
        folder.filter(|entry| entry.file_name().to_string_lossy().starts_with("sharedindex."));
    let shared = shared.next().unwrap().path();
    assert!(evil.open().is_ok(), "one of its own is nothing bad");
    let moved = evil.dir.path().join("moved");
    fs::rename(&shared, &moved).unwrap();
    type Put = fn(&Path, &Path);
    let puts: [Put; 2] = [
        |from, to| std::os::unix::fs::symlink(from, to).unwrap(),
        |from, to| fs::hard_link(from, to).unwrap(),
    ];
    for put in puts {
        put(&moved, &shared);
        assert!(matches!(evil.open(), Err(GitFault::NotPlain(at)) if at == shared));
        fs::remove_file(&shared).unwrap();
    }
}
