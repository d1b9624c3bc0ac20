//! Streams events about calls and changes. Recent events are stored, so that a client can resume
//! after a disconnect.

use std::collections::VecDeque;
use std::convert::Infallible;

use axum::http::HeaderValue;
use axum::http::header::CACHE_CONTROL;
use axum::response::sse;
use axum::response::sse::{KeepAlive, Sse};
use futures_util::stream;
use nacre_ops::people::{AccessScope, TokenHash};
use nacre_types::{Event, StreamEvent, StreamedEvent};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::watch;

use super::answer::Refusal;
use super::guard::secret;
use crate::calls::CallInfo;
use crate::people::{LastingAccess, OpenConnections};
use crate::prelude::*;

const MAX_STORED: usize = 4096;

const BOOT_CHARS: usize = 8;

const ID_CHARS: usize = 24;

pub(super) struct Hub {
    /// Identifies this process, because event numbers start over in each process.
    boot: String,
    secret: String,
    ring: Mutex<VecDeque<StoredEvent>>,
    latest: watch::Sender<u64>,
    now: Arc<dyn Fn() -> String + Send + Sync>,
}

#[derive(Clone)]
struct StoredEvent {
    number: u64,
    source: EventSource,
    json: Arc<str>,
}

impl StoredEvent {
    /// Returns whether the caller may see the event. The owner sees all events. Other users see
    /// only their own tasks, and changes in projects that they may read.
    fn is_for(&self, caller: &Caller) -> bool {
        let may_read = |project: &String| caller.permissions.allow(project, AccessScope::Read);
        let EventSource { task, project, person } = &self.source;
        caller.permissions.allow_everything()
            || match task {
                Some(_) => person.is_some() && person.as_deref() == caller.person(),
                None => project.as_ref().is_some_and(may_read),
            }
    }
}

impl Hub {
    pub(super) fn new(environment: &Environment) -> Result<Self> {
        let environment = environment.clone();
        Ok(Self {
            boot: secret(environment.random)?.chars().take(BOOT_CHARS).collect(),
            secret: secret(environment.random)?,
            ring: Mutex::default(),
            latest: watch::Sender::new(0),
            now: Arc::new(move || environment.now().to_string()),
        })
    }

    pub(super) fn publish(&self, source: &EventSource, event: StreamedEvent) {
        let json = Arc::from(self.to_json(source, event));
        let mut ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        if ring.len() == MAX_STORED {
            ring.pop_front();
        }
        let number = *self.latest.borrow() + 1;
        ring.push_back(StoredEvent { number, source: source.clone(), json });
        self.latest.send_replace(number);
    }

    fn to_json(&self, source: &EventSource, event: StreamedEvent) -> String {
        let EventSource { task, project, person } = source;
        let streamed = StreamEvent {
            at: (self.now)(),
            task: task.as_deref().map(str::to_owned),
            project: project.clone(),
            by: person.clone(),
            event,
        };
        // Wire types have string keys, so serialization cannot fail.
        serde_json::to_string(&streamed).unwrap_or_default()
    }

    pub(super) fn publish_change(&self, source: &EventSource, what: ChangedThing) {
        self.publish(source, StreamedEvent::Changed { what });
    }

    /// Returns a listener that resumes after the event `last_id`. Without `last_id`, the listener
    /// starts with the next event.
    pub(super) fn listen(
        self: &Arc<Self>,
        caller: &Caller,
        last_id: Option<&str>,
        task: Option<String>,
    ) -> Listener {
        let latest = self.latest.subscribe();
        let ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        let last = *latest.borrow();
        let seen = match last_id {
            // Without `last_id`, a listener for a single task first receives that task's stored
            // events.
            None if task.is_some() => Some(ring.front().map_or(last, |first| first.number - 1)),
            None => Some(last),
            Some(id) => {
                let number = match caller.permissions.allow_everything() {
                    true => id.strip_prefix(&self.boot).and_then(|rest| rest.strip_prefix('-')),
                    false => None,
                };
                match number {
                    Some(number) => number.parse().ok().filter(|number| *number <= last),
                    None => self.number_of(&ring, caller, id),
                }
            }
        };
        drop(ring);
        // Unknown ids come from an earlier server process.
        let (seen, has_missed) = (seen.unwrap_or(0), seen.is_none());
        Listener { hub: Arc::clone(self), latest, task, seen, has_missed }
    }

    /// Returns the event number for `id`, which is valid only for the caller it was sent to.
    fn number_of(&self, ring: &VecDeque<StoredEvent>, caller: &Caller, id: &str) -> Option<u64> {
        let last = *self.latest.borrow();
        let first = ring.front().map_or(last + 1, |kept| kept.number);
        (first - 1..=last).find(|number| self.id(caller, *number) == id)
    }

    /// Returns the event's id, which is opaque because event numbers would reveal activity in
    /// projects that the caller may not read.
    fn id(&self, caller: &Caller, number: u64) -> String {
        match caller.permissions.allow_everything() {
            true => format!("{}-{number}", self.boot),
            false => {
                let secret = format!("{} {number} {}", self.secret, caller.name());
                TokenHash::of(&secret).as_str().chars().take(ID_CHARS).collect()
            }
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct EventSource {
    pub(super) task: Option<Arc<str>>,
    pub(super) project: Option<String>,
    /// The person's name, or `None` for the owner.
    pub(super) person: Option<String>,
}

impl EventSource {
    pub(super) fn of(info: &CallInfo) -> Self {
        let person = info.caller.person().map(str::to_owned);
        Self { task: None, project: info.project.clone(), person }
    }
}

pub(super) struct Listener {
    hub: Arc<Hub>,
    latest: watch::Receiver<u64>,
    task: Option<String>,
    seen: u64,
    has_missed: bool,
}

impl Listener {
    /// Waits until there may be new events.
    pub(super) async fn wait(&mut self) {
        // The hub outlives its listeners, so waiting cannot fail.
        let seen = self.seen;
        let is_new = |latest: &u64| seen < *latest;
        if !self.has_missed && self.latest.wait_for(is_new).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    pub(super) fn latest(&self) -> u64 {
        *self.latest.borrow()
    }

    /// Returns the new events up to `until`. The permissions of `caller` must have been looked up
    /// after `until` was recorded.
    pub(super) fn events(&mut self, caller: &Caller, until: u64) -> Vec<sse::Event> {
        let ring = self.hub.ring.lock().unwrap_or_else(PoisonError::into_inner);
        let first = ring.front().map_or(self.latest() + 1, |kept| kept.number);
        let mut events = Vec::new();
        if self.seen + 1 < first || std::mem::take(&mut self.has_missed) {
            let json = self.hub.to_json(&EventSource::default(), StreamedEvent::Missed {});
            let id = self.hub.id(caller, self.seen.max(first - 1));
            events.push(sse::Event::default().id(id).data(json));
        }
        let n_old = ring.partition_point(|kept| kept.number <= self.seen);
        let is_wanted = |kept: &&StoredEvent| {
            self.task.is_none() || kept.source.task.as_deref() == self.task.as_deref()
        };
        let new = ring.iter().skip(n_old).take_while(|kept| kept.number <= until);
        let new = new.filter(is_wanted).filter(|kept| kept.is_for(caller));
        let id = |kept: &StoredEvent| self.hub.id(caller, kept.number);
        events.extend(new.map(|kept| sse::Event::default().id(id(kept)).data(&kept.json)));
        self.seen = until.max(first - 1);
        events
    }
}

/// Converts an event for streaming. Returns `None` for events that concern only the caller.
pub(super) fn to_streamed(event: Event) -> Option<StreamedEvent> {
    Some(match event {
        Event::Started { .. } => return None,
        Event::Warning(warning) => StreamedEvent::Warning(warning),
        Event::Step { text } => StreamedEvent::Step { text },
        Event::Progress { done, total, bytes } => StreamedEvent::Progress { done, total, bytes },
        Event::Note { text } => StreamedEvent::Note { text },
        Event::Words { text } => StreamedEvent::Words { text },
        Event::Sentence { text, starts_line } => StreamedEvent::Sentence { text, starts_line },
    })
}

const MAX_OF_OWNER: usize = 1024;
const MAX_OF_PERSON: usize = 64;
/// Maximum number of events that wait to be sent. Later events stay in the hub.
const WAITING: usize = 16;
const KEEP_OPEN: Duration = Duration::from_secs(15);

pub(super) fn listeners() -> OpenConnections {
    OpenConnections::new(MAX_OF_OWNER, MAX_OF_PERSON)
}

pub(super) fn stream(
    listeners: &OpenConnections,
    listener: Listener,
    access: LastingAccess,
    stop: Cancel,
) -> Result<Response, Refusal> {
    let Some(open) = listeners.add(&access.identity) else {
        let message = "Too many clients are listening for events";
        return Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, ErrorCode::Busy, message));
    };
    let (sender, events) = channel(WAITING);
    tokio::spawn(async move {
        let _open = open;
        tokio::select! {
            () = forward(listener, &access, sender) => {}
            () = access.wait_until_ended() => {}
            () = stop.cancelled() => {}
        }
    });
    let next = async |mut events: Receiver<sse::Event>| {
        let event = events.recv().await?;
        Some((Ok::<_, Infallible>(event), events))
    };
    let keep_open = KeepAlive::new().interval(KEEP_OPEN);
    let stream = Sse::new(stream::unfold(events, next)).keep_alive(keep_open);
    Ok(([(CACHE_CONTROL, HeaderValue::from_static("no-store"))], stream).into_response())
}

async fn forward(mut listener: Listener, access: &LastingAccess, sender: Sender<sse::Event>) {
    // Confirms the subscription immediately.
    if sender.send(sse::Event::default().comment("listening")).await.is_err() {
        return;
    }
    loop {
        tokio::select! {
            () = listener.wait() => {}
            () = sender.closed() => return,
        }
        // Before any later events are sent, the caller's permissions are looked up again.
        let latest = listener.latest();
        let Some(caller) = access.caller().await else { return };
        for event in listener.events(&caller, latest) {
            if sender.send(event).await.is_err() {
                return;
            }
        }
    }
}
