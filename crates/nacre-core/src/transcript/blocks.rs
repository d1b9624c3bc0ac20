//! Messages in the blocks of Anthropic's API, which droid, pi and Cline write with small differences.

use std::borrow::Cow;

use super::emit::Emitter;
use super::event::EventKind;
use super::thread::Thread;
use super::view::{Fields, items, text_of};
use super::voice::{self, Ended, Spot};

/// A part of a message.
pub(super) enum Block<'a> {
    Text(Cow<'a, str>),
    Thinking(Cow<'a, str>),
    Call {
        id: Cow<'a, str>,
        tool: Cow<'a, str>,
        input: &'a str,
    },
    Result {
        id: Cow<'a, str>,
        ended: Ended,
        content: &'a str,
    },
    Picture,
    /// A thought that only the model's maker can read.
    Sealed,
    Other {
        kind: &'a str,
        raw: &'a str,
    },
}

/// The blocks of a message's content: a string is one text.
pub(super) fn blocks(content: &str) -> Vec<Block<'_>> {
    if let Some(text) = text_of(content) {
        return vec![Block::Text(text.decode())];
    }
    items(content).into_iter().map(block).collect()
}

fn block(raw: &str) -> Block<'_> {
    if let Some(text) = text_of(raw) {
        return Block::Text(text.decode());
    }
    let fields = Fields::of(raw);
    match fields.word("type") {
        "text" => Block::Text(fields.string("text")),
        "thinking" => Block::Thinking(fields.string("thinking")),
        "redacted_thinking" => Block::Sealed,
        "tool_use" => call(&fields, "input"),
        "toolCall" => call(&fields, "arguments"),
        "tool_result" => Block::Result {
            id: fields.string("tool_use_id"),
            ended: if fields.truth("is_error") { Ended::Badly } else { Ended::Well },
            content: fields.raw("content"),
        },
        "image" | "document" => Block::Picture,
        kind => Block::Other { kind, raw },
    }
}

fn call<'a>(fields: &Fields<'a>, arguments: &str) -> Block<'a> {
    Block::Call {
        id: fields.string("id"),
        tool: fields.string("name"),
        input: fields.raw(arguments),
    }
}

/// The blocks of a message with the role of the user, whose record hangs on `parent`.
pub(super) fn user(
    thread: &mut Thread,
    spot: &Spot<'_>,
    parent: &str,
    content: &str,
    out: &mut Emitter<'_>,
) {
    let blocks = blocks(content);
    let has_text =
        blocks.iter().any(|block| matches!(block, Block::Text(_) | Block::Result { .. }));
    let has_picture = blocks.iter().any(|block| matches!(block, Block::Picture));
    for block in blocks {
        match block {
            Block::Text(text) => thread.user(spot, parent, &text, out),
            other @ (Block::Thinking(_)
            | Block::Call { .. }
            | Block::Result { .. }
            | Block::Picture
            | Block::Sealed
            | Block::Other { .. }) => agent_block(thread, spot, other, out),
        }
    }
    if has_picture && !has_text {
        thread.user(spot, parent, "[image]", out);
    }
}

/// The blocks of a message of the model.
pub(super) fn agent(thread: &mut Thread, spot: &Spot<'_>, content: &str, out: &mut Emitter<'_>) {
    for block in blocks(content) {
        agent_block(thread, spot, block, out);
    }
}

/// A block that means the same whoever sends it; a text is the model's.
pub(super) fn agent_block(
    thread: &mut Thread,
    spot: &Spot<'_>,
    block: Block<'_>,
    out: &mut Emitter<'_>,
) {
    match block {
        Block::Text(text) => thread.agent(spot, EventKind::Assistant, &text, out),
        Block::Thinking(text) => thread.agent(spot, EventKind::Reasoning, &text, out),
        Block::Call { id, tool, input } => thread.call(spot, (&id, &tool), input, out),
        Block::Result { id, ended, content } => {
            thread.result(spot, &id, (ended, content), out);
        }
        Block::Picture | Block::Sealed => {}
        Block::Other { kind, raw } => voice::unknown(spot, kind, raw, out),
    }
}
