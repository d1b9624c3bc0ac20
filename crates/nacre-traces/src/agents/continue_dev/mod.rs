//! Reads Continue's sessions. Each session is one JSON document, in the same format for the CLI and
//! the editor extension. Messages have no times or IDs. Each session's time comes from the session
//! list.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use super::{AgentSpec, Mark};
use crate::transcript::toolkit::*;

pub(crate) struct Continue;

const MAX_GIVEN: usize = 4096;
const LIST: &str = "sessions.json";
const UNTITLED: [&str; 2] = ["Untitled Session", "New Session"];

pub(super) static SPEC: AgentSpec = AgentSpec {
    adapter: Some(&Continue),
    trace_names: &["s.json"],
    marks: &[(14, Mark::Line(&["\"workspaceDirectory\""]))],
    variables: &["CONTINUE_GLOBAL_DIR"],
    ..AgentSpec::new("continue", "continue")
};

impl Adapter for Continue {
    fn agent(&self) -> Agent {
        Agent::Continue
    }

    fn roots(&self, homes: &Homes) -> Vec<PathBuf> {
        vec![homes.var_or("CONTINUE_GLOBAL_DIR", ".continue").join("sessions")]
    }

    fn is_trace(&self, name: &str) -> bool {
        name.ends_with(".json") && name != LIST
    }

    fn is_searched(&self, _directory: &str) -> bool {
        false
    }

    fn read(&self, trace: &Trace, _from: Option<&Watermark>, sink: Sink) -> Result<ReadOutcome> {
        let path = &trace.source.path;
        let facts = SessionFacts::new(Agent::Continue, &trace.source.stem());
        whole::read_document(path, facts, sink, |text, out| {
            let mut talk = SessionParser {
                thread: Thread::new(),
                n_items: 0,
                given: RecentMap::new(MAX_GIVEN),
            };
            let parsed = whole::parts(text, &["history"], |part| match part {
                DocumentPart::Field(key, raw) => note_member(key, raw, out),
                DocumentPart::Item(raw) => talk.item(raw, out),
            });
            note_start(path, out);
            out.facts.ending = talk.thread.ending();
            parsed
        })
    }
}

fn note_member(key: &str, raw: &str, out: &mut Emitter) {
    let text = || text_of(raw).unwrap_or_default();
    match key {
        "sessionId" if !text().is_empty() => out.facts.id = short_name(&text()),
        "title" if !UNTITLED.contains(&&*text()) => out.note_title(&text()),
        "workspaceDirectory" => {
            out.note_cwd(&super::cursor::uri::path_of(&text()).unwrap_or_default());
        }
        _ => {}
    }
}

fn note_start(path: &Path, out: &mut Emitter) {
    let Some(text) = whole::sidecar(&path.with_file_name(LIST)) else { return };
    let entry = items(&text).into_iter().map(Fields::of).find(|entry| {
        let id = entry.string("sessionId");
        !id.is_empty() && short_name(&id) == out.facts.id
    });
    let created = entry.and_then(|entry| entry.time("dateCreated"));
    out.note_time(created);
}

struct SessionParser {
    thread: Thread,
    n_items: u64,
    given: RecentMap<()>,
}

impl SessionParser {
    fn item(&mut self, raw: &str, out: &mut Emitter) {
        let key = format!("history/{}", self.n_items);
        self.n_items += 1;
        let Some(item) = out.open_record(raw) else { return };
        let place = voice::row(&key);
        let spot = Spot { place: &place, key: &key, time: None, lane: Lane::Main };
        let message = item.object("message");
        self.thread.begin();
        match message.word("role") {
            "user" => self.user(&spot, &item, &message, out),
            "assistant" => self.assistant(&spot, &item, &message, out),
            "thinking" => {
                for text in texts(message.raw("content")) {
                    self.thread.agent(&spot, EventKind::Reasoning, &text, out);
                }
            }
            "tool" => {
                let id = message.string("toolCallId");
                // A result stored with its call has already been emitted.
                if self.given.get(text_hash(&id)).is_some() {
                    out.report.repeated += 1;
                } else {
                    self.thread.result(&spot, &id, false, message.raw("content"), out);
                }
            }
            "system" => {}
            other => voice::emit_unknown(&spot, &format!("message {other}"), raw, out),
        }
        voice::recap(&spot, &item.string("conversationSummary"), out);
    }

    fn user(&mut self, spot: &Spot, item: &Fields, message: &Fields, out: &mut Emitter) {
        for context in item.items("contextItems") {
            let text = Fields::of(context).string("content");
            voice::emit_injected(spot, InjectedReason::EditorContext, &text, out);
        }
        for text in texts(message.raw("content")) {
            self.thread.user(spot, "", &text, out);
        }
    }

    fn assistant(&mut self, spot: &Spot, item: &Fields, message: &Fields, out: &mut Emitter) {
        note_usage(&message.object("usage"), out);
        let thought = item.object("reasoning").string("text");
        self.thread.agent(spot, EventKind::Reasoning, &thought, out);
        for text in texts(message.raw("content")) {
            self.thread.agent(spot, EventKind::Assistant, &text, out);
        }
        for call in message.items("toolCalls") {
            self.call(spot, &Fields::of(call), out);
        }
        for state in item.items("toolCallStates") {
            self.state(spot, &Fields::of(state), out);
        }
        // Older versions store a single state rather than a list.
        let state = item.object("toolCallState");
        if !state.is_empty() {
            self.state(spot, &state, out);
        }
    }

    fn call(&mut self, spot: &Spot, call: &Fields, out: &mut Emitter) {
        let function = call.object("function");
        let arguments = function.string("arguments");
        self.thread.call(spot, &call.string("id"), &function.string("name"), &arguments, out);
    }

    fn state(&mut self, spot: &Spot, state: &Fields, out: &mut Emitter) {
        let id = state.string("toolCallId");
        if !self.thread.calls.is_open(&id) {
            self.call(spot, &state.object("toolCall"), out);
        }
        let has_failed = match state.word("status") {
            "done" => false,
            "errored" | "canceled" => true,
            _ => return,
        };
        let output: Vec<String> = state
            .items("output")
            .into_iter()
            .map(|item| Fields::of(item).string("content").into_owned())
            .collect();
        self.given.insert(text_hash(&id), ());
        let output = output.join("\n");
        voice::plain_result(spot, &mut self.thread.calls, &id, has_failed, &output, out);
    }
}

fn note_usage(usage: &Fields, out: &mut Emitter) {
    out.note_model(&usage.string("model"));
    let details = usage.object("prompt_tokens_details");
    let cached = details.count("cached_tokens").max(usage.count("cached_tokens"));
    out.facts.tokens.add(Tokens {
        input: usage.count("prompt_tokens").saturating_sub(cached),
        output: usage.count("completion_tokens"),
        cached,
        cache_write: details.count("cache_write_tokens"),
        reasoning: 0,
    });
}
