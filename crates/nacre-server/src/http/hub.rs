//! What happens in the server, for everybody who listens: the events of its calls and what they changed, numbered, the latest of
//! them kept so that a listener who was away can go on where it stopped.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use nacre_api::wire::{ChangedThing, Event, StreamEvent, StreamedEvent};
use nacre_ops::host::Environment;
use tokio::sync::watch;

/// Events that are kept.
const KEPT: usize = 4096;

pub(super) struct Hub {
    /// Tells this server from the one before it: its numbers begin anew.
    boot: String,
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
    json: Bytes,
}

/// What a listener is given next.
pub(super) struct Next {
    /// As it goes out, with its id.
    pub(super) pieces: Vec<Bytes>,
}

impl Hub {
    pub(super) fn new(boot: String, environment: &Environment) -> Self {
        let environment = environment.clone();
        Self {
            boot,
            ring: Mutex::default(),
            latest: watch::Sender::new(0),
            now: Arc::new(move || environment.now().to_string()),
        }
    }

    pub(super) fn publish(&self, source: &Source, event: StreamedEvent) {
        let Source { task, project } = source;
        let streamed = StreamEvent {
            at: (self.now)(),
            task: task.as_deref().map(str::to_owned),
            project: project.clone(),
            event,
        };
        // Wire types have only text as keys, so that writing them cannot fail.
        let json = Bytes::from(serde_json::to_vec(&streamed).unwrap_or_default());
        let mut ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        ring.last += 1;
        if ring.events.len() == KEPT {
            ring.events.pop_front();
        }
        let kept = Kept { number: ring.last, task: task.clone(), json };
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
        last_id: Option<&str>,
        task: Option<String>,
    ) -> Listener {
        let latest = self.latest.subscribe();
        let ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = match last_id {
            // Of one task everything that is still kept.
            None if task.is_some() => {
                Seen::Until(ring.events.front().map_or(ring.last, |first| first.number - 1))
            }
            None => Seen::Until(ring.last),
            Some(id) => match id.strip_prefix(&self.boot).and_then(|rest| rest.strip_prefix('-')) {
                Some(number) => number.parse().map_or(Seen::Unknown, |number: u64| {
                    if number <= ring.last { Seen::Until(number) } else { Seen::Unknown }
                }),
                None => Seen::Unknown,
            },
        };
        drop(ring);
        let mut listener =
            Listener { hub: Arc::clone(self), latest, task, seen: 0, has_missed: false };
        match seen {
            Seen::Until(number) => listener.seen = number,
            Seen::Unknown => listener.has_missed = true,
        }
        listener
    }
}

enum Seen {
    Until(u64),
    /// It belongs to another server.
    Unknown,
}

/// Where an event comes from.
#[derive(Clone, Debug, Default)]
pub(super) struct Source {
    pub(super) task: Option<Arc<str>>,
    pub(super) project: Option<String>,
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
    /// The next events, once there are any.
    pub(super) async fn next(&mut self) -> Next {
        loop {
            let pieces = self.pieces();
            if !pieces.is_empty() {
                return Next { pieces };
            }
            if self.latest.changed().await.is_err() {
                // The hub lives as long as its listeners.
                std::future::pending::<()>().await;
            }
        }
    }

    fn pieces(&mut self) -> Vec<Bytes> {
        let ring = self.hub.ring.lock().unwrap_or_else(PoisonError::into_inner);
        let first = ring.events.front().map_or(ring.last + 1, |kept| kept.number);
        let mut pieces = Vec::new();
        if self.seen + 1 < first || std::mem::take(&mut self.has_missed) {
            let missed = StreamEvent {
                at: (self.hub.now)(),
                task: None,
                project: None,
                event: StreamedEvent::Missed {},
            };
            let json = serde_json::to_vec(&missed).unwrap_or_default();
            pieces.push(framed(&self.hub.boot, self.seen.max(first - 1), &json));
        }
        let n_old = ring.events.partition_point(|kept| kept.number <= self.seen);
        let is_wanted =
            |kept: &&Kept| self.task.is_none() || kept.task.as_deref() == self.task.as_deref();
        let new = ring.events.iter().skip(n_old).filter(is_wanted);
        pieces.extend(new.map(|kept| framed(&self.hub.boot, kept.number, &kept.json)));
        self.seen = ring.last;
        pieces
    }
}

/// An event as the stream writes it. JSON has no line breaks, so that nothing in it can end the event.
fn framed(boot: &str, number: u64, json: &[u8]) -> Bytes {
    let mut piece = format!("id: {boot}-{number}\ndata: ").into_bytes();
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
