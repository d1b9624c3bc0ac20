//! User and assistant records: what people, the model and tools said.
//!
//! A user record carries prompts, injected texts and tool results alike, and the person's answers
//! and refusals hide inside tool results; each becomes an event of its own.

use std::borrow::Cow;

use super::super::calls::result_origin;
use super::super::emit::{Draft, Emitter};
use super::super::event::{EventKind, InjectedReason, Lane, Origin, Place, WordSource};
use super::super::facts::SessionRole;
use super::super::injected::{Author, is_nacre_tool, reason_of, split_user};
use super::super::json::{Cursor, Next, Parsed, Text};
use super::record::{Block, Message, Record, blocks};
use super::state::{Reader, Turn};

/// How the result of a refused tool begins.
const REFUSAL_OPENINGS: [&str; 2] = ["The user doesn't want to", "User rejected"];
/// After one of these, a refused tool's result quotes the person.
const REFUSAL_MARKS: [&str; 3] = [
    "the user said:",
    "the user provided the following reason for the rejection:",
    "The user provided the following feedback:",
];
/// And before this, the quote ends.
const REFUSAL_END: &str = "\n\nNote: The user's next message may contain";

impl Reader {
    pub(super) fn user(&mut self, record: &Record<'_>, place: &Place, out: &mut Emitter<'_>) {
        let Some(message) = &record.message else { return };
        let mut has_words = false;
        self.has_noted_prompt = false;
        for block in &message.blocks {
            match block.kind {
                "tool_result" => self.tool_result(block, record, place, out),
                "text" => {
                    has_words = true;
                    if let Some(text) = block.text {
                        self.user_text(&text.decode(), record, place, out);
                    }
                }
                "image" | "document" => {}
                other => self.odd_block(other, block, record, place, out),
            }
        }
        let has_picture = message.blocks.iter().any(|block| block.kind == "image");
        if has_picture && !has_words && !record.is_meta {
            self.user_text("[image]", record, place, out);
        }
    }

    fn user_text(&mut self, text: &str, record: &Record<'_>, place: &Place, out: &mut Emitter<'_>) {
        let lane = Self::lane(record, out);
        if let Some(reason) = marked_reason(record, text, out) {
            let origin = Origin::Injected(reason);
            out.push(Draft { lane, ..draft(user_kind(origin), origin, text, record, place) });
            return;
        }
        if lane == Lane::Main && self.was_queued(text) {
            out.report.repeated += 1;
            self.turn = Turn::Open;
            return;
        }
        for piece in split_user(text) {
            let origin = match piece.author {
                Author::Program(reason) => Origin::Injected(reason),
                // In a sub-agent's talk the other side is the agent that spawned it.
                Author::Person(_) if lane == Lane::Sidechain => Origin::Agent,
                Author::Person(source) => Origin::Person(verified(source, record)),
            };
            // What follows a slash command comes again when the command was queued.
            if origin == Origin::Person(WordSource::CommandArgs) && self.was_queued(&piece.text) {
                out.report.repeated += 1;
                continue;
            }
            self.note_user_turn(origin, lane, record, out);
            let text = piece.text;
            out.push(Draft { lane, ..draft(user_kind(origin), origin, text, record, place) });
        }
    }

    fn note_user_turn(
        &mut self,
        origin: Origin,
        lane: Lane,
        record: &Record<'_>,
        out: &mut Emitter<'_>,
    ) {
        match origin {
            Origin::Person(_) => {
                self.turn = Turn::Open;
                // A record with several texts still is one prompt.
                if lane == Lane::Main && !self.has_noted_prompt {
                    self.has_noted_prompt = true;
                    self.note_prompt(record, out);
                }
            }
            Origin::Injected(InjectedReason::Interruption) => {
                self.turn = Turn::Closed;
                self.calls.clear();
            }
            Origin::Agent => self.turn = Turn::Open,
            Origin::Injected(_) | Origin::Tool | Origin::Host => {}
        }
    }

    fn tool_result(
        &mut self,
        block: &Block<'_>,
        record: &Record<'_>,
        place: &Place,
        out: &mut Emitter<'_>,
    ) {
        self.turn = Turn::Open;
        let lane = Self::lane(record, out);
        let id = block.id.map(Text::decode).unwrap_or_default();
        let (link, call) = self.calls.close(&id);
        let content = result_text(block);
        let text = content.text();
        let ends = if text.may_open_with(&REFUSAL_OPENINGS) {
            text.ends(EventKind::ToolResult.bounds())
        } else {
            out.ends(EventKind::ToolResult, text)
        };
        let origin = result_origin(call.as_ref(), &ends.head);
        let asked = call.as_ref().is_some_and(|call| call.tool == "AskUserQuestion");
        let hidden = match lane {
            Lane::Sidechain => Vec::new(),
            Lane::Main | Lane::Inherited => hidden_words(&ends.head, record, asked),
        };
        out.push(Draft {
            tail: &ends.tail,
            full_bytes: Some(ends.full_bytes as u64),
            call: Some(link.clone()),
            is_error: block.is_error,
            lane,
            ..draft(EventKind::ToolResult, origin, ends.head, record, place)
        });
        for (source, words) in hidden {
            out.push(Draft {
                call: Some(link.clone()),
                lane,
                ..draft(EventKind::User, Origin::Person(source), words, record, place)
            });
        }
    }

    pub(super) fn assistant(&mut self, record: &Record<'_>, place: &Place, out: &mut Emitter<'_>) {
        let Some(message) = &record.message else { return };
        self.note_model(message, record, out);
        let lane = Self::lane(record, out);
        let is_synthetic = message.model.is_some_and(|model| model.is("<synthetic>"));
        let origin = if is_synthetic { Origin::Host } else { Origin::Agent };
        for block in &message.blocks {
            match block.kind {
                "text" => {
                    self.turn = Turn::Closed;
                    let text = block.text.unwrap_or_default().decode();
                    out.push(Draft {
                        is_error: record.is_api_error,
                        lane,
                        ..draft(EventKind::Assistant, origin, text, record, place)
                    });
                }
                "thinking" => {
                    self.turn = Turn::Open;
                    let text = block.text.unwrap_or_default();
                    if !text.is_empty() {
                        let text = out.decode(EventKind::Reasoning, text);
                        out.push(Draft {
                            lane,
                            ..draft(EventKind::Reasoning, origin, text, record, place)
                        });
                    }
                }
                "redacted_thinking" => self.turn = Turn::Open,
                "tool_use" | "server_tool_use" => self.tool_call(block, record, place, out),
                other if other.ends_with("_tool_result") => {
                    self.tool_result(block, record, place, out);
                }
                other => self.odd_block(other, block, record, place, out),
            }
        }
    }

    fn note_model(&mut self, message: &Message<'_>, record: &Record<'_>, out: &mut Emitter<'_>) {
        if record.is_forked {
            return;
        }
        if let Some(model) = message.model.filter(|model| !model.is("<synthetic>")) {
            out.note_model(&model.decode());
        }
        if let Some(usage) = message.usage {
            self.note_usage(message.id, usage, out);
        }
    }

    fn tool_call(
        &mut self,
        block: &Block<'_>,
        record: &Record<'_>,
        place: &Place,
        out: &mut Emitter<'_>,
    ) {
        self.turn = Turn::Open;
        let id = block.id.map(Text::decode).unwrap_or_default();
        let name = block.name.map(Text::decode).unwrap_or_default();
        let call = self.calls.open(&id, &name, super::super::event::front(block.input, 4096));
        let origin = if is_nacre_tool(&name) {
            Origin::Injected(InjectedReason::Nacre)
        } else {
            Origin::Agent
        };
        out.push(Draft {
            call: Some(call),
            lane: Self::lane(record, out),
            ..draft(EventKind::ToolCall, origin, block.input, record, place)
        });
    }

    /// A block of a type that is not known here.
    fn odd_block(
        &mut self,
        kind: &str,
        block: &Block<'_>,
        record: &Record<'_>,
        place: &Place,
        out: &mut Emitter<'_>,
    ) {
        let text = out.decode(EventKind::Meta, block.text.unwrap_or_default());
        let lane = Self::lane(record, out);
        let meta = draft(EventKind::Meta, Origin::Host, text, record, place);
        out.unknown(kind, Draft { lane, ..meta });
    }
}

/// A draft with what every event takes from its record.
pub(super) fn draft<'a>(
    kind: EventKind,
    origin: Origin,
    text: impl Into<Cow<'a, str>>,
    record: &Record<'a>,
    place: &Place,
) -> Draft<'a> {
    Draft {
        timestamp: record.timestamp,
        key: (!record.uuid.is_empty()).then_some(record.uuid),
        ..Draft::new(kind, origin, text, place.clone())
    }
}

/// What a user-role text is: the summary that continues a compacted session is no message.
fn user_kind(origin: Origin) -> EventKind {
    if origin == Origin::Injected(InjectedReason::CompactionSummary) {
        EventKind::Summary
    } else {
        EventKind::User
    }
}

/// Why the record itself says that nobody typed its text.
fn marked_reason(record: &Record<'_>, text: &str, out: &Emitter<'_>) -> Option<InjectedReason> {
    if record.is_compact_summary {
        return Some(InjectedReason::CompactionSummary);
    }
    if out.facts.role == SessionRole::Helper {
        return Some(InjectedReason::PromptSuggestion);
    }
    if record.origin == "task-notification" {
        return Some(InjectedReason::TaskNotice);
    }
    (record.is_meta || record.prompt_source == "system").then(|| reason_of(text))
}

/// A prompt that came through the SDK may be a program's.
fn verified(source: WordSource, record: &Record<'_>) -> WordSource {
    let is_sdk = record.prompt_source == "sdk" || record.entrypoint.starts_with("sdk");
    match source {
        WordSource::Prompt if is_sdk && record.origin != "human" => WordSource::Unverified,
        WordSource::Prompt if record.prompt_source == "queued" => WordSource::Queued,
        WordSource::Prompt
        | WordSource::Queued
        | WordSource::Answer
        | WordSource::Refusal
        | WordSource::CommandArgs
        | WordSource::Shell
        | WordSource::TemplateInput
        | WordSource::Unverified => source,
    }
}

/// A result's content, whichever of its shapes it has.
enum ResultText<'a> {
    One(Text<'a>),
    Joined(String),
}

impl ResultText<'_> {
    fn text(&self) -> Text<'_> {
        match self {
            Self::One(text) => *text,
            Self::Joined(text) => Text::plain(text),
        }
    }
}

fn result_text<'a>(block: &Block<'a>) -> ResultText<'a> {
    if let Some(text) = block.content {
        return ResultText::One(text);
    }
    let parts = blocks(&mut Cursor::new(block.content_blocks)).unwrap_or_default();
    match parts.as_slice() {
        [Block { kind: "text", text: Some(text), .. }] => ResultText::One(*text),
        parts => {
            let parts: Vec<Cow<'_, str>> = parts
                .iter()
                .map(|part| match part.text {
                    Some(text) => text.decode(),
                    None => Cow::Owned(format!("[{}]", part.kind)),
                })
                .collect();
            ResultText::Joined(parts.join("\n"))
        }
    }
}

/// Finds the person's words inside a tool result.
fn hidden_words(result: &str, record: &Record<'_>, asked: bool) -> Vec<(WordSource, String)> {
    if asked {
        let answers = answers(record.tool_use_result).unwrap_or_default();
        return answers.into_iter().map(|answer| (WordSource::Answer, answer)).collect();
    }
    // Only the agent's own refusal text opens like this; a file that quotes it does not.
    if !REFUSAL_OPENINGS.iter().any(|opening| result.starts_with(opening)) {
        return Vec::new();
    }
    let quote = REFUSAL_MARKS.iter().find_map(|mark| Some(result.split_once(mark)?.1));
    let words = quote.unwrap_or_default().split(REFUSAL_END).next().unwrap_or_default().trim();
    if words.is_empty() { Vec::new() } else { vec![(WordSource::Refusal, words.to_owned())] }
}

/// The person's answers, and notes on them, to questions asked through a tool.
fn answers(tool_use_result: &str) -> Parsed<Vec<String>> {
    let mut words = Vec::new();
    let mut cursor = Cursor::new(tool_use_result);
    if tool_use_result.is_empty() || cursor.next()? != Next::Object {
        return Ok(words);
    }
    cursor.object(|key, value| {
        if key == "answers" && value.next()? == Next::Object {
            value.object(|_, answer| push_words(answer, &mut words))?;
        } else if key == "annotations" && value.next()? == Next::Object {
            value.object(|_, annotation| {
                if annotation.next()? != Next::Object {
                    return Ok(());
                }
                annotation.object(|key, note| match key {
                    "notes" => push_words(note, &mut words),
                    _ => Ok(()),
                })
            })?;
        }
        Ok(())
    })?;
    Ok(words)
}

fn push_words(cursor: &mut Cursor<'_>, words: &mut Vec<String>) -> Parsed<()> {
    if let Some(text) = cursor.maybe_string()? {
        let text = text.decode();
        if !text.trim().is_empty() {
            words.push(text.trim().to_owned());
        }
    }
    Ok(())
}
