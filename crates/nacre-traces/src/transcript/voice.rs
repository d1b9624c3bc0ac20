//! Helpers that all parsers use to emit events, so that user messages are split, results linked and
//! outputs truncated in the same way for every agent.

use std::borrow::Cow;

use jiff::Timestamp;

use crate::transcript::toolkit::*;

/// Number of bytes of a call's arguments to search for a command that runs Nacre.
const SEEN_ARGUMENTS: usize = 4096;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot<'a> {
    pub(crate) place: &'a Position,
    pub(crate) key: &'a str,
    pub(crate) time: Option<Timestamp>,
    pub(crate) lane: Lane,
}

impl<'a> Spot<'a> {
    pub(crate) fn draft(&self, kind: EventKind, origin: TextOrigin, text: &'a str) -> Draft<'a> {
        Draft {
            timestamp: self.time,
            key: (!self.key.is_empty()).then_some(self.key),
            lane: self.lane,
            ..Draft::new(kind, origin, text, self.place.clone())
        }
    }
}

pub(crate) fn row(key: &str) -> Position {
    Position::Row { key: super::names::short_name(key) }
}

pub(crate) fn user(spot: &Spot, text: &str, out: &mut Emitter) {
    for piece in split_user(text) {
        let origin = piece.origin.in_lane(spot.lane);
        out.push(spot.draft(user_kind(origin), origin, &piece.text));
    }
}

/// Returns the event kind for text with the user role. The summary that continues a compacted
/// session does not count as a user message.
pub(crate) fn user_kind(origin: TextOrigin) -> EventKind {
    if origin.injection_reason() == Some(InjectedReason::CompactionSummary) {
        EventKind::Summary
    } else {
        EventKind::User
    }
}

/// Returns `true` if text with the user role contains the user's words.
pub(crate) fn holds_words(text: &str) -> bool {
    split_user(text).iter().any(|piece| piece.origin.person().is_some())
}

/// Emits only the injected parts of text with the user role. The user's own words are emitted from
/// another record.
pub(crate) fn emit_added(spot: &Spot, text: &str, out: &mut Emitter) {
    for piece in split_user(text) {
        if let Some(reason) = piece.origin.injection_reason() {
            emit_injected(spot, reason, &piece.text, out);
        }
    }
}

pub(crate) fn emit_injected(spot: &Spot, reason: InjectedReason, text: &str, out: &mut Emitter) {
    if !text.trim().is_empty() {
        out.push(spot.draft(EventKind::User, TextOrigin::Injected(reason), text.trim()));
    }
}

pub(crate) fn emit_marked_user(spot: &Spot, text: &str, out: &mut Emitter) {
    if !text.trim().is_empty() {
        out.push(spot.draft(EventKind::User, TextOrigin::Injected(reason_of(text)), text));
    }
}

pub(crate) fn emit_marked_texts(spot: &Spot, content: &str, out: &mut Emitter) {
    texts(content).iter().for_each(|text| emit_marked_user(spot, text, out));
}

/// Emits the user's words that were not entered as a message.
pub(crate) fn words(spot: &Spot, source: WordSource, text: &str, out: &mut Emitter) {
    if !text.trim().is_empty() && spot.lane != Lane::Sidechain {
        out.push(spot.draft(EventKind::User, TextOrigin::Person(source), text.trim()));
    }
}

pub(crate) fn agent(spot: &Spot, kind: EventKind, text: &str, out: &mut Emitter) {
    if !text.trim().is_empty() {
        out.push(spot.draft(kind, TextOrigin::Agent, text));
    }
}

pub(crate) fn recap(spot: &Spot, text: &str, out: &mut Emitter) {
    if !text.trim().is_empty() {
        let origin = TextOrigin::Injected(InjectedReason::CompactionSummary);
        out.push(spot.draft(EventKind::Summary, origin, text));
    }
}

pub(crate) fn note(spot: &Spot, text: &str, out: &mut Emitter) {
    out.push(spot.draft(EventKind::Meta, TextOrigin::Host, text));
}

pub(crate) fn failure(spot: &Spot, text: &str, out: &mut Emitter) {
    let draft = spot.draft(EventKind::Meta, TextOrigin::Host, text);
    out.push(Draft { is_error: true, ..draft });
}

pub(crate) fn long_row(spot: &Spot, out: &mut Emitter) {
    out.report.lines += 1;
    out.report.long_lines += 1;
    failure(spot, "A row that is too long to be read", out);
}

pub(crate) fn emit_unknown(spot: &Spot, kind: &str, raw: &str, out: &mut Emitter) {
    out.emit_unknown(kind, spot.draft(EventKind::Meta, TextOrigin::Host, raw));
}

/// `arguments` is JSON or plain text.
pub(crate) fn call(
    spot: &Spot,
    calls: &mut OpenCalls,
    id: &str,
    tool: &str,
    arguments: &str,
    out: &mut Emitter,
) {
    let link = calls.open(id, tool, super::event::front(arguments, SEEN_ARGUMENTS));
    let origin = if is_nacre_tool(tool) {
        TextOrigin::Injected(InjectedReason::Nacre)
    } else {
        TextOrigin::Agent
    };
    let draft = spot.draft(EventKind::ToolCall, origin, arguments);
    out.push(Draft { call: Some(link), ..draft });
}

/// Emits a call's result: a string, a list of text blocks, or any other JSON value, which is
/// emitted as JSON.
pub(crate) fn result(
    spot: &Spot,
    calls: &mut OpenCalls,
    id: &str,
    has_failed: bool,
    raw: &str,
    out: &mut Emitter,
) {
    let text = join_text(raw).map(Cow::Owned).or_else(|| text_of(raw));
    plain_result(spot, calls, id, has_failed, &text.unwrap_or(Cow::Borrowed(raw)), out);
}

pub(crate) fn plain_result(
    spot: &Spot,
    calls: &mut OpenCalls,
    id: &str,
    has_failed: bool,
    text: &str,
    out: &mut Emitter,
) {
    let (link, call) = calls.close(id);
    let draft = spot.draft(EventKind::ToolResult, result_origin(call.as_ref(), text), text);
    out.push(Draft { call: Some(link), is_error: has_failed, ..draft });
}

fn join_text(raw: &str) -> Option<String> {
    let block = |block| Fields::of(block).text("text").or_else(|| text_of(block));
    let texts: Vec<Cow<'_, str>> = items(raw).into_iter().map(block).collect::<Option<_>>()?;
    (!texts.is_empty()).then(|| texts.join("\n"))
}
