//! The messages of a session, by their type.

use super::super::calls::{RecentMap, text_hash};
use super::super::emit::Emitter;
use super::super::event::{EventKind, Place};
use super::super::facts::Ending;
use super::super::genai::{self, TokenKeys};
use super::super::thread::{Thread, own_lane};
use super::super::view::{Fields, items, text_of, texts};
use super::super::voice::{self, Ended, Spot};
use super::project::folder_in;

/// So many calls are known to have given their results.
const MAX_GIVEN: usize = 16 * 1024;
/// Where Gemini CLI counts what a model call took.
const TOKENS: TokenKeys = TokenKeys {
    prompt: "input",
    output: "output",
    cached: "cached",
    thoughts: "thoughts",
    tool: "tool",
    total: "total",
};

/// Reads the messages of one session.
pub(super) struct Talk {
    thread: Thread,
    /// Calls whose results were given: they come again as the message that answers the model.
    given: RecentMap<()>,
}

impl Default for Talk {
    fn default() -> Self {
        Self { thread: Thread::new(None), given: RecentMap::new(MAX_GIVEN) }
    }
}

impl Talk {
    pub(super) fn ending(&self) -> Ending {
        self.thread.ending()
    }

    pub(super) fn message(&mut self, raw: &str, place: &Place, out: &mut Emitter<'_>) {
        let message = Fields::of(raw);
        let time = message.time("timestamp").or_else(|| message.time("ts"));
        let id = message.string("id");
        let spot = Spot { place, key: &id, time, lane: own_lane(out) };
        self.thread.begin();
        let kind = match message.word("type") {
            "" => message.word("role"),
            kind => kind,
        };
        match kind {
            "user" => self.user(&spot, &message, out),
            "gemini" | "model" | "assistant" => self.agent(&spot, &message, out),
            "info" | "warning" => {
                texts(content_of(&message)).iter().for_each(|text| voice::note(&spot, text, out));
            }
            "error" => {
                let texts = texts(content_of(&message));
                texts.iter().for_each(|text| voice::failure(&spot, text, out));
            }
            other => voice::unknown(&spot, other, raw, out),
        }
    }

    fn user(&mut self, spot: &Spot<'_>, message: &Fields<'_>, out: &mut Emitter<'_>) {
        let (sent, shown) = (content_of(message), message.raw("displayContent"));
        if out.facts.cwd.is_none() {
            // What follows the first text may be a file.
            let texts = texts(sent);
            let folder = texts.first().and_then(|text| folder_in(text).map(str::to_owned));
            out.note_cwd(&folder.unwrap_or_default());
        }
        if shown.is_empty() {
            let known = self.without_given(sent, out);
            return genai::user(&mut self.thread, spot, "", known.as_deref().unwrap_or(sent), out);
        }
        texts(sent).iter().for_each(|text| voice::added(spot, text, out));
        texts(shown).iter().for_each(|text| self.thread.user(spot, "", text, out));
    }

    /// The content without results that were given; `None` where there are none.
    fn without_given(&mut self, content: &str, out: &mut Emitter<'_>) -> Option<String> {
        let parts = items(content);
        let n_parts = parts.len();
        let new: Vec<&str> = parts.into_iter().filter(|part| self.is_new(part)).collect();
        out.report.repeated += (n_parts - new.len()) as u64;
        (new.len() < n_parts).then(|| format!("[{}]", new.join(",")))
    }

    /// Whether a part is not the result of a call that was given; notes it.
    fn is_new(&mut self, part: &str) -> bool {
        let response = Fields::of(part).object("functionResponse");
        let id = response.string("id");
        if id.is_empty() {
            return true;
        }
        let key = text_hash(&id);
        let is_new = self.given.get(key).is_none();
        self.given.insert(key, ());
        is_new
    }

    fn agent(&mut self, spot: &Spot<'_>, message: &Fields<'_>, out: &mut Emitter<'_>) {
        out.note_model(&message.string("model"));
        out.facts.tokens.add(genai::tokens(&message.object("tokens"), TOKENS));
        for thought in message.items("thoughts") {
            let thought = Fields::of(thought);
            let parts = [thought.string("subject"), thought.string("description")];
            let parts: Vec<&str> = parts.iter().map(|part| &**part).collect();
            self.thread.agent(spot, EventKind::Reasoning, parts.join("\n").trim(), out);
        }
        genai::agent(&mut self.thread, spot, content_of(message), out);
        for call in message.items("toolCalls") {
            self.call(spot, &Fields::of(call), out);
        }
    }

    /// A call and its result, which stand together.
    fn call(&mut self, spot: &Spot<'_>, call: &Fields<'_>, out: &mut Emitter<'_>) {
        let id = call.string("id");
        if id.is_empty() || !self.thread.calls.is_open(&id) {
            self.thread.call(spot, (&id, &call.string("name")), call.raw("args"), out);
        }
        let time = call.time("timestamp").or(spot.time);
        let spot = Spot { time, ..*spot };
        let ended = match call.word("status") {
            "success" => None,
            "error" | "cancelled" => Some(Ended::Badly),
            _ => return,
        };
        if id.is_empty() || self.given.get(text_hash(&id)).is_none() {
            self.given.insert(text_hash(&id), ());
            self.result(&spot, &id, call, ended, out);
        }
    }

    fn result(
        &mut self,
        spot: &Spot<'_>,
        id: &str,
        call: &Fields<'_>,
        ended: Option<Ended>,
        out: &mut Emitter<'_>,
    ) {
        // The parts of the message that answered the model; others of its calls may be among them.
        let responses = call
            .items("result")
            .into_iter()
            .map(|part| Fields::of(part).object("functionResponse"));
        let mut own = responses.filter(|response| !response.is_empty());
        match own.find(|response| id.is_empty() || response.string("id") == id) {
            Some(response) => genai::response(&mut self.thread, spot, &response, ended, out),
            None => {
                let shown = call.raw("resultDisplay");
                let raw = if text_of(shown).is_some() { shown } else { call.raw("result") };
                self.thread.result(spot, id, (ended.unwrap_or(Ended::Well), raw), out);
            }
        }
    }
}

/// What a message says, under either of the names that it has.
fn content_of<'a>(message: &Fields<'a>) -> &'a str {
    match message.raw("content") {
        "" => message.raw("parts"),
        content => content,
    }
}
