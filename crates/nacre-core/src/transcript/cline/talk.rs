//! The messages of a session.

use super::super::blocks::{self, Block};
use super::super::emit::Emitter;
use super::super::event::{InjectedReason, Lane, WordSource};
use super::super::facts::Tokens;
use super::super::thread::{Thread, Turn};
use super::super::view::{Fields, items, text_of};
use super::super::voice::{self, Ended, Spot};

/// Who wrote the messages: they mark the person's words differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writer {
    /// The program for terminals.
    Program,
    /// The extension for editors, which puts all words of the person into tags.
    Extension,
}

/// Tags around the person's words; the first one only in the first message.
const TASK: &str = "task";
const WORDS: [&str; 4] = ["user_input", "feedback", "user_message", "answer"];
/// Tags that may stand before them.
const BEFORE_WORDS: [&str; 2] = ["mode_notice", "explicit_instructions"];
/// Tools whose results begin with a sentence of the extension, so that no file can feign one.
const SPEAKING_TOOLS: [&str; 8] = [
    "write_to_file",
    "replace_in_file",
    "execute_command",
    "ask_followup_question",
    "plan_mode_respond",
    "plan_mode_response",
    "attempt_completion",
    "new_task",
];
/// The sentences that the extension writes before the person's words to a result.
const FEEDBACK: [&str; 4] = [
    "The user denied this operation",
    "The user provided the following feedback:",
    "The user has provided feedback on the results",
    "[TASK RESUMPTION]",
];
/// The block with the working folder and its files.
const ENVIRONMENT: &str = "<environment_details>";
/// The heading in it that names the working folder.
const FOLDER: &str = "# Current Working Directory (";

/// Reads the messages of one session.
pub(super) struct Talk {
    writer: Writer,
    thread: Thread,
    n_messages: u64,
}

impl Talk {
    pub(super) fn new(writer: Writer) -> Self {
        Self { writer, thread: Thread::new(None), n_messages: 0 }
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
        let blocks = blocks::blocks(content);
        // The extension adds its block last, and nothing that a tool read stands in the first message.
        if self.n_messages == 1
            && let Some(Block::Text(text)) = blocks.last()
            && let Some(folder) = folder_in(text)
        {
            out.note_cwd(folder);
        }
        let mut awaited = None;
        for block in blocks {
            match block {
                Block::Text(text) => awaited = self.text(spot, awaited.take(), &text, out),
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
        if let Some(tool) = awaited {
            self.told(spot, &tool, "", out);
        }
    }

    /// A text of a user message: a result in words, words in tags, or text of the extension. Returns the tool whose result the
    /// next text is, whatever it says.
    fn text(
        &mut self,
        spot: &Spot<'_>,
        awaited: Option<String>,
        text: &str,
        out: &mut Emitter<'_>,
    ) -> Option<String> {
        if let Some(tool) = awaited {
            self.told(spot, &tool, text.trim(), out);
            return None;
        }
        if let Some((tool, result)) = told_result(text) {
            if result.is_empty() {
                return Some(tool.to_owned());
            }
            self.told(spot, tool, result, out);
            return None;
        }
        match words_in(text, self.n_messages == 1) {
            Some((before, words, after)) => {
                self.extension(spot, before, out);
                self.thread.user(spot, "", words, out);
                self.extension(spot, after, out);
            }
            None if text.starts_with("[ERROR]") => {
                voice::injected(spot, InjectedReason::Host, text, out);
            }
            None if self.writer == Writer::Program => self.thread.user(spot, "", text, out),
            None => self.extension(spot, text, out),
        }
        None
    }

    /// The result of a tool, as text.
    fn told(&mut self, spot: &Spot<'_>, tool: &str, result: &str, out: &mut Emitter<'_>) {
        self.thread.turn = Turn::Open;
        voice::plain_result(spot, &mut self.thread.calls, tool, (Ended::Well, result), out);
        if !SPEAKING_TOOLS.contains(&tool) {
            return;
        }
        if let Some((before, words, _)) = words_in(result, false) {
            let is_answer = before.trim().is_empty();
            let source = if is_answer { WordSource::Answer } else { WordSource::Refusal };
            voice::words(spot, source, words, out);
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

/// What stands before, inside and after the tags around the person's words. The tag opens the text, or follows what the writer
/// puts before it; the words end with the first end tag, since files that they mention follow.
fn words_in(text: &str, is_first: bool) -> Option<(&str, &str, &str)> {
    let start = words_start(text);
    let inside = text[start..].strip_prefix('<')?;
    let tags = WORDS.iter().copied().chain(is_first.then_some(TASK));
    let mut tags = tags.filter_map(|tag| Some((tag, inside.strip_prefix(tag)?)));
    let (tag, after_name) = tags.find(|(_, after)| after.starts_with(['>', ' ']))?;
    let (_, content) = after_name.split_once('>')?;
    let (words, after) = content.split_once(&format!("</{tag}>"))?;
    Some((&text[..start], words, after))
}

/// Where the tag around the person's words may stand.
fn words_start(text: &str) -> usize {
    let mut start = text.len() - text.trim_start().len();
    for tag in BEFORE_WORDS {
        if text[start..].starts_with(&format!("<{tag}")) {
            // Instructions are a file, which may hold the end tag as well.
            let close = format!("</{tag}>");
            let end = text.rfind(&close).map_or(text.len(), |at| at + close.len());
            start = text.len() - text[end..].trim_start().len();
        }
    }
    if let Some(sentence) = FEEDBACK.iter().find(|one| text[start..].starts_with(**one)) {
        let from = start + sentence.len();
        let line = text[from..].find("\n<").map(|at| from + at + 1);
        start = line.unwrap_or(start);
    }
    start
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

/// The working folder that the extension's own block names. Names of files follow the heading; where one of them feigns it, the
/// folder is not known.
fn folder_in(text: &str) -> Option<&str> {
    let text = text.trim_start().strip_prefix(ENVIRONMENT)?;
    let mut named = text.lines().filter_map(|line| line.trim_start().strip_prefix(FOLDER));
    let (folder, _) = named.next()?.rsplit_once(") Files")?;
    (named.next().is_none() && folder.starts_with('/')).then_some(folder)
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
