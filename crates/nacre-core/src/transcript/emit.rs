//! The one place where events are made: numbers, bounds, redacts and counts them.
//!
//! Adapters describe an event as a [`Draft`] of borrowed parts and never count anything themselves,
//! so facts and reports mean the same for every agent.

use std::borrow::Cow;

use jiff::Timestamp;

use super::event::{BoundedText, CallLink, Event, EventKind, InjectedReason, Lane, Origin, Place};
use super::facts::{LinkKind, ReadReport, SessionFacts, SessionLink, SessionRole};
use super::injected::{QUESTION_MARK, may_name_nacre};
use super::json::{Ends, Text};
use super::names::{repository_address, short_name};
use super::sink::{Detail, Sink};
use super::squeeze::marked_bytes;

/// The most values kept of a fact that a hostile trace could repeat without end.
const MAX_VALUES: usize = 64;

/// The most lines of which an opening consists.
const MAX_OPENING_LINES: u64 = 500;

/// The most events of one session that are handed on: a few times the longest that people have. A small packed trace can hold
/// millions.
pub(super) const MAX_EVENTS: u64 = 250_000;

/// An event before it is bounded, redacted and numbered.
#[derive(Clone, Debug)]
pub struct Draft<'a> {
    pub kind: EventKind,
    /// The text, or its beginning where only the two ends are at hand.
    pub text: Cow<'a, str>,
    /// The end of a text of which the middle was never decoded; else empty.
    pub tail: &'a str,
    /// The size of the whole text, where it is not that of `text`.
    pub full_bytes: Option<u64>,
    pub origin: Origin,
    pub place: Place,
    pub timestamp: Option<Timestamp>,
    pub key: Option<&'a str>,
    pub call: Option<CallLink>,
    pub lane: Lane,
    pub is_error: bool,
}

impl<'a> Draft<'a> {
    pub fn new(
        kind: EventKind,
        origin: Origin,
        text: impl Into<Cow<'a, str>>,
        place: Place,
    ) -> Self {
        Self {
            kind,
            text: text.into(),
            tail: "",
            full_bytes: None,
            origin,
            place,
            timestamp: None,
            key: None,
            call: None,
            lane: Lane::Main,
            is_error: false,
        }
    }
}

/// Numbers, bounds, redacts, counts and hands on the events of one read.
pub struct Emitter<'a> {
    sink: Sink<'a>,
    next_sequence: u64,
    pub facts: SessionFacts,
    pub report: ReadReport,
    /// The current line lost the middles of its long strings.
    pub(super) squeezed: bool,
}

impl<'a> Emitter<'a> {
    pub fn new(facts: SessionFacts, next_sequence: u64, sink: Sink<'a>) -> Self {
        Self { sink, next_sequence, facts, report: ReadReport::default(), squeezed: false }
    }

    /// The number that the next event will get.
    pub fn next_sequence(&self) -> u64 {
        self.next_sequence
    }

    /// Whether the texts of events of this kind go anywhere. Where they do not, a draft may hold its
    /// text as written: it is measured and dropped.
    pub(super) fn wants(&self, kind: EventKind) -> bool {
        self.sink.detail().wants(kind)
    }

    /// Whether everything that the caller wants is known, so that the rest need not be read.
    pub(super) fn is_enough(&self) -> bool {
        let Self { facts, report, .. } = self;
        let is_told = facts.role != SessionRole::Main || facts.counts.user > 0;
        self.sink.detail() == Detail::Opening
            && ((facts.cwd.is_some() && is_told) || report.lines >= MAX_OPENING_LINES)
    }

    /// Decodes a text for an event of this kind, as far as anybody wants it.
    pub(super) fn decode<'t>(&self, kind: EventKind, text: Text<'t>) -> Cow<'t, str> {
        if self.wants(kind) { text.decode() } else { Cow::Borrowed(text.raw()) }
    }

    /// The two ends of a tool's text, as written where nobody wants them. What asks Nacre or comes
    /// from it is decoded all the same, because that tells whose text it is.
    pub(super) fn ends<'t>(&self, kind: EventKind, text: Text<'t>) -> Ends<'t> {
        if self.wants(kind) || may_name_nacre(text.raw()) {
            text.ends(kind.bounds())
        } else {
            text.unread()
        }
    }

    /// Hands on one event.
    pub fn push(&mut self, mut draft: Draft<'_>) {
        if self.next_sequence >= MAX_EVENTS {
            self.report.left_out += 1;
            return;
        }
        // Looked at before the text is taken out to be bounded.
        let is_question = draft.text.starts_with(QUESTION_MARK);
        let text = self.bound(&mut draft);
        if text.is_cut() {
            self.report.cut_texts += 1;
        }
        if let Some(timestamp) = draft.timestamp
            && draft.lane != Lane::Inherited
        {
            self.note_time(timestamp);
        }
        self.count(&draft, is_question);
        let event = Event {
            sequence: self.next_sequence,
            kind: draft.kind,
            timestamp: draft.timestamp,
            place: draft.place,
            key: draft.key.map(short_name),
            call: draft.call,
            text,
            origin: draft.origin,
            lane: draft.lane,
            is_error: draft.is_error,
        };
        self.next_sequence += 1;
        self.sink.take(event);
    }

    /// Keeps a record of a type that is not known here.
    pub fn unknown(&mut self, record_type: &str, draft: Draft<'_>) {
        self.report.note_unknown(record_type);
        self.push(draft);
    }

    fn bound(&self, draft: &mut Draft<'_>) -> BoundedText {
        let head = std::mem::take(&mut draft.text);
        let mut full_bytes = draft.full_bytes.unwrap_or(head.len() as u64);
        if !self.wants(draft.kind) {
            return BoundedText::unread(full_bytes);
        }
        if self.squeezed {
            full_bytes += marked_bytes(head.as_bytes());
        }
        BoundedText::of_parts(head, draft.tail, full_bytes, draft.kind.bounds())
    }

    /// Widens the session's span of activity.
    pub fn note_time(&mut self, timestamp: Timestamp) {
        let facts = &mut self.facts;
        facts.started = Some(facts.started.map_or(timestamp, |started| started.min(timestamp)));
        facts.last_activity =
            Some(facts.last_activity.map_or(timestamp, |last| last.max(timestamp)));
    }

    pub fn note_cwd(&mut self, cwd: &str) {
        note_first(&mut self.facts.cwd, &mut self.facts.other_cwds, cwd);
    }

    pub fn note_branch(&mut self, branch: &str) {
        note_first(&mut self.facts.git_branch, &mut self.facts.other_branches, branch);
    }

    pub fn note_model(&mut self, model: &str) {
        note_value(&mut self.facts.models, model);
    }

    pub fn note_repository(&mut self, url: &str) {
        if !url.is_empty() && self.facts.repository.is_none() {
            self.facts.repository = Some(repository_address(url));
        }
    }

    pub fn note_title(&mut self, title: &str) {
        if !title.trim().is_empty() {
            self.facts.title = Some(short_name(title.trim()));
        }
    }

    pub fn note_version(&mut self, version: &str) {
        if !version.is_empty() && self.facts.agent_version.as_deref() != Some(version) {
            self.facts.agent_version = Some(short_name(version));
        }
    }

    pub fn note_link(&mut self, kind: LinkKind, session: &str, call: Option<&str>) {
        let link = SessionLink { kind, session: short_name(session), call: call.map(short_name) };
        if !session.is_empty()
            && self.facts.links.len() < MAX_VALUES
            && !self.facts.links.contains(&link)
        {
            self.facts.links.push(link);
        }
    }

    fn count(&mut self, draft: &Draft<'_>, is_question: bool) {
        let counts = &mut self.facts.counts;
        if draft.is_error {
            counts.errors += 1;
        }
        match draft.lane {
            Lane::Inherited => {
                counts.inherited += 1;
                return;
            }
            Lane::Sidechain => counts.sidechain += 1,
            Lane::Main => {}
        }
        if let Origin::Injected(reason) = draft.origin {
            let is_nacre = reason == InjectedReason::Nacre;
            counts.injected += 1;
            counts.questions += u64::from(is_nacre && is_question);
            return;
        }
        match draft.kind {
            EventKind::User => counts.user += 1,
            EventKind::Assistant => counts.assistant += 1,
            EventKind::Reasoning => counts.reasoning += 1,
            EventKind::ToolCall => counts.tool_calls += 1,
            EventKind::ToolResult => counts.tool_results += 1,
            EventKind::Summary => counts.summaries += 1,
            EventKind::Compaction => counts.compactions += 1,
            EventKind::Meta => counts.meta += 1,
        }
    }
}

fn note_first(first: &mut Option<String>, others: &mut Vec<String>, value: &str) {
    match first {
        None if !value.is_empty() => *first = Some(short_name(value)),
        // Nearly every record repeats the same value, and nearly none is changed by cleaning.
        Some(known) if known != value && *known != short_name(value) => note_value(others, value),
        Some(_) | None => {}
    }
}

fn note_value(values: &mut Vec<String>, value: &str) {
    if value.is_empty() || values.len() >= MAX_VALUES || values.iter().any(|known| known == value) {
        return;
    }
    let clean = short_name(value);
    if !values.contains(&clean) {
        values.push(clean);
    }
}

#[cfg(test)]
mod tests {
    use super::super::facts::Agent;
    use super::*;

    #[test]
    fn so_many_events_of_a_session_are_handed_on_and_the_others_counted() {
        let mut n_taken = 0;
        let mut take = |_: Event| n_taken += 1;
        let facts = SessionFacts::new(Agent::Generic, "s");
        let mut out = Emitter::new(facts, MAX_EVENTS - 2, Sink::everything(&mut take));
        for _ in 0..5 {
            out.push(Draft::new(
                EventKind::Assistant,
                Origin::Agent,
                "x",
                Place::Line { line: 1, offset: 0 },
            ));
        }
        assert_eq!((out.report.left_out, out.next_sequence()), (3, MAX_EVENTS));
        drop(out);
        assert_eq!(n_taken, 2);
    }
}
