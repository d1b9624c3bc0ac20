//! Questions about messages in sessions, read from a question file and a directory of traces.
//!
//! An answer is a quote and its session, and a hit is a message that contains the quote. All
//! sessions form one haystack, as when a user searches all sessions.

use std::collections::{HashMap, HashSet};

use nacre_memory::search::{Level, Record, Unit, Voice};
use serde::Deserialize;

use super::{DatasetError, Haystack, Question};

#[derive(Clone, Debug, Default)]
pub(crate) struct TracedSession {
    /// Path relative to the trace directory, with `/` as the separator.
    pub(crate) path: String,
    /// The session's name within a file that contains several sessions.
    pub(crate) name: String,
    pub(crate) messages: Vec<TracedMessage>,
}

/// An indexed message, together with the full text in which quotes are found.
#[derive(Clone, Debug, Default)]
pub(crate) struct TracedMessage {
    pub(crate) record: Record,
    pub(crate) text: String,
}

#[derive(Debug)]
pub(crate) struct MessageSet {
    pub(crate) haystack: Haystack,
    /// IDs of questions that no indexed message answers, each with a reason.
    pub(crate) left_out: Vec<(String, &'static str)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    id: String,
    question: String,
    answers: Vec<Quote>,
    changed: bool,
    #[serde(default)]
    older: Vec<Quote>,
    #[serde(default)]
    half: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Quote {
    session: String,
    quote: String,
    role: Role,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Role {
    User,
    Assistant,
    /// Transcripts store the user's answer to a dialog as a tool result.
    Tool,
}

pub(crate) fn read(text: &str, sessions: Vec<TracedSession>) -> Result<MessageSet, DatasetError> {
    let said = Said::new(&sessions);
    let (mut questions, mut left_out) = (Vec::new(), Vec::new());
    for (idx, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let line: Line = serde_json::from_str(line)
            .map_err(|error| DatasetError::new("messages", format!("line {}: {error}", idx + 1)))?;
        match said.question(&line) {
            Ok(question) => questions.push(question),
            Err(reason) => left_out.push((line.id, reason)),
        }
    }
    let units = sessions.into_iter().map(unit).collect();
    let haystack = Haystack {
        units,
        level: Level::Records,
        is_conversation: true,
        has_baseline: true,
        questions,
    };
    Ok(MessageSet { haystack, left_out })
}

fn unit(session: TracedSession) -> Unit {
    let records = session.messages.into_iter().map(|message| message.record).collect();
    Unit { key: format!("{}#{}", session.path, session.name), records, ..Unit::default() }
}

struct Said<'a> {
    sessions: HashMap<&'a str, Vec<&'a TracedMessage>>,
    /// Maps each text to the messages with exactly that text. A resumed session repeats the
    /// original session's messages.
    copies: HashMap<(u8, &'a str), Vec<&'a str>>,
}

impl<'a> Said<'a> {
    fn new(sessions: &'a [TracedSession]) -> Self {
        let mut said = Self { sessions: HashMap::new(), copies: HashMap::new() };
        for session in sessions {
            let messages = said.sessions.entry(session.path.as_str()).or_default();
            messages.extend(&session.messages);
            for TracedMessage { record, text } in &session.messages {
                let copies = said.copies.entry((record.voice.code(), text.trim())).or_default();
                copies.push(&record.key);
            }
        }
        said
    }

    fn question(&self, line: &Line) -> Result<Question, &'static str> {
        let is_read = |quote: &Quote| self.sessions.contains_key(quote.session.as_str());
        if !line.answers.iter().any(is_read) {
            return Err("no adapter can read its session");
        }
        let found = |quotes: &[Quote]| -> Vec<HashSet<String>> {
            let found = quotes.iter().map(|quote| self.holding(quote));
            found.filter(|keys| !keys.is_empty()).collect()
        };
        let truth = found(&line.answers);
        if truth.is_empty() {
            return Err("its answer occurs only in tool output, which is not indexed");
        }
        let older = found(&line.older);
        let is_answer = |key: &String| truth.iter().any(|keys| keys.contains(key));
        let outdated: HashSet<String> =
            older.into_iter().flatten().filter(|key| !is_answer(key)).collect();
        let half = if line.half.is_empty() { "all" } else { &line.half };
        let kind = if line.changed { "changed" } else { "lasting" };
        Ok(Question {
            id: line.id.clone(),
            text: line.question.clone(),
            category: format!("{half} {kind}"),
            asked: None,
            truth,
            outdated,
        })
    }

    /// Returns the keys of the messages that contain the quote, and of their copies.
    fn holding(&self, quote: &Quote) -> HashSet<String> {
        let messages = self.sessions.get(quote.session.as_str()).map_or(&[][..], Vec::as_slice);
        let is_speaker = |voice: Voice| match quote.role {
            Role::User | Role::Tool => voice == Voice::User,
            Role::Assistant => voice == Voice::Assistant,
        };
        let wanted = one_line(&quote.quote);
        let chosen = match quote.role {
            Role::Tool => parse_choice(&wanted),
            Role::User | Role::Assistant => None,
        };
        let is_held = |text: &str| {
            let text = one_line(text);
            text.contains(&wanted) || chosen.is_some_and(|chosen| text == chosen)
        };
        let held = messages
            .iter()
            .filter(|message| is_speaker(message.record.voice) && is_held(&message.text));
        let copies = held.filter_map(|message| {
            self.copies.get(&(message.record.voice.code(), message.text.trim()))
        });
        copies.flatten().map(|key| (*key).to_owned()).collect()
    }
}

/// Returns the choice from a quote of the form `"question"="choice"`.
fn parse_choice(quote: &str) -> Option<&str> {
    let (_, choice) = quote.split_once("?\"=\"")?;
    Some(choice.trim_end_matches('"'))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
