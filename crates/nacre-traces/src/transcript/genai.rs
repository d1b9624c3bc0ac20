//! Parses messages in Google API format, which Gemini CLI and Qwen Code use. A part is text, a
//! thought, a tool call or a tool response. In a user message, the first text part that contains
//! the user's words is attributed to the user; later ones are files and added context.

use super::voice;
use crate::transcript::toolkit::*;

/// Skips responses that were already emitted. `parent` is the ID of the message's parent record.
pub(crate) fn user(
    thread: &mut Thread,
    spot: &Spot,
    parent: &str,
    content: &str,
    out: &mut Emitter,
) {
    let mut has_words = false;
    for text in texts(content) {
        if has_words {
            let reason = reason_of(&text).or_if_unknown(InjectedReason::EditorContext);
            voice::emit_injected(spot, reason, &text, out);
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

/// `content` may be an array of parts or a single text.
pub(crate) fn agent(thread: &mut Thread, spot: &Spot, content: &str, out: &mut Emitter) {
    if let Some(text) = text_of(content) {
        return thread.agent(spot, EventKind::Assistant, &text, out);
    }
    for part in items(content) {
        let part = Fields::of(part);
        let kind = if part.truth("thought") { EventKind::Reasoning } else { EventKind::Assistant };
        thread.agent(spot, kind, &part.string("text"), out);
        let call = part.object("functionCall");
        let id = call.string("id");
        if !call.is_empty() && (id.is_empty() || !thread.calls.is_open(&id)) {
            thread.call(spot, &id, &call.string("name"), call.raw("args"), out);
        }
    }
}

/// If `has_failed` is `None`, the response itself shows whether the call failed.
pub(crate) fn response(
    thread: &mut Thread,
    spot: &Spot,
    response: &Fields,
    has_failed: Option<bool>,
    out: &mut Emitter,
) {
    let body = response.object("response");
    let (is_error, raw) = match (body.raw("output"), body.raw("error")) {
        ("", "") => (false, response.raw("response")),
        ("", error) => (true, error),
        (output, _) => (false, output),
    };
    thread.result(spot, &response.string("id"), has_failed.unwrap_or(is_error), raw, out);
}

/// Returns a model call's token counts. `keys` are the names of the prompt, output, cached,
/// thought, tool and total counts. The prompt count includes cached tokens. Thought tokens are
/// added to the output only if the total shows that the output does not include them.
pub(crate) fn tokens(usage: &Fields, keys: [&str; 6]) -> Tokens {
    let [prompt, output, cached, thoughts, tool, total] = keys.map(|key| usage.count(key));
    let sum = [prompt, output, thoughts, tool].into_iter().fold(0, u64::saturating_add);
    Tokens {
        input: prompt.saturating_sub(cached),
        output: if total == sum { output.saturating_add(thoughts) } else { output },
        cached,
        cache_write: 0,
        reasoning: thoughts,
    }
}
