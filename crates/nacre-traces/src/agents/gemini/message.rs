//! Emits the messages of a Gemini CLI session according to their type.

use super::project::folder_in;
use crate::transcript::toolkit::*;

const MAX_GIVEN: usize = 16 * 1024;
const TOKENS: [&str; 6] = ["input", "output", "cached", "thoughts", "tool", "total"];

pub(super) struct SessionParser {
    pub(super) thread: Thread,
    /// Calls whose results have already been emitted. The next message to the model repeats these
    /// results.
    given: RecentMap<()>,
}

impl Default for SessionParser {
    fn default() -> Self {
        Self { thread: Thread::new(), given: RecentMap::new(MAX_GIVEN) }
    }
}

impl SessionParser {
    pub(super) fn message(&mut self, raw: &str, place: &Position, out: &mut Emitter) {
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
            other => voice::emit_unknown(&spot, other, raw, out),
        }
    }

    fn user(&mut self, spot: &Spot, message: &Fields, out: &mut Emitter) {
        let (sent, shown) = (content_of(message), message.raw("displayContent"));
        if out.facts.cwd.is_none() {
            // Read only the first text block, because later ones may come from files.
            let texts = texts(sent);
            let folder = texts.first().and_then(|text| folder_in(text).map(str::to_owned));
            out.note_cwd(&folder.unwrap_or_default());
        }
        if shown.is_empty() {
            let known = self.without_given(sent, out);
            return genai::user(&mut self.thread, spot, "", known.as_deref().unwrap_or(sent), out);
        }
        texts(sent).iter().for_each(|text| voice::emit_added(spot, text, out));
        texts(shown).iter().for_each(|text| self.thread.user(spot, "", text, out));
    }

    /// Drops results that have already been emitted. Returns `None` if there were none.
    fn without_given(&mut self, content: &str, out: &mut Emitter) -> Option<String> {
        let parts = items(content);
        let n_parts = parts.len();
        let new: Vec<&str> = parts.into_iter().filter(|part| self.is_new(part)).collect();
        out.report.repeated += (n_parts - new.len()) as u64;
        (new.len() < n_parts).then(|| format!("[{}]", new.join(",")))
    }

    /// Records the part as emitted. Returns `false` for a result that has already been emitted.
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

    fn agent(&mut self, spot: &Spot, message: &Fields, out: &mut Emitter) {
        out.note_model(&message.string("model"));
        out.facts.tokens.add(genai::tokens(&message.object("tokens"), TOKENS));
        for thought in message.items("thoughts") {
            let thought = Fields::of(thought);
            let parts = [thought.string("subject"), thought.string("description")];
            self.thread.agent(spot, EventKind::Reasoning, parts.join("\n").trim(), out);
        }
        genai::agent(&mut self.thread, spot, content_of(message), out);
        for call in message.items("toolCalls") {
            self.call(spot, &Fields::of(call), out);
        }
    }

    fn call(&mut self, spot: &Spot, call: &Fields, out: &mut Emitter) {
        let id = call.string("id");
        if id.is_empty() || !self.thread.calls.is_open(&id) {
            self.thread.call(spot, &id, &call.string("name"), call.raw("args"), out);
        }
        let time = call.time("timestamp").or(spot.time);
        let spot = Spot { time, ..*spot };
        let has_failed = match call.word("status") {
            "success" => None,
            "error" | "cancelled" => Some(true),
            _ => return,
        };
        if id.is_empty() || self.given.get(text_hash(&id)).is_none() {
            self.given.insert(text_hash(&id), ());
            self.result(&spot, &id, call, has_failed, out);
        }
    }

    fn result(
        &mut self,
        spot: &Spot,
        id: &str,
        call: &Fields,
        has_failed: Option<bool>,
        out: &mut Emitter,
    ) {
        // The parts of the message to the model, which can also contain other calls' results.
        let responses = call
            .items("result")
            .into_iter()
            .map(|part| Fields::of(part).object("functionResponse"));
        let mut own = responses.filter(|response| !response.is_empty());
        match own.find(|response| id.is_empty() || response.string("id") == id) {
            Some(response) => genai::response(&mut self.thread, spot, &response, has_failed, out),
            None => {
                let shown = call.raw("resultDisplay");
                let raw = if text_of(shown).is_some() { shown } else { call.raw("result") };
                self.thread.result(spot, id, has_failed.unwrap_or(false), raw, out);
            }
        }
    }
}

fn content_of<'a>(message: &Fields<'a>) -> &'a str {
    message.first_raw(&["content", "parts"])
}
