//! Shows a session: what was said and done, in order.

use nacre_api::wire::{TraceShowReport, TraceShowRequest};
use nacre_core::base::redact::ExtraWords;
use nacre_core::catalog::{CatalogError, SessionRow};
use nacre_core::transcript::{ADAPTERS, Event, EventKind, Lane, Origin, Sink};

use super::find::{NameSource, find_session};
use super::wire::{session_entry, trace_event};
use crate::error::OpError;
use crate::host::Host;

pub fn show(
    host: &Host,
    request: &TraceShowRequest,
    source: NameSource,
) -> Result<TraceShowReport, OpError> {
    let numbered = request.id.rsplit_once(':').and_then(|(id, sequence)| {
        let sequence = sequence.parse::<u64>().ok()?;
        Some((id, sequence))
    });
    let (id, from) = numbered.unwrap_or((request.id.as_str(), 0));
    let session = find_session(host, id, source)?;
    let words = host.words_of(session.project.as_deref())?;
    let wanted = WantedEvents { from, limit: request.limit, is_full: request.full };
    let events = read(&session, &words, &wanted)?;
    let events = events.into_iter().map(trace_event).collect();
    Ok(TraceShowReport { session: session_entry(session), events })
}

/// Which events of a session are shown.
struct WantedEvents {
    /// The first sequence.
    from: u64,
    limit: Option<usize>,
    is_full: bool,
}

/// Reads the events that are wanted; the rest passes by without being kept.
fn read(
    session: &SessionRow,
    words: &ExtraWords,
    wanted: &WantedEvents,
) -> Result<Vec<Event>, OpError> {
    let adapter = ADAPTERS.iter().find(|adapter| adapter.agent() == session.trace.source.agent);
    let Some(adapter) = adapter else {
        return Err(OpError::failed("The agent of this session is not known"));
    };
    let mut events = Vec::new();
    let mut sink = |event: Event| {
        let has_room = wanted.limit.is_none_or(|limit| events.len() < limit);
        if event.sequence >= wanted.from && has_room && (wanted.is_full || is_talk(&event)) {
            events.push(event.without_words(words));
        }
    };
    adapter.read(&session.trace, None, Sink::everything(&mut sink)).map_err(CatalogError::from)?;
    Ok(events)
}

fn is_talk(event: &Event) -> bool {
    let is_talk = match event.kind {
        EventKind::User => matches!(event.origin, Origin::Person(_)),
        EventKind::Assistant | EventKind::ToolCall | EventKind::ToolResult => true,
        EventKind::Summary | EventKind::Compaction => true,
        EventKind::Reasoning | EventKind::Meta => false,
    };
    is_talk && event.lane != Lane::Inherited
}
