//! Nacre's own transcript format, which is used to archive transcripts and to import them from any
//! other agent.
//!
//! Each line is a JSON object with a `type`. The first line can be a `session` with facts about it:
//! `{"type":"session","version":1,"id":…,"agent":…,"cwd":…,"git_branch":…,"repository":…,"title":…,
//! "models":[…],"started":…,"last_activity":…}`. Every other line is an event whose `type` is
//! `user`, `assistant`, `reasoning`, `tool_call`, `tool_result`, `summary`, `compaction` or `meta`.
//! Only `text` is required: `{"type":"user","text":"Use tabs","time":"2026-01-31T12:00:00Z"}`.
//! Optional members are `call` and `tool`, which link a call and its result, `error`, `lane`
//! (`main`, `sidechain`, `inherited`), `key`, and `origin` (`person`, `agent`, `tool`, `host`,
//! `injected`) with `source` or `reason`. Truncated text is stored together with its `tail` and its
//! full size in `bytes`. The last line can be `end` with `tokens`, `undone` and `ending`. `role`,
//! `content` and `timestamp` are accepted as aliases of `type`, `text` and `time`.

mod render;

use std::borrow::Cow;
use std::path::PathBuf;

use serde::de::DeserializeOwned;

pub use self::render::{write_end, write_event, write_session};
use super::{AgentSpec, Copies, Mark};
use crate::transcript::toolkit::*;

const FORMAT_VERSION: u64 = 1;

pub(crate) struct Generic;

pub(super) static SPEC: AgentSpec = AgentSpec {
    adapter: Some(&Generic),
    marks: &[
        (16, Mark::Line(&["\"type\":\"session\""])),
        (16, Mark::Line(&["\"type\": \"session\""])),
    ],
    copies: Copies::Never,
    ..AgentSpec::new("generic", "generic")
};

impl Adapter for Generic {
    fn agent(&self) -> Agent {
        Agent::Generic
    }

    /// Finds only conversations with Nacre's own agent. Users must pass other files explicitly.
    fn roots(&self, homes: &Homes) -> Vec<PathBuf> {
        homes.nacre_sessions.iter().cloned().collect()
    }

    fn read(&self, trace: &Trace, from: Option<&Watermark>, sink: Sink) -> Result<ReadOutcome> {
        let facts = SessionFacts::new(Agent::Generic, &trace.source.stem());
        read_lines::<GenericParser>(trace, self.version(), facts, from, sink)
    }
}

/// Reads a transcript from memory exactly as from a file.
pub fn read_text(id: &str, text: &str, sink: Sink) -> SessionFacts {
    let mut out = Emitter::new(SessionFacts::new(Agent::Generic, id), 0, sink);
    let mut reader = GenericParser::default();
    let mut offset = 0;
    for (line, written) in (1..).zip(text.split_inclusive('\n')) {
        let place = Position::Line { line, offset };
        offset += written.len() as u64;
        let text = written.trim();
        match Fields::read(text) {
            Some(fields) => reader.record(&Record { text, fields, place: &place }, &mut out),
            None => out.report.bad_lines += 1,
        }
    }
    out.facts.ending = reader.ending;
    out.facts
}

#[derive(Default)]
struct GenericParser {
    ending: Ending,
}

impl LineFormat for GenericParser {
    fn new(carry: Option<&str>) -> Self {
        Self { ending: from_carry(carry) }
    }

    fn record(&mut self, record: &Record, out: &mut Emitter) {
        let kind = record.word("type");
        match (kind, event_kind(record)) {
            ("session", _) => note_session(record, out),
            ("end", _) => {
                let facts = &mut out.facts;
                facts.tokens =
                    serde_json::from_str::<Tokens>(record.raw("tokens")).unwrap_or(facts.tokens);
                facts.undone = serde_json::from_str(record.raw("undone")).unwrap_or_default();
                self.ending = parse_name(record.raw("ending")).unwrap_or_default();
            }
            (_, Some(kind)) => push_event(record, kind, out),
            (other, None) => {
                let text = text_in(record);
                out.emit_unknown(other, draft(record, EventKind::Meta, TextOrigin::Host, &text));
            }
        }
    }

    fn ending(&self) -> Ending {
        self.ending
    }

    fn carry(&self) -> String {
        to_carry(&self.ending)
    }
}

fn parse_name<T: DeserializeOwned>(raw: &str) -> Option<T> {
    serde_json::from_str(raw).ok()
}

/// Also accepts lines that have a `role` instead of a type.
fn event_kind(record: &Record) -> Option<EventKind> {
    let key = if matches!(record.word("type"), "" | "message") { "role" } else { "type" };
    match record.word(key) {
        "tool" => Some(EventKind::ToolResult),
        "system" | "developer" => Some(EventKind::Meta),
        _ => parse_name(record.raw(key)),
    }
}

fn parse_origin(record: &Record) -> Option<TextOrigin> {
    Some(match record.word("origin") {
        "person" => {
            let source = parse_name(record.raw("source")).unwrap_or(WordSource::Unverified);
            TextOrigin::Person(source)
        }
        "agent" => TextOrigin::Agent,
        "tool" => TextOrigin::Tool,
        "host" => TextOrigin::Host,
        "injected" => {
            TextOrigin::Injected(parse_name(record.raw("reason")).unwrap_or(InjectedReason::Host))
        }
        _ => return None,
    })
}

fn draft<'t>(record: &Record, kind: EventKind, origin: TextOrigin, text: &'t str) -> Draft<'t> {
    let (call, tool) = (record.text("call"), record.text("tool"));
    let is_linked = call.is_some() || tool.is_some();
    let link = CallLink {
        id: short_name(&call.unwrap_or_default()),
        tool: tool.map(|tool| short_name(&tool)),
    };
    // The event's position in the transcript from which it was originally read.
    let place = match parse_name(record.raw("place")) {
        Some(Position::Row { key }) => Position::Row { key: short_name(&key) },
        Some(line @ Position::Line { .. }) => line,
        None => record.place.clone(),
    };
    Draft {
        timestamp: record.time("time").or_else(|| record.time("timestamp")),
        call: is_linked.then_some(link),
        lane: parse_name(record.raw("lane")).unwrap_or(Lane::Main),
        is_error: record.truth("error"),
        full_bytes: record.number("bytes").and_then(|bytes| u64::try_from(bytes).ok()),
        ..Draft::new(kind, origin, text, place)
    }
}

fn push_event(record: &Record, kind: EventKind, out: &mut Emitter) {
    let (text, tail, key) = (text_in(record), record.string("tail"), record.text("key"));
    let mut push = |draft: Draft<'_>| {
        out.push(Draft { tail: &tail, key: key.as_deref(), ..draft });
    };
    if let Some(origin) = parse_origin(record) {
        return push(draft(record, kind, origin, &text));
    }
    let origin = match kind {
        EventKind::User => {
            for piece in split_user(&text) {
                push(Draft { full_bytes: None, ..draft(record, kind, piece.origin, &piece.text) });
            }
            return;
        }
        EventKind::Assistant | EventKind::Reasoning | EventKind::ToolCall => TextOrigin::Agent,
        EventKind::ToolResult => TextOrigin::Tool,
        EventKind::Summary | EventKind::Compaction | EventKind::Meta => TextOrigin::Host,
    };
    push(draft(record, kind, origin, &text));
}

fn note_session(record: &Record, out: &mut Emitter) {
    if record.count("version") > FORMAT_VERSION {
        // Sessions in a newer format version may still be readable, so they are read, and the
        // version is reported.
        note_unknown(&mut out.report, "session of a newer version");
    }
    if let Some(id) = record.text("id") {
        out.facts.id = short_name(&id);
    }
    out.facts.agent = Agent::from_name(record.word("agent")).unwrap_or(out.facts.agent);
    out.facts.role = parse_name(record.raw("role")).unwrap_or_default();
    out.note_cwd(&record.string("cwd"));
    out.note_branch(&record.string("git_branch"));
    out.note_repository(&record.string("repository"));
    out.note_title(&record.string("title"));
    out.note_version(&record.string("agent_version"));
    for key in ["started", "last_activity"] {
        out.note_time(record.time(key));
    }
    for model in record.items("models").into_iter().filter_map(text_of) {
        out.note_model(&model);
    }
    let links: Vec<SessionLink> = parse_name(record.raw("links")).unwrap_or_default();
    for link in &links {
        out.note_link(link.kind, &link.session, link.call.as_deref());
    }
}

/// The text may be a string or an array of strings. Any other value is returned unchanged.
fn text_in<'a>(record: &Record<'a>) -> Cow<'a, str> {
    let raw = record.first_raw(&["text", "content"]);
    if raw.starts_with(['"', '[']) { Cow::Owned(texts(raw).join("\n")) } else { Cow::Borrowed(raw) }
}
