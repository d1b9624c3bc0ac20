//! Continue: a document a session, written by its program and by its extension for editors alike.
//!
//! Messages have no times and no ids. When a session was made stands in the list beside it.

#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::adapter::{Adapter, Discovery, Homes, ReadOutcome, Trace, Watermark};
use super::calls::{RecentMap, text_hash};
use super::emit::Emitter;
use super::error::Result;
use super::event::{EventKind, InjectedReason, Lane};
use super::facts::{Agent, SessionFacts, Tokens};
use super::json::Text;
use super::names::short_name;
use super::sink::Sink;
use super::thread::Thread;
use super::view::{Fields, items, text_of, texts};
use super::voice::{self, Ended, Spot};
use super::walk::{Wanted, walk};
use super::whole::{self, Part};

/// Reads what Continue leaves behind.
pub struct Continue;

/// So many calls are known to have given their results.
const MAX_GIVEN: usize = 4096;
/// The list of sessions beside them.
const LIST: &str = "sessions.json";
/// The title of a session that nobody named.
const UNTITLED: [&str; 2] = ["Untitled Session", "New Session"];

impl Adapter for Continue {
    fn agent(&self) -> Agent {
        Agent::Continue
    }

    fn version(&self) -> u32 {
        1
    }

    fn roots(&self, homes: &Homes) -> Vec<PathBuf> {
        let own = homes.continue_global.clone().unwrap_or_else(|| homes.home.join(".continue"));
        vec![own.join("sessions")]
    }

    fn discover(&self, roots: &[PathBuf]) -> Discovery {
        let file = |name: &OsStr| name.to_string_lossy().ends_with(".json") && name != LIST;
        walk(roots, &Wanted { agent: Agent::Continue, file: &file, directory: &|_| false })
    }

    fn read(
        &self,
        trace: &Trace,
        _from: Option<&Watermark>,
        sink: Sink<'_>,
    ) -> Result<ReadOutcome> {
        let path = &trace.source.path;
        let stem = path.file_stem().map(OsStr::to_string_lossy).unwrap_or_default();
        let facts = SessionFacts::new(Agent::Continue, &stem);
        whole::read_document(path, facts, sink, |text, out| {
            let mut talk =
                Talk { thread: Thread::new(None), n_items: 0, given: RecentMap::new(MAX_GIVEN) };
            let parsed = whole::parts(text, &["history"], |part| match part {
                Part::Field(key, raw) => note_member(key, raw, out),
                Part::Item(raw) => talk.item(raw, out),
            });
            note_start(path, out);
            out.facts.ending = talk.thread.ending();
            parsed
        })
    }
}

fn note_member(key: &str, raw: &str, out: &mut Emitter<'_>) {
    let text = || text_of(raw).map(Text::decode).unwrap_or_default();
    match key {
        "sessionId" if !text().is_empty() => out.facts.id = short_name(&text()),
        "title" if !UNTITLED.contains(&&*text()) => out.note_title(&text()),
        "workspaceDirectory" => {
            out.note_cwd(&super::cursor::uri::path_of(&text()).unwrap_or_default());
        }
        _ => {}
    }
}

/// Takes from the list beside the sessions when this one was made.
fn note_start(path: &Path, out: &mut Emitter<'_>) {
    let Some(text) = whole::sidecar(&path.with_file_name(LIST)) else { return };
    let entry = items(&text).into_iter().map(Fields::of).find(|entry| {
        let id = entry.string("sessionId");
        !id.is_empty() && short_name(&id) == out.facts.id
    });
    let created = entry.and_then(|entry| entry.time("dateCreated"));
    created.into_iter().for_each(|time| out.note_time(time));
}

/// Reads the items of one session.
struct Talk {
    thread: Thread,
    n_items: u64,
    /// Calls whose results were given.
    given: RecentMap<()>,
}

impl Talk {
    fn item(&mut self, raw: &str, out: &mut Emitter<'_>) {
        let key = format!("history/{}", self.n_items);
        self.n_items += 1;
        out.report.lines += 1;
        let Some(item) = Fields::read(raw) else {
            out.report.bad_lines += 1;
            return;
        };
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
                // A result that stands beside its call was given there.
                if self.given.get(text_hash(&id)).is_some() {
                    out.report.repeated += 1;
                } else {
                    self.thread.result(&spot, &id, (Ended::Well, message.raw("content")), out);
                }
            }
            "system" => {}
            other => voice::unknown(&spot, &format!("message {other}"), raw, out),
        }
        voice::recap(&spot, &item.string("conversationSummary"), out);
    }

    fn user(
        &mut self,
        spot: &Spot<'_>,
        item: &Fields<'_>,
        message: &Fields<'_>,
        out: &mut Emitter<'_>,
    ) {
        for context in item.items("contextItems") {
            let text = Fields::of(context).string("content");
            voice::injected(spot, InjectedReason::EditorContext, &text, out);
        }
        for text in texts(message.raw("content")) {
            self.thread.user(spot, "", &text, out);
        }
    }

    fn assistant(
        &mut self,
        spot: &Spot<'_>,
        item: &Fields<'_>,
        message: &Fields<'_>,
        out: &mut Emitter<'_>,
    ) {
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
        // Older versions keep one state, not a list.
        let state = item.object("toolCallState");
        if !state.is_empty() {
            self.state(spot, &state, out);
        }
    }

    fn call(&mut self, spot: &Spot<'_>, call: &Fields<'_>, out: &mut Emitter<'_>) {
        let function = call.object("function");
        let arguments = function.string("arguments");
        self.thread.call(spot, (&call.string("id"), &function.string("name")), &arguments, out);
    }

    /// How a call stands, with what came of it.
    fn state(&mut self, spot: &Spot<'_>, state: &Fields<'_>, out: &mut Emitter<'_>) {
        let id = state.string("toolCallId");
        if !self.thread.calls.is_open(&id) {
            self.call(spot, &state.object("toolCall"), out);
        }
        let ended = match state.word("status") {
            "done" => Ended::Well,
            "errored" | "canceled" => Ended::Badly,
            _ => return,
        };
        let output: Vec<String> = state
            .items("output")
            .into_iter()
            .map(|item| Fields::of(item).string("content").into_owned())
            .collect();
        self.given.insert(text_hash(&id), ());
        let result = (ended, &*output.join("\n"));
        voice::plain_result(spot, &mut self.thread.calls, &id, result, out);
    }
}

fn note_usage(usage: &Fields<'_>, out: &mut Emitter<'_>) {
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
