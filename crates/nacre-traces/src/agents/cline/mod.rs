//! Reads sessions from Cline's CLI and tasks from its editor extension. Both are JSON documents in
//! Anthropic API format and are rewritten at every step. The extension wraps the user's words in
//! tags and adds its own text around them. Older versions write tool results as text.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use super::{AgentSpec, Mark};
use crate::transcript::toolkit::*;

pub(crate) struct Cline;

const MESSAGES: &str = ".messages.json";
const DESCRIPTION: &str = ".json";
const TASK: &str = "api_conversation_history.json";
const EXTENSION: &str = "User/globalStorage/saoudrizwan.claude-dev/tasks";
const EDITORS: [&str; 5] = ["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"];

pub(super) static SPEC: AgentSpec = AgentSpec {
    adapter: Some(&Cline),
    trace_names: &["s/s.messages.json", "t/api_conversation_history.json"],
    marks: &[(3, Mark::NameEnd(MESSAGES)), (3, Mark::NameEnd(TASK))],
    variables: &["CLINE_DIR", "CLINE_DATA_DIR", "CLINE_SESSION_DATA_DIR"],
    ..AgentSpec::new("cline", "cline")
};

impl Adapter for Cline {
    fn agent(&self) -> Agent {
        Agent::Cline
    }

    fn version(&self) -> u32 {
        2
    }

    fn roots(&self, homes: &Homes) -> Vec<PathBuf> {
        let own = homes.var_or("CLINE_DIR", ".cline");
        let data = homes.var("CLINE_DATA_DIR").unwrap_or_else(|| own.join("data"));
        let sessions = homes.var("CLINE_SESSION_DATA_DIR").unwrap_or_else(|| data.join("sessions"));
        let mut roots = vec![sessions, data.join("tasks")];
        for config in [homes.config(), homes.home.join("Library/Application Support")] {
            roots.extend(EDITORS.iter().map(|editor| config.join(editor).join(EXTENSION)));
        }
        roots
    }

    fn is_trace(&self, name: &str) -> bool {
        name.ends_with(MESSAGES) || name == TASK
    }

    fn is_searched(&self, directory: &str) -> bool {
        directory != "checkpoints" && directory != ".git"
    }

    fn read(&self, trace: &Trace, _from: Option<&Watermark>, sink: Sink) -> Result<ReadOutcome> {
        let path = &trace.source.path;
        let facts = SessionFacts::new(Agent::Cline, &id_of(path));
        whole::read_document(path, facts, sink, |text, out| {
            let mut talk = SessionParser {
                is_extension: file_name(path) == TASK,
                thread: Thread::new(),
                n_messages: 0,
            };
            describe(path, out);
            let parsed = whole::parts(text, &["messages"], |part| match part {
                DocumentPart::Field(key, raw) => note_member(key, raw, out),
                DocumentPart::Item(raw) => talk.message(raw, out),
            });
            out.facts.ending = talk.thread.ending();
            parsed
        })
    }
}

/// The session ID is the file's name or, for a task, the directory's name.
fn id_of(path: &Path) -> String {
    let name = file_name(path);
    match name.strip_suffix(MESSAGES) {
        Some(id) => short_name(id),
        None => short_name(&path.parent().map(file_name).unwrap_or_default()),
    }
}

fn note_member(key: &str, raw: &str, out: &mut Emitter) {
    match key {
        "sessionId" => {
            let id = text_of(raw).map(|id| short_name(&id));
            out.facts.id = id.filter(|id| !id.is_empty()).unwrap_or_else(|| out.facts.id.clone());
        }
        "origin" => out.note_version(&Fields::of(raw).string("version")),
        _ => {}
    }
}

fn describe(path: &Path, out: &mut Emitter) {
    let name = file_name(path);
    let Some(stem) = name.strip_suffix(MESSAGES) else { return };
    let beside = path.with_file_name(format!("{stem}{DESCRIPTION}"));
    let Some(text) = whole::sidecar(&beside) else { return };
    let description = Fields::of(&text);
    out.note_cwd(&description.string("cwd"));
    out.note_model(&description.string("model"));
    out.note_title(&description.object("metadata").string("title"));
    for key in ["started_at", "ended_at"] {
        out.note_time(description.time(key));
    }
}

/// Tag around the user's words, used only in the first message.
const TASK_TAG: &str = "task";
const WORDS: [&str; 4] = ["user_input", "feedback", "user_message", "answer"];
const BEFORE_WORDS: [&str; 2] = ["mode_notice", "explicit_instructions"];
/// The results of these tools start with a sentence written by the extension. File content comes
/// after that sentence, so it cannot be mistaken for user feedback.
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
/// If a tool result contains user feedback, one of these sentences precedes it.
const FEEDBACK: [&str; 4] = [
    "The user denied this operation",
    "The user provided the following feedback:",
    "The user has provided feedback on the results",
    "[TASK RESUMPTION]",
];
const ENVIRONMENT: &str = "<environment_details>";
const FOLDER: &str = "# Current Working Directory (";

struct SessionParser {
    /// Whether the editor extension wrote the task. It puts tags around everything that the user
    /// wrote.
    is_extension: bool,
    thread: Thread,
    n_messages: u64,
}

impl SessionParser {
    fn message(&mut self, raw: &str, out: &mut Emitter) {
        let place = voice::row(&format!("messages/{}", self.n_messages));
        self.n_messages += 1;
        let Some(message) = out.open_record(raw) else { return };
        let time = message.time("ts");
        let id = message.string("id");
        let spot = Spot { place: &place, key: &id, time, lane: Lane::Main };
        self.thread.begin();
        match message.word("role") {
            "user" => self.user(&spot, message.raw("content"), out),
            "assistant" => self.assistant(&spot, &message, out),
            "system" => {}
            other => voice::emit_unknown(&spot, &format!("message {other}"), raw, out),
        }
    }

    fn user(&mut self, spot: &Spot, content: &str, out: &mut Emitter) {
        let blocks = blocks::blocks(content);
        // The environment block is always last, and the first message contains no tool output.
        if self.n_messages == 1
            && let Some(MessageBlock::Text(text)) = blocks.last()
            && let Some(folder) = folder_in(text)
        {
            out.note_cwd(folder);
        }
        let mut awaited = None;
        for block in blocks {
            if let MessageBlock::Text(text) = &block {
                awaited = self.text(spot, awaited.take(), text, out);
            } else if let MessageBlock::Result { id, has_failed, content } = &block {
                self.result(spot, id, *has_failed, content, out);
            } else {
                blocks::agent_block(&mut self.thread, spot, block, out);
            }
        }
        if let Some(tool) = awaited {
            self.told(spot, &tool, "", out);
        }
    }

    /// Handles one block of text in a user message: a tool result, tagged words, or text added by
    /// the extension. If the block is only a tool result's header, returns the tool, because its
    /// result is then in the next block.
    fn text(
        &mut self,
        spot: &Spot,
        awaited: Option<String>,
        text: &str,
        out: &mut Emitter,
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
                voice::emit_marked_user(spot, before.trim(), out);
                self.thread.user(spot, "", words, out);
                voice::emit_marked_user(spot, after.trim(), out);
            }
            None if text.starts_with("[ERROR]") => {
                voice::emit_injected(spot, InjectedReason::Host, text, out);
            }
            None if self.is_extension => voice::emit_marked_user(spot, text.trim(), out),
            None => self.thread.user(spot, "", text, out),
        }
        None
    }

    fn told(&mut self, spot: &Spot, tool: &str, result: &str, out: &mut Emitter) {
        self.thread.turn = TurnState::Open;
        voice::plain_result(spot, &mut self.thread.calls, tool, false, result, out);
        if !SPEAKING_TOOLS.contains(&tool) {
            return;
        }
        if let Some((before, words, _)) = words_in(result, false) {
            let is_answer = before.trim().is_empty();
            let source = if is_answer { WordSource::Answer } else { WordSource::Refusal };
            voice::words(spot, source, words, out);
        }
    }

    fn result(
        &mut self,
        spot: &Spot,
        id: &str,
        has_failed: bool,
        content: &str,
        out: &mut Emitter,
    ) {
        let (failed, said) = queries(content);
        let has_failed = failed || has_failed;
        match said {
            Some(said) => {
                self.thread.turn = TurnState::Open;
                voice::plain_result(spot, &mut self.thread.calls, id, has_failed, &said, out);
            }
            None => self.thread.result(spot, id, has_failed, content, out),
        }
    }

    fn assistant(&mut self, spot: &Spot, message: &Fields, out: &mut Emitter) {
        let model = message.object("modelInfo");
        for key in ["id", "modelId"] {
            out.note_model(&model.string(key));
        }
        let metrics = message.object("metrics");
        let inner = metrics.object("tokens");
        let (counts, keys) = if inner.is_empty() {
            (&metrics, ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", ""])
        } else {
            (&inner, ["prompt", "completion", "cached", "", ""])
        };
        out.facts.tokens.add(counts.tokens(keys));
        blocks::agent(&mut self.thread, spot, message.raw("content"), out);
    }
}

/// Splits a text into the parts before, between and after the tags around the user's words. The
/// opening tag must be at the start or after a known prefix. The user's words end at the first
/// closing tag, because the content of mentioned files follows it.
fn words_in(text: &str, is_first: bool) -> Option<(&str, &str, &str)> {
    let start = words_start(text);
    let inside = text[start..].strip_prefix('<')?;
    let tags = WORDS.iter().copied().chain(is_first.then_some(TASK_TAG));
    let mut tags = tags.filter_map(|tag| Some((tag, inside.strip_prefix(tag)?)));
    let (tag, after_name) = tags.find(|(_, after)| after.starts_with(['>', ' ']))?;
    let (_, content) = after_name.split_once('>')?;
    let (words, after) = content.split_once(&format!("</{tag}>"))?;
    Some((&text[..start], words, after))
}

fn words_start(text: &str) -> usize {
    let mut start = text.len() - text.trim_start().len();
    for tag in BEFORE_WORDS {
        if text[start..].starts_with(&format!("<{tag}")) {
            // Instructions come from files, which can contain the closing tag.
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

/// Parses a tool and its result from text of the form `[tool for 'argument'] Result:`, followed by
/// the result.
fn told_result(text: &str) -> Option<(&str, &str)> {
    let line = text.split('\n').next()?;
    let inside = line.strip_prefix('[')?;
    let (head, _) = inside.split_once("] Result:")?;
    let tool = head.split_once(" for '").map_or(head, |(tool, _)| tool);
    let is_name = !tool.is_empty() && tool.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let result = text.split_once("] Result:").map_or("", |(_, result)| result).trim();
    is_name.then_some((tool, result))
}

/// Returns the working directory from the extension's environment block. File names follow the
/// heading; if one of them imitates the heading, the directory is unknown.
fn folder_in(text: &str) -> Option<&str> {
    let text = text.trim_start().strip_prefix(ENVIRONMENT)?;
    let mut named = text.lines().filter_map(|line| line.trim_start().strip_prefix(FOLDER));
    let (folder, _) = named.next()?.rsplit_once(") Files")?;
    (named.next().is_none() && folder.starts_with('/')).then_some(folder)
}

fn queries(content: &str) -> (bool, Option<String>) {
    let mut said = Vec::new();
    let mut failed = false;
    for item in items(content) {
        let item = Fields::of(item);
        let Some(result) = item.text("result").or_else(|| text_of(item.raw("error"))) else {
            return (false, None);
        };
        failed |= item.raw("success") == "false";
        said.push(result.into_owned());
    }
    if said.is_empty() { (false, None) } else { (failed, Some(said.join("\n"))) }
}
