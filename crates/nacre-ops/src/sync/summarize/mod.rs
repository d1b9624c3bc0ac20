//! Summarizes a session without a model: the user's messages in order, and the message with which
//! it ended. Sentences are copied unchanged; only whole sentences are left out.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::LazyLock;

use nacre_base::text::shorten;
use nacre_traces::transcript::{
    EventKind, Lane, SessionFacts, TextOrigin, TranscriptEvent, WordSource,
};
use nacre_types::Strategy;
use regex::Regex;

use crate::sync::candidate::{FORMAT_VERSION, SessionSummary};
use crate::sync::extract::requests::tags;
use crate::sync::extract::{Sentence, is_build_step, pattern, split_message};
use crate::sync::steps::{Step, step_of};

/// Number of requests to keep from the start and from the end of the session.
const FIRST_ASKED: usize = 6;
const LAST_ASKED: usize = 4;
const MAX_FILES: usize = 20;
const MAX_COMMANDS: usize = 12;
const MAX_TITLE: usize = 80;
const MAX_INTENT: usize = 600;
const MAX_STEP: usize = 300;
const MAX_OUTCOME: usize = 700;
/// Maximum length of a sentence. Longer ones are rarely sentences.
const MAX_SENTENCE: usize = 600;
/// Maximum length of a sentence in the description, which is a single line.
const MAX_CLAUSE: usize = 200;
/// How many bytes are kept of the last message.
const MAX_SAID: usize = 8192;
/// Minimum number of words in a request. Shorter messages are treated as answers.
const MIN_WORDS: usize = 3;

/// Precedes the user's message if the session ends with it.
const LAST_WORDS: &str = "The user spoke last: ";

/// Precedes the agent's last message if the session ends in the middle of its work.
const LAST_WORK: &str = "The session ends before a closing message. The agent's last words: ";

#[derive(Debug, Default)]
pub struct Summarizer {
    intent: Option<String>,
    asked: Vec<String>,
    last_said: String,
    /// The user's last message, until the agent writes another one.
    unanswered: Option<String>,
    /// Whether the agent called a tool after its last message.
    is_working: bool,
    files: HashMap<String, u64>,
    open: HashMap<String, Step>,
    commands: Vec<String>,
}

impl Summarizer {
    /// Processes an event. The text of `event` must not have been omitted while reading the trace.
    pub fn take(&mut self, event: &TranscriptEvent) {
        if event.lane != Lane::Main {
            return;
        }
        let text = event.text.head();
        match (event.kind, event.origin) {
            (EventKind::User, TextOrigin::Person(source)) if source != WordSource::Shell => {
                self.person(text.trim());
            }
            // An error of the model's provider is not an answer.
            (EventKind::Assistant, TextOrigin::Agent)
                if !text.trim().is_empty() && !event.is_error =>
            {
                (self.unanswered, self.is_working) = (None, false);
                self.last_said = beginning(text);
            }
            (EventKind::ToolCall, TextOrigin::Agent) => self.call(event),
            (EventKind::ToolResult, _) => self.result(event),
            _ => {}
        }
    }

    fn person(&mut self, text: &str) {
        let said = excerpt(text, MAX_INTENT);
        if said.is_empty() {
            return;
        }
        self.unanswered = Some(beginning(text));
        let is_short = |text: &str| text.split_whitespace().count() < MIN_WORDS;
        if self.intent.as_deref().is_none_or(is_short) {
            self.intent = Some(said);
            return;
        }
        if !is_short(text) {
            self.asked.push(one_line(text, MAX_STEP));
        }
    }

    fn call(&mut self, event: &TranscriptEvent) {
        self.is_working = true;
        let id = event.call.as_ref().map(|call| call.id.clone()).unwrap_or_default();
        self.open.insert(id, step_of(event));
    }

    fn result(&mut self, event: &TranscriptEvent) {
        let id = event.call.as_ref().map(|call| call.id.as_str()).unwrap_or_default();
        match self.open.remove(id).filter(|_| has_succeeded(event)) {
            Some(Step::Edit(paths)) => {
                for path in paths {
                    *self.files.entry(path).or_default() += 1;
                }
            }
            Some(Step::Command(command))
                if shows_its_exit_code(&command)
                    && self.commands.len() < MAX_COMMANDS
                    && !self.commands.contains(&command) =>
            {
                self.commands.push(command);
            }
            _ => {}
        }
    }

    pub fn finish(self, facts: &SessionFacts) -> SessionSummary {
        let (outcome, ending) = self.ending();
        let said = self.intent.clone().unwrap_or_default();
        let title = facts.title.clone().unwrap_or_else(|| main_sentence(&said));
        let title =
            if title.is_empty() { format!("A session of {}", facts.agent.as_str()) } else { title };
        let intent = if said.is_empty() {
            "The user sent no messages in this session.".to_owned()
        } else {
            said
        };
        let first = main_sentence(&intent);
        let period = if first.ends_with(['?', '!', '…', '.', ':']) { "" } else { "." };
        let ending = ending.map(|ending| format!(" Ended with: {ending}")).unwrap_or_default();
        let description = format!("{first}{period}{ending}");
        let files = self.rank_files(facts.cwd.as_deref());
        let tags = tags(&format!("{title} {intent} {outcome}"));
        SessionSummary {
            version: FORMAT_VERSION,
            session: facts.id.clone(),
            agent: facts.agent,
            strategy: Strategy::Offline,
            title: shorten(&title, MAX_TITLE),
            description,
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

    /// Returns how the session ended, and the same as one sentence if there is one. What the user
    /// said last counts more than what the agent said before it.
    fn ending(&self) -> (String, Option<String>) {
        let said = excerpt(&self.last_said, MAX_OUTCOME);
        match &self.unanswered {
            Some(asked) => (
                format!("{LAST_WORDS}{}", one_line(asked, MAX_OUTCOME)),
                Some(format!("the user's words: {}", main_sentence(asked))),
            ),
            None if said.is_empty() => {
                ("The trace has no closing words of the agent.".to_owned(), None)
            }
            None if self.is_working => (format!("{LAST_WORK}{said}"), None),
            None => (said, Some(main_sentence(&self.last_said))),
        }
    }

    fn narrative(&self) -> Vec<String> {
        let user = |asked: &String| format!("User: {asked}");
        let mut lines: Vec<String> = self.asked.iter().map(user).collect();
        let n_skipped = lines.len().saturating_sub(FIRST_ASKED + LAST_ASKED);
        if n_skipped > 0 {
            let note = format!("… {n_skipped} more messages");
            lines.splice(FIRST_ASKED..FIRST_ASKED + n_skipped, [note]);
        }
        if let Some(said) = &self.unanswered
            && !self.last_said.is_empty()
        {
            // The outcome has the user's last message.
            lines.pop_if(|last| *last == user(&one_line(said, MAX_STEP)));
            lines.push(format!("Agent: {}", one_line(&self.last_said, MAX_STEP)));
        }
        lines
    }

    fn rank_files(&self, cwd: Option<&str>) -> Vec<String> {
        let is_scratch =
            |path: &str| path.starts_with("/tmp/") || path.starts_with("/private/tmp/");
        let is_inside = |path: &str| cwd.is_some_and(|cwd| path.starts_with(cwd));
        let files = self.files.iter().filter(|(path, _)| is_inside(path) || !is_scratch(path));
        let mut files: Vec<(&String, &u64)> = files.collect();
        files.sort_by(|(path, count), (other, other_count)| {
            other_count.cmp(count).then(path.cmp(other))
        });
        let below = |path: &str| {
            let rest = cwd.and_then(|cwd| path.strip_prefix(cwd.trim_end_matches(['/', '\\'])));
            let rest = rest.and_then(|rest| rest.strip_prefix(['/', '\\']));
            rest.unwrap_or(path).to_owned()
        };
        files.into_iter().take(MAX_FILES).map(|(path, _)| below(path)).collect()
    }
}

fn beginning(text: &str) -> String {
    text[..text.floor_char_boundary(MAX_SAID)].trim().to_owned()
}

/// Returns whether a command's exit code is that of all its parts. A pipe or a `;` hides the code
/// of what precedes it, and a background job has none yet.
fn shows_its_exit_code(command: &str) -> bool {
    let rest = command.replace("&&", "").replace("2>&1", "").replace("&>", "");
    is_build_step(command) && !rest.contains(['|', ';', '&', '\n'])
}

/// Returns whether a call succeeded. Some agents report failures only in the text.
fn has_succeeded(event: &TranscriptEvent) -> bool {
    static CODE: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r#"\bexit(?:ed)?(?: with)?[ _]?(?:code|status)?"?[:= ]{1,2}(-?\d+)\b"#)
    });
    const UNFINISHED: [&str; 4] =
        ["running with session id", "running in background", "still running", "rejected by user"];
    let is_bad = |text: &str| {
        let lower = text.to_lowercase();
        CODE.captures_iter(&lower).any(|code| &code[1] != "0")
            || UNFINISHED.iter().any(|sign| lower.contains(sign))
    };
    !event.is_error && !is_bad(event.text.head()) && !is_bad(event.text.tail())
}

/// Returns the first sentences of a message, without pasted text: as many as fit, but at least one.
/// If the last one does not fit, it follows an ellipsis, because messages often end with what
/// matters most.
pub(crate) fn excerpt(message: &str, max: usize) -> String {
    let sentences = split_message(message).sentences;
    let (mut text, mut from) = (String::new(), 0);
    for Sentence { text: sentence, .. } in &sentences {
        let at = from + message[from..].find(*sentence).unwrap_or(0);
        if !text.is_empty() && max < text.len() + sentence.len() {
            let last = sentences.last().filter(|last| last.text.len() <= max / 2);
            text.push_str(&last.map_or(" …".to_owned(), |last| format!(" … {}", last.text)));
            break;
        }
        let gap = &message[from..at];
        if !text.is_empty() {
            text.push_str(if gap.trim().is_empty() { "" } else { " …" });
            text.push(if gap.contains('\n') { '\n' } else { ' ' });
        }
        match sentence.len() {
            ..=MAX_SENTENCE => text.push_str(sentence),
            _ => text.push_str(&shorten(sentence, MAX_SENTENCE)),
        }
        from = at + sentence.len();
    }
    if text.is_empty() {
        // Fenced text was probably pasted.
        let outside: Vec<&str> = message.split("```").step_by(2).collect();
        text = shorten(outside.join(" ").trim_start_matches(['#', ' ', '\n']), max);
    }
    text
}

pub(crate) fn one_line(message: &str, max: usize) -> String {
    excerpt(message, max).replace('\n', " ")
}

/// Returns the first sentence that says something by itself, without the signs around it.
fn main_sentence(text: &str) -> String {
    let message = split_message(text);
    let says = |text: &&str| MIN_WORDS <= text.split_whitespace().count();
    let first = message.sentences.iter().map(|sentence| sentence.text).find(says).unwrap_or(text);
    let first = first.trim_start_matches(['#', '>', '-', ' ']).trim_end_matches(['.', ':']);
    shorten(first, MAX_CLAUSE)
}
