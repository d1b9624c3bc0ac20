//! A session as a model reads it: one numbered line an event, with who speaks, and cut into windows between events.
//!
//! What programs put into a session is left out, and tool output is shortened: a model that sees little else proposes
//! little else. A text of several lines is indented, so that nothing inside it can look like a line of its own.

use std::collections::{BTreeSet, VecDeque};
use std::fmt::Write as _;

use jiff::Timestamp;
use nacre_core::memory::Speaker;
use nacre_core::transcript::{Event, EventKind, Lane, Origin, SessionFacts, WordSource};

use super::quotes::words_in;
use crate::flows::steps::command_of;

/// The most of a session that is held; what comes after it is counted.
const MAX_BYTES: usize = 16 << 20;
/// How many lines that were read before are shown again, so that an answer has its question.
const CONTEXT_LINES: usize = 4;
/// The most that a window repeats of the one before it.
const OVERLAP_BYTES: usize = 1500;
/// Bytes that make a token, about; fewer than they are on average, so that a window fits.
pub(super) const BYTES_A_TOKEN: usize = 3;

/// How much is shown of both ends of a text.
type Shown = (usize, usize);

const PERSON: Shown = (6000, 2000);
const AGENT: Shown = (2400, 800);
const CALL: Shown = (400, 0);
/// A plan or a question is what the person then answers to.
const OFFER: Shown = (2400, 0);
const RESULT: Shown = (300, 300);
const FAILED: Shown = (800, 500);

/// Lines of an output that tell of a failure although it ended well; so many of them are shown.
const MAX_SIGNS: usize = 3;
const MAX_SIGN_BYTES: usize = 240;

/// One event as it is shown.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) sequence: u64,
    pub(super) speaker: Speaker,
    pub(super) at: Option<Timestamp>,
    label: String,
    head: String,
    /// Lines between head and tail that tell of a failure.
    signs: String,
    tail: String,
    is_failure: bool,
}

impl Line {
    fn of(event: &Event) -> Option<Self> {
        let tool = event.call.as_ref().and_then(|call| call.tool.as_deref()).unwrap_or("a tool");
        let (speaker, label, shown) = match (event.kind, event.origin) {
            _ if event.lane != Lane::Main => return None,
            (EventKind::User, Origin::Person(source)) => {
                (Speaker::User, person_label(source)?.to_owned(), PERSON)
            }
            (EventKind::Assistant, Origin::Agent) => {
                (Speaker::Assistant, "agent".to_owned(), AGENT)
            }
            (EventKind::ToolCall, Origin::Agent) => {
                let tool: String = tool.chars().filter(|c| !c.is_control()).take(40).collect();
                let shown = if is_offer(&tool) { OFFER } else { CALL };
                (Speaker::Assistant, format!("agent calls {tool}"), shown)
            }
            (EventKind::ToolResult, Origin::Tool) if event.is_error => {
                (Speaker::Tool, "tool fails".to_owned(), FAILED)
            }
            (EventKind::ToolResult, Origin::Tool) => (Speaker::Tool, "tool".to_owned(), RESULT),
            _ => return None,
        };
        let text = match event.kind {
            EventKind::ToolCall => called(event),
            EventKind::ToolResult => without_boilerplate(event.text.head()),
            EventKind::User
            | EventKind::Assistant
            | EventKind::Reasoning
            | EventKind::Summary
            | EventKind::Compaction
            | EventKind::Meta => event.text.head(),
        };
        let (head, tail) = ends(text, event.text.tail(), shown);
        let is_result = event.kind == EventKind::ToolResult;
        let signs = if is_result { signs(text, head, tail) } else { String::new() };
        let line = Self {
            sequence: event.sequence,
            speaker,
            at: event.timestamp,
            is_failure: speaker == Speaker::Tool
                && (event.is_error || has_sign(head) || !signs.is_empty()),
            label,
            head: head.to_owned(),
            signs,
            tail: tail.to_owned(),
        };
        (!line.head.trim().is_empty()).then_some(line)
    }

    /// Whether it is output that tells of a failure.
    pub(super) fn is_failure(&self) -> bool {
        self.is_failure
    }

    /// Who speaks, in words.
    #[cfg(feature = "rlm")]
    pub(super) fn label(&self) -> &str {
        &self.label
    }

    /// All that is shown of the event.
    #[cfg(feature = "rlm")]
    pub(super) fn whole(&self) -> String {
        let parts = [&self.head, &self.signs, &self.tail];
        let parts: Vec<&str> =
            parts.into_iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        parts.join(" […] ")
    }

    /// Whether the person speaks.
    fn is_persons(&self) -> bool {
        self.speaker == Speaker::User
    }

    /// The words of the event that a quote is made of, if it holds them; blanks between words do not matter to the
    /// quote, and are those of the event in what is returned.
    pub(super) fn words_of(&self, quote: &str) -> Option<&str> {
        [&self.head, &self.signs, &self.tail].into_iter().find_map(|text| words_in(text, quote))
    }

    /// As a model sees it, with at most `max` bytes.
    fn write(&self, out: &mut String, max: usize) {
        let start = out.len();
        let _ = write!(out, "[{}] {}: ", self.sequence, self.label);
        indented(out, &self.head);
        for part in [&self.signs, &self.tail].into_iter().filter(|part| !part.is_empty()) {
            out.push_str(" […] ");
            indented(out, part);
        }
        let end = out.floor_char_boundary(start.saturating_add(max.saturating_sub(1)));
        out.truncate(end);
        out.push('\n');
    }

    fn bytes(&self) -> usize {
        let parts = [&self.head, &self.signs, &self.tail];
        let n_lines: usize = parts.iter().map(|part| part.lines().count()).sum();
        parts.iter().map(|part| part.len()).sum::<usize>() + self.label.len() + 4 * n_lines + 40
    }
}

/// What is said about the person's words; what they typed into a shell is not said to anybody.
fn person_label(source: WordSource) -> Option<&'static str> {
    match source {
        WordSource::Shell => None,
        WordSource::Answer => Some("person answers"),
        WordSource::Refusal => Some("person refuses"),
        WordSource::Prompt
        | WordSource::Queued
        | WordSource::CommandArgs
        | WordSource::TemplateInput
        | WordSource::Unverified => Some("person"),
    }
}

/// Whether a tool puts something to the person: a plan, a question.
fn is_offer(tool: &str) -> bool {
    let tool = tool.to_ascii_lowercase();
    ["plan", "question", "ask", "user_input"].iter().any(|name| tool.contains(name))
}

/// What a call does: the command of a shell, all arguments of others.
fn called(event: &Event) -> &str {
    command_of(event.text.head()).unwrap_or(event.text.head())
}

/// Output without the lines that say how it was run.
fn without_boilerplate(text: &str) -> &str {
    const BOILERPLATE: &[&str] = &[
        "Chunk ID:",
        "Wall time:",
        "Process exited with code 0",
        "Original token count:",
        "Exit code: 0",
        "Output:",
    ];
    let mut rest = text;
    while let Some((line, after)) = rest.split_once('\n') {
        if !BOILERPLATE.iter().any(|start| line.trim_start().starts_with(start)) {
            break;
        }
        rest = after;
    }
    if rest.trim().is_empty() { text } else { rest }
}

/// Whether a text has a line that tells of a failure.
fn has_sign(text: &str) -> bool {
    text.lines().any(is_sign)
}

fn is_sign(line: &str) -> bool {
    const SIGNS: &[&str] = &[
        "error:",
        "error[",
        "fatal:",
        "failed",
        "FAIL",
        "panicked at",
        "Traceback",
        "Exception",
        "not found",
        "permission denied",
        "Permission denied",
        "not permitted",
        "denied",
        "cannot ",
        "timed out",
        "ERROR",
        "Error:",
    ];
    line.len() < 2000 && SIGNS.iter().any(|sign| line.contains(sign))
}

/// The first lines between the two ends that tell of a failure.
fn signs(text: &str, head: &str, tail: &str) -> String {
    let hidden = text.get(head.len()..text.len().saturating_sub(tail.len()).max(head.len()));
    let lines = hidden.unwrap_or_default().lines().map(str::trim).filter(|line| is_sign(line));
    let lines: Vec<&str> = lines
        .take(MAX_SIGNS)
        .map(|line| &line[..line.floor_char_boundary(MAX_SIGN_BYTES)])
        .collect();
    lines.join("\n")
}

fn indented(out: &mut String, text: &str) {
    for (idx, line) in text.trim().lines().enumerate() {
        if idx > 0 {
            out.push_str("\n    ");
        }
        out.push_str(line);
    }
}

/// The two ends of a text that is shown; the second is empty where all of it is.
fn ends<'t>(head: &'t str, tail: &'t str, (first, last): Shown) -> (&'t str, &'t str) {
    if tail.is_empty() && head.len() <= first + last {
        return (head, "");
    }
    let rest = if tail.is_empty() { head } else { tail };
    let end = &rest[rest.ceil_char_boundary(rest.len().saturating_sub(last))..];
    (&head[..head.floor_char_boundary(first)], end)
}

/// The lines of a session that a model may see.
#[derive(Debug, Default)]
pub(super) struct Pages {
    /// Events before this one were read earlier.
    from: u64,
    before: VecDeque<Line>,
    lines: Vec<Line>,
    bytes: usize,
    n_left_out: u64,
    n_of_person: u64,
}

/// A part of a session, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) text: String,
    /// The first and the last event that are new in it.
    pub(super) first: u64,
    pub(super) last: u64,
}

impl Pages {
    pub(super) fn new(from: u64) -> Self {
        Self { from, ..Self::default() }
    }

    pub(super) fn take(&mut self, event: &Event) {
        let Some(line) = Line::of(event) else { return };
        if line.sequence < self.from {
            if self.before.len() == CONTEXT_LINES {
                self.before.pop_front();
            }
            self.before.push_back(line);
            return;
        }
        if MAX_BYTES < self.bytes + line.bytes() {
            self.n_left_out += 1;
            return;
        }
        self.bytes += line.bytes();
        self.n_of_person += u64::from(line.is_persons());
        self.lines.push(line);
    }

    /// Leaves out what the person undid.
    pub(super) fn without_undone(mut self, facts: &SessionFacts) -> Self {
        let is_undone = |line: &Line| {
            facts.undone.iter().any(|undone| (undone.from..=undone.to).contains(&line.sequence))
        };
        self.lines.retain(|line| !is_undone(line));
        put_in_time(&mut self.lines);
        self.bytes = self.lines.iter().map(Line::bytes).sum();
        self
    }

    /// Whether the person said anything since it was last read.
    pub(super) fn has_news(&self) -> bool {
        self.n_of_person > 0
    }

    /// Events that did not fit.
    pub(super) fn n_left_out(&self) -> u64 {
        self.n_left_out
    }

    /// About how many tokens it has.
    pub(super) fn tokens(&self) -> usize {
        self.bytes / BYTES_A_TOKEN
    }

    pub(super) fn from(&self) -> u64 {
        self.from
    }

    /// What was read earlier and is shown again, and all that is new.
    pub(super) fn lines(&self) -> impl Iterator<Item = &Line> {
        self.before.iter().chain(&self.lines)
    }

    /// All that is shown of the session.
    pub(super) fn said(&self) -> String {
        let parts = self.lines().flat_map(|line| [&line.head, &line.signs, &line.tail]);
        let parts = parts.map(String::as_str);
        parts.collect::<Vec<_>>().join("\n")
    }

    /// Some of the events, as text of at most `max` bytes.
    pub(super) fn events(&self, wanted: &BTreeSet<u64>, max: usize) -> String {
        let mut text = String::new();
        for line in self.lines().filter(|line| wanted.contains(&line.sequence)) {
            if max < text.len() + line.bytes() {
                break;
            }
            line.write(&mut text, max);
        }
        text
    }

    /// The beginning and the end of what is new.
    #[cfg(feature = "rlm")]
    pub(super) fn ends(&self, max: usize) -> (String, String) {
        let last = self.lines.last().map_or(0, |line| line.sequence);
        let mut bytes = 0;
        let is_end = |line: &&Line| {
            bytes += line.bytes();
            bytes <= max
        };
        let first_of_end = self.lines.iter().rev().take_while(is_end).last();
        let start = first_of_end.map_or(last, |line| line.sequence);
        (self.text(0, u64::MAX, max), self.text(start, last, max + 1))
    }

    /// The new lines from event `first` to event `last`, as text of at most `max` bytes.
    #[cfg(feature = "rlm")]
    pub(super) fn text(&self, first: u64, last: u64, max: usize) -> String {
        let mut text = String::new();
        let is_asked = |line: &&Line| (first..=last).contains(&line.sequence);
        for line in self.lines.iter().filter(is_asked) {
            if max <= text.len() + line.bytes() {
                break;
            }
            line.write(&mut text, max);
        }
        text
    }

    /// Cuts the session into windows of at most `max` bytes, between events. Each begins with the end of the one
    /// before it, marked as known.
    pub(super) fn windows(&self, max: usize) -> Vec<Window> {
        let most_repeated = OVERLAP_BYTES.min(max / 4);
        let mut windows = Vec::new();
        let mut known: Vec<&Line> = self.before.iter().collect();
        let mut rest = self.lines.as_slice();
        while let Some(first) = rest.first() {
            let mut text = repeated(&known, most_repeated);
            let mut n_taken = 0;
            for line in rest {
                let is_full = max < text.len() + line.bytes();
                if is_full && n_taken > 0 {
                    break;
                }
                let room = max.saturating_sub(text.len()).max(64);
                line.write(&mut text, room);
                n_taken += 1;
            }
            let (taken, left) = rest.split_at(n_taken);
            let last = taken.last().map_or(first.sequence, |line| line.sequence);
            windows.push(Window { text, first: first.sequence, last });
            known = taken.iter().collect();
            rest = left;
        }
        windows
    }
}

/// Puts words of the person that stand at the top, but were said later, where they were said: a session that was taken up
/// again begins with what had been queued.
fn put_in_time(lines: &mut Vec<Line>) {
    let Some(first) = lines.iter().position(|line| line.speaker == Speaker::Assistant) else {
        return;
    };
    let Some(began) = lines[first].at else { return };
    let is_later = |line: &Line| line.at.is_some_and(|at| began < at);
    let n_early = lines[..first].iter().take_while(|line| is_later(line)).count();
    // Where all of them are later, clocks differ.
    if n_early == 0 || n_early == first {
        return;
    }
    let early: Vec<Line> = lines.drain(..n_early).collect();
    for line in early {
        let after = |other: &Line| other.at.is_some_and(|at| line.at.is_some_and(|own| own < at));
        let place = lines.iter().position(after).unwrap_or(lines.len());
        lines.insert(place, line);
    }
}

/// The last of the lines that fit, between marks.
fn repeated(known: &[&Line], max: usize) -> String {
    let mut start = known.len();
    let mut bytes = 0;
    while start > 0 && bytes + known[start - 1].bytes() <= max {
        start -= 1;
        bytes += known[start].bytes();
    }
    let lines = &known[start..];
    if lines.is_empty() {
        return String::new();
    }
    let mut text = "(read before:)\n".to_owned();
    for line in lines {
        line.write(&mut text, max);
    }
    text.push_str("(new:)\n");
    text
}

#[cfg(test)]
mod tests;
