//! Background programs: `shell_start`, `shell_poll` and `shell_stop`.
//!
//! Dropping the job list stops all jobs.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::confine::{LiveOutput, Program};
use crate::tools::Programs;
use crate::tools::toolkits::prelude::*;
use crate::tools::toolkits::shell::{ShellRun, ending};

const MAX_RUNNING: usize = 8;
const DEFAULT_SECONDS: u64 = 1800;
const MAX_SECONDS: u64 = 6 * 3600;
const MAX_WAIT_SECONDS: u64 = 60;

const STOP_LIMIT: Duration = Duration::from_secs(10);
const MAX_ABOUT_BYTES: usize = 80;

/// Maximum output shown per poll. If there is more, the oldest output is dropped.
const SHOWN_BYTES: u64 = 12_000;

#[derive(Clone, Debug, Default)]
pub struct ShellJobs(Arc<Mutex<BTreeMap<u32, ShellJob>>>);

#[derive(Debug)]
struct ShellJob {
    /// How the job ended, or `None` while it is running.
    ended: watch::Receiver<Option<String>>,
    cancel: Cancel,
    task: JoinHandle<()>,
    output: LiveOutput,
    about: String,
    n_shown: u64,
}

impl ShellJob {
    fn is_running(&self) -> bool {
        self.ended.borrow().is_none()
    }
}

impl Drop for ShellJob {
    fn drop(&mut self) {
        self.cancel.cancel();
        self.task.abort();
    }
}

impl ShellJobs {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u32, ShellJob>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end_of(&self, job: u32) -> Result<watch::Receiver<Option<String>>> {
        self.lock().get(&job).map(|found| found.ended.clone()).ok_or_else(|| unknown(job))
    }

    /// Returns the job's output since the last poll, and its state.
    fn look(&self, job: u32) -> Result<Output> {
        let mut list = self.lock();
        let found = list.get_mut(&job).ok_or_else(|| unknown(job))?;
        let output = found.output.so_far();
        let n_new = output.total - found.n_shown;
        found.n_shown = output.total;
        let state = found.ended.borrow().clone().unwrap_or_else(|| "running".to_owned());
        let shown = output.last(n_new.min(SHOWN_BYTES) as usize);
        let n_skipped = n_new - shown.len() as u64;
        let mut text = format!("job {job}: {state}\n");
        if n_skipped != 0 {
            text += &format!("[… {n_skipped} bytes omitted …]\n");
        }
        text += &String::from_utf8_lossy(&shown);
        Ok(Output::text(text))
    }

    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Stops all jobs, waits for each of them to end, and describes those that were still running.
    pub async fn stop_all(&self) -> Vec<String> {
        let running: Vec<(String, watch::Receiver<Option<String>>)> = {
            let list = self.lock();
            let running = list.iter().filter(|(_, job)| job.is_running());
            let stop = |(number, job): (&u32, &ShellJob)| {
                job.cancel.cancel();
                (format!("{number} ({})", job.about), job.ended.clone())
            };
            running.map(stop).collect()
        };
        let mut stopped = Vec::with_capacity(running.len());
        for (about, mut ended) in running {
            // A closed channel also means that the job has ended.
            let _ = timeout(STOP_LIMIT, ended.wait_for(Option::is_some)).await;
            stopped.push(about);
        }
        stopped
    }
}

fn about(program: &Program) -> String {
    let text = match program {
        Program::Argv { name, arguments } => {
            std::iter::once(name).chain(arguments).cloned().collect::<Vec<_>>().join(" ")
        }
        Program::Script(script) => script.clone(),
    };
    let line = text.lines().next().unwrap_or_default();
    line[..line.floor_char_boundary(MAX_ABOUT_BYTES)].to_owned()
}

fn unknown(job: u32) -> ToolError {
    let what = format!("Job {job} not found");
    ToolError::new(Fault::NotFound, what, "Start one with `shell_start`.")
}

/// Starts a program in the background. Requires either `argv` or `script`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShellStart {
    /// A program and its arguments, which are passed unchanged, without a shell.
    argv: Option<Vec<String>>,
    /// A script for `/bin/sh`, for pipes, redirections and multiple commands.
    script: Option<String>,
    /// The folder to run in, relative to the workspace; defaults to the workspace root.
    folder: Option<String>,
    /// Time limit in seconds: at most six hours, and half an hour by default.
    #[schemars(range(min = 1))]
    time_limit: Option<u64>,
}

impl ShellStart {
    fn order(&self) -> ShellRun {
        let Self { argv, script, folder, .. } = self;
        let (argv, script, folder) = (argv.clone(), script.clone(), folder.clone());
        ShellRun { argv, script, folder, time_limit: None }
    }
}

impl Tool for ShellStart {
    type With = (Arc<Programs>, ShellJobs);

    const SPEC: ToolSpec = ToolSpec {
        name: "shell_start",
        category: Category::Execute,
        description: "Starts a program in the background and returns the number of its job: for a \
            server, a watcher, or a build that takes minutes. Read its output with shell_poll; end \
            it with shell_stop. Every job ends with the turn. Otherwise as shell_run.",
        time_limit: Duration::from_secs(30),
        shown_bytes: 4_000,
    };

    fn footprint(&self, with: &Self::With) -> Result<Footprint> {
        self.order().footprint(&with.0)
    }

    fn preview(&self, with: &Self::With) -> Result<Preview> {
        self.order().preview(&with.0)
    }

    async fn run(self, with: &Self::With, ctx: &ToolContext) -> Result<Output> {
        let (programs, jobs) = with;
        let order = self.order();
        let seconds = self.time_limit.unwrap_or(DEFAULT_SECONDS).clamp(1, MAX_SECONDS);
        let folder = order.full_folder(ctx)?;
        let mut list = jobs.lock();
        if MAX_RUNNING <= list.values().filter(|job| job.is_running()).count() {
            let what = format!("{MAX_RUNNING} jobs are already running");
            return Err(ToolError::new(Fault::BudgetSpent, what, "Stop one with `shell_stop`."));
        }
        // Jobs that have ended stay in the list, so numbers are never reused.
        let job = list.keys().next_back().map_or(1, |last| last + 1);
        let about = about(&order.program()?);
        let program = with_errors(order.program()?);
        let output = LiveOutput::default();
        let cancel = Cancel::new();
        let (sender, ended) = watch::channel(None);
        let (programs, limit) = (Arc::clone(programs), Duration::from_secs(seconds));
        let (ctx, stdout) = (ToolContext { cancel: cancel.clone(), ..ctx.clone() }, output.clone());
        let task = tokio::spawn(async move {
            let ended = programs.run(program, &folder, limit, &ctx, &stdout).await;
            sender.send_replace(Some(match ended {
                Ok(finished) => [vec![ending(&finished)], finished.notes].concat().join("\n"),
                Err(error) => format!("cannot run: {}", error.what),
            }));
        });
        list.insert(job, ShellJob { ended, cancel, task, output, about, n_shown: 0 });
        Ok(Output::text(format!("job {job} is running; check it with shell_poll")))
    }
}

/// Redirects the program's standard error to its standard output.
fn with_errors(program: Program) -> Program {
    match program {
        Program::Script(script) => Program::Script(format!("exec 2>&1\n{script}")),
        Program::Argv { name, arguments } => {
            let shell = ["-c", "exec \"$@\" 2>&1", "sh"].map(str::to_owned);
            let arguments = shell.into_iter().chain([name]).chain(arguments).collect();
            Program::Argv { name: "/bin/sh".to_owned(), arguments }
        }
    }
}

/// Reads the output of a job.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShellPoll {
    /// The number that `shell_start` returned.
    job: u32,
    /// Seconds to wait for the job to end, at most 60; does not wait by default.
    wait: Option<u64>,
}

impl Tool for ShellPoll {
    type With = ShellJobs;

    const SPEC: ToolSpec = ToolSpec {
        name: "shell_poll",
        category: Category::Execute,
        description: "Shows what a background job wrote since the last poll, and whether it still \
            runs.",
        time_limit: Duration::from_secs(MAX_WAIT_SECONDS + 10),
        shown_bytes: 16_000,
    };

    fn footprint(&self, _: &ShellJobs) -> Result<Footprint> {
        Ok(Footprint::default())
    }

    async fn run(self, jobs: &ShellJobs, ctx: &ToolContext) -> Result<Output> {
        let mut ended = jobs.end_of(self.job)?;
        let wait = Duration::from_secs(self.wait.unwrap_or(0).min(MAX_WAIT_SECONDS));
        tokio::select! {
            biased;
            () = ctx.cancel.cancelled() => {}
            _ = timeout(wait, ended.wait_for(Option::is_some)) => {}
        }
        jobs.look(self.job)
    }
}

/// Ends a job.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShellStop {
    /// The number that `shell_start` returned.
    job: u32,
}

impl Tool for ShellStop {
    type With = ShellJobs;

    const SPEC: ToolSpec = ToolSpec {
        name: "shell_stop",
        category: Category::Execute,
        description: "Ends a background job and everything that it started, and shows the rest of \
            its output.",
        time_limit: Duration::from_secs(20),
        shown_bytes: 16_000,
    };

    fn footprint(&self, _: &ShellJobs) -> Result<Footprint> {
        Ok(Footprint::default())
    }

    async fn run(self, jobs: &ShellJobs, _: &ToolContext) -> Result<Output> {
        let mut ended = jobs.end_of(self.job)?;
        if let Some(job) = jobs.lock().get(&self.job) {
            job.cancel.cancel();
        }
        // A closed channel also means that the job has ended.
        let _ = timeout(STOP_LIMIT, ended.wait_for(Option::is_some)).await;
        jobs.look(self.job)
    }
}
