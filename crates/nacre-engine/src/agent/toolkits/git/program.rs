//! Starts `git` and waits for it; whoever stops waiting ends it.
//!
//! It is asked to go before it is made to, so that it can take its locks away.

use std::collections::BTreeMap;
use std::io::Read;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use nacre_core::safefs::EntryKind;
use rustix::process::{Pid, Signal, kill_process_group};

use super::super::super::tool::{Fault, ToolError};
use super::super::super::workspace::{Workspace, place};

/// More of an output is not read.
const MAX_OUTPUT_BYTES: u64 = 2 << 20;

/// How long git may take to clean up before it is ended.
const GRACE: Duration = Duration::from_millis(150);

/// A repository can say nothing to these.
const SAFE: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.editor=false",
    "core.askPass=",
    "core.sshCommand=false",
    "core.gitProxy=false",
    "core.quotePath=false",
    "credential.helper=",
    "diff.external=",
    "diff.submodule=short",
    "diff.ignoreSubmodules=all",
    "submodule.recurse=false",
    "log.showSignature=false",
    "commit.gpgSign=false",
    "gpg.program=false",
    "gpg.ssh.program=false",
    "gpg.x509.program=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.allow=never",
    "uploadpack.packObjectsHook=",
    "color.ui=false",
];

/// The `git` of the system, over one workspace.
#[derive(Debug)]
pub struct GitProgram {
    workspace: Arc<Workspace>,
    environment: BTreeMap<String, String>,
}

/// What a command said.
pub(super) struct Said {
    pub(super) stdout: String,
    pub(super) is_cut: bool,
}

impl GitProgram {
    pub fn new(workspace: Arc<Workspace>, environment: BTreeMap<String, String>) -> Self {
        Self { workspace, environment }
    }

    /// Runs one command of git to its end.
    pub(super) async fn run(&self, arguments: &[String]) -> Result<Said, ToolError> {
        self.check_repository()?;
        let filters = self.filters().await?;
        let finished = self.start(&filters, arguments).await?;
        if finished.is_success || finished.is_cut {
            return Ok(Said { stdout: finished.stdout, is_cut: finished.is_cut });
        }
        let complaint = finished.stderr.trim();
        let last: String =
            complaint.lines().last().unwrap_or("it failed").chars().take(300).collect();
        Err(ToolError::new(Fault::Exec, format!("git says: {last}"), "Look at `git_status`."))
    }

    /// The paths of a command, behind `--`, without what the agent may not see.
    pub(super) fn pathspecs(&self, paths: &[String]) -> Result<Vec<String>, ToolError> {
        let mut specs = vec!["--".to_owned()];
        if paths.is_empty() {
            specs.push(".".to_owned());
        }
        for path in paths {
            specs.push(format!(":(literal){}", place(path)?));
        }
        specs.extend(self.workspace.denied().exclusions());
        Ok(specs)
    }

    /// A link could lead to another repository, and one above the workspace has files outside it.
    fn check_repository(&self) -> Result<(), ToolError> {
        match self.workspace.kind_of(".git") {
            Some(EntryKind::Folder | EntryKind::File) => Ok(()),
            Some(EntryKind::Other) | None => {
                let what = "The workspace is not the top of a git repository";
                Err(ToolError::new(Fault::Unsupported, what, "Use the file tools."))
            }
        }
    }

    /// Settings that take the filters of the repository's own configuration away; a person's own stay.
    async fn filters(&self) -> Result<Vec<String>, ToolError> {
        let list = ["config", "--show-scope", "--name-only", "--get-regexp", "^filter\\."];
        let listed = self.start(&[], &list.map(str::to_owned)).await?;
        let own = listed.stdout.lines().filter_map(|line| {
            let (scope, key) = line.split_once('\t')?;
            matches!(scope, "local" | "worktree").then_some(key)
        });
        let mut settings: Vec<String> = Vec::new();
        for key in own {
            let Some((name, _)) = key.strip_prefix("filter.").and_then(|key| key.rsplit_once('.'))
            else {
                continue;
            };
            for part in ["clean=", "smudge=", "process=", "required=false"] {
                settings.push(format!("filter.{name}.{part}"));
            }
        }
        Ok(settings)
    }

    async fn start(
        &self,
        settings: &[String],
        arguments: &[String],
    ) -> Result<Finished, ToolError> {
        let mut command = Command::new("git");
        command.env_clear().envs(&self.environment);
        command.envs([
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_PAGER", "cat"),
            ("GIT_EDITOR", "false"),
            ("GIT_NO_REPLACE_OBJECTS", "1"),
            ("LC_ALL", "C"),
        ]);
        command.args(["--no-pager", "--work-tree=."]);
        for setting in SAFE.iter().copied().chain(settings.iter().map(String::as_str)) {
            command.args(["-c", setting]);
        }
        command.args(arguments).current_dir(&**self.workspace.root());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A group of its own, so that all of it can be ended.
        let child = command.process_group(0).spawn().map_err(|error| {
            let what = format!("Cannot start git: {}", error.kind());
            ToolError::new(Fault::Exec, what, "Use the file tools.")
        })?;
        let stop = StopGroup { pid: child.id(), is_over: Arc::default() };
        let is_over = Arc::clone(&stop.is_over);
        let waited = tokio::task::spawn_blocking(move || {
            let finished = wait(child);
            is_over.store(true, Ordering::SeqCst);
            finished
        });
        let finished = waited.await;
        drop(stop);
        finished
            .ok()
            .flatten()
            .ok_or_else(|| ToolError::new(Fault::Exec, "git could not be waited for", "Try again."))
    }
}

struct Finished {
    stdout: String,
    stderr: String,
    is_success: bool,
    is_cut: bool,
}

/// Reads both outputs and waits. Closing an output that is too long ends the program.
fn wait(mut child: Child) -> Option<Finished> {
    let (out, err) = (child.stdout.take()?, child.stderr.take()?);
    let errors = thread::spawn(move || read_some(err, 64 << 10));
    let (stdout, is_cut) = read_some(out, MAX_OUTPUT_BYTES);
    let (stderr, _) = errors.join().ok()?;
    let status = child.wait().ok()?;
    Some(Finished { stdout, stderr, is_success: status.success(), is_cut })
}

fn read_some(pipe: impl Read, limit: u64) -> (String, bool) {
    let mut bytes = Vec::new();
    // What was read before an error is still what was said.
    let _ = pipe.take(limit + 1).read_to_end(&mut bytes);
    let is_cut = limit < bytes.len() as u64;
    (String::from_utf8_lossy(&bytes).into_owned(), is_cut)
}

/// Ends the group when nobody waits for it any more.
struct StopGroup {
    pid: u32,
    is_over: Arc<AtomicBool>,
}

impl Drop for StopGroup {
    fn drop(&mut self) {
        let group = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        let Some(group) = group.filter(|_| !self.is_over.load(Ordering::SeqCst)) else { return };
        let _ = kill_process_group(group, Signal::TERM);
        let is_over = Arc::clone(&self.is_over);
        thread::spawn(move || {
            thread::sleep(GRACE);
            if !is_over.load(Ordering::SeqCst) {
                let _ = kill_process_group(group, Signal::KILL);
            }
        });
    }
}
