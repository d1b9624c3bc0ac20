//! The life cycle of a turn: queueing, execution, and recovery after a crash.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use nacre_engine::lifecycle::{
    Attachment, CheckpointError, Conversation, Ending, Engine, Item, Job, Outcome, RunError,
    RunHandle, Stopped, run as run_agent,
};
use nacre_engine::model::{ErrorKind, Role};
use nacre_engine::record::state::{NewItem, Recorder, State, TaskRecord, TaskStore as _};
use nacre_engine::record::{
    CancelledBy, Events as AgentEvents, Failure, Heartbeat, Listener, NewTask, Runner, Start,
    TaskClass, TaskId, TaskState,
};
use nacre_engine::tools::{Approval, Pipeline, PipelineParts};
use nacre_types::{ChatStartReport, ChatStartRequest, TaskEnd, TaskMessage, TaskUpdate, TurnUsage};

use super::approvals::TurnApprover;
use super::log::TaskLog;
use super::sessions::{GUEST, find_session};
use super::tell::TurnReporter;
use super::toolbox::{Toolbox, remember};
use super::{CallOrigin, ChatShared, LiveTurn, attachments, open_state, random, undo};
use crate::host::{
    clock, empty_spill, new_task, run_failed, telemetry, wait_for_cancellation, words,
};
use crate::prelude::*;

const JOINED: Duration = Duration::from_millis(30);

fn work(chats: &Arc<ChatShared>, turn: &Arc<LiveTurn>) -> Result<TaskUpdate> {
    let host = chats.open_host(turn.origin())?;
    let home = host.home_scope()?;
    let toolbox = Toolbox::open(chats, &host, &home, turn)?;
    let teller = Arc::new(TurnReporter::new(Arc::clone(&turn.log), toolbox.checklist.clone()));
    let (recorder, heartbeat) = start_recording(&host, turn)?;
    let listeners: Vec<Arc<dyn Listener>> = vec![teller.clone(), recorder.clone()];
    let events = AgentEvents::new(turn.log.task.clone(), clock(&host), listeners);
    let running = Running { chats, turn, host: &host, toolbox: &toolbox, teller: &teller };
    let outcome = host.block_on(running.go(events, heartbeat))?;
    // The answer is returned even if recording fails.
    let _ = recorder.close();
    empty_spill(&host, &home);
    if let Ok(state) = open_state(&host)
        && let Ok(session) = state.session(&turn.session.id)
    {
        remember(&host, &state, &session, &turn.request.text);
    }
    let mut outcome = outcome?;
    let is_done = matches!(outcome.ending, Ending::Completed { .. });
    let unchecked = if is_done { toolbox.find_unchecked(&outcome) } else { Vec::new() };
    if !unchecked.is_empty() {
        let text = format!("Not checked: {}", unchecked.join(", "));
        outcome.text.push_str(&format!("\n\n{text}"));
        turn.log.tell(TaskUpdate::Notice { text });
    }
    Ok(last_message(outcome, &teller, turn))
}

fn start_recording(host: &Host, turn: &LiveTurn) -> Result<(Arc<Recorder>, Heartbeat)> {
    let (home, owner, wait) = (host.home_scope()?, host.owner("chat"), host.settings().lock.wait);
    let recorder = Recorder::open(&home, &owner, wait, words(host.settings()), telemetry(host))?;
    let heartbeat = Heartbeat {
        state: open_state(host)?,
        runner: Runner::here(host.environment.pid),
        task: turn.log.task.clone(),
        clock: clock(host),
    };
    Ok((recorder, heartbeat))
}

struct Running<'a> {
    chats: &'a Arc<ChatShared>,
    turn: &'a Arc<LiveTurn>,
    host: &'a Host,
    toolbox: &'a Toolbox,
    teller: &'a Arc<TurnReporter>,
}

impl Running<'_> {
    async fn go(&self, events: AgentEvents, heartbeat: Heartbeat) -> Result<Outcome> {
        let control = self.turn.handle.control();
        let state = Mutex::new(open_state(self.host)?.without_words(words(self.host.settings())));
        let history = self.history(&state)?;
        let mut pipeline = self.pipeline(&events)?;
        let checkpoint = |items: &[Item]| self.save(&state, items);
        let job = Job {
            spec: &self.toolbox.spec,
            history,
            asked: &self.turn.request.text,
            attachments: self.attachments()?,
            checkpoint: Some(&checkpoint),
            events,
            skills: Some(Arc::clone(&self.toolbox.skills)),
            children: Arc::clone(&self.toolbox.children),
            seed: self.toolbox.deps.seed,
        };
        let deps = &self.toolbox.deps;
        let engine = Engine {
            models: &deps.models,
            policy: &deps.policy,
            limits: &deps.limits,
            clock: &deps.clock,
        };
        let mut outcome = {
            let mut work = std::pin::pin!(run_agent(engine, job, &mut pipeline, &control));
            let mut elsewhere = std::pin::pin!(wait_for_cancellation(Some(heartbeat)));
            let mut is_stopped = false;
            loop {
                tokio::select! {
                    biased;
                    outcome = &mut work => break outcome,
                    by = &mut elsewhere, if !is_stopped => {
                        is_stopped = true;
                        self.turn.handle.cancel(by);
                    }
                    () = tokio::time::sleep(JOINED) => self.turn.log.flush(),
                }
            }
        };
        self.end_jobs(&mut pipeline, &mut outcome).await;
        undo::keep(self.host, &self.turn.log, &deps.workspace, &pipeline.turn_changes())?;
        // Messages that reached the agent too late are reported, so that the user can send them
        // again.
        for words in std::mem::take(&mut outcome.unheard) {
            let text = format!("The agent had already finished when this message arrived: {words}");
            self.turn.log.tell(TaskUpdate::Notice { text });
        }
        Ok(outcome)
    }

    fn attachments(&self) -> Result<Vec<Attachment>> {
        let mut found = Vec::new();
        if let Some(name) = &self.turn.request.skill {
            let skill = self.toolbox.deps.skills.find(name).ok_or_else(|| {
                OpError::not_found(format!("Skill `{name}` not found"))
                    .hint("`nacre skill` lists the skills")
            })?;
            let text = skill.instructions(&self.turn.request.text);
            let name_of_it = format!("the skill {name}, which I ask you to follow");
            found.push(Attachment::text(name_of_it, text));
            self.toolbox.skills.add(skill);
            self.turn.log.tell(TaskUpdate::Skill { skill: name.clone() });
        }
        let deps = &self.toolbox.deps;
        found.extend(attachments::read_all(self.host, deps, &self.turn.request)?);
        Ok(found)
    }

    fn history(&self, state: &Mutex<State>) -> Result<Conversation> {
        let state = state.lock().unwrap_or_else(PoisonError::into_inner);
        let records = state.items(&self.turn.session.id, 0, usize::MAX)?;
        let items = records.iter().map(|record| Item::from_json(&record.json));
        let mut conversation = Conversation::from_items(items);
        if self.toolbox.deps.models.route(Role::Chat)?.takes_images() {
            attachments::look_up(self.host, &mut conversation);
        }
        Ok(conversation)
    }

    fn pipeline(&self, events: &AgentEvents) -> Result<Pipeline> {
        let (chats, log) = (Arc::clone(self.chats), Arc::clone(&self.turn.log));
        let parts = PipelineParts {
            tools: self.toolbox.tools(events),
            workspace: Arc::clone(&self.toolbox.deps.workspace),
            spill: self.toolbox.deps.spill.clone(),
            effects: self.toolbox.effects.clone(),
            approval: Approval {
                policy: self.turn.policy(),
                approver: Some(Arc::new(TurnApprover { chats, log })),
                grants: self.chats.grants_of(&self.turn.session.id),
            },
            events: events.clone(),
        };
        self.toolbox.spec.pipeline(parts).map_err(|error| OpError::wrap(&error))
    }

    /// Saves a step's items. Items must be saved before they are reported.
    fn save(&self, state: &Mutex<State>, items: &[Item]) -> Result<(), CheckpointError> {
        let mut new: Vec<NewItem> = items.iter().map(Item::to_new).collect();
        if self.turn.is_guests.load(Ordering::Relaxed) {
            new.iter_mut().for_each(|item| item.json[GUEST] = true.into());
        }
        let runner = Runner::here(self.host.environment.pid);
        let (session, task) = (&self.turn.session.id, &self.turn.log.task);
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        state.append_items(session, task, &runner, &new, (self.toolbox.deps.clock)())?;
        self.teller.report_saved(items);
        Ok(())
    }

    /// Kills background programs, so that they cannot change files after the turn.
    async fn end_jobs(&self, pipeline: &mut Pipeline, outcome: &mut Outcome) {
        if self.toolbox.jobs.is_empty() {
            return;
        }
        for job in self.toolbox.jobs.stop_all().await {
            let text = format!("The background job {job} was stopped at the end of the turn");
            self.turn.log.tell(TaskUpdate::Notice { text });
        }
        let changed = pipeline.look_again((self.toolbox.deps.clock)()).await;
        outcome.effects.changed.extend(changed);
    }
}

fn last_message(outcome: Outcome, teller: &TurnReporter, turn: &LiveTurn) -> TaskUpdate {
    let usage = teller.usage();
    let changed = outcome.effects.changed.into_iter().map(|change| change.path);
    let changed: BTreeSet<String> = changed.collect();
    match outcome.ending {
        Ending::Completed { signal, reason } => TaskUpdate::Completed(TaskEnd {
            signal: signal.as_str().to_owned(),
            reason,
            text: outcome.text,
            changed: changed.into_iter().collect(),
            usage,
        }),
        Ending::Cancelled(by) => TaskUpdate::Cancelled { by: by.as_str().to_owned() },
        Ending::Failed(error) => {
            let error = failure(&error, turn);
            TaskUpdate::Failed { error: error.into(), usage }
        }
    }
}

fn failure(error: &RunError, turn: &LiveTurn) -> OpError {
    let mut failed = run_failed(error);
    let is_picture =
        |one: &nacre_types::Attachment| matches!(one, nacre_types::Attachment::Image { .. });
    if turn.request.attachments.iter().any(is_picture)
        && let RunError::Model(error) = error
        && error.kind == ErrorKind::BadRequest
    {
        failed = failed
            .hint("The model may not support images; choose another model, or describe the image");
    }
    failed.hint(format!("For details: nacre events {}", turn.log.task))
}

/// Longer text must be sent as an attachment.
const MAX_TEXT_BYTES: usize = 1 << 20;

const POLL: Duration = Duration::from_millis(300);

/// Accepts a turn, and runs it once the earlier turns of its session have ended.
pub(super) async fn start(
    chats: &Arc<ChatShared>,
    origin: CallOrigin,
    request: ChatStartRequest,
) -> Result<(ChatStartReport, Arc<TaskLog>)> {
    if request.text.trim().is_empty() && request.skill.is_none() {
        return Err(OpError::usage("The message is empty"));
    }
    if MAX_TEXT_BYTES < request.text.len() {
        return Err(OpError::usage("The text is too long").hint("Attach it as a file"));
    }
    let shared = Arc::clone(chats);
    let turn = chats.call(origin, move |host| accept(&shared, host, request)).await?;
    let log = Arc::clone(&turn.log);
    log.tell(TaskUpdate::Accepted { text: turn.request.text.clone() });
    let report = ChatStartReport { task: log.task.to_string(), session: log.session.to_string() };
    tokio::spawn(live(Arc::clone(chats), turn));
    Ok((report, log))
}

fn accept(chats: &ChatShared, host: &Host, request: ChatStartRequest) -> Result<Arc<LiveTurn>> {
    let mut state = open_state(host)?;
    recover(host, &mut state)?;
    let session = find_session(&state, &request.session)?;
    let task = TaskId::from_random(random(host)?);
    let hidden = words(host.settings());
    let new = NewTask {
        session: session.id.clone(),
        project: session.project.clone(),
        ..new_task(host, &task, "chat", TaskClass::Interactive, &request.text, &hidden)
    };
    state.accept(&new, &Runner::here(host.environment.pid), host.now())?;
    let log = TaskLog::new(task.clone(), session.id.clone(), state, hidden, clock(host));
    let (log, handle, caller) = (Arc::new(log), RunHandle::new(), host.caller.clone());
    let is_guests = AtomicBool::new(!caller.is_owner());
    let turn = Arc::new(LiveTurn { log, is_guests, handle, session, request, caller });
    chats.live().insert(task, Arc::clone(&turn));
    Ok(turn)
}

/// Waits until the turn may run, runs it, and always sends a final message.
async fn live(chats: Arc<ChatShared>, turn: Arc<LiveTurn>) {
    let task = turn.log.task.clone();
    let last = match wait(&chats, &turn).await {
        Ok(None) => {
            let (shared, running) = (Arc::clone(&chats), Arc::clone(&turn));
            let work = tokio::task::spawn_blocking(move || work(&shared, &running));
            work.await.unwrap_or_else(|_| Ok(turn_failure("Internal error during the turn")))
        }
        Ok(Some(by)) => Ok(TaskUpdate::Cancelled { by: by.as_str().to_owned() }),
        Err(error) => Err(error),
    };
    let failed =
        |error: OpError| TaskUpdate::Failed { error: error.into(), usage: TurnUsage::default() };
    let last = last.unwrap_or_else(failed);
    record_end(&chats, &task, &last).await;
    turn.log.tell(last);
    chats.live().remove(&task);
    chats.turn_ended.notify_waiters();
}

fn turn_failure(message: &str) -> TaskUpdate {
    let error = OpError::failed(message);
    let error = error.hint("The work done so far was kept; send a message to continue");
    TaskUpdate::Failed { error: error.into(), usage: TurnUsage::default() }
}

async fn record_end(chats: &Arc<ChatShared>, task: &TaskId, last: &TaskUpdate) {
    let (task, was_cancelled) = (task.clone(), matches!(last, TaskUpdate::Cancelled { .. }));
    let ended = chats.call(CallOrigin::default(), move |host| {
        let mut state = open_state(host)?;
        let record = state.task(&task)?;
        if record.state.is_terminal() {
            return Ok(());
        }
        match (record.state, was_cancelled) {
            (TaskState::Accepted | TaskState::Queued, _) => {
                state.cancel(&task, CancelledBy::Person, host.now())?;
            }
            (_, true) => {
                let by = CancelledBy::Person;
                state.go(&task, TaskState::Cancelled { by }, host.now())?;
            }
            (_, false) => {
                let why = Failure::Internal;
                state.go(&task, TaskState::Failed { why }, host.now())?;
            }
        }
        Ok(())
    });
    // If this fails, the next process to open the database ends the run.
    let _ = ended.await;
}

/// Waits until the turn may run. If the turn is cancelled, for example because its token expires or
/// is revoked, returns who cancelled it.
async fn wait(chats: &Arc<ChatShared>, turn: &LiveTurn) -> Result<Option<CancelledBy>> {
    let control = turn.handle.control();
    let mut told = None;
    loop {
        let ended = chats.turn_ended.notified();
        if control.stop_reason() == Some(Stopped::Cancelled) {
            return Ok(Some(control.cancel_source()));
        }
        let (task, identity) = (turn.log.task.clone(), turn.caller.identity.clone());
        let looked = chats.call(CallOrigin::default(), move |host| {
            if host.caller_now(&identity)?.is_none() {
                return Ok(None);
            }
            let runner = Runner::here(host.environment.pid);
            Ok(Some(open_state(host)?.start(&task, &runner, host.now())?))
        });
        match looked.await? {
            None => return Ok(Some(CancelledBy::Person)),
            Some(Start::Now) => return Ok(None),
            Some(Start::Waits { position }) if told == Some(position) => {}
            Some(Start::Waits { position }) => {
                told = Some(position);
                let position = u32::try_from(position).unwrap_or(u32::MAX);
                turn.log.tell(TaskUpdate::Queued { position });
            }
        }
        tokio::select! {
            () = ended => {}
            () = control.cancel().cancelled() => {}
            () = tokio::time::sleep(POLL) => {}
        }
    }
}

/// Ends turns whose processes are no longer running, and sends a final message for each.
pub(super) fn recover(host: &Host, state: &mut State) -> Result<()> {
    let here = Runner::here(host.environment.pid);
    let now = host.now();
    state.recover(&here, now, |task, sequence| {
        lost_turn_message(task, sequence, &now.to_string())
    })?;
    Ok(())
}

fn lost_turn_message(task: &TaskRecord, sequence: u64, at: &str) -> String {
    let message = TaskMessage {
        task: task.id.to_string(),
        session: task.session.to_string(),
        sequence,
        at: at.to_owned(),
        update: turn_failure("The process running this turn ended"),
    };
    // Protocol types have only string keys, so serialization cannot fail.
    serde_json::to_string(&message).unwrap_or_default()
}
