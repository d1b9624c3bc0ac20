//! Programs in the background: `shell_start`, `shell_poll` and `shell_stop`.
//!
//! A job writes into a file of the scratch folder, which the host reads without following links: the program could put
//! one in its place. When the list of jobs is dropped, all of them end.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nacre_core::safefs::{Access, RelPath, WriteScope};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::super::super::footprint::Footprint;
use super::super::super::programs::{SCRATCH, unusable};
use super::super::super::tool::{Output, Preview, Tool, ToolContext, ToolError, ToolSpec};
use super::run::{ShellRunInput, ending};
use crate::confine::Program;
use crate::model::CancelSource;
use crate::record::{Category, Fault};
use crate::tools::Programs;

const MAX_RUNNING: usize = 8;
const DEFAULT_SECONDS: u64 = 1800;
const MAX_SECONDS: u64 = 6 * 3600;
const MAX_WAIT_SECONDS: u64 = 60;

/// How long the end of a job is waited for.
const STOP_LIMIT: Duration = Duration::from_secs(10);
const MAX_ABOUT_BYTES: usize = 80;

/// What one look shows; the newest counts.
const SHOWN_BYTES: usize = 12_000;
const MAX_OUTPUT_BYTES: u64 = 64 << 20;

/// The jobs of one agent. Clones are the same list.
#[derive(Clone, Debug, Default)]
pub struct ShellJobs(Arc<Mutex<JobList>>);

#[derive(Debug, Default)]
struct JobList {
    jobs: BTreeMap<u32, ShellJob>,
    last: u32,
}

#[derive(Debug)]
struct ShellJob {
    state: watch::Receiver<JobState>,
    cancel: CancelSource,
    task: JoinHandle<()>,
    scratch: WriteScope,
    file: RelPath,
    /// What was started, in a line.
    about: String,
    /// What of the output was shown.
    n_shown: usize,
}

/// How far a job is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum JobState {
    Running,
    Ended(String),
}

impl Drop for ShellJob {
    fn drop(&mut self) {
        self.cancel.cancel();
        self.task.abort();
    }
}

impl ShellJobs {
    fn lock(&self) -> MutexGuard<'_, JobList> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self, job: u32) -> Result<watch::Receiver<JobState>, ToolError> {
        self.lock().jobs.get(&job).map(|found| found.state.clone()).ok_or_else(|| unknown(job))
    }

    /// What a job wrote since the last look, and how far it is.
    fn look(&self, job: u32) -> Result<Output, ToolError> {
        let mut list = self.lock();
        let found = list.jobs.get_mut(&job).ok_or_else(|| unknown(job))?;
        let bytes = match found.scratch.read(&found.file, MAX_OUTPUT_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.is_missing() => Vec::new(),
            Err(error) => {
                let what = format!("The output of job {job} cannot be read: {error}");
                return Err(ToolError::new(Fault::Io, what, "Stop it and run it another way."));
            }
        };
        let new = &bytes[found.n_shown.min(bytes.len())..];
        found.n_shown = bytes.len();
        let state = match &*found.state.borrow() {
            JobState::Running => "running".to_owned(),
            JobState::Ended(how) => how.clone(),
        };
        let skipped = new.len().saturating_sub(SHOWN_BYTES);
        let mut text = format!("job {job}: {state}\n");
        if skipped != 0 {
            text += &format!("[… {skipped} bytes left out …]\n");
        }
        text += &String::from_utf8_lossy(&new[skipped..]);
        if skipped != 0 {
            let file = &found.file;
            text += &format!("\n[All of it lies in `$TMPDIR/{file}`, for shell_run.]");
        }
        let value = json!({ "job": job, "state": state, "n_bytes": bytes.len() });
        Ok(Output { text, value, changed: Vec::new() })
    }
}

impl ShellJobs {
    /// Whether anything was started.
    pub fn is_empty(&self) -> bool {
        self.lock().jobs.is_empty()
    }

    /// Ends every job and waits for its end; returns those that were still running, in words.
    pub async fn stop_all(&self) -> Vec<String> {
        let running: Vec<(String, watch::Receiver<JobState>)> = {
            let list = self.lock();
            let is_running =
                |(_, job): &(&u32, &ShellJob)| *job.state.borrow() == JobState::Running;
            let stop = |(number, job): (&u32, &ShellJob)| {
                job.cancel.cancel();
                (format!("{number} ({})", job.about), job.state.clone())
            };
            list.jobs.iter().filter(is_running).map(stop).collect()
        };
        let mut stopped = Vec::with_capacity(running.len());
        for (about, mut state) in running {
            // One whose end is never told has none to wait for.
            let _ = timeout(STOP_LIMIT, state.wait_for(|state| *state != JobState::Running)).await;
            stopped.push(about);
        }
        stopped
    }
}

/// A name that no other agent of this machine writes to: all of them share the folder.
fn file_name() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    format!("job-{}-{}.out", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// What a program is, in a line.
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
    let what = format!("There is no job {job}");
    ToolError::new(Fault::NotFound, what, "Start one with `shell_start`.")
}

/// Starts a program and does not wait for it.
#[derive(Clone, Debug)]
pub struct ShellStart {
    pub programs: Arc<Programs>,
    pub jobs: ShellJobs,
}

/// Either `argv` or `script`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShellStartInput {
    /// A program and its arguments, passed on as they are; no shell reads them.
    argv: Option<Vec<String>>,
    /// A text for `/bin/sh`, for pipes, redirections and several commands.
    script: Option<String>,
    /// The folder to run in, relative to the workspace; its root if left out.
    folder: Option<String>,
    /// Seconds until it is stopped, at most six hours; half an hour if left out.
    #[schemars(range(min = 1))]
    time_limit: Option<u64>,
}

impl ShellStartInput {
    fn order(&self) -> ShellRunInput {
        ShellRunInput::new(self.argv.clone(), self.script.clone(), self.folder.clone())
    }
}

impl Tool for ShellStart {
    type Input = ShellStartInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "shell_start",
        toolkit: "shell",
        category: Category::Execute,
        description: "Starts a program in the background and returns the number of its job: for a server, a watcher, or a \
            build that takes minutes. Read what it says with shell_poll; end it with shell_stop. Every job ends with the \
            turn. Otherwise as shell_run.",
        time_limit: Duration::from_secs(30),
        shown_bytes: 4_000,
    };

    fn footprint(&self, input: &ShellStartInput) -> Result<Footprint, ToolError> {
        input.order().footprint(&self.programs)
    }

    fn preview(&self, input: &ShellStartInput) -> Result<Preview, ToolError> {
        input.order().preview()
    }

    async fn run(&self, input: ShellStartInput, ctx: &ToolContext) -> Result<Output, ToolError> {
        let order = input.order();
        let seconds = input.time_limit.unwrap_or(DEFAULT_SECONDS).clamp(1, MAX_SECONDS);
        let folder = order.full_folder(ctx)?;
        let scratch = WriteScope::create_inside(&ctx.spill, SCRATCH, Access::Private)
            .map_err(|error| unusable(error.to_string()))?;
        let mut list = self.jobs.lock();
        let is_running = |job: &&ShellJob| *job.state.borrow() == JobState::Running;
        if MAX_RUNNING <= list.jobs.values().filter(is_running).count() {
            let what = format!("{MAX_RUNNING} jobs are running already");
            return Err(ToolError::new(Fault::BudgetSpent, what, "Stop one with `shell_stop`."));
        }
        list.last += 1;
        let job = list.last;
        let file = RelPath::new(&file_name()).map_err(|error| unusable(error.to_string()))?;
        let about = about(&order.program()?);
        let out = scratch.full(&file).to_string_lossy().into_owned();
        let program = redirected(order.program()?, out);
        let cancel = CancelSource::new();
        let (tell, state) = watch::channel(JobState::Running);
        let (programs, limit) = (Arc::clone(&self.programs), Duration::from_secs(seconds));
        let ctx = ToolContext { cancel: cancel.token(), ..ctx.clone() };
        let task = tokio::spawn(async move {
            let ended = programs.run(program, &folder, limit, &ctx).await;
            tell.send_replace(JobState::Ended(match ended {
                Ok(finished) => [vec![ending(&finished)], finished.notes].concat().join("\n"),
                Err(error) => format!("could not run: {}", error.what),
            }));
        });
        list.jobs.insert(job, ShellJob { state, cancel, task, scratch, file, about, n_shown: 0 });
        let text = format!("job {job} runs; look at it with shell_poll");
        Ok(Output { text, value: json!({ "job": job }), changed: Vec::new() })
    }
}

/// The same program, writing into a file.
fn redirected(program: Program, out: String) -> Program {
    let mut arguments = match &program {
        Program::Argv { .. } => vec!["-c".to_owned(), "exec \"$@\" >\"$0\" 2>&1".to_owned(), out],
        Program::Script(script) => {
            vec!["-c".to_owned(), format!("exec >\"$0\" 2>&1\n{script}"), out]
        }
    };
    if let Program::Argv { name, arguments: given } = program {
        arguments.push(name);
        arguments.extend(given);
    }
    Program::Argv { name: "/bin/sh".to_owned(), arguments }
}

/// Reads what a job says.
#[derive(Clone, Debug)]
pub struct ShellPoll {
    pub jobs: ShellJobs,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShellPollInput {
    /// The number that `shell_start` returned.
    job: u32,
    /// Seconds to wait for its end, at most 60; none if left out.
    wait: Option<u64>,
}

impl Tool for ShellPoll {
    type Input = ShellPollInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "shell_poll",
        toolkit: "shell",
        category: Category::Execute,
        description: "Shows what a background job wrote since the last look, and whether it still runs.",
        time_limit: Duration::from_secs(MAX_WAIT_SECONDS + 10),
        shown_bytes: 16_000,
    };

    fn footprint(&self, _: &ShellPollInput) -> Result<Footprint, ToolError> {
        Ok(Footprint::default())
    }

    async fn run(&self, input: ShellPollInput, ctx: &ToolContext) -> Result<Output, ToolError> {
        let mut state = self.jobs.state(input.job)?;
        let wait = Duration::from_secs(input.wait.unwrap_or(0).min(MAX_WAIT_SECONDS));
        let ended = state.wait_for(|state| *state != JobState::Running);
        tokio::select! {
            biased;
            () = ctx.cancel.cancelled() => {}
            // Whether it ended is read below.
            _ = timeout(wait, ended) => {}
        }
        self.jobs.look(input.job)
    }
}

/// Ends a job.
#[derive(Clone, Debug)]
pub struct ShellStop {
    pub jobs: ShellJobs,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShellStopInput {
    /// The number that `shell_start` returned.
    job: u32,
}

impl Tool for ShellStop {
    type Input = ShellStopInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "shell_stop",
        toolkit: "shell",
        category: Category::Execute,
        description: "Ends a background job and everything that it started, and shows its last words.",
        time_limit: Duration::from_secs(20),
        shown_bytes: 16_000,
    };

    fn footprint(&self, _: &ShellStopInput) -> Result<Footprint, ToolError> {
        Ok(Footprint::default())
    }

    async fn run(&self, input: ShellStopInput, _: &ToolContext) -> Result<Output, ToolError> {
        let mut state = self.jobs.state(input.job)?;
        if let Some(job) = self.jobs.lock().jobs.get(&input.job) {
            job.cancel.cancel();
        }
        // One whose end is never told has none to wait for.
        let _ = timeout(STOP_LIMIT, state.wait_for(|state| *state != JobState::Running)).await;
        self.jobs.look(input.job)
    }
}
