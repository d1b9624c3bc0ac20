//! Tells the caller of an operation what an agent does while it works.

use std::sync::Arc;

use nacre_api::wire;
use nacre_engine::record::{DeltaKind, Event, Listener, Record};

use crate::events::Events;

/// How much the caller is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoteDetail {
    /// The names of tools, and nothing that a model wrote: none of it was checked.
    Names,
    /// Also what the model says, and what it calls tools with.
    Everything,
}

/// Turns the events of an agent into those of an operation.
pub(crate) struct AgentNotes {
    pub(crate) events: Events,
    pub(crate) detail: NoteDetail,
}

impl Listener for AgentNotes {
    fn hear(&self, record: &Arc<Record>) {
        let tells_all = self.detail == NoteDetail::Everything;
        let event = &record.event;
        if let Event::ToolCall { tool, arguments, .. } = event {
            match tells_all {
                true => self.events.note(format!("· {tool} {arguments}")),
                false => self.events.note(format!("· {tool}")),
            }
        } else if let Event::ModelRetry { why, wait_ms, .. } = event {
            self.events.note(format!("· asking again in {wait_ms} ms: {why}"));
        } else if let Event::ModelFallback { to, why, .. } = event {
            self.events.note(format!("· asking {to}: {why}"));
        } else if let Event::ModelDelta { kind: DeltaKind::Text, text } = event
            && tells_all
        {
            self.events.emit(wire::Event::Words { text: text.to_string() });
        } else if let Event::CompletionReopen { why, .. } = event
            && tells_all
        {
            let first = why.as_str().lines().next().unwrap_or_default();
            self.events.note(format!("· sent back: {first}"));
        }
    }
}
