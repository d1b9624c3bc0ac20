//! How readers say what they found: who spoke, where, and when.
//!
//! All of them split user messages, link calls to results and cut long outputs alike.

use jiff::Timestamp;

use super::calls::{OpenCalls, result_origin};
use super::emit::{Draft, Emitter};
use super::event::{EventKind, InjectedReason, Lane, Origin, Place, WordSource};
use super::injected::{Author, is_nacre_tool, reason_of, split_user};
use super::view::{Said, items, text_of};

/// Calls are looked at this far to see whether they run Nacre.
const SEEN_ARGUMENTS: usize = 4096;

/// Where and when something was said.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot<'a> {
    pub(super) place: &'a Place,
    /// The agent's id of the record.
    pub(super) key: &'a str,
    pub(super) time: Option<Timestamp>,
    pub(super) lane: Lane,
}

impl<'a> Spot<'a> {
    pub(super) fn draft<'t>(&self, kind: EventKind, origin: Origin, text: &'t str) -> Draft<'t>
    where
        'a: 't,
    {
        Draft {
            timestamp: self.time,
            key: (!self.key.is_empty()).then_some(self.key),
            lane: self.lane,
            ..Draft::new(kind, origin, text, self.place.clone())
        }
    }
}

/// A row, file or element as a place.
pub(super) fn row(key: &str) -> Place {
    Place::Row { key: super::names::short_name(key) }
}

/// A message with the role of the user.
pub(super) fn user(spot: &Spot<'_>, text: &str, out: &mut Emitter<'_>) {
    for piece in split_user(text) {
        let origin = match piece.author {
            Author::Program(reason) => Origin::Injected(reason),
            // In a sub-agent's talk the other side is the agent that spawned it.
            Author::Person(_) if spot.lane == Lane::Sidechain => Origin::Agent,
            Author::Person(source) => Origin::Person(source),
        };
        let kind = match origin {
            Origin::Injected(InjectedReason::CompactionSummary) => EventKind::Summary,
            Origin::Injected(_)
            | Origin::Person(_)
            | Origin::Agent
            | Origin::Tool
            | Origin::Host => EventKind::User,
        };
        out.push(spot.draft(kind, origin, &piece.text));
    }
}

/// Whether a person speaks in a text with the role of the user.
pub(super) fn holds_words(text: &str) -> bool {
    split_user(text).iter().any(|piece| matches!(piece.author, Author::Person(_)))
}

/// What programs added to a text with the role of the user, where the person's words in it are known from elsewhere.
pub(super) fn added(spot: &Spot<'_>, text: &str, out: &mut Emitter<'_>) {
    for piece in split_user(text) {
        if let Author::Program(reason) = piece.author {
            injected(spot, reason, &piece.text, out);
        }
    }
}

/// A text that a program put into the talk.
pub(super) fn injected(spot: &Spot<'_>, reason: InjectedReason, text: &str, out: &mut Emitter<'_>) {
    if !text.trim().is_empty() {
        out.push(spot.draft(EventKind::User, Origin::Injected(reason), text.trim()));
    }
}

/// A message with the role of the user that the agent marked as its own.
pub(super) fn marked_user(spot: &Spot<'_>, text: &str, out: &mut Emitter<'_>) {
    if !text.trim().is_empty() {
        out.push(spot.draft(EventKind::User, Origin::Injected(reason_of(text)), text));
    }
}

/// Words of the person that stood somewhere else than in a message.
pub(super) fn words(spot: &Spot<'_>, source: WordSource, text: &str, out: &mut Emitter<'_>) {
    if !text.trim().is_empty() && spot.lane != Lane::Sidechain {
        out.push(spot.draft(EventKind::User, Origin::Person(source), text.trim()));
    }
}

/// What the model said or thought.
pub(super) fn agent(spot: &Spot<'_>, kind: EventKind, text: &str, out: &mut Emitter<'_>) {
    if !text.trim().is_empty() {
        out.push(spot.draft(kind, Origin::Agent, text));
    }
}

/// A recap that stands for history which the agent dropped.
pub(super) fn recap(spot: &Spot<'_>, text: &str, out: &mut Emitter<'_>) {
    if !text.trim().is_empty() {
        let origin = Origin::Injected(InjectedReason::CompactionSummary);
        out.push(spot.draft(EventKind::Summary, origin, text));
    }
}

/// A line of the agent's program.
pub(super) fn note(spot: &Spot<'_>, text: &str, out: &mut Emitter<'_>) {
    out.push(spot.draft(EventKind::Meta, Origin::Host, text));
}

/// A failure that the agent's program wrote down.
pub(super) fn failure(spot: &Spot<'_>, text: &str, out: &mut Emitter<'_>) {
    let draft = spot.draft(EventKind::Meta, Origin::Host, text);
    out.push(Draft { is_error: true, ..draft });
}

/// The beginning of a line that is too long to be kept.
pub(super) fn cut(head: &str, place: &Place, out: &mut Emitter<'_>) {
    let draft = Draft::new(EventKind::Meta, Origin::Host, head, place.clone());
    out.push(Draft { is_error: true, ..draft });
}

/// A record of a type that is not known here.
pub(super) fn unknown(spot: &Spot<'_>, kind: &str, raw: &str, out: &mut Emitter<'_>) {
    out.unknown(kind, spot.draft(EventKind::Meta, Origin::Host, raw));
}

/// A tool call, with its arguments as JSON or as text.
pub(super) fn call(
    spot: &Spot<'_>,
    calls: &mut OpenCalls,
    (id, tool): (&str, &str),
    arguments: &str,
    out: &mut Emitter<'_>,
) {
    let link = calls.open(id, tool, super::event::front(arguments, SEEN_ARGUMENTS));
    let origin =
        if is_nacre_tool(tool) { Origin::Injected(InjectedReason::Nacre) } else { Origin::Agent };
    let draft = spot.draft(EventKind::ToolCall, origin, arguments);
    out.push(Draft { call: Some(link), ..draft });
}

/// How a tool call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Well,
    Badly,
}

/// A tool's result, as a JSON value: a string's content, or anything else as written.
pub(super) fn result(
    spot: &Spot<'_>,
    calls: &mut OpenCalls,
    id: &str,
    (ended, raw): (Ended, &str),
    out: &mut Emitter<'_>,
) {
    let joined = joined_text(raw);
    let said = joined.as_deref().map_or_else(|| Said::of(raw), Said::plain);
    push_result(spot, calls, id, (ended, said), out);
}

/// A tool's result, as text.
pub(super) fn plain_result(
    spot: &Spot<'_>,
    calls: &mut OpenCalls,
    id: &str,
    (ended, text): (Ended, &str),
    out: &mut Emitter<'_>,
) {
    push_result(spot, calls, id, (ended, Said::plain(text)), out);
}

fn push_result(
    spot: &Spot<'_>,
    calls: &mut OpenCalls,
    id: &str,
    (ended, said): (Ended, Said<'_>),
    out: &mut Emitter<'_>,
) {
    let (link, call) = calls.close(id);
    let ends = said.ends(EventKind::ToolResult.bounds());
    let origin = result_origin(call.as_ref(), &ends.head);
    let draft = spot.draft(EventKind::ToolResult, origin, &ends.head);
    out.push(Draft {
        tail: &ends.tail,
        full_bytes: Some(ends.full_bytes as u64),
        call: Some(link),
        is_error: ended == Ended::Badly,
        ..draft
    });
}

/// The texts of a result that comes in blocks.
fn joined_text(raw: &str) -> Option<String> {
    let texts: Vec<String> = items(raw)
        .into_iter()
        .map(|block| {
            let text = super::view::Fields::of(block).text("text").or_else(|| text_of(block));
            text.map(|text| text.decode().into_owned())
        })
        .collect::<Option<_>>()?;
    (!texts.is_empty()).then(|| texts.join("\n"))
}
