//! One turn: the agent works on what a person said, and every step is saved before anybody hears of it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nacre_api::wire::{self, ChatStartRequest, ErrorCode, TaskEnd, TaskUpdate, TurnUsage};
use nacre_engine::lifecycle::{
    Attachment, CheckpointError, Conversation, Ending, Engine, Item, Job, Outcome, RunError,
    run as run_agent,
};
use nacre_engine::model::{ErrorKind, Role};
use nacre_engine::record::state::{Holder, NewItem, State};
use nacre_engine::record::{
    Events as AgentEvents, Heartbeat, Listener, Recording, RecordingRules, RunEffects, Runner,
};
use nacre_engine::tools::{Approval, Pipeline, PipelineParts};

use super::asked::Asked;
use super::asking::Asking;
use super::attached::Attaching;
use super::memory::EndedTurn;
use super::pictures;
use super::shared::{ChatShared, LiveTurn, open_state};
use super::tell::Teller;
use super::toolbox::Toolbox;
use super::undo;
use crate::error::OpError;
use crate::host::{Host, cancelled_elsewhere, clock, empty_spill, no_answer, words};

/// Words of the model are joined for this long before they are a message.
const JOINED: Duration = Duration::from_millis(30);

/// Runs a turn to its end and returns the last message of it.
pub(super) fn run(chats: &Arc<ChatShared>, turn: &Arc<LiveTurn>, asked: &Asked) -> TaskUpdate {
    match work(chats, turn, asked) {
        Ok(last) => last,
        Err(error) => TaskUpdate::Failed { error: error.into(), usage: TurnUsage::default() },
    }
}

fn work(
    chats: &Arc<ChatShared>,
    turn: &Arc<LiveTurn>,
    asked: &Asked,
) -> Result<TaskUpdate, OpError> {
    let folder = asked.session.workspace.as_ref().map(std::path::PathBuf::from);
    let host = chats.open_host(folder.as_deref())?;
    let home = host.home_scope()?;
    let toolbox = Toolbox::open(chats, &host, &home, asked)?;
    let teller = Arc::new(Teller::new(Arc::clone(&turn.log), toolbox.checklist.clone()));
    let recording = start_recording(&host, turn)?;
    let mut listeners: Vec<Arc<dyn Listener>> = vec![teller.clone()];
    listeners.extend(recording.0.listeners());
    let events = AgentEvents::new(turn.log.task.clone(), clock(&host), listeners);
    let running = Running { chats, turn, asked, host: &host, toolbox: &toolbox, teller: &teller };
    let outcome = host.block_on(running.go(events, recording.1))?;
    // Whatever could not be written down stands in the way of no answer.
    let _ = host.block_on(recording.0.close());
    empty_spill(&host, &home);
    if let Ok(state) = open_state(&host)
        && let Ok(session) = state.session(&asked.session.id)
    {
        let said = asked.request.text.as_str();
        EndedTurn { state: &state, session: &session, said }.remember(&host);
    }
    let mut outcome = outcome?;
    list_unchecked(&mut outcome, &toolbox, turn);
    Ok(last_message(outcome, &teller, turn, has_pictures(&asked.request)))
}

/// Tells which places and memories of the answer nobody looked up.
fn list_unchecked(outcome: &mut Outcome, toolbox: &Toolbox, turn: &LiveTurn) {
    let is_done = matches!(outcome.ending, Ending::Completed { .. });
    let unchecked = if is_done { toolbox.unchecked(outcome) } else { Vec::new() };
    if unchecked.is_empty() {
        return;
    }
    let text = format!("Not checked: {}", unchecked.join(", "));
    outcome.text.push_str(&format!("\n\n{text}"));
    turn.log.tell(TaskUpdate::Notice { text });
}

/// Writes down what the run tells, for `nacre events`, and gives signs of life.
fn start_recording(host: &Host, turn: &LiveTurn) -> Result<(Recording, Heartbeat), OpError> {
    let (home, owner, wait) = (host.home_scope()?, host.owner("chat"), host.settings().lock.wait);
    let rules = RecordingRules {
        otlp: &host.settings().telemetry.otlp_endpoint,
        words: words(host.settings()),
    };
    let recording = Recording::start(&home, &owner, wait, rules)?;
    let heartbeat = Heartbeat {
        state: open_state(host)?,
        runner: Runner::here(host.environment.pid),
        task: turn.log.task.clone(),
        clock: clock(host),
    };
    Ok((recording, heartbeat))
}

/// A turn under way.
struct Running<'a> {
    chats: &'a Arc<ChatShared>,
    turn: &'a Arc<LiveTurn>,
    asked: &'a Asked,
    host: &'a Host,
    toolbox: &'a Toolbox,
    teller: &'a Arc<Teller>,
}

impl Running<'_> {
    /// Lets the agent work until it ends or somebody stops it, and passes its words on meanwhile.
    async fn go(&self, events: AgentEvents, heartbeat: Heartbeat) -> Result<Outcome, OpError> {
        let control = self.turn.handle.control();
        let state = Mutex::new(open_state(self.host)?.without_words(words(self.host.settings())));
        let history = self.history(&state)?;
        let mut pipeline = self.pipeline(&events)?;
        let checkpoint = |items: &[Item]| self.save(&state, items);
        let job = Job {
            spec: &self.toolbox.spec,
            history,
            asked: &self.asked.request.text,
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
            let mut elsewhere = std::pin::pin!(cancelled_elsewhere(Some(heartbeat)));
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
        self.pass_on_unheard(&mut outcome);
        Ok(outcome)
    }

    /// What comes with the person's words: a skill that they named, and what they attached.
    fn attachments(&self) -> Result<Vec<Attachment>, OpError> {
        let mut found = Vec::new();
        if let Some(name) = &self.asked.request.skill {
            let skill = self.toolbox.deps.skills.find(name).ok_or_else(|| {
                OpError::not_found(format!("There is no skill `{name}`"))
                    .hint("`nacre skill list` shows them")
            })?;
            let text = skill.instructions(&self.asked.request.text);
            let name_of_it = format!("the skill {name}, which I ask you to follow");
            found.push(Attachment::text(name_of_it, text));
            self.toolbox.skills.add(skill);
            self.turn.log.tell(TaskUpdate::Skill { skill: name.clone() });
        }
        let deps = &self.toolbox.deps;
        let (host, workspace, models) = (self.host, &deps.workspace, &deps.models);
        found.extend(Attaching { host, workspace, models }.read_all(&self.asked.request)?);
        Ok(found)
    }

    /// What was said before, as the model is sent it.
    fn history(&self, state: &Mutex<State>) -> Result<Conversation, OpError> {
        let state = state.lock().unwrap_or_else(PoisonError::into_inner);
        let records = state.items(&self.asked.session.id, 0, usize::MAX)?;
        let items = records.iter().map(|record| Item::from_json(&record.json));
        let mut conversation = Conversation::from_items(items);
        if self.toolbox.deps.models.route(Role::Chat)?.takes_images() {
            pictures::look_up(self.host, &mut conversation);
        }
        Ok(conversation)
    }

    fn pipeline(&self, events: &AgentEvents) -> Result<Pipeline, OpError> {
        let asked = &self.asked;
        let policy = asked.policy();
        let approver = Asking::new(Arc::clone(self.chats), Arc::clone(&self.turn.log));
        let parts = PipelineParts {
            tools: self.toolbox.tools(events),
            workspace: Arc::clone(&self.toolbox.deps.workspace),
            spill: self.toolbox.deps.spill.clone(),
            cache: Arc::clone(&self.toolbox.deps.cache),
            effects: self.toolbox.effects.clone(),
            approval: Approval {
                policy: super::asking::engine_policy(policy),
                approver: Some(Arc::new(approver)),
                grants: self.chats.allowed_in(&asked.session.id),
            },
            events: events.clone(),
        };
        Pipeline::new(self.toolbox.spec.tool_policy(), parts)
            .map_err(|error| OpError::from_error(ErrorCode::Failed, &error, None))
    }

    /// Saves what a step came to, then tells of it.
    fn save(&self, state: &Mutex<State>, items: &[Item]) -> Result<(), CheckpointError> {
        let new: Vec<NewItem> = items
            .iter()
            .map(|item| NewItem { kind: item.kind().to_owned(), json: item.to_json() })
            .collect();
        let runner = Runner::here(self.host.environment.pid);
        let holder =
            Holder { session: &self.asked.session.id, task: &self.turn.log.task, runner: &runner };
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        state.append_items(holder, &new, (self.toolbox.deps.clock)())?;
        self.teller.saved(items);
        Ok(())
    }

    /// Ends the programs that run in the background, so that nothing changes files after the turn.
    async fn end_jobs(&self, pipeline: &mut Pipeline, outcome: &mut Outcome) {
        if self.toolbox.jobs.is_empty() {
            return;
        }
        for job in self.toolbox.jobs.stop_all().await {
            let text = format!("The background job {job} was stopped with the turn");
            self.turn.log.tell(TaskUpdate::Notice { text });
        }
        let changed = pipeline.look_again((self.toolbox.deps.clock)()).await;
        outcome.effects.changed.extend(changed);
    }

    /// Words that came too late for the agent are told to the person again, who may say them once more.
    fn pass_on_unheard(&self, outcome: &mut Outcome) {
        for words in std::mem::take(&mut outcome.unheard) {
            self.turn.log.tell(TaskUpdate::Notice {
                text: format!("This came too late for the agent: {words}"),
            });
        }
    }
}

fn has_pictures(request: &ChatStartRequest) -> bool {
    request.attachments.iter().any(|attached| matches!(attached, wire::Attachment::Image { .. }))
}

fn last_message(
    outcome: Outcome,
    teller: &Teller,
    turn: &LiveTurn,
    has_pictures: bool,
) -> TaskUpdate {
    let usage = teller.usage();
    match outcome.ending {
        Ending::Completed { signal, reason } => TaskUpdate::Completed(TaskEnd {
            signal: signal.as_str().to_owned(),
            reason,
            text: outcome.text,
            changed: changed_paths(&outcome.effects),
            usage,
        }),
        Ending::Cancelled(by) => TaskUpdate::Cancelled { by: by.as_str().to_owned() },
        Ending::Failed(error) => {
            let error = failure(&error, turn, has_pictures);
            TaskUpdate::Failed { error: error.into(), usage }
        }
    }
}

fn failure(error: &RunError, turn: &LiveTurn, has_pictures: bool) -> OpError {
    let failed = match error {
        RunError::Model(error) if error.kind == ErrorKind::BadRequest && has_pictures => {
            no_answer(error).hint("The model may not take pictures; choose another, or describe it")
        }
        RunError::Model(error) => no_answer(error),
        RunError::Roles(_)
        | RunError::Schema(_)
        | RunError::Refused
        | RunError::Filtered
        | RunError::Stopped(_)
        | RunError::Empty
        | RunError::MadeUpResult
        | RunError::CutOff { .. }
        | RunError::Invalid { .. }
        | RunError::OutOfSteps { .. }
        | RunError::OutOfTime
        | RunError::TooLong(_)
        | RunError::Checkpoint(_) => OpError::from_error(ErrorCode::Failed, error, None),
    };
    failed.hint(format!("What happened: nacre events show {}", turn.log.task))
}

/// Every file that a turn changed, once.
fn changed_paths(effects: &RunEffects) -> Vec<String> {
    let mut paths: Vec<String> = effects.changed.iter().map(|change| change.path.clone()).collect();
    paths.sort_unstable();
    paths.dedup();
    paths
}
