//! What happens in the server, for everybody who listens: the events of its calls and what they changed, numbered, the latest of
//! them kept so that a listener who was away can go on where it stopped.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use nacre_api::wire::{ChangedThing, Event, StreamEvent, StreamedEvent};
use nacre_ops::host::Environment;
use nacre_ops::people::{AccessScope, Caller, TokenHash};
use tokio::sync::watch;

/// Events that are kept.
const KEPT: usize = 4096;

/// The length of an id that tells nothing.
const ID_CHARS: usize = 24;

pub(super) struct Hub {
    /// Tells this server from the one before it: its numbers begin anew.
    boot: String,
    /// What no listener knows, for ids that tell nothing.
    secret: String,
    ring: Mutex<Ring>,
    latest: watch::Sender<u64>,
    now: Arc<dyn Fn() -> String + Send + Sync>,
}

#[derive(Default)]
struct Ring {
    /// The number of the event that was published last.
    last: u64,
    events: VecDeque<Kept>,
}

#[derive(Clone)]
struct Kept {
    number: u64,
    task: Option<Arc<str>>,
    project: Option<String>,
    person: Option<String>,
    json: Bytes,
}

impl Kept {
    /// Whether a listener is told of it: the owner of everything, a person of their own tasks and of what changed where they may read.
    fn is_for(&self, caller: &Caller) -> bool {
        let may_read = |project: &String| caller.permissions.allow(project, AccessScope::Read);
        caller.permissions.allow_everything()
            || match self.task {
                Some(_) => self.person.is_some() && self.person.as_deref() == caller.person(),
                None => self.project.as_ref().is_some_and(may_read),
            }
    }
}

impl Hub {
    pub(super) fn new(boot: String, secret: String, environment: &Environment) -> Self {
        let environment = environment.clone();
        Self {
            boot,
            secret,
            ring: Mutex::default(),
            latest: watch::Sender::new(0),
            now: Arc::new(move || environment.now().to_string()),
        }
    }

    pub(super) fn publish(&self, source: &Source, event: StreamedEvent) {
        let Source { task, project, person } = source;
        let streamed = StreamEvent {
            at: (self.now)(),
            task: task.as_deref().map(str::to_owned),
            project: project.clone(),
            by: person.clone(),
            event,
        };
        // Wire types have only text as keys, so that writing them cannot fail.
        let json = Bytes::from(serde_json::to_vec(&streamed).unwrap_or_default());
        let mut ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        ring.last += 1;
        if ring.events.len() == KEPT {
            ring.events.pop_front();
        }
        let (number, task) = (ring.last, task.clone());
        let kept = Kept { number, task, project: project.clone(), person: person.clone(), json };
        ring.events.push_back(kept);
        self.latest.send_replace(ring.last);
    }

    /// Tells that something is not what it was.
    pub(super) fn publish_change(&self, source: &Source, what: ChangedThing) {
        self.publish(source, StreamedEvent::Changed { what });
    }

    /// A listener that begins after the event `last_id`, or now.
    pub(super) fn listen(
        self: &Arc<Self>,
        caller: &Caller,
        last_id: Option<&str>,
        task: Option<String>,
    ) -> Listener {
        let latest = self.latest.subscribe();
        let ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = match last_id {
            // Of one task everything that is still kept.
            None if task.is_some() => {
                Some(ring.events.front().map_or(ring.last, |first| first.number - 1))
            }
            None => Some(ring.last),
            Some(id) => {
                let number = match caller.permissions.allow_everything() {
                    true => id.strip_prefix(&self.boot).and_then(|rest| rest.strip_prefix('-')),
                    false => None,
                };
                match number {
                    Some(number) => number.parse().ok().filter(|number| *number <= ring.last),
                    None => self.number_of(&ring, caller, id),
                }
            }
        };
        drop(ring);
        // An id that is not known is that of another server.
        let (seen, has_missed) = (seen.unwrap_or(0), seen.is_none());
        Listener { hub: Arc::clone(self), latest, task, seen, has_missed }
    }
}

impl Hub {
    /// The event that was named so to that listener, as long as it is kept.
    fn number_of(&self, ring: &Ring, caller: &Caller, id: &str) -> Option<u64> {
        let first = ring.events.front().map_or(ring.last + 1, |kept| kept.number);
        (first - 1..=ring.last).find(|number| self.id(caller, *number) == id)
    }

    /// How an event is named to a listener. Numbers would tell a person how much happens where they may not read.
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

/// Where an event comes from.
#[derive(Clone, Debug, Default)]
pub(super) struct Source {
    pub(super) task: Option<Arc<str>>,
    pub(super) project: Option<String>,
    /// Who did it; nobody but the owner has no name.
    pub(super) person: Option<String>,
}

/// Somebody who listens.
pub(super) struct Listener {
    hub: Arc<Hub>,
    latest: watch::Receiver<u64>,
    /// Only events of this task.
    task: Option<String>,
    seen: u64,
    has_missed: bool,
}

impl Listener {
    /// Waits until there may be events to send.
    pub(super) async fn wait(&mut self) {
        // The hub exists as long as its listeners.
        let seen = self.seen;
        let is_new = |latest: &u64| seen < *latest;
        if !self.has_missed && self.latest.wait_for(is_new).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// The number of the newest event.
    pub(super) fn latest(&self) -> u64 {
        *self.latest.borrow()
    }

    /// The new events up to a number, as they are sent to a caller that was looked up after the last of them happened.
    pub(super) fn pieces(&mut self, caller: &Caller, until: u64) -> Vec<Bytes> {
        let ring = self.hub.ring.lock().unwrap_or_else(PoisonError::into_inner);
        let first = ring.events.front().map_or(ring.last + 1, |kept| kept.number);
        let mut pieces = Vec::new();
        if self.seen + 1 < first || std::mem::take(&mut self.has_missed) {
            let missed = StreamEvent {
                at: (self.hub.now)(),
                task: None,
                project: None,
                by: None,
                event: StreamedEvent::Missed {},
            };
            let json = serde_json::to_vec(&missed).unwrap_or_default();
            let id = self.hub.id(caller, self.seen.max(first - 1));
            pieces.push(framed(&id, &json));
        }
        let n_old = ring.events.partition_point(|kept| kept.number <= self.seen);
        let is_wanted =
            |kept: &&Kept| self.task.is_none() || kept.task.as_deref() == self.task.as_deref();
        let new = ring.events.iter().skip(n_old).take_while(|kept| kept.number <= until);
        let new = new.filter(is_wanted).filter(|kept| kept.is_for(caller));
        let id = |kept: &Kept| self.hub.id(caller, kept.number);
        pieces.extend(new.map(|kept| framed(&id(kept), &kept.json)));
        self.seen = until.max(first - 1);
        pieces
    }
}

/// An event as the stream writes it. JSON has no line breaks, so that nothing in it can end the event.
fn framed(id: &str, json: &[u8]) -> Bytes {
    let mut piece = format!("id: {id}\ndata: ").into_bytes();
    piece.extend_from_slice(json);
    piece.extend_from_slice(b"\n\n");
    Bytes::from(piece)
}

/// What a stream says of an operation's event; nothing for what only its caller needs.
pub(super) fn streamed(event: Event) -> Option<StreamedEvent> {
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
