//! Messages in the parts of Google's API, which Gemini CLI and Qwen Code write.
//!
//! A part is a text, a thought, a call or the response to one. Of the texts of a user message the
//! first that holds words is the person's; what follows are files and context that were added.

use super::emit::Emitter;
use super::event::{EventKind, InjectedReason};
use super::facts::Tokens;
use super::injected::reason_of;
use super::thread::Thread;
use super::view::{Fields, items, text_of, texts};
use super::voice::{self, Ended, Spot};

/// The parts of a user message, whose record hangs on `parent`. Responses to calls that were given
/// before are not given again.
pub(super) fn user(
    thread: &mut Thread,
    spot: &Spot<'_>,
    parent: &str,
    content: &str,
    out: &mut Emitter<'_>,
) {
    let mut has_words = false;
    for text in texts(content) {
        if has_words {
            added(spot, &text, out);
        } else {
            has_words = voice::holds_words(&text);
            thread.user(spot, parent, &text, out);
        }
    }
    let mut has_picture = false;
    for part in items(content) {
        let part = Fields::of(part);
        has_picture |= !part.raw("inlineData").is_empty() || !part.raw("fileData").is_empty();
        let response = part.object("functionResponse");
        if !response.is_empty() {
            self::response(thread, spot, &response, None, out);
        }
    }
    if has_picture && !has_words {
        thread.user(spot, parent, "[image]", out);
    }
}

/// A text that stands beside the person's words.
fn added(spot: &Spot<'_>, text: &str, out: &mut Emitter<'_>) {
    let reason = reason_of(text).or_if_unknown(InjectedReason::EditorContext);
    voice::injected(spot, reason, text, out);
}

/// The parts of a message of the model: a text alone, or a list.
pub(super) fn agent(thread: &mut Thread, spot: &Spot<'_>, content: &str, out: &mut Emitter<'_>) {
    if let Some(text) = text_of(content) {
        return thread.agent(spot, EventKind::Assistant, &text.decode(), out);
    }
    for part in items(content) {
        let part = Fields::of(part);
        let kind = if part.truth("thought") { EventKind::Reasoning } else { EventKind::Assistant };
        thread.agent(spot, kind, &part.string("text"), out);
        let call = part.object("functionCall");
        let id = call.string("id");
        if !call.is_empty() && (id.is_empty() || !thread.calls.is_open(&id)) {
            thread.call(spot, (&id, &call.string("name")), call.raw("args"), out);
        }
    }
}

/// The response to a call. It failed where `ended` or the response itself says so.
pub(super) fn response(
    thread: &mut Thread,
    spot: &Spot<'_>,
    response: &Fields<'_>,
    ended: Option<Ended>,
    out: &mut Emitter<'_>,
) {
    let body = response.object("response");
    let (told, raw) = match (body.raw("output"), body.raw("error")) {
        ("", "") => (Ended::Well, response.raw("response")),
        ("", error) => (Ended::Badly, error),
        (output, _) => (Ended::Well, output),
    };
    thread.result(spot, &response.string("id"), (ended.unwrap_or(told), raw), out);
}

/// What a model call took: the keys that hold it, by what it was taken for.
#[derive(Clone, Copy)]
pub(super) struct TokenKeys {
    pub(super) prompt: &'static str,
    pub(super) output: &'static str,
    pub(super) cached: &'static str,
    pub(super) thoughts: &'static str,
    pub(super) tool: &'static str,
    pub(super) total: &'static str,
}

/// What a model call took. The prompt holds what came from a cache; thoughts are part of the output
/// only where the total says so.
pub(super) fn tokens(usage: &Fields<'_>, keys: TokenKeys) -> Tokens {
    let (prompt, cached) = (usage.count(keys.prompt), usage.count(keys.cached));
    let (output, thoughts) = (usage.count(keys.output), usage.count(keys.thoughts));
    let parts = [prompt, output, thoughts, usage.count(keys.tool)];
    let sum = parts.into_iter().fold(0_u64, u64::saturating_add);
    let is_apart = usage.count(keys.total) == sum;
    Tokens {
        input: prompt.saturating_sub(cached),
        output: if is_apart { output.saturating_add(thoughts) } else { output },
        cached,
        cache_write: 0,
        reasoning: thoughts,
    }
}
