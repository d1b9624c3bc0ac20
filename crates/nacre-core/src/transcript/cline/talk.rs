//! The messages of a session.

use super::super::blocks::{self, Block};
use super::super::emit::Emitter;
use super::super::event::{InjectedReason, Lane, WordSource};
use super::super::facts::Tokens;
use super::super::thread::{Thread, Turn};
use super::super::view::{Fields, items, text_of};
use super::super::voice::{self, Ended, Spot};

/// Tags around the person's words.
const WORDS: [&str; 5] = ["user_input", "task", "feedback", "user_message", "answer"];
/// The heading in the extension's own text that names the working folder.
const FOLDER: &str = "# Current Working Directory (";

/// Reads the messages of one session.
pub(super) struct Talk {
    thread: Thread,
    n_messages: u64,
}

impl Talk {
    pub(super) fn new() -> Self {
        Self { thread: Thread::new(None), n_messages: 0 }
    }

    pub(super) fn finish(&self, out: &mut Emitter<'_>) {
        out.facts.ending = self.thread.ending();
    }

    pub(super) fn message(&mut self, raw: &str, out: &mut Emitter<'_>) {
        let place = voice::row(&format!("messages/{}", self.n_messages));
        self.n_messages += 1;
        out.report.lines += 1;
        let Some(message) = Fields::read(raw) else {
            out.report.bad_lines += 1;
            return;
        };
        let time = message.time("ts");
        let id = message.string("id");
        let spot = Spot { place: &place, key: &id, time, lane: Lane::Main };
        self.thread.begin();
        match message.word("role") {
            "user" => self.user(&spot, message.raw("content"), out),
            "assistant" => self.assistant(&spot, &message, out),
            "system" => {}
            other => voice::unknown(&spot, &format!("message {other}"), raw, out),
        }
    }

    fn user(&mut self, spot: &Spot<'_>, content: &str, out: &mut Emitter<'_>) {
        for block in blocks::blocks(content) {
            match block {
                Block::Text(text) => self.text(spot, &text, out),
                Block::Result { id, ended, content } => {
                    self.result(spot, &id, (ended, content), out);
                }
                other @ (Block::Thinking(_)
                | Block::Call { .. }
                | Block::Picture
                | Block::Sealed
                | Block::Other { .. }) => {
                    blocks::agent_block(&mut self.thread, spot, other, out);
                }
            }
        }
    }

    /// A text of a user message: words in tags, a result in words, or text of the extension.
    fn text(&mut self, spot: &Spot<'_>, text: &str, out: &mut Emitter<'_>) {
        if let Some(folder) = folder_in(text) {
            out.note_cwd(folder);
        }
        if let Some((tool, result)) = told_result(text) {
            self.thread.turn = Turn::Open;
            let (ended, calls) = (Ended::Well, &mut self.thread.calls);
            voice::plain_result(spot, calls, tool, (ended, result), out);
            return voice::words(spot, WordSource::Refusal, feedback_in(result), out);
        }
        match unwrap(text) {
            Some((before, words, after)) => {
                self.extension(spot, before, out);
                self.thread.user(spot, "", words, out);
                self.extension(spot, after, out);
            }
            None if text.starts_with("[ERROR]") => {
                voice::injected(spot, InjectedReason::Host, text, out);
            }
            None => self.thread.user(spot, "", text, out),
        }
    }

    /// Text of the extension beside the person's words.
    fn extension(&self, spot: &Spot<'_>, text: &str, out: &mut Emitter<'_>) {
        if !text.trim().is_empty() {
            voice::marked_user(spot, text.trim(), out);
        }
    }

    fn result(
        &mut self,
        spot: &Spot<'_>,
        id: &str,
        (ended, content): (Ended, &str),
        out: &mut Emitter<'_>,
    ) {
        let (failed, said) = queries(content);
        let ended = if failed { Ended::Badly } else { ended };
        match said {
            Some(said) => {
                self.thread.turn = Turn::Open;
                voice::plain_result(spot, &mut self.thread.calls, id, (ended, &said), out);
            }
            None => self.thread.result(spot, id, (ended, content), out),
        }
    }

    fn assistant(&mut self, spot: &Spot<'_>, message: &Fields<'_>, out: &mut Emitter<'_>) {
        let model = message.object("modelInfo");
        for key in ["id", "modelId"] {
            out.note_model(&model.string(key));
        }
        let metrics = message.object("metrics");
        let inner = metrics.object("tokens");
        let (counts, keys) = if inner.is_empty() {
            (&metrics, ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"])
        } else {
            (&inner, ["prompt", "completion", "cached", ""])
        };
        out.facts.tokens.add(Tokens {
            input: counts.count(keys[0]),
            output: counts.count(keys[1]),
            cached: counts.count(keys[2]),
            cache_write: counts.count(keys[3]),
            reasoning: 0,
        });
        blocks::agent(&mut self.thread, spot, message.raw("content"), out);
    }
}

/// What stands before, inside and after the tags around the person's words.
fn unwrap(text: &str) -> Option<(&str, &str, &str)> {
    let found = WORDS.iter().filter_map(|tag| {
        let start = text.find(&format!("<{tag}"))?;
        let open_end = start + text[start..].find('>')? + 1;
        let close = format!("</{tag}>");
        let end = text.rfind(&close).filter(|end| open_end <= *end)?;
        let is_tag = text[start + 1 + tag.len()..].starts_with(['>', ' ']);
        is_tag.then(|| (start, &text[open_end..end], &text[end + close.len()..]))
    });
    let (start, words, after) = found.min_by_key(|(start, _, _)| *start)?;
    Some((&text[..start], words, after))
}

/// The tool and the result in `[tool for 'argument'] Result:` and what follows.
fn told_result(text: &str) -> Option<(&str, &str)> {
    let line = text.split('\n').next()?;
    let inside = line.strip_prefix('[')?;
    let (head, _) = inside.split_once("] Result:")?;
    let tool = head.split_once(" for '").map_or(head, |(tool, _)| tool);
    let is_name = !tool.is_empty() && tool.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let result = text.split_once("] Result:").map_or("", |(_, result)| result).trim();
    is_name.then_some((tool, result))
}

/// What the person said to the result of a call.
fn feedback_in(result: &str) -> &str {
    let after = result.split_once("<feedback>").map_or("", |(_, after)| after);
    after.split_once("</feedback>").map_or("", |(words, _)| words)
}

/// The working folder that the extension's own text names.
fn folder_in(text: &str) -> Option<&str> {
    let (_, after) = text.split_once(FOLDER)?;
    let (folder, _) = after.split_once(") Files")?;
    (!folder.contains('\n') && folder.starts_with('/')).then_some(folder)
}

/// The results of a call that asked for several things, and whether one of them failed.
fn queries(content: &str) -> (bool, Option<String>) {
    let mut said = Vec::new();
    let mut failed = false;
    for item in items(content) {
        let item = Fields::of(item);
        let Some(result) = item.text("result").or_else(|| text_of(item.raw("error"))) else {
            return (false, None);
        };
        failed |= item.raw("success") == "false";
        said.push(result.decode().into_owned());
    }
    if said.is_empty() { (false, None) } else { (failed, Some(said.join("\n"))) }
}
