//! Git over the workspace of an agent, started the one way that git is started here; whoever stops waiting ends it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nacre_core::base::git::{Finished, GitFault, GitFolder, GitProgram, Running, Stop};
use nacre_core::safefs::RelPath;

use super::super::super::tool::ToolError;
use super::super::super::workspace::Workspace;
use crate::record::Fault;

/// More of an output is not read.
const MAX_OUTPUT_BYTES: u64 = 2 << 20;

/// A look that takes longer waits for a pipe that nobody writes to.
const LOOK_LIMIT: Duration = Duration::from_secs(3);

/// The `git` of the system, over one workspace.
#[derive(Debug)]
pub struct WorkspaceGit {
    workspace: Arc<Workspace>,
    program: GitProgram,
    /// A repository that kept git waiting once is not looked at again.
    has_hung: AtomicBool,
}

/// What a command said.
pub(super) struct Said {
    pub(super) stdout: String,
    pub(super) is_cut: bool,
}

impl WorkspaceGit {
    pub fn new(workspace: Arc<Workspace>, program: GitProgram) -> Self {
        Self { workspace, program, has_hung: AtomicBool::new(false) }
    }

    /// Runs a command that only looks.
    pub(super) async fn look(&self, arguments: &[String]) -> Result<Said, ToolError> {
        self.run(arguments, LOOK_LIMIT).await
    }

    /// Runs a command that changes the repository.
    pub(super) async fn change(&self, arguments: &[String]) -> Result<Said, ToolError> {
        self.run(arguments, super::GIT_LIMIT).await
    }

    /// Runs one command of git to its end.
    async fn run(&self, arguments: &[String], limit: Duration) -> Result<Said, ToolError> {
        if self.has_hung.load(Ordering::Relaxed) {
            return Err(late());
        }
        let running = self.start(arguments).await?;
        let stop = StopOnDrop(running.stop());
        let waited = tokio::task::spawn_blocking(move || running.wait(limit)).await;
        drop(stop);
        let finished = match waited.ok() {
            Some(Some(finished)) => finished.ok(),
            Some(None) => {
                self.has_hung.store(true, Ordering::Relaxed);
                return Err(late());
            }
            None => None,
        };
        let Finished { stdout, stderr, is_cut, status } = finished.ok_or_else(|| {
            ToolError::new(Fault::Exec, "git could not be waited for", "Try again.")
        })?;
        if status.success() || is_cut {
            return Ok(Said { stdout: String::from_utf8_lossy(&stdout).into_owned(), is_cut });
        }
        let complaint = String::from_utf8_lossy(&stderr);
        let last: String =
            complaint.trim().lines().last().unwrap_or("it failed").chars().take(300).collect();
        Err(ToolError::new(Fault::Exec, format!("git says: {last}"), "Look at `git_status`."))
    }

    /// Opens the repository and starts the command, on a thread that may wait.
    async fn start(&self, arguments: &[String]) -> Result<Running, ToolError> {
        let Some(folder) = GitFolder::of(self.workspace.root()) else {
            let what = "The workspace is not the top of a git repository";
            return Err(ToolError::new(Fault::Unsupported, what, "Use the file tools."));
        };
        let (program, arguments) = (self.program.clone(), arguments.to_vec());
        let started = tokio::task::spawn_blocking(move || {
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            program.open(folder)?.start(&arguments, MAX_OUTPUT_BYTES)
        });
        let started = started.await.map_err(|error| error.to_string());
        started.and_then(|started| started.map_err(|fault: GitFault| fault.to_string())).map_err(
            |why| {
                ToolError::new(
                    Fault::Exec,
                    format!("Git cannot be used: {why}"),
                    "Use the file tools.",
                )
            },
        )
    }

    /// The place that a path names.
    pub(super) fn place(&self, path: &str) -> Result<RelPath, ToolError> {
        self.workspace.place(path)
    }

    /// The paths of a command, behind `--`, without what the agent may not see.
    pub(super) fn pathspecs(&self, paths: &[String]) -> Result<Vec<String>, ToolError> {
        let mut specs = vec!["--".to_owned()];
        if paths.is_empty() {
            specs.push(".".to_owned());
        }
        for path in paths {
            specs.push(format!(":(literal){}", self.place(path)?));
        }
        specs.extend(self.workspace.denied().exclusions());
        Ok(specs)
    }
}

fn late() -> ToolError {
    ToolError::new(Fault::Exec, "Git did not answer in time", "Use the file tools.")
}

/// Ends the group when nobody waits for it any more.
struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.end();
    }
}
