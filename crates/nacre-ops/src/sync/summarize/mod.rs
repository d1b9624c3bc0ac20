//! Summarizes a session without a model: the user's requests in order, and the agent's last message
//! as the outcome. All text is verbatim.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};

use nacre_base::text::shorten as shortened;
use nacre_traces::transcript::{
    EventKind, Lane, SessionFacts, TextOrigin, TranscriptEvent, WordSource,
};
use nacre_types::Strategy;

use crate::sync::candidate::{FORMAT_VERSION, SessionSummary};
use crate::sync::extract::requests::tags;
use crate::sync::steps::{Step, step_of};

/// Number of requests to keep from the start and from the end of the session.
const FIRST_ASKED: usize = 6;
const LAST_ASKED: usize = 4;
const MAX_FILES: usize = 20;
const MAX_COMMANDS: usize = 12;
const MAX_COUNTED: usize = 512;
const MAX_TITLE: usize = 80;
const MAX_INTENT: usize = 400;
const MAX_STEP: usize = 160;
const MAX_OUTCOME: usize = 500;
/// Minimum number of words in a request. Shorter messages are treated as answers.
const MIN_WORDS: usize = 3;

/// Fenced text is skipped, because it was probably pasted.
const FENCE: &str = "```";

#[derive(Debug, Default)]
pub struct Summarizer {
    intent: Option<String>,
    asked: Vec<String>,
    asked_last: VecDeque<String>,
    n_asked: usize,
    last_said: String,
    files: HashMap<String, u64>,
    open: HashMap<String, String>,
    commands: Vec<String>,
    n_failed: u64,
}

impl Summarizer {
    /// Processes an event. The text of `event` must not have been omitted while reading the trace.
    pub fn take(&mut self, event: &TranscriptEvent) {
        if event.lane != Lane::Main {
            return;
        }
        match (event.kind, event.origin) {
            (EventKind::User, TextOrigin::Person(source)) if source != WordSource::Shell => {
                self.person(event.text.head());
            }
            (EventKind::Assistant, TextOrigin::Agent) if !event.text.head().trim().is_empty() => {
                let text = if event.text.is_cut() { event.text.tail() } else { event.text.head() };
                self.last_said =
                    text[text.ceil_char_boundary(text.len().saturating_sub(4096))..].to_owned();
            }
            (EventKind::ToolCall, TextOrigin::Agent) => self.call(event),
            (EventKind::ToolResult, _) => self.result(event),
            _ => {}
        }
    }

    fn person(&mut self, text: &str) {
        let text = without_fences(text);
        let text = text.trim();
        if self.intent.is_none() && !text.is_empty() {
            self.intent = Some(shortened(&without_marks(text), MAX_INTENT));
            return;
        }
        if text.split_whitespace().count() < MIN_WORDS {
            return;
        }
        self.n_asked += 1;
        let asked = shortened(&without_marks(text), MAX_STEP);
        if self.asked.len() < FIRST_ASKED {
            self.asked.push(asked);
            return;
        }
        if self.asked_last.len() == LAST_ASKED {
            self.asked_last.pop_front();
        }
        self.asked_last.push_back(asked);
    }

    fn call(&mut self, event: &TranscriptEvent) {
        match step_of(event) {
            Step::Edit(paths) => {
                for path in paths {
                    if self.files.len() < MAX_COUNTED || self.files.contains_key(&path) {
                        *self.files.entry(path).or_default() += 1;
                    }
                }
            }
            Step::Command(command) => {
                if self.open.len() == MAX_COUNTED {
                    self.open.clear();
                }
                let id = event.call.as_ref().map(|call| call.id.clone()).unwrap_or_default();
                self.open.insert(id, command);
            }
            Step::Ask | Step::Other => {}
        }
    }

    fn result(&mut self, event: &TranscriptEvent) {
        let id = event.call.as_ref().map(|call| call.id.as_str()).unwrap_or_default();
        let Some(command) = self.open.remove(id) else { return };
        if event.is_error {
            self.n_failed += 1;
        } else if is_work(&command) && self.commands.len() < MAX_COMMANDS {
            let command = shortened(&command, MAX_STEP);
            if !self.commands.contains(&command) {
                self.commands.push(command);
            }
        }
    }

    pub fn finish(self, facts: &SessionFacts) -> SessionSummary {
        let mut outcome = shortened(&without_marks(&self.last_said), MAX_OUTCOME);
        if self.last_said.trim().is_empty() {
            outcome = "The agent gave no answer.".to_owned();
        }
        let said = self.intent.clone().unwrap_or_default();
        let told = facts.title.clone().filter(|title| !title.trim().is_empty());
        let title = told.unwrap_or_else(|| first_sentence(&said));
        let title =
            if title.is_empty() { format!("A session of {}", facts.agent.as_str()) } else { title };
        let intent = if said.is_empty() {
            "The user sent no messages in this session.".to_owned()
        } else {
            said
        };
        let first = first_sentence(&intent);
        let period = if first.ends_with(['?', '!', '…', '.']) { "" } else { "." };
        let description = format!("{first}{period} Ended with: {}", first_sentence(&outcome));
        let files = self.rank_files(facts.cwd.as_deref());
        let tags = tags(&format!("{title} {intent} {outcome}"));
        SessionSummary {
            version: FORMAT_VERSION,
            session: facts.id.clone(),
            agent: facts.agent,
            strategy: Strategy::Offline,
            title: shortened(&title, MAX_TITLE),
            description: shortened(&description, 240),
            intent,
            narrative: self.narrative(),
            outcome,
            files,
            commands: self.commands,
            started: facts.started,
            ended: facts.last_activity,
            tags,
            is_repeated: false,
        }
    }

    fn narrative(&self) -> Vec<String> {
        let mut lines: Vec<String> =
            self.asked.iter().map(|asked| format!("Asked: {asked}")).collect();
        let n_skipped = self.n_asked - self.asked.len() - self.asked_last.len();
        if n_skipped > 0 {
            lines.push(format!("… {n_skipped} more requests"));
        }
        lines.extend(self.asked_last.iter().map(|asked| format!("Asked: {asked}")));
        if self.n_failed > 0 {
            let commands = if self.n_failed == 1 { "command" } else { "commands" };
            lines.push(format!("{} {commands} failed on the way", self.n_failed));
        }
        lines
    }

    fn rank_files(&self, cwd: Option<&str>) -> Vec<String> {
        let mut files: Vec<(&String, &u64)> = self.files.iter().collect();
        files.sort_by(|(path, count), (other, other_count)| {
            other_count.cmp(count).then(path.cmp(other))
        });
        let below = |path: &str| match cwd.and_then(|cwd| path.strip_prefix(cwd)) {
            Some(rest) => rest.trim_start_matches('/').to_owned(),
            None => path.to_owned(),
        };
        files.into_iter().take(MAX_FILES).map(|(path, _)| below(path)).collect()
    }
}

/// Returns whether a command does work, rather than only inspecting files.
fn is_work(command: &str) -> bool {
    const LOOKS: &[&str] = &[
        "cat", "ls", "grep", "rg", "sed", "find", "cd", "echo", "head", "tail", "which", "awk",
        "wc", "pwd", "sleep", "nl", "stat", "tree", "file", "ps", "jq",
    ];
    let last = command.rsplit("&&").next().unwrap_or(command);
    let program = last.split_whitespace().next().unwrap_or_default();
    !LOOKS.contains(&program) && !command.contains('\n') && command.len() <= 300
}

fn without_marks(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("```"));
    let plain = lines
        .map(|line| line.trim().trim_start_matches(['#', '>', '*', '-', ' ']).replace("**", ""));
    plain.filter(|line| !line.is_empty()).collect::<Vec<String>>().join(" ")
}

fn without_fences(text: &str) -> String {
    let mut is_inside = false;
    let is_outside = |line: &&str| {
        let is_fence = line.trim_start().starts_with(FENCE);
        is_inside ^= is_fence;
        !is_inside && !is_fence
    };
    text.lines().filter(is_outside).collect::<Vec<_>>().join("\n")
}

fn first_sentence(text: &str) -> String {
    let end = text.find(". ").map_or(text.len(), |at| at + 1);
    shortened(text[..end].trim_end_matches('.'), MAX_STEP)
}
