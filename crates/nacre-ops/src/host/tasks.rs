//! Tasks of this process: written down while they run, stopped from elsewhere, and tidied up after.

use std::sync::Arc;

use nacre_core::base::redact::ExtraWords;
use nacre_core::config::NACRE_NOW;
use nacre_core::safefs::{Access, RelPath, WriteScope};
use nacre_engine::record::state::{State, StateError};
use nacre_engine::record::{
    CancelledBy, Clock, Heartbeat, NewTask, Recording, RecordingRules, Runner, SessionId,
    TaskClass, TaskId,
};

use super::Host;
use crate::error::OpError;

/// Where long tool output is kept while an agent may still ask for it.
pub const SPILL_FOLDER: &str = "spill";

/// More files than this are emptied out; each can be made again by asking again.
const MAX_SPILLED: usize = 256;

/// What is known of a task before it runs.
pub struct Planned<'a> {
    pub id: &'a TaskId,
    pub agent: &'static str,
    pub class: TaskClass,
    pub project: Option<String>,
    pub title: String,
    /// Words of its project that are not written down.
    pub words: ExtraWords,
}

impl Planned<'_> {
    /// The task as a state takes it in.
    pub(super) fn new_task(&self, host: &Host) -> NewTask {
        let Self { id, agent, class, project, title, words } = self;
        NewTask {
            id: (*id).clone(),
            session: SessionId::from_random(u64::from(host.environment.pid) ^ hash(id)),
            parent: None,
            project: project.clone(),
            agent: (*agent).to_owned(),
            class: *class,
            // Redacted before it is cut: half a word would not be found.
            title: words.redact(title).chars().take(200).collect(),
        }
    }
}

/// Takes the task in and starts to write down what it tells.
pub fn record(
    host: &Host,
    home: &WriteScope,
    planned: Planned<'_>,
) -> Result<(Recording, Heartbeat), StateError> {
    let owner = host.owner("run");
    let wait = host.settings().lock.wait;
    let new = planned.new_task(host);
    let Planned { id, words, .. } = planned;
    let mut state = State::open(home, &owner, wait)?.without_words(words.clone());
    let runner = Runner::here(host.environment.pid);
    state.accept(&new, &runner, host.now())?;
    state.start(id, &runner, host.now())?;
    let rules = RecordingRules { otlp: &host.settings().telemetry.otlp_endpoint, words };
    let recording = Recording::start(home, &owner, wait, rules)?;
    let (task, clock) = (id.clone(), clock(host));
    Ok((recording, Heartbeat { state, runner, task, clock }))
}

/// A session of its own for each task that belongs to none.
fn hash(task: &TaskId) -> u64 {
    task.as_str().bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

/// Waits until another process wants the task stopped.
pub async fn cancelled_elsewhere(heartbeat: Option<Heartbeat>) -> CancelledBy {
    match heartbeat {
        Some(heartbeat) => heartbeat.until_cancelled().await,
        // What is not written down cannot be cancelled by name.
        None => std::future::pending().await,
    }
}

/// The clock of a run, which stands still where a test stopped it.
pub fn clock(host: &Host) -> Clock {
    let now = host.now();
    let is_stopped = host.environment.var(NACRE_NOW).is_some();
    if is_stopped { Arc::new(move || now) } else { Arc::clone(&host.environment.clock) }
}

/// A number of its own for each run: no two runs of one home have both the moment and the process.
pub fn seed(host: &Host) -> u64 {
    host.now().as_nanosecond() as u64 ^ (u64::from(host.environment.pid) << 40)
}

/// The folder for long tool output.
pub fn spill(home: &WriteScope) -> Result<WriteScope, OpError> {
    Ok(WriteScope::create_inside(home.path(), SPILL_FOLDER, Access::Private)?)
}

/// Empties that folder when there is too much in it.
pub fn empty_spill(host: &Host, home: &WriteScope) {
    let Ok(folder) = RelPath::new(SPILL_FOLDER) else { return };
    let entries = home.list(&folder).unwrap_or_default();
    if entries.len() <= MAX_SPILLED {
        return;
    }
    // Nothing depends on it: what is left is emptied out the next time.
    let Ok(writer) = home.lock(&host.owner("run"), host.settings().lock.wait) else { return };
    for entry in entries {
        if let Ok(path) = folder.join(&entry.name) {
            let _ = writer.remove_derived(&path);
        }
    }
}
