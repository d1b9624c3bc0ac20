//! Operations that run as tasks: begun by a request, followed on the stream, their reports kept for a while.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use http::{Response, StatusCode};
use nacre_api::wire::{ErrorCode, Event, Outcome, StreamedEvent, TaskStarted, TaskState};
use nacre_ops::people::Caller;
use nacre_ops::{Events, OpError};
use tokio::sync::oneshot;

use super::answer;
use super::body::Body;
use super::hub::{Hub, Source, streamed};
use super::route::{Done, Work};
use crate::calls::{CallInfo, Calls, Pace};

/// Reports that are kept.
const KEPT: usize = 256;

/// A task, what came of it, and who began it.
struct KeptReport {
    task: Arc<str>,
    person: Option<String>,
    report: Result<Done, OpError>,
}

/// The reports of tasks that are over.
#[derive(Default)]
pub(super) struct Reports {
    kept: Mutex<VecDeque<KeptReport>>,
}

impl Reports {
    fn keep(&self, kept_report: KeptReport) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back(kept_report);
    }

    /// The report of a task that this server ran, for whoever began it and for the owner. To others there is none.
    pub(super) fn answer(&self, task: &str, caller: &Caller) -> Response<Body> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let is_meant = |kept: &&KeptReport| {
            let is_theirs = kept.person.is_some() && kept.person.as_deref() == caller.person();
            *kept.task == *task && (is_theirs || caller.permissions.allow_everything())
        };
        match kept.iter().rev().find(is_meant).map(|kept| &kept.report) {
            Some(Ok(done)) => answer::report(done.clone()),
            Some(Err(error)) => answer::failure(error.clone()),
            None => {
                answer::failure(OpError::not_found("There is no report of that task here").hint(
                    "It still runs, ended long ago, or another process ran it: GET /api/tasks/ID",
                ))
            }
        }
    }
}

/// What a task needs of the server.
#[derive(Clone)]
pub(super) struct TaskRunner {
    pub(super) calls: Arc<Calls>,
    pub(super) hub: Arc<Hub>,
    pub(super) reports: Arc<Reports>,
}

/// A task that was begun, or an operation that was over before it became one.
pub(super) enum Begun {
    Task(Arc<str>),
    Over(Result<Done, OpError>),
}

impl TaskRunner {
    /// Runs the operation to its end. Who no longer waits cancels it.
    pub(super) async fn wait(&self, info: CallInfo, work: Work) -> Result<Done, OpError> {
        let (events, story) = self.told(&info, None);
        let result = self.calls.run(info, events, std::future::pending(), work).await;
        self.end(&story, &result);
        result
    }

    /// Begins the operation, and returns once it has a name or is over.
    pub(super) async fn begin(&self, info: CallInfo, work: Work) -> Begun {
        let (tell, told) = oneshot::channel();
        let (events, story) = self.told(&info, Some(tell));
        let runner = self.clone();
        let info = CallInfo { pace: Pace::Background, ..info };
        let running = tokio::spawn(async move {
            let result = runner.calls.run(info, events, std::future::pending(), work).await;
            runner.end(&story, &result);
            result
        });
        match told.await {
            Ok(task) => Begun::Task(task),
            // It ended without having been a task.
            Err(_) => Begun::Over(running.await.unwrap_or_else(|_| Err(OpError::cancelled()))),
        }
    }

    /// Events that go to everybody who listens, and what they have told of the task so far.
    fn told(
        &self,
        info: &CallInfo,
        tell: Option<oneshot::Sender<Arc<str>>>,
    ) -> (Events, Arc<Story>) {
        let (project, person) = (info.project.clone(), info.caller.person().map(str::to_owned));
        let state = Mutex::new(StoryState::default());
        let story = Arc::new(Story { project, person, state });
        let (hub, heard, tell) = (Arc::clone(&self.hub), Arc::clone(&story), Mutex::new(tell));
        let events = Events::new(move |event| {
            if let Event::Started { task, agent, title } = &event {
                let task: Arc<str> = task.as_str().into();
                heard.begin(Arc::clone(&task), agent, title);
                hub.publish(&heard.source(), heard.task_event(TaskState::Running));
                let mut tell = tell.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(tell) = tell.take() {
                    // Nobody waits for it where the connection is gone.
                    let _ = tell.send(task);
                }
            }
            if let Some(event) = streamed(event) {
                hub.publish(&heard.source(), event);
            }
        });
        (events, story)
    }

    fn end(&self, story: &Story, result: &Result<Done, OpError>) {
        let Some(task) = story.source().task else { return };
        let state = match result {
            Ok(done) if done.outcome == Outcome::Failed => TaskState::Failed,
            Ok(_) => TaskState::Completed,
            Err(error) if error.code == ErrorCode::Cancelled => TaskState::Cancelled,
            Err(_) => TaskState::Failed,
        };
        let (person, report) = (story.person.clone(), result.clone());
        self.reports.keep(KeptReport { task, person, report });
        self.hub.publish(&story.source(), story.task_event(state));
    }
}

/// What is known of a task, from its own events.
struct Story {
    project: Option<String>,
    person: Option<String>,
    state: Mutex<StoryState>,
}

#[derive(Default)]
struct StoryState {
    task: Option<Arc<str>>,
    agent: String,
    title: String,
}

impl Story {
    fn begin(&self, task: Arc<str>, agent: &str, title: &str) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // An operation within an operation is part of it.
        if state.task.is_none() {
            let (agent, title) = (agent.to_owned(), title.to_owned());
            *state = StoryState { task: Some(task), agent, title };
        }
    }

    fn source(&self) -> Source {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (project, person) = (self.project.clone(), self.person.clone());
        Source { task: state.task.clone(), project, person }
    }

    fn task_event(&self, of: TaskState) -> StreamedEvent {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        StreamedEvent::Task { state: of, agent: state.agent.clone(), title: state.title.clone() }
    }
}

/// What is said of a task that was begun.
pub(super) fn begun(begun: Begun) -> Response<Body> {
    match begun {
        Begun::Task(task) => {
            answer::value(StatusCode::ACCEPTED, &TaskStarted { task: task.to_string() })
        }
        Begun::Over(Ok(done)) => answer::report(done),
        Begun::Over(Err(error)) => answer::failure(error),
    }
}
