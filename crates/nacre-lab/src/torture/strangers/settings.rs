//! A repository with every git setting that can name a program or a file, as listed by the
//! installed git.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use super::repositories::{ask, git};
use super::victims::Victims;
use crate::AnyError;

/// Name fragments of settings whose value is a command, a program or a path.
const NAMING: &[&str] = &[
    "alias",
    "askpass",
    "browser",
    "clean",
    "cmd",
    "command",
    "dir",
    "driver",
    "editor",
    "external",
    "file",
    "filter",
    "fsmonitor",
    "helper",
    "hook",
    "key",
    "mailmap",
    "pack",
    "pager",
    "path",
    "process",
    "program",
    "proxy",
    "smudge",
    "ssh",
    "template",
    "textconv",
    "tool",
    "vcs",
    "worktree",
];

/// Settings that move the repository or make it unusable, which would prevent all other settings
/// from being tested.
const LEFT_OUT: &[&str] = &[
    "core.worktree",
    "core.bare",
    "core.fsmonitorhookversion",
    "diff.dirstat",
    "extensions.worktreeconfig",
    "include.path",
];

/// Names that contain `=`, and other names that git does not list.
const MORE: &[&str] = &[
    "filter.a=b.clean",
    "filter.a=b.smudge",
    "filter.a=b.process",
    "filter.evil.clean",
    "filter.evil.smudge",
    "filter.evil.process",
    "diff.evil.command",
    "diff.evil.textconv",
    "diff.external",
    "merge.evil.driver",
    "hook.evil.command",
    "remote.evil.vcs",
    "pager.status",
    "pager.diff",
    "pager.log",
    "alias.status",
    "alias.log",
    "gpg.ssh.program",
    "gpg.x509.program",
    "gpg.openpgp.program",
];

const SWITCHES: &[(&str, &str)] = &[
    ("log.showSignature", "true"),
    ("commit.gpgSign", "true"),
    ("hook.evil.event", "reference-transaction"),
    ("protocol.allow", "always"),
    ("protocol.ext.allow", "always"),
    ("submodule.recurse", "true"),
    ("diff.submodule", "log"),
    ("status.submoduleSummary", "true"),
    ("core.untrackedCache", "true"),
    ("interactive.singleKey", "false"),
];

const HOOKS: &[&str] = &[
    "applypatch-msg",
    "pre-applypatch",
    "post-applypatch",
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "pre-rebase",
    "post-checkout",
    "post-merge",
    "pre-push",
    "pre-receive",
    "update",
    "proc-receive",
    "post-receive",
    "post-update",
    "reference-transaction",
    "push-to-checkout",
    "pre-auto-gc",
    "post-rewrite",
    "sendemail-validate",
    "fsmonitor-watchman",
    "post-index-change",
];

/// Adds all settings to the repository, and checks that git itself runs the programs they name.
pub(super) fn plant(victims: &Victims) -> Result<(), AnyError> {
    let root = victims.site();
    for key in keys(&root)? {
        let value = victims.program(&key)?.display().to_string();
        // Skip settings that git rejects, because they would make every command fail.
        if git(&root, &["config", &key, &value]).is_err() || !works(&root) {
            let _ = git(&root, &["config", "--unset-all", &key]);
        }
    }
    for (key, value) in SWITCHES {
        git(&root, &["config", key, value])?;
    }
    let hooks = root.join(".git/hooks");
    fs::create_dir_all(&hooks)?;
    for name in HOOKS {
        let hook = hooks.join(name);
        fs::write(&hook, format!("#!/bin/sh\n{}\n", victims.marking(name)))?;
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o755))?;
    }
    fs::write(
        root.join(".gitattributes"),
        "*.txt filter=evil diff=evil merge=evil\n*.md filter=a=b diff=evil\n",
    )?;
    fs::write(root.join("a.txt"), "changed\n")?;
    fs::write(root.join("b.md"), "new\n")?;
    sign_head(&root, victims)?;
    // If the settings had no effect in git itself, the exercise would prove nothing.
    let mut told = String::new();
    for args in [&["status"][..], &["diff"], &["log", "-p", "-1"]] {
        let output = Command::new("git").args(args).current_dir(&root).output()?;
        told += &String::from_utf8_lossy(&output.stderr);
    }
    let marks = victims.marks()?;
    if marks.len() < 3 {
        return Err(
            format!("git starts too few programs from the settings: {marks:?}: {told}").into()
        );
    }
    victims.clear_marks()
}

/// Returns whether git still works with the settings. Programs that the settings start are ignored.
fn works(root: &std::path::Path) -> bool {
    let tried = [
        &["rev-parse", "HEAD"][..],
        &["cat-file", "commit", "HEAD"],
        &["log", "-p", "-1"],
        &["diff", "HEAD"],
        &["status"],
    ];
    let is_refused = |error: &AnyError| error.to_string().contains("config");
    tried.iter().all(|args| !ask(root, args).is_err_and(|error| is_refused(&error)))
}

fn keys(root: &std::path::Path) -> Result<Vec<String>, AnyError> {
    let listed = ask(root, &["help", "--config"])?;
    let mut keys: Vec<String> = Vec::new();
    for line in listed.lines().chain(MORE.iter().copied()) {
        let key = fill_placeholders(line.trim());
        let lower = key.to_lowercase();
        let is_naming = NAMING.iter().any(|word| lower.contains(word));
        let is_key = lower.contains('.') && !lower.contains(['*', ' ', '<', '(']);
        if is_key && is_naming && !LEFT_OUT.contains(&lower.as_str()) && !keys.contains(&key) {
            keys.push(key);
        }
    }
    if keys.len() < 60 {
        return Err(format!("`git help --config` lists only {} of these keys", keys.len()).into());
    }
    Ok(keys)
}

/// Returns the key with each `<placeholder>` replaced by a name.
fn fill_placeholders(key: &str) -> String {
    let mut name = String::new();
    let mut rest = key;
    while let Some((head, tail)) = rest.split_once('<') {
        name.push_str(head);
        name.push_str("evil");
        rest = tail.split_once('>').map_or("", |(_, rest)| rest);
    }
    name + rest
}

/// Replaces the last commit with one that claims to be signed, so that showing it would start
/// `gpg`.
fn sign_head(root: &std::path::Path, victims: &Victims) -> Result<(), AnyError> {
    let commit = ask(root, &["cat-file", "commit", "HEAD"])?;
    let Some((head, message)) = commit.split_once("\n\n") else { return Err("no commit".into()) };
    let signature = " \n x\n -----END PGP SIGNATURE-----";
    let signed = format!("{head}\ngpgsig -----BEGIN PGP SIGNATURE-----\n{signature}\n\n{message}");
    let file = victims.output();
    fs::write(&file, signed)?;
    let file = file.display().to_string();
    let name = ask(root, &["hash-object", "-t", "commit", "-w", &file])?;
    fs::write(root.join(".git/refs/heads/main"), name)?;
    Ok(())
}
