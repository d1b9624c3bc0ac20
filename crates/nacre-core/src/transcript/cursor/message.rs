//! A message with a role and blocks of content, as Cursor's agent writes it in transcripts and in
//! content-addressed stores.

use std::borrow::Cow;

use jiff::Timestamp;

use super::super::calls::OpenCalls;
use super::super::emit::Emitter;
use super::super::event::{EventKind, Lane, Place};
use super::super::json::Text;
use super::super::view::{Fields, items, text_of};
use super::super::voice::{self, Ended, Spot};
use super::bubble::Speaker;
use super::clock::time_tag;
use super::uri::{Files, path_of};

/// Arguments of tools that name a file or folder.
const PATH_ARGUMENTS: [&str; 7] = [
    "working_directory",
    "path",
    "file_path",
    "target_file",
    "target_directory",
    "cwd",
    "filePath",
];
/// How the block about the machine names the folder.
const FOLDER_LABELS: [&str; 2] = ["Workspace Path:", "Workspace Folder:"];

/// Reads messages in their order.
pub(super) struct Messages {
    pub(super) calls: OpenCalls,
    pub(super) files: Files,
    /// The folder that the block about the machine names.
    pub(super) folder: Option<String>,
    pub(super) last: Speaker,
    pub(super) lane: Lane,
    /// The time of the last message that told it.
    pub(super) time: Option<Timestamp>,
}

impl Messages {
    pub(super) fn new(lane: Lane) -> Self {
        Self {
            calls: OpenCalls::new(),
            files: Files::default(),
            folder: None,
            last: Speaker::Nobody,
            lane,
            time: None,
        }
    }

    /// Reads a message; `false` where it is none.
    pub(super) fn read(
        &mut self,
        (place, key): (&Place, &str),
        message: &Fields<'_>,
        out: &mut Emitter<'_>,
    ) -> bool {
        let role = message.word("role");
        let inner = message.object("message");
        let content = match inner.raw("content") {
            "" => message.raw("content"),
            content => content,
        };
        if role.is_empty() || content.is_empty() {
            return false;
        }
        out.note_model(&message.string("model"));
        let time = message.time("timestamp").or_else(|| message.time("createdAt"));
        self.time = time.or(self.time);
        let spot = Spot { place, key, time, lane: self.lane };
        if let Some(text) = text_of(content) {
            self.text(role, &spot, &text.decode(), out);
        }
        for raw in items(content) {
            self.block(role, &spot, raw, out);
        }
        true
    }

    fn block(&mut self, role: &str, spot: &Spot<'_>, raw: &str, out: &mut Emitter<'_>) {
        if let Some(text) = text_of(raw) {
            return self.text(role, spot, &text.decode(), out);
        }
        let block = Fields::of(raw);
        let kind = block.word("type").replace('_', "-");
        match kind.as_str() {
            "text" => self.text(role, spot, &block.string("text"), out),
            "thinking" | "reasoning" => {
                let text = match block.string("thinking") {
                    text if text.is_empty() => block.string("text"),
                    text => text,
                };
                self.last = Speaker::Agent;
                voice::agent(spot, EventKind::Reasoning, &text, out);
            }
            "redacted-reasoning" | "redacted-thinking" => self.last = Speaker::Agent,
            "tool-use" | "tool-call" => self.call(spot, &block, out),
            "tool-result" => self.result(spot, &block, out),
            "image" | "file" | "document" if role == "user" => {
                voice::marked_user(spot, &format!("[{kind}]"), out);
            }
            _ => voice::unknown(spot, block.word("type"), raw, out),
        }
    }

    fn text(&mut self, role: &str, spot: &Spot<'_>, text: &str, out: &mut Emitter<'_>) {
        match role {
            "user" => {
                let time = time_tag(text);
                self.time = time.or(self.time);
                self.last = Speaker::Person;
                self.folder = self.folder.take().or_else(|| named_folder(text));
                voice::user(&Spot { time: spot.time.or(time), ..*spot }, text, out);
            }
            "assistant" => {
                self.last = Speaker::Agent;
                voice::agent(spot, EventKind::Assistant, text, out);
            }
            // The agent's own instructions, the same in every session.
            "system" | "developer" => {}
            "tool" => voice::plain_result(spot, &mut self.calls, "", (Ended::Well, text), out),
            other => voice::unknown(spot, other, text, out),
        }
    }

    fn call(&mut self, spot: &Spot<'_>, block: &Fields<'_>, out: &mut Emitter<'_>) {
        self.last = Speaker::Agent;
        let id = first_string(block, &["toolCallId", "id", "tool_use_id"]);
        let name = first_string(block, &["toolName", "name"]);
        let raw = first_raw(block, &["args", "input", "arguments"]);
        // Arguments may come as a string that holds JSON.
        let arguments = text_of(raw).map_or(Cow::Borrowed(raw), Text::decode);
        let fields = Fields::of(&arguments);
        for key in PATH_ARGUMENTS {
            if let Some(path) = path_of(&fields.string(key)) {
                self.files.note(path);
            }
        }
        voice::call(spot, &mut self.calls, (&id, &name), &arguments, out);
    }

    fn result(&mut self, spot: &Spot<'_>, block: &Fields<'_>, out: &mut Emitter<'_>) {
        let id = first_string(block, &["toolCallId", "tool_use_id", "id"]);
        let raw = first_raw(block, &["result", "content", "output"]);
        let is_error = block.truth("is_error") || block.truth("isError");
        let ended = if is_error { Ended::Badly } else { Ended::Well };
        voice::result(spot, &mut self.calls, &id, (ended, raw), out);
    }
}

fn first_string<'a>(fields: &Fields<'a>, keys: &[&str]) -> Cow<'a, str> {
    keys.iter().map(|key| fields.string(key)).find(|text| !text.is_empty()).unwrap_or_default()
}

fn first_raw<'a>(fields: &Fields<'a>, keys: &[&str]) -> &'a str {
    keys.iter().map(|key| fields.raw(key)).find(|raw| !raw.is_empty()).unwrap_or_default()
}

/// The folder named in the block about the machine, with which the agent begins: a block further on may be a file's.
fn named_folder(text: &str) -> Option<String> {
    let after = text.trim_start().strip_prefix("<user_info>")?;
    let mut lines = after.split("</user_info>").next().unwrap_or_default().lines();
    lines.find_map(|line| {
        let line = line.trim();
        let label = FOLDER_LABELS.iter().find(|label| line.starts_with(**label))?;
        path_of(line[label.len()..].trim())
    })
}
