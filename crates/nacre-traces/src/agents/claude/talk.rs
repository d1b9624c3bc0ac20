//! Reads user and assistant records. A user record can contain prompts, injected text and tool
//! results, and tool results can contain the user's answers and refusals. Each of these becomes a
//! separate event.

use std::borrow::Cow;

use super::TranscriptParser;
use crate::transcript::toolkit::*;

/// A rejected tool call's result starts with one of these strings.
const REFUSAL_OPENINGS: [&str; 2] = ["The user doesn't want to", "User rejected"];
/// In a rejected tool call's result, the user's comment follows one of these strings and ends at
/// `REFUSAL_END`.
const REFUSAL_MARKS: [&str; 3] = [
    "the user said:",
    "the user provided the following reason for the rejection:",
    "The user provided the following feedback:",
];
const REFUSAL_END: &str = "\n\nNote: The user's next message may contain";
const SYNTHETIC: &str = "<synthetic>";

pub(super) struct ContentBlock<'a> {
    kind: &'a str,
    pub(super) text: Option<Cow<'a, str>>,
    fields: Fields<'a>,
}

impl<'a> ContentBlock<'a> {
    fn of(raw: &'a str) -> Self {
        if let Some(text) = text_of(raw) {
            return Self { kind: "text", text: Some(text), fields: Fields::default() };
        }
        let fields = Fields::of(raw);
        let text = fields.text("text").or_else(|| fields.text("thinking"));
        Self { kind: fields.word("type"), text, fields }
    }
}

/// The content may be a string, a block, or an array of strings and blocks.
pub(super) fn blocks(raw: &str) -> Vec<ContentBlock<'_>> {
    match raw.as_bytes().first() {
        Some(b'[') => items(raw).into_iter().map(ContentBlock::of).collect(),
        Some(b'"' | b'{') => vec![ContentBlock::of(raw)],
        Some(_) | None => Vec::new(),
    }
}

/// Returns the content of the record's message, which is a plain string in some records.
fn content_of<'a>(record: &Record<'a>) -> &'a str {
    let message = record.raw("message");
    if message.starts_with('{') { Fields::of(message).raw("content") } else { message }
}

impl TranscriptParser {
    pub(super) fn user(&mut self, record: &Record, spot: &Spot, out: &mut Emitter) {
        let blocks = blocks(content_of(record));
        self.thread.begin();
        for block in &blocks {
            match (block.kind, &block.text) {
                ("tool_result", _) => self.tool_result(block, record, spot, out),
                ("text", Some(text)) => self.user_text(text, record, spot, out),
                ("text" | "image" | "document", _) => {}
                _ => emit_unknown_block(block, spot, out),
            }
        }
        let has = |kind: &str| blocks.iter().any(|block| block.kind == kind);
        if has("image") && !has("text") && !record.truth("isMeta") {
            self.user_text("[image]", record, spot, out);
        }
    }

    fn user_text(&mut self, text: &str, record: &Record, spot: &Spot, out: &mut Emitter) {
        if let Some(reason) = reason_from_marks(record, text, out) {
            let origin = TextOrigin::Injected(reason);
            out.push(spot.draft(voice::user_kind(origin), origin, text));
            return;
        }
        if spot.lane == Lane::Main && self.take_queued(text) {
            out.report.repeated += 1;
            self.thread.turn = TurnState::Open;
            return;
        }
        for piece in split_user(text) {
            let origin = piece.origin.in_lane(spot.lane);
            let origin = origin.with_source(|source| verify_source(source, record));
            // The record repeats a queued slash command's arguments.
            if origin == TextOrigin::Person(WordSource::CommandArgs)
                && self.take_queued(&piece.text)
            {
                out.report.repeated += 1;
                continue;
            }
            match origin {
                TextOrigin::Person(_) => {
                    self.thread.turn = TurnState::Open;
                    self.thread.note_prompt(spot, record.word("parentUuid"), out);
                }
                TextOrigin::Injected(InjectedReason::Interruption) => self.thread.close(),
                TextOrigin::Agent => self.thread.turn = TurnState::Open,
                TextOrigin::Injected(_) | TextOrigin::Tool | TextOrigin::Host => {}
            }
            out.push(spot.draft(voice::user_kind(origin), origin, &piece.text));
        }
    }

    fn tool_result(
        &mut self,
        block: &ContentBlock,
        record: &Record,
        spot: &Spot,
        out: &mut Emitter,
    ) {
        self.thread.turn = TurnState::Open;
        let id = block.fields.first_string(&["tool_use_id", "id"]);
        let (link, call) = self.thread.calls.close(&id);
        let text = result_text(block.fields.raw("content"));
        let asked = call.as_ref().is_some_and(|call| call.tool == "AskUserQuestion");
        let hidden = match spot.lane {
            Lane::Sidechain => Vec::new(),
            Lane::Main | Lane::Inherited => find_hidden_words(&text, record, asked),
        };
        out.push(Draft {
            call: Some(link.clone()),
            is_error: block.fields.truth("is_error"),
            ..spot.draft(EventKind::ToolResult, result_origin(call.as_ref(), &text), &text)
        });
        for (source, words) in &hidden {
            let origin = TextOrigin::Person(verify_source(*source, record));
            let draft = spot.draft(EventKind::User, origin, words);
            out.push(Draft { call: Some(link.clone()), ..draft });
        }
    }

    pub(super) fn assistant(&mut self, record: &Record, spot: &Spot, out: &mut Emitter) {
        let message = record.object("message");
        let model = message.string("model");
        if record.raw("forkedFrom").is_empty() {
            if model != SYNTHETIC {
                out.note_model(&model);
            }
            let usage = message.object("usage");
            if !usage.is_empty() {
                self.note_usage(message.word("id"), &usage, out);
            }
        }
        let origin = if model == SYNTHETIC { TextOrigin::Host } else { TextOrigin::Agent };
        for block in blocks(content_of(record)) {
            let text = block.text.as_deref().unwrap_or_default();
            match block.kind {
                "text" => {
                    self.thread.turn = TurnState::Closed;
                    let draft = spot.draft(EventKind::Assistant, origin, text);
                    out.push(Draft { is_error: record.truth("isApiErrorMessage"), ..draft });
                }
                "thinking" => {
                    self.thread.turn = TurnState::Open;
                    if !text.is_empty() {
                        out.push(spot.draft(EventKind::Reasoning, origin, text));
                    }
                }
                "redacted_thinking" => self.thread.turn = TurnState::Open,
                "tool_use" | "server_tool_use" => {
                    let (id, name) = (block.fields.string("id"), block.fields.string("name"));
                    self.thread.call(spot, &id, &name, block.fields.raw("input"), out);
                }
                kind if kind.ends_with("_tool_result") => {
                    self.tool_result(&block, record, spot, out);
                }
                _ => emit_unknown_block(&block, spot, out),
            }
        }
    }
}

fn emit_unknown_block(block: &ContentBlock, spot: &Spot, out: &mut Emitter) {
    voice::emit_unknown(spot, block.kind, block.text.as_deref().unwrap_or_default(), out);
}

fn reason_from_marks(record: &Record, text: &str, out: &Emitter) -> Option<InjectedReason> {
    if record.truth("isCompactSummary") {
        return Some(InjectedReason::CompactionSummary);
    }
    if out.facts.role == SessionRole::Helper {
        return Some(InjectedReason::PromptSuggestion);
    }
    if record.object("origin").word("kind") == "task-notification" {
        return Some(InjectedReason::TaskNotice);
    }
    let is_programs = record.truth("isMeta") || record.word("promptSource") == "system";
    is_programs.then(|| reason_of(text))
}

/// Text is attributed to the user only if the record is marked as typed, because programs can send
/// prompts through the SDK.
pub(super) fn verify_source(source: WordSource, record: &Record) -> WordSource {
    let prompt_source = record.word("promptSource");
    let is_typed = matches!(record.object("origin").word("kind"), "" | "human")
        && matches!(prompt_source, "" | "typed" | "queued")
        && !record.word("entrypoint").starts_with("sdk");
    if !is_typed && source != WordSource::Shell {
        return WordSource::Unverified;
    }
    let is_queued = source == WordSource::Prompt && prompt_source == "queued";
    if is_queued { WordSource::Queued } else { source }
}

fn result_text(content: &str) -> Cow<'_, str> {
    if let Some(text) = text_of(content) {
        return text;
    }
    let mut parts: Vec<Cow<'_, str>> = blocks(content)
        .into_iter()
        .map(|part| part.text.unwrap_or_else(|| Cow::Owned(format!("[{}]", part.kind))))
        .collect();
    if parts.len() == 1 { parts.remove(0) } else { Cow::Owned(parts.join("\n")) }
}

fn find_hidden_words(result: &str, record: &Record, asked: bool) -> Vec<(WordSource, String)> {
    if asked {
        let answers = answers(&record.object("toolUseResult")).into_iter();
        return answers.map(|answer| (WordSource::Answer, answer)).collect();
    }
    // Only a real refusal begins with this prefix. A refusal quoted in a file, for example, does
    // not.
    if !REFUSAL_OPENINGS.iter().any(|opening| result.starts_with(opening)) {
        return Vec::new();
    }
    let quote = REFUSAL_MARKS.iter().find_map(|mark| Some(result.split_once(mark)?.1));
    let words = quote.unwrap_or_default().split(REFUSAL_END).next().unwrap_or_default().trim();
    if words.is_empty() { Vec::new() } else { vec![(WordSource::Refusal, words.to_owned())] }
}

/// Returns the user's answers to a tool's questions, and the user's comments on the questions.
fn answers(result: &Fields) -> Vec<String> {
    let mut words = Vec::new();
    for (key, raw) in result.members() {
        let values: Vec<_> = Fields::of(raw).members().map(|(_, value)| value).collect();
        let texts = values.into_iter().filter_map(|value| match key {
            "answers" => text_of(value),
            "annotations" => Fields::of(value).text("notes"),
            _ => None,
        });
        words.extend(texts.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()));
    }
    words
}
