//! What counts as said in a session, and the record that it is found by.

use jiff::Timestamp;

use crate::search::{Record, Voice};
use crate::transcript::{
    ADAPTERS, Error, Event, EventKind, Lane, Origin, SessionFacts, Sink, Trace,
};

/// Longer messages are indexed by their beginning.
const MAX_INDEXED_CHARS: usize = 8000;

/// One message as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SaidMessage {
    pub sequence: i64,
    /// `user` or `assistant`.
    pub kind: String,
    pub at_ms: Option<i64>,
    pub text: String,
}

impl SaidMessage {
    /// The message of an event; `None` for what is not indexed: tool output, reasoning, injected text, and what was
    /// said in the session that this one was forked from.
    pub(super) fn of(event: &Event) -> Option<Self> {
        let is_said = match event.kind {
            EventKind::User => matches!(event.origin, Origin::Person(_)),
            EventKind::Assistant => true,
            EventKind::Reasoning
            | EventKind::ToolCall
            | EventKind::ToolResult
            | EventKind::Summary
            | EventKind::Compaction
            | EventKind::Meta => false,
        };
        if !is_said || event.lane == Lane::Inherited || event.text.is_empty() {
            return None;
        }
        let text = match event.text.tail() {
            "" => event.text.head().to_owned(),
            tail => format!("{}\n…\n{tail}", event.text.head()),
        };
        Some(Self {
            sequence: i64::try_from(event.sequence).unwrap_or(i64::MAX),
            kind: event.kind.as_str().to_owned(),
            at_ms: event.timestamp.map(Timestamp::as_millisecond),
            text,
        })
    }

    /// What the message is found by. `facets` are those of its session.
    pub fn record(&self, facets: &[(&'static str, String)]) -> Record {
        let speaker = ("speaker", self.kind.clone());
        Record {
            key: self.sequence.to_string(),
            body: indexed(&self.text).to_owned(),
            time_ms: self.at_ms.unwrap_or(0),
            voice: if self.kind == "user" { Voice::User } else { Voice::Assistant },
            facets: facets.iter().cloned().chain([speaker]).collect(),
            ..Record::default()
        }
    }
}

/// The part of a message that it is found by.
pub(super) fn indexed(text: &str) -> &str {
    let end = text.char_indices().nth(MAX_INDEXED_CHARS).map_or(text.len(), |(at, _)| at);
    &text[..end]
}

/// Reads what was said in a session, straight from its trace. A catalog keeps just these messages.
pub fn said_in(trace: &Trace) -> Result<(SessionFacts, Vec<SaidMessage>), Error> {
    let adapter = ADAPTERS.iter().find(|adapter| adapter.agent() == trace.source.agent);
    let unknown = || Error::Unreadable {
        path: trace.source.path.clone(),
        reason: "its agent is not known here",
    };
    let mut messages = Vec::new();
    let mut take = |event: Event| messages.extend(SaidMessage::of(&event));
    let outcome = adapter.ok_or_else(unknown)?.read(trace, None, Sink::said(&mut take))?;
    Ok((outcome.facts, messages))
}
