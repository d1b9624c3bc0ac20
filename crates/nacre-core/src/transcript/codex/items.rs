//! Response items: what went to the model and what came back.

use std::borrow::Cow;

use super::super::calls::result_origin;
use super::super::emit::{Draft, Emitter};
use super::super::event::{EventKind, InjectedReason, Lane, Origin, Place, WordSource, front};
use super::super::injected::{Author, is_nacre_tool, reason_of, split_user};
use super::super::json::{Cursor, Next, Parsed, Text};
use super::super::names::short_name;
use super::output::Output;
use super::record::{Item, Record};
use super::state::{Held, Reader, Said, Stream, stamped};
use super::texts::{Value, joined};

/// Tools through which the agent asks the person.
const ASKING_TOOLS: [&str; 2] = ["request_user_input", "ask_user"];

/// What the model said, and in which stream it was found.
pub(super) struct Answer<'a> {
    pub(super) stream: Stream,
    pub(super) texts: &'a [Text<'a>],
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
                let answer = Answer { stream: Stream::Items, texts: &item.content, id: item.id };
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
        let mut text = None;
        let key = match self.last_answer.key_of(answer.texts) {
            Some(key) => key,
            None => {
                let text = &*text.insert(joined(answer.texts));
                if text.trim().is_empty() {
                    return;
                }
                let key = Said::Assistant(text).key();
                self.last_answer.note(answer.texts, key);
                key
            }
        };
        if !self.is_first_of(answer.stream, key, out) {
            return;
        }
        let text = text.unwrap_or_else(|| joined(answer.texts));
        let id = answer.id.map(Text::decode);
        let draft = Draft {
            key: id.as_deref(),
            ..Draft::new(EventKind::Assistant, Origin::Agent, text, place.clone())
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
        let arguments = match item.arguments {
            // A picture is drawn into the item itself; there is nothing to read in it.
            None if item.kind == "image_generation_call" => Text::plain(""),
            None => Text::plain(item.raw),
            Some(Value::Text(text)) => text,
            Some(Value::Other(written)) => Text::plain(written),
        };
        let arguments = out.ends(EventKind::ToolCall, arguments);
        let id = item.call_id.or(item.id).map(Text::decode).unwrap_or_default();
        let call = if matches!(item.kind, "web_search_call" | "image_generation_call") {
            // These carry their own outcome and never get a result.
            super::super::event::CallLink { id: short_name(&id), tool: Some(short_name(&name)) }
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
        let asked = call.as_ref().is_some_and(|call| ASKING_TOOLS.contains(&call.tool.as_str()));
        let output = if asked || out.wants(EventKind::ToolResult) {
            Output::read(item.output)
        } else {
            Output::skim(item.output)
        };
        let ends = if asked {
            output.text().ends(EventKind::ToolResult.bounds())
        } else {
            output.ends(out)
        };
        let origin = result_origin(call.as_ref(), &ends.head);
        let is_error = output.has_failed();
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
