//! Numbers, truncates, redacts and counts events. Adapters only pass a [`Draft`] of borrowed parts,
//! so facts and reports mean the same for every agent.

use std::borrow::Cow;

use jiff::Timestamp;

use crate::transcript::toolkit::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    Everything,
    /// Only user and assistant events have text. Other events are emitted in order but without
    /// their text. Facts and reports are the same as with `Everything`, except that omitted text
    /// never counts as truncated.
    Said,
    /// Like `Said`, but a line-based transcript is read only until its directory and a user message
    /// have been found. Facts and reports cover only what was read.
    Opening,
}

impl Detail {
    pub(crate) fn wants(self, kind: EventKind) -> bool {
        self == Self::Everything || matches!(kind, EventKind::User | EventKind::Assistant)
    }
}

pub struct Sink<'a> {
    pub(crate) detail: Detail,
    each: &'a mut dyn FnMut(TranscriptEvent),
}

impl<'a> Sink<'a> {
    pub fn new(detail: Detail, each: &'a mut dyn FnMut(TranscriptEvent)) -> Self {
        Self { detail, each }
    }

    pub fn everything(each: &'a mut dyn FnMut(TranscriptEvent)) -> Self {
        Self::new(Detail::Everything, each)
    }

    pub fn said(each: &'a mut dyn FnMut(TranscriptEvent)) -> Self {
        Self::new(Detail::Said, each)
    }

    pub fn opening(each: &'a mut dyn FnMut(TranscriptEvent)) -> Self {
        Self::new(Detail::Opening, each)
    }

    pub fn take(&mut self, event: TranscriptEvent) {
        (self.each)(event);
    }
}

/// Maximum number of values per fact. A hostile transcript could contain any number of values.
const MAX_VALUES: usize = 64;

const MAX_OPENING_LINES: u64 = 500;

/// Several times the number of events in the longest real session. Even a small compressed
/// transcript can contain millions of events.
pub(crate) const MAX_EVENTS: u64 = 250_000;

/// An event before it is truncated, redacted and numbered.
#[derive(Clone, Debug)]
pub(crate) struct Draft<'a> {
    pub(crate) kind: EventKind,
    /// The text, or its beginning if only both ends are available.
    pub(crate) text: Cow<'a, str>,
    /// The text's end if its middle was not decoded; otherwise empty.
    pub(crate) tail: &'a str,
    pub(crate) full_bytes: Option<u64>,
    pub(crate) origin: TextOrigin,
    pub(crate) place: Position,
    pub(crate) timestamp: Option<Timestamp>,
    pub(crate) key: Option<&'a str>,
    pub(crate) call: Option<CallLink>,
    pub(crate) lane: Lane,
    pub(crate) is_error: bool,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(
        kind: EventKind,
        origin: TextOrigin,
        text: impl Into<Cow<'a, str>>,
        place: Position,
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

pub(crate) struct Emitter<'a> {
    sink: Sink<'a>,
    next_sequence: u64,
    pub(crate) facts: SessionFacts,
    pub(crate) report: ReadReport,
}

impl<'a> Emitter<'a> {
    pub(crate) fn new(facts: SessionFacts, next_sequence: u64, sink: Sink<'a>) -> Self {
        Self { sink, next_sequence, facts, report: ReadReport::default() }
    }

    /// Finishes a read without a watermark, for formats that can only be read in full.
    pub(crate) fn finish(self) -> ReadOutcome {
        let (facts, report) = (self.facts, self.report);
        ReadOutcome { facts, report, began: Began::FromStart, watermark: None }
    }

    pub(crate) fn next_sequence(&self) -> u64 {
        self.next_sequence
    }

    pub(crate) fn is_enough(&self) -> bool {
        let Self { facts, report, .. } = self;
        let is_told = facts.role != SessionRole::Main || facts.counts.user > 0;
        self.sink.detail == Detail::Opening
            && ((facts.cwd.is_some() && is_told) || report.lines >= MAX_OPENING_LINES)
    }

    /// Counts a JSON object that is one record and returns its members, or `None` if it is damaged.
    pub(crate) fn open_record<'r>(&mut self, raw: &'r str) -> Option<Fields<'r>> {
        self.report.lines += 1;
        let fields = Fields::read(raw);
        self.report.bad_lines += u64::from(fields.is_none());
        fields
    }

    pub(crate) fn push(&mut self, mut draft: Draft<'_>) {
        if self.next_sequence >= MAX_EVENTS {
            self.report.left_out += 1;
            return;
        }
        // Must run before the text is moved out of the draft.
        let is_question = draft.text.starts_with(QUESTION_MARK);
        let text = self.bound(&mut draft);
        if text.is_cut() {
            self.report.cut_texts += 1;
        }
        if draft.lane != Lane::Inherited {
            self.note_time(draft.timestamp);
        }
        self.count(&draft, is_question);
        let event = TranscriptEvent {
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

    pub(crate) fn emit_unknown(&mut self, record_type: &str, draft: Draft<'_>) {
        note_unknown(&mut self.report, record_type);
        self.push(draft);
    }

    fn bound(&self, draft: &mut Draft<'_>) -> BoundedText {
        let head = std::mem::take(&mut draft.text);
        let full_bytes = draft.full_bytes.unwrap_or(head.len() as u64);
        if !self.sink.detail.wants(draft.kind) {
            return BoundedText::unread(full_bytes);
        }
        BoundedText::of_parts(head, draft.tail, full_bytes, TextBounds::of(draft.kind))
    }

    pub(crate) fn note_time(&mut self, time: impl Into<Option<Timestamp>>) {
        let Some(timestamp) = time.into() else { return };
        let facts = &mut self.facts;
        facts.started = Some(facts.started.map_or(timestamp, |started| started.min(timestamp)));
        facts.last_activity =
            Some(facts.last_activity.map_or(timestamp, |last| last.max(timestamp)));
    }

    pub(crate) fn note_cwd(&mut self, cwd: &str) {
        note_first(&mut self.facts.cwd, &mut self.facts.other_cwds, cwd);
    }

    pub(crate) fn note_branch(&mut self, branch: &str) {
        // With a detached HEAD, agents record `HEAD` as the branch.
        if branch != "HEAD" {
            note_first(&mut self.facts.git_branch, &mut self.facts.other_branches, branch);
        }
    }

    pub(crate) fn note_model(&mut self, model: &str) {
        note_value(&mut self.facts.models, model);
    }

    pub(crate) fn note_repository(&mut self, url: &str) {
        if !url.is_empty() && self.facts.repository.is_none() {
            self.facts.repository = Some(repository_address(url));
        }
    }

    pub(crate) fn note_title(&mut self, title: &str) {
        if !title.trim().is_empty() {
            self.facts.title = Some(short_name(title.trim()));
        }
    }

    pub(crate) fn note_version(&mut self, version: &str) {
        if !version.is_empty() && self.facts.agent_version.as_deref() != Some(version) {
            self.facts.agent_version = Some(short_name(version));
        }
    }

    pub(crate) fn note_link(&mut self, kind: LinkKind, session: &str, call: Option<&str>) {
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
        if let TextOrigin::Injected(reason) = draft.origin {
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
        // Nearly every record repeats the same value, so compare the unshortened value first.
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
    use super::*;
    use crate::transcript::facts::Agent;

    #[test]
    fn so_many_events_of_a_session_are_handed_on_and_the_others_counted() {
        let mut n_taken = 0;
        let mut take = |_: TranscriptEvent| n_taken += 1;
        let facts = SessionFacts::new(Agent::Generic, "s");
        let mut out = Emitter::new(facts, MAX_EVENTS - 2, Sink::everything(&mut take));
        for _ in 0..5 {
            out.push(Draft::new(
                EventKind::Assistant,
                TextOrigin::Agent,
                "x",
                Position::Line { line: 1, offset: 0 },
            ));
        }
        assert_eq!((out.report.left_out, out.next_sequence()), (3, MAX_EVENTS));
        drop(out);
        assert_eq!(n_taken, 2);
    }
}
