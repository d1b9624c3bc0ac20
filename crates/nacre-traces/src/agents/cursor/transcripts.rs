//! Reads transcripts from Cursor's agent. They consist of JSON lines with roles and blocks or, in
//! older versions, of plain text under headings such as `user:`. Messages have no IDs or times.

use crate::transcript::toolkit::*;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::message::{Messages, time_tag};

const CARRIED_PATHS: usize = 64;

pub(super) struct Lines {
    messages: Messages,
    turn: TurnState,
}

#[derive(Default, Serialize, Deserialize)]
pub(super) struct Carry {
    calls: Vec<(u64, OpenCall)>,
    pub(super) paths: Vec<String>,
    pub(super) folder: Option<String>,
    turn: TurnState,
}

impl LineFormat for Lines {
    fn new(carry: Option<&str>) -> Self {
        let carry: Carry = from_carry(carry);
        let (calls, folder) = (OpenCalls::restore(carry.calls), carry.folder);
        let mut messages = Messages { calls, folder, ..Messages::default() };
        carry.paths.into_iter().for_each(|path| messages.files.note(path));
        Self { messages, turn: carry.turn }
    }

    fn record(&mut self, record: &Record, out: &mut Emitter) {
        if out.facts.role != SessionRole::Main {
            self.messages.lane = Lane::Sidechain;
        }
        let key = match record.place {
            Position::Line { line, .. } => format!("{}:{line}", out.facts.id),
            Position::Row { .. } => String::new(),
        };
        let spot = Spot { place: record.place, key: &key, time: None, lane: self.messages.lane };
        if record.word("type") == "turn_ended" {
            self.turn = TurnState::Closed;
            if record.word("status") == "error" || !record.raw("error").is_empty() {
                voice::failure(&spot, record.text, out);
            }
        } else if self.messages.read(record.place, &key, record, out) {
            let is_open = self.messages.last == TurnState::Open;
            self.turn = if is_open { TurnState::Open } else { TurnState::Unknown };
        } else {
            voice::emit_unknown(&spot, record.word("type"), record.text, out);
        }
    }

    fn ending(&self) -> Ending {
        self.turn.ending(false)
    }

    fn carry(&self) -> String {
        to_carry(&Carry {
            calls: self.messages.calls.carry(),
            paths: self.messages.files.paths().take(CARRIED_PATHS).map(short_name).collect(),
            folder: self.messages.folder.as_deref().map(short_name),
            turn: self.turn,
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section<'a> {
    Nothing,
    User,
    /// The user heading above this text may actually be a line of tool output.
    Doubtful,
    Agent,
    Thought,
    Call(&'a str),
    Result(&'a str),
}

pub(super) fn read_plain(path: &Path, facts: SessionFacts, sink: Sink) -> Result<ReadOutcome> {
    whole::read_document(path, facts, sink, |text, out| {
        read_parts(text, out);
        Ok(())
    })
}

fn read_parts(text: &str, out: &mut Emitter) {
    let mut calls = OpenCalls::default();
    let mut part = Section::Nothing;
    // Tool output has no end marker, so any later heading may be part of the output.
    let mut has_output = false;
    let mut start = Mark { line: 1, offset: 0 };
    let mut at = Mark { line: 1, offset: 0 };
    for line in text.split_inclusive('\n') {
        let next = Mark { line: at.line + 1, offset: at.offset + line.len() };
        out.report.lines += 1;
        if let Some((heading, rest)) = heading(line.trim_end(), part) {
            let said = &text[start.offset..at.offset];
            has_output |= matches!(part, Section::Result(_)) && !said.trim().is_empty();
            say(part, said, start, &mut calls, out);
            let is_doubtful = heading == Section::User && has_output;
            part = if is_doubtful { Section::Doubtful } else { heading };
            start = Mark { line: at.line, offset: at.offset + line.find(rest).unwrap_or(0) };
            if rest.is_empty() {
                start = next;
            }
        }
        at = next;
    }
    say(part, &text[start.offset..], start, &mut calls, out);
    let is_asked = matches!(part, Section::User | Section::Doubtful);
    out.facts.ending = if is_asked { Ending::Active } else { Ending::Unknown };
}

fn heading<'a>(line: &'a str, part: Section<'_>) -> Option<(Section<'a>, &'a str)> {
    match line {
        "user:" => return Some((Section::User, "")),
        "assistant:" | "A:" => return Some((Section::Agent, "")),
        // Reasoning and calls end at a blank line.
        "" if matches!(part, Section::Thought | Section::Call(_)) => {
            return Some((Section::Agent, ""));
        }
        _ => {}
    }
    if matches!(part, Section::User | Section::Doubtful | Section::Nothing) {
        return None;
    }
    if let Some(rest) = line.strip_prefix("[Thinking]") {
        return Some((Section::Thought, rest.trim()));
    }
    if let Some(name) = line.strip_prefix("[Tool call]") {
        return Some((Section::Call(name.trim()), ""));
    }
    line.strip_prefix("[Tool result]").map(|name| (Section::Result(name.trim()), ""))
}

#[derive(Clone, Copy)]
struct Mark {
    line: u64,
    offset: usize,
}

fn say(part: Section<'_>, text: &str, at: Mark, calls: &mut OpenCalls, out: &mut Emitter) {
    let text = text.trim();
    let lane = own_lane(out);
    let key = format!("{}:{}", out.facts.id, at.line);
    let place = Position::Line { line: at.line, offset: at.offset as u64 };
    let spot = Spot { place: &place, key: &key, time: None, lane };
    match part {
        Section::Nothing => {}
        Section::User => voice::user(&Spot { time: time_tag(text), ..spot }, text, out),
        Section::Doubtful => voice::emit_marked_user(&spot, text, out),
        Section::Agent => voice::agent(&spot, EventKind::Assistant, text, out),
        Section::Thought => voice::agent(&spot, EventKind::Reasoning, text, out),
        // Calls have no IDs, so each is matched with the same tool's next result.
        Section::Call(tool) => voice::call(&spot, calls, tool, tool, text, out),
        Section::Result(tool) => voice::plain_result(&spot, calls, tool, false, text, out),
    }
}
