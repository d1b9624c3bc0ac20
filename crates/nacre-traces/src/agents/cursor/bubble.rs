//! Reads a conversation's bubbles in any format used since 2024. A bubble is a message from the
//! user, the model or a tool.

use crate::transcript::toolkit::*;
use std::borrow::Cow;

use jiff::Timestamp;

use super::uri::{TouchedFiles, path_of, path_of_value};

const CONTEXT_LISTS: [&str; 4] =
    ["fileSelections", "folderSelections", "selections", "terminalFiles"];
const MAX_HINTS: usize = 16;

#[derive(Default)]
pub(super) struct Bubbles {
    calls: OpenCalls,
    pub(super) files: TouchedFiles,
    pub(super) hints: Vec<String>,
    pub(super) last: TurnState,
    pub(super) lane: Lane,
}

impl Bubbles {
    pub(super) fn new(lane: Lane) -> Self {
        Self { lane, ..Self::default() }
    }

    /// `header` is the bubble's entry in the list of headers.
    pub(super) fn read(&mut self, row: &str, raw: &str, header: &Fields, out: &mut Emitter) {
        let Some(bubble) = out.open_record(raw) else { return };
        let id = ["bubbleId", "id"].iter().map(|key| bubble.string(key)).find(|id| !id.is_empty());
        let id = id.unwrap_or_else(|| header.string("bubbleId"));
        let time = time_of_bubble(&bubble).or_else(|| header.time("createdAt"));
        let place = voice::row(row);
        let spot = Spot { place: &place, key: &id, time, lane: self.lane };
        self.note_folders(&bubble);
        let kind = match bubble.raw("type") {
            "" => header.raw("type"),
            kind => kind,
        };
        match kind {
            "1" | "\"user\"" => self.user(&spot, &bubble, out),
            "2" | "\"ai\"" | "\"assistant\"" => self.agent(&spot, &bubble, out),
            other => voice::emit_unknown(&spot, &format!("bubble {other}"), raw, out),
        }
    }

    fn user(&mut self, spot: &Spot, bubble: &Fields, out: &mut Emitter) {
        let text = bubble_text(bubble);
        let has_picture =
            ["images", "selectedImages"].iter().any(|key| !bubble.items(key).is_empty())
                || !bubble.object("context").items("selectedImages").is_empty();
        if !text.trim().is_empty() {
            self.last = TurnState::Open;
            voice::user(spot, &text, out);
        } else if has_picture {
            self.last = TurnState::Open;
            voice::user(spot, "[image]", out);
        }
    }

    fn agent(&mut self, spot: &Spot, bubble: &Fields, out: &mut Emitter) {
        self.last = TurnState::Closed;
        note_model(bubble, out);
        for thought in thoughts(bubble) {
            voice::agent(spot, EventKind::Reasoning, &thought, out);
        }
        voice::agent(spot, EventKind::Assistant, &bubble_text(bubble), out);
        let tool = bubble.object("toolFormerData");
        if !tool.is_empty() {
            self.tool(spot, &tool, out);
        }
        let error = bubble.raw("errorDetails");
        if !error.is_empty() && error != "{}" {
            voice::failure(spot, error, out);
        }
    }

    fn tool(&mut self, spot: &Spot, tool: &Fields, out: &mut Emitter) {
        let extra = tool.object("additionalData");
        let status = [tool.word("status"), extra.word("status")];
        let is_error = status.contains(&"error") || !tool.raw("error").is_empty();
        let name = match tool.string("name") {
            name if !name.is_empty() => name,
            _ => match tool.raw("tool") {
                // The call failed before the tool's name was recorded.
                "" => return voice::failure(spot, extra.raw("status"), out),
                number => Cow::Owned(format!("tool {number}")),
            },
        };
        let id = match tool.string("toolCallId") {
            id if id.is_empty() => Cow::Borrowed(spot.key),
            id => id,
        };
        let arguments = tool.first_string(&["rawArgs", "params"]);
        self.files.note_arguments(&arguments);
        voice::call(spot, &mut self.calls, &id, &name, &arguments, out);
        let outcome = [tool.raw("result"), tool.raw("error")]
            .into_iter()
            .find(|raw| !raw.is_empty() && *raw != "\"\"" && *raw != "{}");
        if let Some(raw) = outcome {
            voice::result(spot, &mut self.calls, &id, is_error, raw, out);
        } else if is_error || tool.word("userDecision") == "rejected" {
            voice::result(spot, &mut self.calls, &id, true, "", out);
        }
        if name.contains("ask_question") || name.contains("askQuestion") {
            for answer in answers(&tool.string("result")) {
                voice::words(spot, WordSource::Answer, &answer, out);
            }
        }
    }

    pub(super) fn waits(&self) -> bool {
        !self.calls.is_empty()
    }

    fn note_folders(&mut self, bubble: &Fields) {
        let mut hint = |path: Option<String>| {
            if let Some(path) = path
                && self.hints.len() < MAX_HINTS
                && !self.hints.contains(&path)
            {
                self.hints.push(path);
            }
        };
        hint(path_of(&bubble.string("workspaceProjectDir")));
        for uri in bubble.items("workspaceUris") {
            hint(path_of_value(uri));
        }
        let context = bubble.object("context");
        for list in CONTEXT_LISTS {
            self.files.note_all(bubble.raw(list));
            self.files.note_all(context.raw(list));
        }
        for block in bubble.items("codeBlocks") {
            if let Some(path) = path_of_value(Fields::of(block).raw("uri")) {
                self.files.note(path);
            }
        }
        self.files.note_all(bubble.raw("attachedFileCodeChunksMetadataOnly"));
        self.files.note_all(bubble.raw("attachedFileCodeChunksUris"));
    }
}

fn bubble_text<'a>(bubble: &Fields<'a>) -> Cow<'a, str> {
    match bubble.string("text") {
        text if text.trim().is_empty() => bubble.string("rawText"),
        text => text,
    }
}

/// Thoughts are stored as a string, an object with a text member, or an array of either.
fn thoughts<'a>(bubble: &Fields<'a>) -> Vec<Cow<'a, str>> {
    let of = |raw: &'a str| {
        text_of(raw).unwrap_or_else(|| Fields::of(raw).first_string(&["thinking", "text"]))
    };
    let one = of(bubble.raw("thinking"));
    if !one.trim().is_empty() {
        return vec![one];
    }
    bubble.items("allThinkingBlocks").into_iter().map(of).collect()
}

fn note_model(bubble: &Fields, out: &mut Emitter) {
    out.note_model(&bubble.object("modelInfo").string("modelName"));
    out.note_model(&bubble.string("modelType"));
    let tokens = bubble.object("tokenCount");
    let (input, output) = (tokens.count("inputTokens"), tokens.count("outputTokens"));
    out.facts.tokens.add(Tokens { input, output, ..Tokens::default() });
}

/// Times relative to the start of the program are ignored.
fn time_of_bubble(bubble: &Fields) -> Option<Timestamp> {
    let timing = bubble.object("timingInfo");
    let recent = |time: &Timestamp| 1_400_000_000 < time.as_second();
    bubble.time("createdAt").filter(recent).or_else(|| {
        ["clientRpcSendTime", "clientSettleTime", "clientEndTime"]
            .iter()
            .filter_map(|key| time_of(timing.number(key)?))
            .find(recent)
    })
}

fn answers(result: &str) -> Vec<String> {
    let result = Fields::of(result);
    let mut words = Vec::new();
    for answer in result.items("answers") {
        let fields = Fields::of(answer);
        let text = ["freeformText", "text", "answer"]
            .iter()
            .map(|key| fields.string(key))
            .find(|text| !text.trim().is_empty());
        let chosen: Vec<String> = items(fields.raw("selectedOptions"))
            .into_iter()
            .chain(items(fields.raw("selectedLabels")))
            .filter_map(|option| {
                let label = Fields::of(option).text("label").or_else(|| text_of(option))?;
                Some(label.into_owned())
            })
            .collect();
        words.extend(text.map(Cow::into_owned));
        words.extend((!chosen.is_empty()).then(|| chosen.join(", ")));
    }
    words
}
