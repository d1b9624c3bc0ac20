//! Formats a session for a model, with one numbered entry per event, and splits it into windows.
//! Tool output is shortened, because models tend to make claims about whatever text is longest.

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::ops::Range;

use jiff::Timestamp;
use nacre_memory::Speaker;
use nacre_traces::transcript::{
    EventKind, Lane, SessionFacts, TextOrigin, TranscriptEvent, WordSource,
};

use crate::sync::candidate::person_speaker;
use crate::sync::evidence::words_in;
use crate::sync::steps::command_of;

const MAX_BYTES: usize = 16 << 20;
const CONTEXT_LINES: usize = 4;
const OVERLAP_BYTES: usize = 1500;
/// Number of bytes per token. A conservative estimate, so that every window fits in the context.
pub(super) const BYTES_A_TOKEN: usize = 3;

/// Number of bytes to show from the start and from the end of a text.
type ShownBytes = (usize, usize);

const PERSON: ShownBytes = (6000, 2000);
const AGENT: ShownBytes = (2400, 800);
const CALL: ShownBytes = (400, 0);
/// The limits for plans and questions, which the model needs in order to understand the user's
/// reply.
const OFFER: ShownBytes = (2400, 0);
const RESULT: ShownBytes = (300, 300);
const FAILED: ShownBytes = (800, 500);

const MAX_SIGNS: usize = 3;
const MAX_SIGN_BYTES: usize = 240;

#[derive(Clone, Debug)]
pub(super) struct TranscriptLine {
    pub(super) sequence: u64,
    pub(super) speaker: Speaker,
    pub(super) at: Option<Timestamp>,
    label: String,
    head: String,
    signs: String,
    tail: String,
    /// Whether this is tool output that reports a failure.
    pub(super) is_failure: bool,
}

impl TranscriptLine {
    fn of(event: &TranscriptEvent) -> Option<Self> {
        let tool = event.call.as_ref().and_then(|call| call.tool.as_deref()).unwrap_or("a tool");
        let (speaker, label, shown) = match (event.kind, event.origin) {
            _ if event.lane != Lane::Main => return None,
            (EventKind::User, TextOrigin::Person(source)) => {
                (person_speaker(source), person_label(source)?.to_owned(), PERSON)
            }
            (EventKind::Assistant, TextOrigin::Agent) => {
                (Speaker::Assistant, "agent".to_owned(), AGENT)
            }
            (EventKind::ToolCall, TextOrigin::Agent) => {
                let tool: String = tool.chars().filter(|c| !c.is_control()).take(40).collect();
                let shown = if is_offer(&tool) { OFFER } else { CALL };
                (Speaker::Assistant, format!("agent calls {tool}"), shown)
            }
            (EventKind::ToolResult, TextOrigin::Tool) if event.is_error => {
                (Speaker::Tool, "tool fails".to_owned(), FAILED)
            }
            (EventKind::ToolResult, TextOrigin::Tool) => (Speaker::Tool, "tool".to_owned(), RESULT),
            _ => return None,
        };
        let text = match event.kind {
            EventKind::ToolCall => command_of(event.text.head()).unwrap_or(event.text.head()),
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
                && (event.is_error || head.lines().any(is_sign) || !signs.is_empty()),
            label,
            head: head.to_owned(),
            signs,
            tail: tail.to_owned(),
        };
        (!line.head.trim().is_empty()).then_some(line)
    }

    pub(super) fn words_of(&self, quote: &str) -> Option<&str> {
        [&self.head, &self.signs, &self.tail].into_iter().find_map(|text| words_in(text, quote))
    }

    fn write(&self, out: &mut String, max: usize) {
        let start = out.len();
        let _ = write!(out, "[{}] {}: ", self.sequence, self.label);
        write_indented(out, &self.head);
        for part in [&self.signs, &self.tail].into_iter().filter(|part| !part.is_empty()) {
            out.push_str(" […] ");
            write_indented(out, part);
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

/// Returns the label for text sent by the user. Returns `None` for shell commands, which are not
/// shown.
fn person_label(source: WordSource) -> Option<&'static str> {
    match source {
        WordSource::Shell => None,
        WordSource::Answer => Some("person answers"),
        WordSource::Refusal => Some("person refuses"),
        WordSource::Prompt
        | WordSource::Queued
        | WordSource::CommandArgs
        | WordSource::TemplateInput => Some("person"),
        WordSource::Unverified => Some("a program, perhaps, in the person's place"),
    }
}

fn is_offer(tool: &str) -> bool {
    let tool = tool.to_ascii_lowercase();
    ["plan", "question", "ask", "user_input"].iter().any(|name| tool.contains(name))
}

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

fn is_sign(line: &str) -> bool {
    // Trailing spaces matter.
    const SIGNS: &str = include_str!("failure_signs.txt");
    line.len() < 2000 && SIGNS.lines().any(|sign| line.contains(sign))
}

fn signs(text: &str, head: &str, tail: &str) -> String {
    let hidden = text.get(head.len()..text.len().saturating_sub(tail.len()).max(head.len()));
    let lines = hidden.unwrap_or_default().lines().map(str::trim).filter(|line| is_sign(line));
    let lines: Vec<&str> = lines
        .take(MAX_SIGNS)
        .map(|line| &line[..line.floor_char_boundary(MAX_SIGN_BYTES)])
        .collect();
    lines.join("\n")
}

fn write_indented(out: &mut String, text: &str) {
    for (idx, line) in text.trim().lines().enumerate() {
        if idx > 0 {
            out.push_str("\n    ");
        }
        out.push_str(line);
    }
}

/// Returns the beginning and the end of a text. If the first part contains the entire text, the
/// second one is empty.
fn ends<'t>(head: &'t str, tail: &'t str, (first, last): ShownBytes) -> (&'t str, &'t str) {
    if tail.is_empty() && head.len() <= first + last {
        return (head, "");
    }
    let rest = if tail.is_empty() { head } else { tail };
    let end = &rest[rest.ceil_char_boundary(rest.len().saturating_sub(last))..];
    (&head[..head.floor_char_boundary(first)], end)
}

#[derive(Debug, Default)]
pub(super) struct Pages {
    /// Sequence number of the first event that was not read in an earlier sync.
    pub(super) from: u64,
    before: VecDeque<TranscriptLine>,
    lines: Vec<TranscriptLine>,
    bytes: usize,
    pub(super) n_left_out: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) text: String,
    pub(super) first: u64,
    pub(super) last: u64,
    lines: Range<usize>,
}

impl Pages {
    pub(super) fn new(from: u64) -> Self {
        Self { from, ..Self::default() }
    }

    pub(super) fn take(&mut self, event: &TranscriptEvent) {
        let Some(line) = TranscriptLine::of(event) else { return };
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
        self.lines.push(line);
    }

    pub(super) fn without_undone(mut self, facts: &SessionFacts) -> Self {
        let is_undone = |line: &TranscriptLine| {
            facts.undone.iter().any(|undone| (undone.from..=undone.to).contains(&line.sequence))
        };
        self.lines.retain(|line| !is_undone(line));
        put_in_time(&mut self.lines);
        self.bytes = self.lines.iter().map(TranscriptLine::bytes).sum();
        self
    }

    pub(super) fn has_news(&self) -> bool {
        self.lines.iter().any(|line| line.speaker == Speaker::User)
    }

    pub(super) fn tokens(&self) -> usize {
        self.bytes / BYTES_A_TOKEN
    }

    /// Returns all new lines, preceded by the lines repeated from the previous window.
    pub(super) fn lines(&self) -> impl Iterator<Item = &TranscriptLine> {
        self.before.iter().chain(&self.lines)
    }

    pub(super) fn said(&self) -> String {
        let parts = self.lines().flat_map(|line| [&line.head, &line.signs, &line.tail]);
        let parts = parts.map(String::as_str);
        parts.collect::<Vec<_>>().join("\n")
    }

    /// Returns what was said in a window, the user's messages first.
    pub(super) fn spoken(&self, window: &Window) -> Vec<&str> {
        let of = |speaker: Speaker| {
            let lines = self.lines[window.lines.clone()].iter();
            lines.filter(move |line| line.speaker == speaker).map(|line| line.head.as_str())
        };
        of(Speaker::User).chain(of(Speaker::Assistant)).collect()
    }

    /// Returns the wanted events. If they are longer than `max`, each is cut to the same share, so
    /// that none is missing.
    pub(super) fn events(&self, wanted: &BTreeSet<u64>, max: usize) -> String {
        let lines: Vec<&TranscriptLine> =
            self.lines().filter(|line| wanted.contains(&line.sequence)).collect();
        let n_bytes: usize = lines.iter().map(|line| line.bytes()).sum();
        let share = if n_bytes <= max { max } else { max / lines.len().max(1) };
        let mut text = String::new();
        lines.into_iter().for_each(|line| line.write(&mut text, share));
        text
    }

    /// Splits the session into windows of at most `max` bytes. Each window starts with the end of
    /// the previous window, which is marked as known.
    pub(super) fn windows(&self, max: usize) -> Vec<Window> {
        let most_repeated = OVERLAP_BYTES.min(max / 4);
        let mut windows = Vec::new();
        let mut known: Vec<&TranscriptLine> = self.before.iter().collect();
        let mut rest = self.lines.as_slice();
        while let Some(first) = rest.first() {
            let mut text = format_known_lines(&known, most_repeated);
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
            let start = self.lines.len() - rest.len();
            let lines = start..start + n_taken;
            windows.push(Window { text, first: first.sequence, last, lines });
            known = taken.iter().collect();
            rest = left;
        }
        windows
    }
}

/// Moves messages that were queued before a session was resumed to the positions that correspond to
/// when they were sent.
fn put_in_time(lines: &mut Vec<TranscriptLine>) {
    let Some(first) = lines.iter().position(|line| line.speaker == Speaker::Assistant) else {
        return;
    };
    let Some(began) = lines[first].at else { return };
    let is_later = |line: &TranscriptLine| line.at.is_some_and(|at| began < at);
    let n_early = lines[..first].iter().take_while(|line| is_later(line)).count();
    // If all of the messages are later, the clocks are not in sync.
    if n_early == 0 || n_early == first {
        return;
    }
    let early: Vec<TranscriptLine> = lines.drain(..n_early).collect();
    for line in early {
        let after =
            |other: &TranscriptLine| other.at.is_some_and(|at| line.at.is_some_and(|own| own < at));
        let place = lines.iter().position(after).unwrap_or(lines.len());
        lines.insert(place, line);
    }
}

fn format_known_lines(known: &[&TranscriptLine], max: usize) -> String {
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
