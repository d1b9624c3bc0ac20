//! Parses messages in Anthropic API format, which Droid, pi and Cline use with small differences.

use std::borrow::Cow;

use super::voice;
use crate::transcript::toolkit::*;

pub(crate) enum MessageBlock<'a> {
    Text(Cow<'a, str>),
    Thinking(Cow<'a, str>),
    Call {
        id: Cow<'a, str>,
        tool: Cow<'a, str>,
        input: &'a str,
    },
    Result {
        id: Cow<'a, str>,
        has_failed: bool,
        content: &'a str,
    },
    Picture,
    /// A reasoning block that the model provider encrypted.
    Sealed,
    Other {
        kind: &'a str,
        raw: &'a str,
    },
}

/// `content` may be an array of blocks or a string.
pub(crate) fn blocks(content: &str) -> Vec<MessageBlock<'_>> {
    if let Some(text) = text_of(content) {
        return vec![MessageBlock::Text(text)];
    }
    items(content).into_iter().map(block).collect()
}

fn block(raw: &str) -> MessageBlock<'_> {
    if let Some(text) = text_of(raw) {
        return MessageBlock::Text(text);
    }
    let fields = Fields::of(raw);
    match fields.word("type") {
        "text" => MessageBlock::Text(fields.string("text")),
        "thinking" => MessageBlock::Thinking(fields.string("thinking")),
        "redacted_thinking" => MessageBlock::Sealed,
        "tool_use" => call(&fields, "input"),
        "toolCall" => call(&fields, "arguments"),
        "tool_result" => MessageBlock::Result {
            id: fields.string("tool_use_id"),
            has_failed: fields.truth("is_error"),
            content: fields.raw("content"),
        },
        "image" | "document" => MessageBlock::Picture,
        kind => MessageBlock::Other { kind, raw },
    }
}

fn call<'a>(fields: &Fields<'a>, arguments: &str) -> MessageBlock<'a> {
    MessageBlock::Call {
        id: fields.string("id"),
        tool: fields.string("name"),
        input: fields.raw(arguments),
    }
}

/// `parent` is the ID of the message's parent record.
pub(crate) fn user(
    thread: &mut Thread,
    spot: &Spot,
    parent: &str,
    content: &str,
    out: &mut Emitter,
) {
    let blocks = blocks(content);
    let has_text = blocks
        .iter()
        .any(|block| matches!(block, MessageBlock::Text(_) | MessageBlock::Result { .. }));
    let has_picture = blocks.iter().any(|block| matches!(block, MessageBlock::Picture));
    for block in blocks {
        if let MessageBlock::Text(text) = &block {
            thread.user(spot, parent, text, out);
        } else {
            agent_block(thread, spot, block, out);
        }
    }
    if has_picture && !has_text {
        thread.user(spot, parent, "[image]", out);
    }
}

pub(crate) fn agent(thread: &mut Thread, spot: &Spot, content: &str, out: &mut Emitter) {
    for block in blocks(content) {
        agent_block(thread, spot, block, out);
    }
}

/// Handles blocks that have the same meaning for every role. Text is attributed to the model.
pub(crate) fn agent_block(
    thread: &mut Thread,
    spot: &Spot,
    block: MessageBlock<'_>,
    out: &mut Emitter,
) {
    match block {
        MessageBlock::Text(text) => thread.agent(spot, EventKind::Assistant, &text, out),
        MessageBlock::Thinking(text) => thread.agent(spot, EventKind::Reasoning, &text, out),
        MessageBlock::Call { id, tool, input } => thread.call(spot, &id, &tool, input, out),
        MessageBlock::Result { id, has_failed, content } => {
            thread.result(spot, &id, has_failed, content, out);
        }
        MessageBlock::Picture | MessageBlock::Sealed => {}
        MessageBlock::Other { kind, raw } => voice::emit_unknown(spot, kind, raw, out),
    }
}
