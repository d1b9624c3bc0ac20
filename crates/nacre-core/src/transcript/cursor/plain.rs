//! The oldest transcripts of Cursor's agent: plain text under headings such as `user:`.
//!
//! Tool results have no end mark, so one goes on to the next heading: its text must not be taken
//! for the agent's words.

use std::path::Path;

use super::super::adapter::ReadOutcome;
use super::super::calls::OpenCalls;
use super::super::emit::Emitter;
use super::super::error::Result;
use super::super::event::{EventKind, Lane, Place};
use super::super::facts::{Ending, SessionFacts, SessionRole};
use super::super::sink::Sink;
use super::super::voice::{self, Ended, Spot};
use super::super::whole;
use super::clock::time_tag;

/// What the lines under a heading are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part<'a> {
    /// Before the first heading.
    Nothing,
    User,
    /// Under the person's heading, where it may be a line of what a tool gave.
    Doubtful,
    Agent,
    Thought,
    Call(&'a str),
    Result(&'a str),
}

pub(super) fn read_plain(path: &Path, facts: SessionFacts, sink: Sink<'_>) -> Result<ReadOutcome> {
    whole::read_document(path, facts, sink, |text, out| {
        read_parts(text, out);
        Ok(())
    })
}

fn read_parts(text: &str, out: &mut Emitter<'_>) {
    let mut calls = OpenCalls::new();
    let mut part = Part::Nothing;
    // A result has no end mark: what looks like a heading after it may be a line of a file.
    let mut has_output = false;
    let mut start = Mark { line: 1, offset: 0 };
    let mut at = Mark { line: 1, offset: 0 };
    for line in text.split_inclusive('\n') {
        let next = Mark { line: at.line + 1, offset: at.offset + line.len() };
        out.report.lines += 1;
        if let Some((heading, rest)) = heading(line.trim_end(), part) {
            let said = &text[start.offset..at.offset];
            has_output |= matches!(part, Part::Result(_)) && !said.trim().is_empty();
            say(part, said, start, &mut calls, out);
            let is_doubtful = heading == Part::User && has_output;
            part = if is_doubtful { Part::Doubtful } else { heading };
            start = Mark { line: at.line, offset: at.offset + line.find(rest).unwrap_or(0) };
            if rest.is_empty() {
                start = next;
            }
        }
        at = next;
    }
    say(part, &text[start.offset..], start, &mut calls, out);
    out.facts.ending = match part {
        Part::User | Part::Doubtful => Ending::Active,
        Part::Nothing | Part::Agent | Part::Thought | Part::Call(_) | Part::Result(_) => {
            Ending::Unknown
        }
    };
}

/// The heading that a line is, and what of the line stands under it.
fn heading<'a>(line: &'a str, part: Part<'_>) -> Option<(Part<'a>, &'a str)> {
    match line {
        "user:" => return Some((Part::User, "")),
        "assistant:" | "A:" => return Some((Part::Agent, "")),
        // A thought and a call end with their paragraph.
        "" if matches!(part, Part::Thought | Part::Call(_)) => return Some((Part::Agent, "")),
        _ => {}
    }
    if matches!(part, Part::User | Part::Doubtful | Part::Nothing) {
        return None;
    }
    if let Some(rest) = line.strip_prefix("[Thinking]") {
        return Some((Part::Thought, rest.trim()));
    }
    if let Some(name) = line.strip_prefix("[Tool call]") {
        return Some((Part::Call(name.trim()), ""));
    }
    line.strip_prefix("[Tool result]").map(|name| (Part::Result(name.trim()), ""))
}

/// A place in the text.
#[derive(Clone, Copy)]
struct Mark {
    line: u64,
    offset: usize,
}

fn say(part: Part<'_>, text: &str, at: Mark, calls: &mut OpenCalls, out: &mut Emitter<'_>) {
    let text = text.trim();
    let lane = match out.facts.role {
        SessionRole::Main => Lane::Main,
        SessionRole::SubAgent | SessionRole::Helper => Lane::Sidechain,
    };
    let key = format!("{}:{}", out.facts.id, at.line);
    let place = Place::Line { line: at.line, offset: at.offset as u64 };
    let spot = Spot { place: &place, key: &key, time: None, lane };
    match part {
        Part::Nothing => {}
        Part::User => voice::user(&Spot { time: time_tag(text), ..spot }, text, out),
        Part::Doubtful => voice::marked_user(&spot, text, out),
        Part::Agent => voice::agent(&spot, EventKind::Assistant, text, out),
        Part::Thought => voice::agent(&spot, EventKind::Reasoning, text, out),
        // Calls have no ids; the next result of the same tool is this one's.
        Part::Call(tool) => voice::call(&spot, calls, (tool, tool), text, out),
        Part::Result(tool) => voice::plain_result(&spot, calls, tool, (Ended::Well, text), out),
    }
}
