//! Reads Codex response items: the model's input and output.

use std::borrow::Cow;

use super::state::{Held, RolloutParser, Speaker, Stream};
use crate::transcript::toolkit::*;

const ASKING_TOOLS: [&str; 2] = ["request_user_input", "ask_user"];
const OUTCOME_BYTES: usize = 256;
const DOCUMENT_BYTES: usize = 64 * 1024;

/// Returns whether a line of this type is an item if it has no envelope.
pub(super) fn is_item(kind: &str) -> bool {
    matches!(kind, "message" | "reasoning" | "tool_search_output" | "ghost_snapshot")
        || kind.ends_with("_call")
        || kind.ends_with("_call_output")
}

/// The content can be a string, an array of strings, an array of objects with a `text`, or a single
/// object.
pub(super) fn content_texts(raw: &str) -> Vec<Cow<'_, str>> {
    if raw.starts_with('{') {
        let fields = Fields::of(raw);
        let texts = fields.members().filter(|(key, _)| matches!(*key, "text" | "content"));
        return texts.filter_map(|(_, raw)| text_of(raw)).collect();
    }
    texts(raw)
}

impl RolloutParser {
    pub(super) fn item(&mut self, item: &Fields, raw: &str, spot: &Spot, out: &mut Emitter) {
        let kind = item.word("type");
        match kind {
            "message" => self.message(item, spot, out),
            "reasoning" => {
                self.flush_held(out);
                let summary = item.first_raw(&["summary", "summary_text"]);
                for text in [summary, item.raw("content")].into_iter().flat_map(content_texts) {
                    self.reasoning_text(Stream::Items, &text, spot, out);
                }
            }
            "agent_message" => {
                self.flush_held(out);
                let text = content_texts(item.raw("content")).join("\n");
                let origin = TextOrigin::Injected(InjectedReason::TaskNotice);
                out.push(spot.draft(EventKind::User, origin, &text));
            }
            "compaction" | "compaction_summary" | "context_compaction" => {
                out.push(spot.draft(EventKind::Compaction, TextOrigin::Host, ""));
            }
            "ghost_snapshot" => {}
            _ if kind.ends_with("_output") => self.tool_result(item, spot, out),
            _ if kind.ends_with("_call") && kind != "tool_call" => {
                self.tool_call(kind, item, raw, spot, out);
            }
            _ => voice::emit_unknown(spot, kind, raw, out),
        }
    }

    fn message(&mut self, item: &Fields, spot: &Spot, out: &mut Emitter) {
        self.flush_held(out);
        let content = item.raw("content");
        let texts = content_texts(content);
        match item.word("role") {
            "user" => {
                let mut texts: Vec<String> = texts.into_iter().map(Cow::into_owned).collect();
                let is_picture = |part: &str| !Fields::of(part).raw("image_url").is_empty();
                if texts.is_empty() && items(content).into_iter().any(is_picture) {
                    texts.push("[image]".to_owned());
                }
                self.held = Some(Held {
                    texts,
                    place: spot.place.clone(),
                    time: spot.time,
                    key: short_name(&item.string("id")),
                    lane: spot.lane,
                });
            }
            "assistant" => {
                let id = item.string("id");
                self.assistant_text(Stream::Items, &texts.join("\n"), &id, spot, out);
            }
            // Developer and system messages contain Codex's own instructions.
            _ => {
                let text = texts.join("\n");
                let reason = reason_of(&text).or_if_unknown(InjectedReason::Instructions);
                out.push(spot.draft(EventKind::Meta, TextOrigin::Injected(reason), &text));
            }
        }
    }

    pub(super) fn assistant_text(
        &mut self,
        stream: Stream,
        text: &str,
        id: &str,
        spot: &Spot,
        out: &mut Emitter,
    ) {
        self.flush_held(out);
        self.saved.last_is_answer = true;
        if !text.trim().is_empty() && self.is_first(stream, Speaker::Assistant, text, out) {
            let spot = Spot { key: id, ..*spot };
            out.push(spot.draft(EventKind::Assistant, TextOrigin::Agent, text));
        }
    }

    pub(super) fn reasoning_text(
        &mut self,
        stream: Stream,
        text: &str,
        spot: &Spot,
        out: &mut Emitter,
    ) {
        if !text.trim().is_empty() && self.is_first(stream, Speaker::Reasoning, text, out) {
            out.push(spot.draft(EventKind::Reasoning, TextOrigin::Agent, text));
        }
    }

    pub(super) fn flush_held(&mut self, out: &mut Emitter) {
        let Some(held) = self.held.take() else { return };
        if !self.is_first(Stream::Items, Speaker::User, &held.texts.join("\n"), out) {
            return;
        }
        let unclaimed = if self.saved.has_shown_users && held.lane == Lane::Main {
            TextOrigin::Injected(InjectedReason::Host)
        } else {
            TextOrigin::Person(WordSource::Unverified)
        };
        let Held { texts, place, time, key, lane } = &held;
        let spot = Spot { place, key, time: *time, lane: *lane };
        for text in texts {
            self.user_pieces(text, unclaimed, &spot, out);
        }
    }

    pub(super) fn verify_source(&self, source: WordSource) -> WordSource {
        if self.saved.is_programs { WordSource::Unverified } else { source }
    }

    /// Splits a user message into pieces and emits each of them. Typed text gets the origin
    /// `prompt`.
    pub(super) fn user_pieces(
        &mut self,
        text: &str,
        prompt: TextOrigin,
        spot: &Spot,
        out: &mut Emitter,
    ) {
        for piece in split_user(text) {
            let origin = piece.origin.in_lane(spot.lane);
            let origin = match origin == TextOrigin::prompt() {
                true => prompt,
                false => origin.with_source(|source| self.verify_source(source)),
            };
            if let TextOrigin::Person(_) = origin {
                self.saved.last_is_answer = false;
                if spot.lane == Lane::Main {
                    self.note_prompt(out);
                }
            }
            out.push(spot.draft(voice::user_kind(origin), origin, &piece.text));
        }
    }

    fn tool_call(&mut self, kind: &str, item: &Fields, raw: &str, spot: &Spot, out: &mut Emitter) {
        self.flush_held(out);
        self.saved.last_is_answer = false;
        let name = match item.string("name") {
            name if name.is_empty() => Cow::Borrowed(kind.strip_suffix("_call").unwrap_or(kind)),
            name => name,
        };
        let name = format!("{}{name}", item.string("namespace"));
        let arguments = match item.first_raw(&["arguments", "input", "action"]) {
            // An image generation returns binary data.
            "" if kind == "image_generation_call" => Cow::Borrowed(""),
            "" => Cow::Borrowed(raw),
            arguments => text_of(arguments).unwrap_or(Cow::Borrowed(arguments)),
        };
        let id = item.first_string(&["call_id", "id"]);
        voice::call(spot, &mut self.calls, &id, &name, &arguments, out);
        if matches!(kind, "web_search_call" | "image_generation_call") {
            // These items contain their own outcome and are never followed by a separate result.
            self.calls.close(&id);
        }
    }

    fn tool_result(&mut self, item: &Fields, spot: &Spot, out: &mut Emitter) {
        self.flush_held(out);
        self.saved.last_is_answer = false;
        let (link, call) = self.calls.close(&item.string("call_id"));
        let asked = call.as_ref().is_some_and(|call| ASKING_TOOLS.contains(&call.tool.as_str()));
        let (text, has_failed) = output_of(item.first_raw(&["output", "tools"]));
        let is_answered = asked && spot.lane == Lane::Main;
        let answers = if is_answered { answers(&text) } else { Vec::new() };
        out.push(Draft {
            call: Some(link.clone()),
            is_error: has_failed || tells_failure(&text),
            ..spot.draft(EventKind::ToolResult, result_origin(call.as_ref(), &text), &text)
        });
        for answer in &answers {
            let origin = TextOrigin::Person(self.verify_source(WordSource::Answer));
            let draft = spot.draft(EventKind::User, origin, answer);
            out.push(Draft { call: Some(link.clone()), ..draft });
        }
    }
}

/// Returns a tool's output, and whether the JSON around it reports a failure.
fn output_of(raw: &str) -> (Cow<'_, str>, bool) {
    let Some(text) = text_of(raw) else {
        let failed = front(raw, DOCUMENT_BYTES).contains("\"success\":false");
        return (Cow::Owned(content_texts(raw).join("\n")), failed);
    };
    // In older versions, a shell command's result is a JSON document stored as a string.
    let document = if text.starts_with("{\"output\":") { Fields::read(&text) } else { None };
    let Some(document) = document else { return (text, false) };
    let code = document.object("metadata").raw("exit_code");
    let has_failed = !matches!(code, "" | "0");
    (Cow::Owned(document.string("output").into_owned()), has_failed)
}

fn tells_failure(text: &str) -> bool {
    let head = front(text, OUTCOME_BYTES);
    let mark = if head.starts_with("Exit code: ") {
        "Exit code: "
    } else if ["Chunk ID", "Wall time", "Command: "].iter().any(|start| head.starts_with(start)) {
        "Process exited with code "
    } else {
        // For example "failed in sandbox" or "apply_patch verification failed: …".
        let first = head.split(['\n', ':']).next().unwrap_or_default();
        return first.contains("failed") || first.starts_with("execution error");
    };
    let code = text.split("\nOutput:").next().and_then(|head| head.split_once(mark));
    let code = code.map(|(_, code)| code);
    code.is_some_and(|code| !code.starts_with("0\n") && code != "0")
}

/// Parses the user's answers from `{"answers":{"<question>":{"answers":["…"]}}}`.
fn answers(document: &str) -> Vec<String> {
    let mut words = Vec::new();
    collect_strings(Fields::of(document).raw("answers"), &mut words);
    words
}

fn collect_strings(raw: &str, words: &mut Vec<String>) {
    if let Some(text) = text_of(raw) {
        words.extend(Some(text.trim().to_owned()).filter(|text| !text.is_empty()));
    }
    items(raw).into_iter().for_each(|item| collect_strings(item, words));
    Fields::of(raw).members().for_each(|(_, value)| collect_strings(value, words));
}
