//! Runs operations as tasks, or streams their events as JSON lines.

use std::collections::VecDeque;
use std::convert::Infallible;

use axum::body::Bytes;
use futures_util::stream;
use nacre_types::{CallLine, Event, LINES_TYPE, Outcome, StreamedEvent, TaskRef, TaskState};
use serde::Serialize;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use super::answer::{self, Done, Refusal, Work};
use super::events::{EventSource, Hub, to_streamed};
use crate::calls::{CallInfo, Calls, Pace};
use crate::prelude::*;

const MAX_REPORTS: usize = 256;

struct KeptReport {
    task: Arc<str>,
    person: Option<String>,
    report: Result<Done>,
}

struct TaskInfo {
    source: EventSource,
    agent: String,
    title: String,
}

impl TaskInfo {
    fn event(&self, state: TaskState) -> StreamedEvent {
        StreamedEvent::Task { state, agent: self.agent.clone(), title: self.title.clone() }
    }
}

#[derive(Clone)]
pub(super) struct TaskRunner {
    pub(super) calls: Arc<Calls>,
    pub(super) hub: Arc<Hub>,
    reports: Arc<Mutex<VecDeque<KeptReport>>>,
}

impl TaskRunner {
    pub(super) fn new(calls: Arc<Calls>, hub: Arc<Hub>) -> Self {
        Self { calls, hub, reports: Arc::default() }
    }

    /// Returns a task's report. Only the owner and the user who started the task may read it.
    pub(super) fn report(&self, task: &str, caller: &Caller) -> Result<Response, Refusal> {
        let kept = self.reports.lock().unwrap_or_else(PoisonError::into_inner);
        let is_meant = |kept: &&KeptReport| {
            let is_theirs = kept.person.is_some() && kept.person.as_deref() == caller.person();
            *kept.task == *task && (is_theirs || caller.permissions.allow_everything())
        };
        match kept.iter().rev().find(is_meant) {
            Some(kept) => Ok(answer::report(kept.report.clone()?)),
            None => Err(OpError::not_found("This server has no report for that task")
                .hint(
                    "The task is still running, ended long ago or ran in another process: GET \
                 /api/tasks/ID",
                )
                .into()),
        }
    }

    /// Waits until the operation ends. Dropping the future cancels the operation.
    pub(super) async fn wait(&self, info: CallInfo, work: Work) -> Result<Done> {
        let (events, task) = self.follow(&info, None);
        let result = self.calls.run(info, events, std::future::pending(), work).await;
        self.end(&task, &result);
        result
    }

    /// Starts the operation, and returns once its task has an id or the operation has ended.
    pub(super) async fn begin(&self, info: CallInfo, work: Work) -> Result<Response, Refusal> {
        let (sender, started) = oneshot::channel();
        let (events, task) = self.follow(&info, Some(sender));
        let runner = self.clone();
        let info = CallInfo { pace: Pace::Background, ..info };
        let running = tokio::spawn(async move {
            let result = runner.calls.run(info, events, std::future::pending(), work).await;
            runner.end(&task, &result);
            result
        });
        match started.await {
            Ok(task) => {
                let started = TaskRef { task: task.to_string() };
                Ok(answer::value(StatusCode::ACCEPTED, &started))
            }
            // The operation ended without becoming a task.
            Err(_) => {
                let done = running.await.unwrap_or_else(|_| Err(OpError::cancelled()))?;
                Ok(answer::report(done))
            }
        }
    }

    /// Forwards events, and sends the task id to `started`.
    fn follow(
        &self,
        info: &CallInfo,
        started: Option<oneshot::Sender<Arc<str>>>,
    ) -> (Events, Arc<Mutex<TaskInfo>>) {
        let (source, agent, title) = (EventSource::of(info), String::new(), String::new());
        let task = Arc::new(Mutex::new(TaskInfo { source, agent, title }));
        let (hub, known) = (Arc::clone(&self.hub), Arc::clone(&task));
        let started = Mutex::new(started);
        let events = Events::new(move |event| {
            let mut task = known.lock().unwrap_or_else(PoisonError::into_inner);
            if let Event::Started { task: id, agent, title } = &event {
                let id: Arc<str> = id.as_str().into();
                // Nested operations are part of the outer task.
                if task.source.task.is_none() {
                    task.source.task = Some(Arc::clone(&id));
                    (task.agent, task.title) = (agent.clone(), title.clone());
                }
                hub.publish(&task.source, task.event(TaskState::Running));
                let mut started = started.lock().unwrap_or_else(PoisonError::into_inner);
                // The receiver is gone if the client closed the connection.
                let _ = started.take().map(|started| started.send(id));
            }
            if let Some(event) = to_streamed(event) {
                hub.publish(&task.source, event);
            }
        });
        (events, task)
    }

    fn end(&self, task: &Mutex<TaskInfo>, result: &Result<Done>) {
        let task = task.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(id) = task.source.task.clone() else { return };
        let state = match result {
            Ok(done) if done.outcome != Outcome::Failed => TaskState::Completed,
            Err(OpError { code: ErrorCode::Cancelled, .. }) => TaskState::Cancelled,
            Ok(_) | Err(_) => TaskState::Failed,
        };
        let (person, report) = (task.source.person.clone(), result.clone());
        let mut kept = self.reports.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == MAX_REPORTS {
            kept.pop_front();
        }
        kept.push_back(KeptReport { task: id, person, report });
        drop(kept);
        self.hub.publish(&task.source, task.event(state));
    }
}

/// Streams events as lines. Closing the connection cancels the operation.
pub(super) fn lines(calls: &Arc<Calls>, info: CallInfo, work: Work) -> Response {
    // The number of events is limited, so the channel can be unbounded.
    let (sender, lines) = unbounded_channel();
    let of_events = sender.clone();
    let events = Events::new(move |event| send(&of_events, &CallLine::Event { event }));
    let calls = Arc::clone(calls);
    tokio::spawn(async move {
        let gone = sender.clone();
        let result = calls.run(info, events, async move { gone.closed().await }, work).await;
        match result {
            Ok(done) => {
                let mut line = b"{\"line\":\"report\",\"report\":".to_vec();
                line.extend_from_slice(&done.json);
                line.extend_from_slice(b"}\n");
                let _ = sender.send(Bytes::from(line));
            }
            Err(error) => send(&sender, &CallLine::Error { error: error.into() }),
        }
    });
    let next = async |mut lines: UnboundedReceiver<Bytes>| {
        let line = lines.recv().await?;
        Some((Ok::<_, Infallible>(line), lines))
    };
    let body = Body::from_stream(stream::unfold(lines, next));
    ([(CONTENT_TYPE, LINES_TYPE)], body).into_response()
}

fn send(sender: &UnboundedSender<Bytes>, line: &impl Serialize) {
    // Wire types have string keys, so serialization cannot fail.
    let mut json = serde_json::to_vec(line).unwrap_or_default();
    json.push(b'\n');
    // Errors are ignored, because closing the connection already cancels the call.
    let _ = sender.send(Bytes::from(json));
}
