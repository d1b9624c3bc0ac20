//! The `git` program, with everything that a repository could make it execute switched off.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// No look at a repository runs its programs, reaches for the network or writes its index.
const SETTINGS: &[&str] = &[
    "safe.bareRepository=explicit",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=",
    "core.sshCommand=false",
    "core.untrackedCache=false",
    "protocol.allow=never",
];

/// What a git hook, or a stranger's shell, would hand to every git below it.
const INHERITED: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
];

fn command(root: &Path, args: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(root).arg("--no-optional-locks");
    for setting in SETTINGS {
        command.args(["-c", setting]);
    }
    for name in INHERITED {
        command.env_remove(name);
    }
    command.args(args).stdin(Stdio::null()).stderr(Stdio::null());
    command
}

/// What git answers; `None` when it fails or is not there.
pub(super) fn ask(root: &Path, args: &[&str]) -> Option<Vec<u8>> {
    let output = command(root, args).output().ok()?;
    output.status.success().then_some(output.stdout)
}

/// What git answers to lines that it is told.
pub(super) fn ask_with(root: &Path, args: &[&str], lines: Vec<u8>) -> Option<Vec<u8>> {
    let mut command = command(root, args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().ok()?;
    let mut stdin = child.stdin.take()?;
    // Git answers while it is still being told, so that neither may wait for the other.
    let teller = std::thread::spawn(move || stdin.write_all(&lines));
    let output = child.wait_with_output().ok()?;
    let is_told = teller.join().is_ok_and(|told| told.is_ok());
    (is_told && output.status.success()).then_some(output.stdout)
}
