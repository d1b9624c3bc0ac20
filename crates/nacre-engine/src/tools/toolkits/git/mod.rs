//! Tools for the git repository at the root of the workspace.
//!
//! They run the system's git with fixed arguments through `nacre_base::git`, so that nothing in the
//! repository can start another program.

#[cfg(test)]
mod tests;

use nacre_base::git::{Finished, GitFolder, GitProgram, Running, Stop};

use crate::confine::Program;
use crate::tools::toolkits::prelude::*;

const GIT_LIMIT: Duration = Duration::from_secs(30);

pub fn tools(workspace: &Arc<Workspace>, program: GitProgram) -> Vec<Arc<dyn AnyTool>> {
    let git = Arc::new(WorkspaceGit { workspace: Arc::clone(workspace), program });
    vec![
        tool::<GitStatus>(Arc::clone(&git)),
        tool::<GitDiff>(Arc::clone(&git)),
        tool::<GitLog>(Arc::clone(&git)),
        tool::<GitShow>(Arc::clone(&git)),
        tool::<GitAdd>(Arc::clone(&git)),
        tool::<GitCommit>(Arc::clone(&git)),
    ]
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

/// Declares that the call reads the repository or, if a path is given, only that path.
fn looking(git: &WorkspaceGit, path: Option<&str>) -> Result<Footprint> {
    let area = match path {
        Some(path) => Area::File(git.workspace.place(path)?),
        None => Area::Tree(None),
    };
    Ok(Footprint { exec: Exec::Helper, ..Footprint::reading([area]) })
}

/// Declares a change to the repository, which requires write permission for the whole workspace.
fn recording(areas: Vec<Area>) -> Footprint {
    let writes = vec![Area::Tree(None)];
    Footprint { writes, exec: Exec::Helper, ..Footprint::reading(areas) }
}

fn preview(arguments: Vec<String>) -> Preview {
    let program = Program::Argv { name: "git".to_owned(), arguments };
    Preview { program: Some(program), ..Preview::default() }
}

#[cfg(test)]
pub(crate) fn derive_schemas() -> Vec<(String, serde_json::Value)> {
    use crate::schemas::derive_schema;
    vec![
        derive_schema::<GitStatus>(),
        derive_schema::<GitDiff>(),
        derive_schema::<GitLog>(),
        derive_schema::<GitShow>(),
        derive_schema::<GitAdd>(),
        derive_schema::<GitCommit>(),
    ]
}

const MAX_OUTPUT_BYTES: u64 = 2 << 20;

/// Time limit for read-only commands. A slower command is probably blocked on a pipe.
const LOOK_LIMIT: Duration = Duration::from_secs(3);

#[derive(Debug)]
pub struct WorkspaceGit {
    workspace: Arc<Workspace>,
    program: GitProgram,
}

impl WorkspaceGit {
    async fn run(&self, arguments: &[String], limit: Duration) -> Result<String> {
        let running = self.start(arguments).await?;
        let stop = StopOnDrop(running.stop());
        let waited = tokio::task::spawn_blocking(move || running.wait(limit)).await;
        drop(stop);
        let failed = |what: &str, hint: &str| ToolError::new(Fault::Exec, what, hint);
        let finished = match waited {
            Ok(None) => return Err(failed("Git timed out", "Use the file tools.")),
            Ok(Some(Ok(finished))) => finished,
            Ok(Some(Err(_))) | Err(_) => return Err(failed("cannot run git", "Try again.")),
        };
        let Finished { stdout, stderr, is_cut, status } = finished;
        if status.success() || is_cut {
            let more = if is_cut { "\n[The remaining output was not read.]" } else { "" };
            return Ok(String::from_utf8_lossy(&stdout).into_owned() + more);
        }
        let complaint = String::from_utf8_lossy(&stderr);
        let last: String =
            complaint.trim().lines().last().unwrap_or("it failed").chars().take(300).collect();
        Err(failed(&format!("git failed: {last}"), "Look at `git_status`."))
    }

    /// Runs a read-only command. Shows `nothing` if the command prints nothing.
    async fn show(&self, arguments: &[String], nothing: &str) -> Result<Output> {
        let said = self.run(arguments, LOOK_LIMIT).await?;
        Ok(Output::text(if said.is_empty() { nothing.to_owned() } else { said }))
    }

    async fn start(&self, arguments: &[String]) -> Result<Running> {
        let Some(folder) = GitFolder::of(self.workspace.root()) else {
            let what = "The workspace is not the root of a git repository";
            return Err(ToolError::new(Fault::Unsupported, what, "Use the file tools."));
        };
        let (program, arguments) = (self.program.clone(), arguments.to_vec());
        let started = tokio::task::spawn_blocking(move || {
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            program.open(folder)?.start(&arguments, MAX_OUTPUT_BYTES)
        });
        let started = started.await.map_err(|error| error.to_string());
        let started = started.and_then(|started| started.map_err(|fault| fault.to_string()));
        started.map_err(|why| {
            ToolError::new(Fault::Exec, format!("Cannot use git: {why}"), "Use the file tools.")
        })
    }

    /// Returns the path arguments to put after `--`. They exclude the paths that the agent may not
    /// access.
    fn pathspecs(&self, paths: &[String]) -> Result<Vec<String>> {
        let mut specs = vec!["--".to_owned()];
        if paths.is_empty() {
            specs.push(".".to_owned());
        }
        for path in paths {
            specs.push(format!(":(literal){}", self.workspace.place(path)?));
        }
        specs.extend(self.workspace.denied().exclusions());
        Ok(specs)
    }
}

struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Accepts a revision such as `HEAD~2`, `v1.0` or a hash. Rejects anything that git could parse as
/// an option, a range or a file.
fn revision(text: &str) -> Result<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./@{}^~-+#".contains(c);
    let starts_well = text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '@');
    let is_good = starts_well && text.len() <= 200 && text.chars().all(is_plain);
    if is_good && !text.contains("..") && !text.contains("^{/") {
        return Ok(format!("{text}^{{commit}}"));
    }
    let shown: String = text.chars().take(80).collect();
    let what = format!("`{shown}` does not name a commit");
    Err(ToolError::new(Fault::Arguments, what, "Name one such as `HEAD~1` or a hash."))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GitStatus {}

impl Tool for GitStatus {
    type With = Arc<WorkspaceGit>;

    const SPEC: ToolSpec = ToolSpec {
        name: "git_status",
        category: Category::Read,
        description: "Shows the branch and the files that are staged, changed or new, in git's short form.",
        time_limit: GIT_LIMIT,
        shown_bytes: 8_000,
    };

    fn footprint(&self, git: &Arc<WorkspaceGit>) -> Result<Footprint> {
        looking(git, None)
    }

    async fn run(self, git: &Arc<WorkspaceGit>, _: &ToolContext) -> Result<Output> {
        let mut arguments =
            words("status --short --branch --untracked-files=all --ignore-submodules=all");
        arguments.extend(git.pathspecs(&[])?);
        let said = git.run(&arguments, LOOK_LIMIT).await?;
        let is_clean = said.lines().all(|line| line.starts_with("##"));
        let text = if is_clean { format!("{said}Nothing changed.") } else { said };
        Ok(Output::text(text))
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GitDiff {
    /// Only this file or folder.
    #[schemars(length(min = 1, max = 4096))]
    path: Option<String>,
    /// Show staged changes instead of unstaged ones.
    #[serde(default)]
    staged: bool,
    /// Compare with this commit.
    #[schemars(length(min = 1, max = 200))]
    from: Option<String>,
    /// With `from`: compare it with this commit instead of the files in the workspace.
    #[schemars(length(min = 1, max = 200))]
    to: Option<String>,
    /// Lines around each change.
    #[schemars(range(max = 20))]
    context: Option<u32>,
}

impl Tool for GitDiff {
    type With = Arc<WorkspaceGit>;

    const SPEC: ToolSpec = ToolSpec {
        name: "git_diff",
        category: Category::Read,
        description: "Shows what is changed and not staged; or what is staged; or what differs from a commit.",
        time_limit: GIT_LIMIT,
        shown_bytes: 24_000,
    };

    fn footprint(&self, git: &Arc<WorkspaceGit>) -> Result<Footprint> {
        looking(git, self.path.as_deref())
    }

    async fn run(self, git: &Arc<WorkspaceGit>, _: &ToolContext) -> Result<Output> {
        let mut arguments = words("diff --no-ext-diff --no-textconv --ignore-submodules=all");
        arguments.push(format!("--unified={}", self.context.unwrap_or(3)));
        if self.staged {
            arguments.push("--cached".to_owned());
        }
        for commit in self.from.iter().chain(&self.to) {
            arguments.push(revision(commit)?);
        }
        arguments.extend(git.pathspecs(self.path.as_slice())?);
        git.show(&arguments, "No difference.").await
    }
}

const DEFAULT_COMMITS: u32 = 20;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GitLog {
    /// Show only commits that touch this file or folder.
    #[schemars(length(min = 1, max = 4096))]
    path: Option<String>,
    /// Start here instead of `HEAD`.
    #[schemars(length(min = 1, max = 200))]
    revision: Option<String>,
    #[schemars(range(min = 1, max = 200))]
    max_commits: Option<u32>,
}

impl Tool for GitLog {
    type With = Arc<WorkspaceGit>;

    const SPEC: ToolSpec = ToolSpec {
        name: "git_log",
        category: Category::Read,
        description: "Lists commits, newest first: hash, day, author, subject.",
        time_limit: GIT_LIMIT,
        shown_bytes: 12_000,
    };

    fn footprint(&self, git: &Arc<WorkspaceGit>) -> Result<Footprint> {
        looking(git, self.path.as_deref())
    }

    async fn run(self, git: &Arc<WorkspaceGit>, _: &ToolContext) -> Result<Output> {
        let mut arguments = words("log --no-show-signature");
        arguments.push("--format=%h %as %an: %s".to_owned());
        let n_commits = self.max_commits.unwrap_or(DEFAULT_COMMITS);
        arguments.push(format!("--max-count={n_commits}"));
        arguments.push(revision(self.revision.as_deref().unwrap_or("HEAD"))?);
        match &self.path {
            Some(_) => arguments.extend(git.pathspecs(self.path.as_slice())?),
            None => arguments.push("--".to_owned()),
        }
        git.show(&arguments, "No commit.").await
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GitShow {
    /// `HEAD` if left out.
    #[schemars(length(min = 1, max = 200))]
    revision: Option<String>,
    /// Show only the changes to this file or folder.
    #[schemars(length(min = 1, max = 4096))]
    path: Option<String>,
    /// Lines around each change.
    #[schemars(range(max = 20))]
    context: Option<u32>,
}

impl Tool for GitShow {
    type With = Arc<WorkspaceGit>;

    const SPEC: ToolSpec = ToolSpec {
        name: "git_show",
        category: Category::Read,
        description: "Shows one commit: its message and its changes.",
        time_limit: GIT_LIMIT,
        shown_bytes: 24_000,
    };

    fn footprint(&self, git: &Arc<WorkspaceGit>) -> Result<Footprint> {
        looking(git, self.path.as_deref())
    }

    async fn run(self, git: &Arc<WorkspaceGit>, _: &ToolContext) -> Result<Output> {
        let mut arguments =
            words("show --no-ext-diff --no-textconv --no-show-signature --ignore-submodules=all");
        arguments.push("--format=commit %H%nauthor %an, %aI%n%n%B".to_owned());
        arguments.push(format!("--unified={}", self.context.unwrap_or(3)));
        arguments.push(revision(self.revision.as_deref().unwrap_or("HEAD"))?);
        arguments.extend(git.pathspecs(self.path.as_slice())?);
        git.show(&arguments, "").await
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GitAdd {
    /// Files or folders relative to the workspace, including deleted ones.
    #[schemars(length(min = 1, max = 200))]
    paths: Vec<String>,
}

impl Tool for GitAdd {
    type With = Arc<WorkspaceGit>;

    const SPEC: ToolSpec = ToolSpec {
        name: "git_add",
        category: Category::Write,
        description: "Stages changes of the named files for the next commit.",
        time_limit: GIT_LIMIT,
        shown_bytes: 4_000,
    };

    fn footprint(&self, git: &Arc<WorkspaceGit>) -> Result<Footprint> {
        let places = self.paths.iter().map(|path| git.workspace.place(path).map(Area::File));
        places.collect::<Result<Vec<_>, _>>().map(recording)
    }

    fn preview(&self, _: &Arc<WorkspaceGit>) -> Result<Preview> {
        Ok(preview([words("add --all --"), self.paths.clone()].concat()))
    }

    async fn run(self, git: &Arc<WorkspaceGit>, _: &ToolContext) -> Result<Output> {
        let arguments = [words("add --all"), git.pathspecs(&self.paths)?].concat();
        git.run(&arguments, GIT_LIMIT).await?;
        Ok(Output::text(format!("Staged {}", self.paths.join(", "))))
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GitCommit {
    /// The subject line, then a blank line and the reasons, if any.
    #[schemars(length(min = 1, max = 5000))]
    message: String,
}

impl Tool for GitCommit {
    type With = Arc<WorkspaceGit>;

    const SPEC: ToolSpec = ToolSpec {
        name: "git_commit",
        category: Category::Write,
        description: "Commits what is staged. Only when the person asked for a commit.",
        time_limit: GIT_LIMIT,
        shown_bytes: 4_000,
    };

    fn footprint(&self, _: &Arc<WorkspaceGit>) -> Result<Footprint> {
        Ok(recording(vec![Area::Tree(None)]))
    }

    fn preview(&self, _: &Arc<WorkspaceGit>) -> Result<Preview> {
        Ok(preview([words("commit --message"), vec![self.message()?.to_owned()]].concat()))
    }

    async fn run(self, git: &Arc<WorkspaceGit>, _: &ToolContext) -> Result<Output> {
        let mut arguments =
            words("commit --quiet --no-verify --no-gpg-sign --cleanup=whitespace -m");
        arguments.push(self.message()?.to_owned());
        git.run(&arguments, GIT_LIMIT).await?;
        let mut made = words("log --max-count=1 --no-show-signature");
        made.push("--format=%h %s".to_owned());
        let said = git.run(&made, LOOK_LIMIT).await?;
        Ok(Output::text(format!("Committed {}", said.trim())))
    }
}

impl GitCommit {
    fn message(&self) -> Result<&str> {
        let message = self.message.trim();
        if message.is_empty() || message.contains('\0') {
            let what = "The message is empty";
            return Err(ToolError::new(Fault::Arguments, what, "Say what changed and why."));
        }
        Ok(message)
    }
}

#[cfg(test)]
mod revision_tests {
    use super::*;

    #[test]
    fn only_plain_names_of_commits_pass() {
        for text in ["HEAD", "HEAD~2", "v1.0", "feature/x-y", "@{1}", "a1b2c3", "main^2"] {
            assert!(revision(text).is_ok(), "{text}");
        }
        let long = "a".repeat(201);
        for text in [
            "",
            "-p",
            "--output=x",
            "a..b",
            "HEAD:.env",
            ":/x",
            "a b",
            "a\nb",
            "^main",
            "HEAD^{/x}",
            &long,
        ] {
            assert!(revision(text).is_err(), "{text}");
        }
    }
}
