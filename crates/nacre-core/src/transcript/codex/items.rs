//! Response items: what went to the model and what came back.

use std::borrow::Cow;

use super::super::calls::result_origin;
use super::super::emit::{Draft, Emitter, short_name};
use super::super::event::{EventKind, InjectedReason, Lane, Origin, Place, WordSource, front};
use super::super::injected::{Author, is_nacre_tool, reason_of, split_user};
use super::super::json::{Cursor, Next, Parsed, Text};
use super::record::{Item, Record, Value, joined, texts_of};
use super::state::{Held, Reader, Said, Stream, stamped};

/// Tools through which the agent asks the person.
const ASKING_TOOLS: [&str; 2] = ["request_user_input", "ask_user"];

/// What the model said, and in which stream it was found.
pub(super) struct Answer<'a> {
    pub(super) stream: Stream,
    pub(super) text: &'a str,
    pub(super) id: Option<Text<'a>>,
}

/// Whether a line without an envelope is an item of this type.
pub(super) fn is_item(kind: &str) -> bool {
    kind == "message"
        || kind == "reasoning"
        || kind.ends_with("_call")
        || kind.ends_with("_call_output")
        || kind == "tool_search_output"
        || kind == "ghost_snapshot"
}

impl Reader {
    pub(super) fn item(
        &mut self,
        item: &Item<'_>,
        record: &Record<'_>,
        place: &Place,
        out: &mut Emitter<'_>,
    ) {
        match item.kind {
            "message" => self.message(item, record, place, out),
            "reasoning" => self.reasoning(item, record, place, out),
            "agent_message" => self.other_agent(item, record, place, out),
            "compaction" | "compaction_summary" | "context_compaction" => {
                let draft = Draft::new(EventKind::Compaction, Origin::Host, "", place.clone());
                let lane = self.lane(record, out);
                out.push(stamped(draft, record, lane));
            }
            "ghost_snapshot" => {}
            kind if kind.ends_with("_output") => self.tool_result(item, record, place, out),
            kind if kind.ends_with("_call") && kind != "tool_call" => {
                self.tool_call(item, record, place, out);
            }
            other => {
                let draft = Draft::new(EventKind::Meta, Origin::Host, item.raw, place.clone());
                let lane = self.lane(record, out);
                out.unknown(other, stamped(draft, record, lane));
            }
        }
    }

    fn message(
        &mut self,
        item: &Item<'_>,
        record: &Record<'_>,
        place: &Place,
        out: &mut Emitter<'_>,
    ) {
        self.flush_held(out);
        let lane = self.lane(record, out);
        match item.role {
            "user" => {
                let mut texts: Vec<String> =
                    item.content.iter().map(|text| text.decode().into_owned()).collect();
                if texts.is_empty() && item.has_picture {
                    texts.push("[image]".to_owned());
                }
                self.held = Some(Held {
                    texts,
                    place: place.clone(),
                    timestamp: record.timestamp,
                    key: item.id.map(|id| short_name(&id.decode())),
                    lane,
                });
            }
            "assistant" => {
                let text = joined(&item.content);
                let answer = Answer { stream: Stream::Items, text: &text, id: item.id };
                self.assistant_text(&answer, record, place, out);
            }
            // Developer and system texts are the program's rules.
            _ => {
                let text = joined(&item.content);
                let found = reason_of(&text);
                let is_unknown = found == InjectedReason::Host;
                let reason = if is_unknown { InjectedReason::Instructions } else { found };
                let origin = Origin::Injected(reason);
                let draft = Draft::new(EventKind::Meta, origin, text, place.clone());
                out.push(stamped(draft, record, lane));
            }
        }
    }

    pub(super) fn assistant_text(
        &mut self,
        answer: &Answer<'_>,
        record: &Record<'_>,
        place: &Place,
        out: &mut Emitter<'_>,
    ) {
        self.flush_held(out);
        self.saved.last_is_answer = true;
        if answer.text.trim().is_empty()
            || !self.is_first(answer.stream, Said::Assistant(answer.text), out)
        {
            return;
        }
        let id = answer.id.map(Text::decode);
        let draft = Draft {
            key: id.as_deref(),
            ..Draft::new(EventKind::Assistant, Origin::Agent, answer.text, place.clone())
        };
        let lane = self.lane(record, out);
        out.push(stamped(draft, record, lane));
    }

    /// Gives out the user-role item that waits, when no event has claimed it.
    pub(super) fn flush_held(&mut self, out: &mut Emitter<'_>) {
        let Some(held) = self.held.take() else { return };
        let whole = held.texts.join("\n");
        if !self.is_first(Stream::Items, Said::User(&whole), out) {
            return;
        }
        let unclaimed = if self.saved.has_shown_users && held.lane == Lane::Main {
            Origin::Injected(InjectedReason::Host)
        } else {
            Origin::Person(WordSource::Unverified)
        };
        for text in &held.texts {
            self.user_pieces(text, unclaimed, &held, out);
        }
    }

    /// Gives out a user message piece by piece; a prompt among them is `prompt`.
    pub(super) fn user_pieces(
        &mut self,
        text: &str,
        prompt: Origin,
        held: &Held,
        out: &mut Emitter<'_>,
    ) {
        for piece in split_user(text) {
            let origin = match piece.author {
                Author::Program(reason) => Origin::Injected(reason),
                // The other side of a sub-agent is the agent that spawned it.
                Author::Person(_) if held.lane == Lane::Sidechain => Origin::Agent,
                Author::Person(WordSource::Prompt) => prompt,
                Author::Person(source) => Origin::Person(source),
            };
            if let Origin::Person(_) = origin {
                self.saved.last_is_answer = false;
                if held.lane == Lane::Main {
                    self.note_prompt(out);
                }
            }
            let kind = if origin == Origin::Injected(InjectedReason::CompactionSummary) {
                EventKind::Summary
            } else {
                EventKind::User
            };
            out.push(Draft {
                timestamp: held.timestamp,
                key: held.key.as_deref(),
                lane: held.lane,
                ..Draft::new(kind, origin, piece.text, held.place.clone())
            });
        }
    }

    fn reasoning(
        &mut self,
        item: &Item<'_>,
        record: &Record<'_>,
        place: &Place,
        out: &mut Emitter<'_>,
    ) {
        self.flush_held(out);
        for text in item.summary.iter().chain(&item.content) {
            self.reasoning_text(Stream::Items, &text.decode(), record, place, out);
        }
    }

    pub(super) fn reasoning_text(
        &mut self,
        stream: Stream,
        text: &str,
        record: &Record<'_>,
        place: &Place,
        out: &mut Emitter<'_>,
    ) {
        if text.trim().is_empty() || !self.is_first(stream, Said::Reasoning(text), out) {
            return;
        }
        let draft = Draft::new(EventKind::Reasoning, Origin::Agent, text, place.clone());
        let lane = self.lane(record, out);
        out.push(stamped(draft, record, lane));
    }

    /// A message between agents.
    fn other_agent(
        &mut self,
        item: &Item<'_>,
        record: &Record<'_>,
        place: &Place,
        out: &mut Emitter<'_>,
    ) {
        self.flush_held(out);
        let text = joined(&item.content);
        let origin = Origin::Injected(InjectedReason::TaskNotice);
        let draft = Draft::new(EventKind::User, origin, text, place.clone());
        let lane = self.lane(record, out);
        out.push(stamped(draft, record, lane));
    }

    fn tool_call(
        &mut self,
        item: &Item<'_>,
        record: &Record<'_>,
        place: &Place,
        out: &mut Emitter<'_>,
    ) {
        self.flush_held(out);
        self.saved.last_is_answer = false;
        let lane = self.lane(record, out);
        let name = tool_name(item);
        let bounds = EventKind::ToolCall.bounds();
        let arguments = match item.arguments {
            // A picture is drawn into the item itself; there is nothing to read in it.
            None if item.kind == "image_generation_call" => Text::plain("").ends(bounds),
            None => Text::plain(item.raw).ends(bounds),
            Some(Value::Text(text)) => text.ends(bounds),
            Some(Value::Other(written)) => Text::plain(written).ends(bounds),
        };
        let id = item.call_id.or(item.id).map(Text::decode).unwrap_or_default();
        let call = if matches!(item.kind, "web_search_call" | "image_generation_call") {
            // These carry their own outcome and never get a result.
            super::super::event::CallLink { id: short_name(&id), tool: Some(name.to_string()) }
        } else {
            self.calls.open(&id, &name, front(&arguments.head, 4096))
        };
        let origin = if is_nacre_tool(&name) {
            Origin::Injected(InjectedReason::Nacre)
        } else {
            Origin::Agent
        };
        let draft = Draft {
            tail: &arguments.tail,
            full_bytes: Some(arguments.full_bytes as u64),
            call: Some(call),
            ..Draft::new(EventKind::ToolCall, origin, arguments.head, place.clone())
        };
        out.push(stamped(draft, record, lane));
    }

    fn tool_result(
        &mut self,
        item: &Item<'_>,
        record: &Record<'_>,
        place: &Place,
        out: &mut Emitter<'_>,
    ) {
        self.flush_held(out);
        self.saved.last_is_answer = false;
        let lane = self.lane(record, out);
        let id = item.call_id.map(Text::decode).unwrap_or_default();
        let (link, call) = self.calls.close(&id);
        let output = Output::read(item.output);
        let ends = output.text().ends(EventKind::ToolResult.bounds());
        let origin = result_origin(call.as_ref(), &ends.head);
        let is_error = output.failed || has_failed(&ends.head);
        let asked = call.is_some_and(|call| ASKING_TOOLS.contains(&call.tool.as_str()));
        let answers = if asked && lane == Lane::Main { answers(&ends.head) } else { Vec::new() };
        let draft = Draft {
            tail: &ends.tail,
            full_bytes: Some(ends.full_bytes as u64),
            call: Some(link.clone()),
            is_error,
            ..Draft::new(EventKind::ToolResult, origin, ends.head, place.clone())
        };
        out.push(stamped(draft, record, lane));
        for answer in answers {
            let origin = Origin::Person(WordSource::Answer);
            let draft = Draft {
                call: Some(link.clone()),
                ..Draft::new(EventKind::User, origin, answer, place.clone())
            };
            out.push(stamped(draft, record, lane));
        }
    }
}

fn tool_name<'a>(item: &Item<'a>) -> Cow<'a, str> {
    let name = match item.name {
        Some(name) => name.decode(),
        None => Cow::Borrowed(item.kind.strip_suffix("_call").unwrap_or(item.kind)),
    };
    match item.namespace.map(Text::decode) {
        Some(namespace) if !namespace.is_empty() => Cow::Owned(format!("{namespace}{name}")),
        Some(_) | None => name,
    }
}

/// What a tool gave back, whichever of its shapes it has.
enum OutputText<'a> {
    One(Text<'a>),
    Joined(Cow<'a, str>),
}

struct Output<'a> {
    text: OutputText<'a>,
    failed: bool,
}

impl<'a> Output<'a> {
    fn read(output: Option<Value<'a>>) -> Self {
        let text = match output {
            Some(Value::Text(text)) => text,
            Some(Value::Other(written)) => {
                let failed = front(written, 64 * 1024).contains("\"success\":false");
                return Self { text: OutputText::Joined(joined(&texts_of(written))), failed };
            }
            None => Text::default(),
        };
        // Old shell results are a JSON document inside the string.
        if text.raw().starts_with("{\\\"output\\\":")
            && let Ok((inner, failed)) = unwrap_shell(&text.decode())
        {
            return Self { text: OutputText::Joined(Cow::Owned(inner)), failed };
        }
        Self { text: OutputText::One(text), failed: false }
    }

    fn text(&self) -> Text<'_> {
        match &self.text {
            OutputText::One(text) => *text,
            OutputText::Joined(text) => Text::plain(text),
        }
    }
}

/// The output and failure of `{"output":…,"metadata":{"exit_code":…}}`.
fn unwrap_shell(document: &str) -> Parsed<(String, bool)> {
    let (mut output, mut failed) = (String::new(), false);
    Cursor::new(document).object(|key, value| {
        match key {
            "output" => {
                output = value.maybe_string()?.map(Text::decode).unwrap_or_default().into_owned();
            }
            "metadata" if value.next()? == Next::Object => value.object(|key, value| {
                if key == "exit_code" {
                    failed = value.raw()? != "0";
                }
                Ok(())
            })?,
            _ => {}
        }
        Ok(())
    })?;
    Ok((output, failed))
}

/// Whether the head of a shell result tells of a failure.
fn has_failed(text: &str) -> bool {
    let head = front(text, 256);
    let mark = if head.starts_with("Exit code: ") {
        "Exit code: "
    } else if head.starts_with("Chunk ID") || head.starts_with("Wall time") {
        "Process exited with code "
    } else {
        return head.starts_with("failed in sandbox") || head.starts_with("execution error");
    };
    let code = head.split_once(mark).map_or("0", |(_, rest)| rest);
    !code.starts_with("0\n") && code != "0"
}

/// The person's answers in `{"answers":{"<question>":{"answers":["…"]}}}`.
fn answers(document: &str) -> Vec<String> {
    let mut words = Vec::new();
    // A result that is not JSON has no answers in it.
    let _ = Cursor::new(document).object(|key, value| {
        if key == "answers" { collect_strings(value, &mut words) } else { Ok(()) }
    });
    words
}

fn collect_strings(cursor: &mut Cursor<'_>, words: &mut Vec<String>) -> Parsed<()> {
    match cursor.next()? {
        Next::String => {
            let text = cursor.string()?.decode();
            if !text.trim().is_empty() {
                words.push(text.trim().to_owned());
            }
            Ok(())
        }
        Next::Array => cursor.array(|element| collect_strings(element, words)),
        Next::Object => cursor.object(|_, value| collect_strings(value, words)),
        Next::Scalar => cursor.skip(),
    }
}
