//! Nacre's own transcript format: the archive of what was read, and the way in for any other agent.
//!
//! One JSON object a line, each with a `type`. The first may be `session` and names the session:
//! `{"type":"session","version":1,"id":…,"agent":…,"cwd":…,"git_branch":…,"repository":…,"title":…,
//! "models":[…],"started":…,"last_activity":…}`. The others are events, their `type` one of `user`, `assistant`, `reasoning`,
//! `tool_call`, `tool_result`, `summary`, `compaction`, `meta`, and only `text` is required:
//! `{"type":"user","text":"Use tabs","time":"2026-01-31T12:00:00Z"}`. More can be told: `call` and
//! `tool` link a call and its result, `error`, `lane` (`main`, `sidechain`, `inherited`), `key`,
//! `origin` (`person`, `agent`, `tool`, `host`, `injected`) with `source` or `reason`, and of a cut
//! text its `tail` and full size in `bytes`. The last line may be `end` with `tokens`, `undone` and
//! `ending`. `role` and `content` are understood for `type` and `text`, `timestamp` for `time`.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::PathBuf;

use jiff::Timestamp;

use super::adapter::{Adapter, Discovery, Homes, ReadOutcome, Trace, Watermark};
use super::emit::{Draft, Emitter};
use super::error::Result;
use super::event::{CallLink, EventKind, InjectedReason, Lane, Origin, Place, WordSource};
use super::facts::{Agent, Ending, SessionFacts, SessionLink, SessionRole, Tokens, Undone};
use super::injected::{Author, split_user};
use super::json::{Cursor, Next, Parsed, Text};
use super::names::short_name;
use super::sink::Sink;
use super::stream::{LineFormat, Start, read_stream};
use super::time::parse_time;
use super::walk::{Wanted, walk};

/// The version that this format is at.
pub const FORMAT_VERSION: u64 = 1;

/// Reads transcripts in Nacre's own format.
pub struct Generic;

impl Adapter for Generic {
    fn agent(&self) -> Agent {
        Agent::Generic
    }

    fn version(&self) -> u32 {
        1
    }

    /// Conversations with Nacre's own agent; others are named by the person.
    fn roots(&self, homes: &Homes) -> Vec<PathBuf> {
        homes.nacre_sessions.iter().cloned().collect()
    }

    fn discover(&self, roots: &[PathBuf]) -> Discovery {
        let file = |name: &OsStr| name.to_string_lossy().ends_with(".jsonl");
        walk(roots, &Wanted { agent: Agent::Generic, file: &file, directory: &|_| true })
    }

    fn read(&self, trace: &Trace, from: Option<&Watermark>, sink: Sink<'_>) -> Result<ReadOutcome> {
        let path = &trace.source.path;
        let stem = path.file_stem().map(OsStr::to_string_lossy).unwrap_or_default();
        let facts = SessionFacts::new(Agent::Generic, &stem);
        let start = Start { version: self.version(), facts, format: |_| Reader };
        read_stream(path, start, from, sink)
    }
}

/// Reads a transcript that is in memory, by the same rules.
pub fn read_text(id: &str, text: &str, sink: Sink<'_>) -> SessionFacts {
    let mut out = Emitter::new(SessionFacts::new(Agent::Generic, id), 0, sink);
    let mut offset = 0;
    for (line, written) in (1..).zip(text.split_inclusive('\n')) {
        let place = Place::Line { line, offset };
        offset += written.len() as u64;
        // A line that is no record costs itself alone.
        if Reader.record(&mut Cursor::new(written.trim()), &place, &mut out).is_err() {
            out.report.bad_lines += 1;
        }
    }
    out.facts
}

/// Needs no memory: every line stands for itself.
struct Reader;

/// One line.
#[derive(Default)]
struct Record<'a> {
    kind: &'a str,
    version: Option<u64>,
    id: Option<Text<'a>>,
    agent: &'a str,
    role: &'a str,
    cwd: Option<Text<'a>>,
    branch: Option<Text<'a>>,
    repository: Option<Text<'a>>,
    title: Option<Text<'a>>,
    agent_version: Option<Text<'a>>,
    started: Option<Timestamp>,
    last_activity: Option<Timestamp>,
    models: &'a str,
    links: &'a str,
    text: Cow<'a, str>,
    tail: Option<Text<'a>>,
    bytes: Option<u64>,
    time: Option<Timestamp>,
    key: Option<Text<'a>>,
    call: Option<Text<'a>>,
    tool: Option<Text<'a>>,
    is_error: bool,
    lane: &'a str,
    origin: &'a str,
    source: &'a str,
    reason: &'a str,
    /// `place`, as written.
    place: &'a str,
    tokens: &'a str,
    undone: &'a str,
    ending: &'a str,
}

impl<'a> Record<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Parsed<Self> {
        let mut record = Self::default();
        cursor.object(|key, value| record.member(key, value))?;
        Ok(record)
    }

    fn member(&mut self, key: &str, value: &mut Cursor<'a>) -> Parsed<()> {
        match key {
            "type" => self.kind = word(value)?,
            "role" => self.role = word(value)?,
            "version" => self.version = value.number()?,
            "id" => self.id = value.maybe_string()?,
            "agent" => self.agent = word(value)?,
            "cwd" => self.cwd = value.maybe_string()?,
            "git_branch" => self.branch = value.maybe_string()?,
            "repository" => self.repository = value.maybe_string()?,
            "title" => self.title = value.maybe_string()?,
            "agent_version" => self.agent_version = value.maybe_string()?,
            "started" => self.started = parse_time(word(value)?),
            "last_activity" => self.last_activity = parse_time(word(value)?),
            "models" => self.models = value.raw()?,
            "links" => self.links = value.raw()?,
            "text" | "content" => self.text = content(value)?,
            "tail" => self.tail = value.maybe_string()?,
            "bytes" => self.bytes = value.number()?,
            "time" | "timestamp" => self.time = parse_time(word(value)?),
            "key" => self.key = value.maybe_string()?,
            "call" => self.call = value.maybe_string()?,
            "tool" => self.tool = value.maybe_string()?,
            "error" => self.is_error = value.truth()?,
            "lane" => self.lane = word(value)?,
            "origin" => self.origin = word(value)?,
            "source" => self.source = word(value)?,
            "reason" => self.reason = word(value)?,
            "place" => self.place = value.raw()?,
            "tokens" => self.tokens = value.raw()?,
            "undone" => self.undone = value.raw()?,
            "ending" => self.ending = word(value)?,
            _ => {}
        }
        Ok(())
    }

    /// The kind of event; a bare `role` tells it too.
    fn event_kind(&self) -> Option<EventKind> {
        let name =
            if self.kind.is_empty() || self.kind == "message" { self.role } else { self.kind };
        match name {
            "tool" => Some(EventKind::ToolResult),
            "system" | "developer" => Some(EventKind::Meta),
            _ => EventKind::ALL.into_iter().find(|kind| kind.as_str() == name),
        }
    }

    fn lane(&self) -> Lane {
        let lane = Lane::ALL.into_iter().find(|lane| lane.as_str() == self.lane);
        lane.unwrap_or(Lane::Main)
    }

    /// Who wrote the text, where the line says so.
    fn told_origin(&self) -> Option<Origin> {
        match self.origin {
            "person" => {
                let source = WordSource::ALL.into_iter().find(|word| word.as_str() == self.source);
                Some(Origin::Person(source.unwrap_or(WordSource::Unverified)))
            }
            "agent" => Some(Origin::Agent),
            "tool" => Some(Origin::Tool),
            "host" => Some(Origin::Host),
            "injected" => {
                let reasons = InjectedReason::ALL.into_iter();
                let reason = reasons.into_iter().find(|reason| reason.as_str() == self.reason);
                Some(Origin::Injected(reason.unwrap_or(InjectedReason::Host)))
            }
            _ => None,
        }
    }

    /// Where the event stood in the trace it was first read from, else where it stands here.
    fn place(&self, here: &Place) -> Place {
        match serde_json::from_str(self.place) {
            Ok(Place::Row { key }) => Place::Row { key: short_name(&key) },
            Ok(line @ Place::Line { .. }) => line,
            Err(_) => here.clone(),
        }
    }

    fn draft(&self, kind: EventKind, origin: Origin, here: &Place) -> Draft<'_> {
        let call = self.call.or(self.tool).map(|_| CallLink {
            id: short_name(&self.call.unwrap_or_default().decode()),
            tool: self.tool.map(|tool| short_name(&tool.decode())),
        });
        Draft {
            timestamp: self.time,
            call,
            lane: self.lane(),
            is_error: self.is_error,
            full_bytes: self.bytes,
            ..Draft::new(kind, origin, &*self.text, self.place(here))
        }
    }
}

impl LineFormat for Reader {
    fn record(
        &mut self,
        cursor: &mut Cursor<'_>,
        place: &Place,
        out: &mut Emitter<'_>,
    ) -> Parsed<()> {
        let record = Record::read(cursor)?;
        match (record.kind, record.event_kind()) {
            ("session", _) => note_session(&record, out),
            ("end", _) => note_end(&record, out),
            (_, Some(kind)) => push_event(&record, kind, place, out),
            (other, None) => {
                let draft = record.draft(EventKind::Meta, Origin::Host, place);
                out.unknown(other, draft);
            }
        }
        Ok(())
    }

    fn cut_record(&mut self, head: &str, place: &Place, out: &mut Emitter<'_>) {
        let draft = Draft::new(EventKind::Meta, Origin::Host, head, place.clone());
        out.push(Draft { is_error: true, ..draft });
    }

    fn finish(&mut self, _out: &mut Emitter<'_>) {}

    fn carry(&self) -> String {
        String::new()
    }
}

fn push_event(record: &Record<'_>, kind: EventKind, place: &Place, out: &mut Emitter<'_>) {
    let tail = record.tail.map(Text::decode).unwrap_or_default();
    let key = record.key.map(Text::decode);
    let push = |draft: Draft<'_>, out: &mut Emitter<'_>| {
        out.push(Draft { tail: &tail, key: key.as_deref(), ..draft });
    };
    if let Some(origin) = record.told_origin() {
        return push(record.draft(kind, origin, place), out);
    }
    let origin = match kind {
        EventKind::User => {
            for piece in split_user(&record.text) {
                let origin = match piece.author {
                    Author::Person(WordSource::Prompt) => Origin::Person(WordSource::Unverified),
                    Author::Person(source) => Origin::Person(source),
                    Author::Program(reason) => Origin::Injected(reason),
                };
                let draft = record.draft(kind, origin, place);
                push(Draft { text: piece.text, full_bytes: None, ..draft }, out);
            }
            return;
        }
        EventKind::Assistant | EventKind::Reasoning | EventKind::ToolCall => Origin::Agent,
        EventKind::ToolResult => Origin::Tool,
        EventKind::Summary | EventKind::Compaction | EventKind::Meta => Origin::Host,
    };
    push(record.draft(kind, origin, place), out);
}

fn note_session(record: &Record<'_>, out: &mut Emitter<'_>) {
    if record.version.is_some_and(|version| FORMAT_VERSION < version) {
        // Newer lines may still be readable; that they are newer must not go unseen.
        out.report.note_unknown("session of a newer version");
    }
    if let Some(id) = record.id {
        out.facts.id = short_name(&id.decode());
    }
    if let Some(agent) = Agent::from_name(record.agent) {
        out.facts.agent = agent;
    }
    let decoded = |text: Option<Text<'_>>| text.map(|text| text.decode().into_owned());
    out.note_cwd(&decoded(record.cwd).unwrap_or_default());
    out.note_branch(&decoded(record.branch).unwrap_or_default());
    out.note_repository(&decoded(record.repository).unwrap_or_default());
    out.note_title(&decoded(record.title).unwrap_or_default());
    out.note_version(&decoded(record.agent_version).unwrap_or_default());
    for timestamp in record.started.into_iter().chain(record.last_activity) {
        out.note_time(timestamp);
    }
    let models: Vec<String> = serde_json::from_str(record.models).unwrap_or_default();
    for model in &models {
        out.note_model(model);
    }
    let links: Vec<SessionLink> = serde_json::from_str(record.links).unwrap_or_default();
    for link in &links {
        out.note_link(link.kind, &link.session, link.call.as_deref());
    }
    out.facts.role = match record.role {
        "sub_agent" => SessionRole::SubAgent,
        "helper" => SessionRole::Helper,
        _ => SessionRole::Main,
    };
}

fn note_end(record: &Record<'_>, out: &mut Emitter<'_>) {
    out.facts.tokens = serde_json::from_str::<Tokens>(record.tokens).unwrap_or(out.facts.tokens);
    out.facts.undone = serde_json::from_str::<Vec<Undone>>(record.undone).unwrap_or_default();
    out.facts.ending = match record.ending {
        "finished" => Ending::Finished,
        "active" => Ending::Active,
        _ => Ending::Unknown,
    };
}

/// A string, or a list of texts.
fn content<'a>(cursor: &mut Cursor<'a>) -> Parsed<Cow<'a, str>> {
    match cursor.next()? {
        Next::String => Ok(cursor.string()?.decode()),
        Next::Array => {
            let mut texts = Vec::new();
            cursor.array(|element| match element.next()? {
                Next::String => {
                    texts.push(element.string()?.decode());
                    Ok(())
                }
                Next::Object => element.object(|key, value| {
                    if key == "text" {
                        texts.extend(value.maybe_string()?.map(Text::decode));
                    }
                    Ok(())
                }),
                Next::Array | Next::Scalar => Ok(()),
            })?;
            Ok(Cow::Owned(texts.join("\n")))
        }
        Next::Object | Next::Scalar => Ok(Cow::Borrowed(cursor.raw()?)),
    }
}

fn word<'a>(cursor: &mut Cursor<'a>) -> Parsed<&'a str> {
    Ok(cursor.maybe_string()?.map_or("", Text::raw))
}
