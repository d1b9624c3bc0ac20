//! One way through every run: resolve, prepare, generate, finalize.
//!
//! - `resolve` looks at the spec and the settings and touches nothing.
//! - `prepare` says what the model is told: instructions, tools, the conversation so far.
//! - `generate` takes steps; one step is one model call and its batch of tool calls.
//! - `finalize` counts, and tells the one end of the task.
//!
//! A run returns what came of it and never an error: whatever happens, its task ends, once.

mod ask;
mod compact;
mod finalize;
mod generate;
mod outcome;
mod prepare;
mod progress;
mod react;
mod repeats;
mod resolve;
mod short;
#[cfg(test)]
mod tests;
mod work;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::time::Instant;

use self::finalize::{Terminal, finalize};
use self::generate::Run;
pub use self::outcome::{Ending, Outcome, RunError};
use self::prepare::prepare;
use self::progress::Progress;
use self::resolve::resolve;
pub use self::short::SMALL_WINDOW;
use super::context::{Conversation, Turn};
use super::control::RunControl;
use super::items::Item;
use super::parts::Attachment;
use super::spec::AgentSpec;
use crate::model::{Limits, Models, RetryPolicy};
use crate::record::TaskState;
use crate::record::{Clock, Event, Events};
use crate::tools::ActiveSkills;
use crate::tools::Pipeline;

/// What all runs of a program share.
#[derive(Clone, Copy)]
pub struct Engine<'a> {
    pub models: &'a Models,
    pub policy: &'a RetryPolicy,
    pub limits: &'a Limits,
    pub clock: &'a Clock,
}

/// Why a conversation could not be saved.
pub type CheckpointError = Box<dyn std::error::Error + Send + Sync>;

/// Saves what a run adds to its conversation. A run whose checkpoint fails ends as `failed(internal)`.
///
/// It is given the person's words before the model is asked, what each step came to before the next one begins, and
/// the end of the turn before the task tells its own.
pub type Checkpoint<'a> = dyn Fn(&[Item]) -> Result<(), CheckpointError> + Send + Sync + 'a;

/// One piece of work.
pub struct Job<'a> {
    pub spec: &'a AgentSpec,
    /// What was said before, if anything.
    pub history: Conversation,
    pub asked: &'a str,
    /// What a person handed in beside the words.
    pub attachments: Vec<Attachment>,
    /// Where the conversation is saved, if it is.
    pub checkpoint: Option<&'a Checkpoint<'a>>,
    pub events: Events,
    /// The skills that its tools take up; each may take tools away.
    pub skills: Option<Arc<ActiveSkills>>,
    /// How many helpers it started, counted by its `Delegate`.
    pub children: Arc<AtomicU32>,
    /// Where the jitter of retries comes from.
    pub seed: u64,
}

/// Does a piece of work and tells its end. The tools are those of the spec, under its permissions and budgets.
pub async fn run(
    engine: Engine<'_>,
    job: Job<'_>,
    tools: &mut Pipeline,
    control: &RunControl,
) -> Outcome {
    let begun = Instant::now();
    let mut job = job;
    tools.leave_out(engine.models.words());
    let terminal = Terminal::new(job.events.clone());
    job.events.emit(Event::TaskState(TaskState::Running));
    let control = control.within(job.spec.budgets.wall);
    let mut progress = begin(&mut job);
    let ending = match progress.save(&job) {
        Ok(()) => go_through(engine, &job, tools, &control, &mut progress).await,
        Err(error) => Ending::Failed(error),
    };
    let ending = progress.close(&job, ending);
    progress.children = job.children.load(Ordering::Relaxed);
    let unheard = control.close_steering();
    let outcome = finalize(terminal, ending, progress, tools.tally(), begun.elapsed());
    Outcome { unheard, ..outcome }
}

/// Opens the turn: whatever becomes of the run, what was asked is part of the conversation.
fn begin(job: &mut Job<'_>) -> Progress {
    let attachments = std::mem::take(&mut job.attachments);
    let turn = Turn { attachments, ..Turn::new(job.asked) };
    let mut progress = Progress {
        conversation: std::mem::take(&mut job.history),
        unsaved: vec![turn.opening_item()],
        ..Progress::default()
    };
    progress.conversation.turns.push(turn);
    progress
}

async fn go_through(
    engine: Engine<'_>,
    job: &Job<'_>,
    tools: &mut Pipeline,
    control: &RunControl,
    progress: &mut Progress,
) -> Ending {
    let resolved = match resolve(engine, job.spec) {
        Ok(resolved) => resolved,
        Err(error) => return Ending::Failed(error),
    };
    let prepared = match prepare(job, tools, &resolved) {
        Ok(prepared) => prepared,
        Err(error) => return Ending::Failed(error),
    };
    Run { engine, job, tools, control, resolved, prepared, progress }.generate().await
}
