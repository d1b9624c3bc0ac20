//! The parts of a message, by their type.

use super::super::emit::Emitter;
use super::super::event::{EventKind, InjectedReason, Origin, WordSource};
use super::super::view::{Fields, items, text_of};
use super::super::voice::{self, Ended, Spot};
use super::talk::{Role, Talk, Turn, file_label};

impl Talk {
    /// Reads a part of the message that was started last.
    pub(super) fn part(&mut self, id: &str, raw: &str, out: &mut Emitter<'_>) {
        out.report.lines += 1;
        let Some(part) = Fields::read(raw) else {
            out.report.bad_lines += 1;
            return;
        };
        self.meet_part(id, out.next_sequence());
        let place = voice::row(&format!("part:{id}"));
        let time = part.object("time").time("start").or(self.time);
        let spot = Spot { place: &place, key: id, time, lane: self.lane };
        say(self, &spot, &part, raw, out);
    }
}

fn say(talk: &mut Talk, spot: &Spot<'_>, part: &Fields<'_>, raw: &str, out: &mut Emitter<'_>) {
    match part.word("type") {
        "text" => text(talk, spot, part, out),
        "reasoning" => voice::agent(spot, EventKind::Reasoning, &part.string("text"), out),
        "tool" => tool(talk, spot, part, out),
        "file" => file(talk, spot, part, out),
        // A command that makes a sub-agent: its prompt is the command's, filled in.
        "subtask" => {
            let origin = Origin::Injected(InjectedReason::Command);
            out.push(spot.draft(EventKind::User, origin, &part.string("prompt")));
        }
        "compaction" => out.push(spot.draft(EventKind::Compaction, Origin::Host, raw)),
        "retry" => voice::failure(spot, part.raw("error"), out),
        // Marks around a step, and what git knows better.
        "step-start" | "step-finish" | "patch" | "snapshot" | "agent" => {}
        other => voice::unknown(spot, other, raw, out),
    }
}

fn text(talk: &Talk, spot: &Spot<'_>, part: &Fields<'_>, out: &mut Emitter<'_>) {
    let text = part.string("text");
    let is_synthetic = part.truth("synthetic") || part.truth("ignored");
    match talk.role {
        Role::User if is_synthetic => voice::marked_user(spot, &text, out),
        Role::User => voice::user(spot, &text, out),
        Role::Recap => voice::recap(spot, &text, out),
        Role::Assistant if is_synthetic && !text.trim().is_empty() => {
            out.push(spot.draft(EventKind::Assistant, Origin::Host, &text));
        }
        Role::Assistant => voice::agent(spot, EventKind::Assistant, &text, out),
    }
}

fn file(talk: &Talk, spot: &Spot<'_>, part: &Fields<'_>, out: &mut Emitter<'_>) {
    let label = file_label(part);
    match talk.role {
        Role::User => {
            let origin = Origin::Injected(InjectedReason::EditorContext);
            out.push(spot.draft(EventKind::User, origin, &label));
        }
        Role::Assistant | Role::Recap => voice::note(spot, &label, out),
    }
}

/// A call and its result, which stand in one part.
fn tool(talk: &mut Talk, spot: &Spot<'_>, part: &Fields<'_>, out: &mut Emitter<'_>) {
    let state = part.object("state");
    let (id, name) = (part.string("callID"), part.string("tool"));
    voice::call(spot, &mut talk.calls, (&id, &name), state.raw("input"), out);
    let time = state.object("time").time("end").or(spot.time);
    let spot = Spot { time, ..*spot };
    let exit = state.object("metadata").number("exit").unwrap_or(0);
    let ended = match (state.word("status"), exit) {
        ("pending" | "running", _) => {
            talk.turn = Turn::Open;
            return;
        }
        ("error", _) => (Ended::Badly, state.raw("error")),
        (_, 0) => (Ended::Well, state.raw("output")),
        (_, _) => (Ended::Badly, state.raw("output")),
    };
    voice::result(&spot, &mut talk.calls, &id, ended, out);
    if name == "question" {
        for answer in answers(state.object("metadata").raw("answers")) {
            voice::words(&spot, WordSource::Answer, &answer, out);
        }
    }
}

/// What the person chose or typed: for each question a list of answers.
fn answers(raw: &str) -> Vec<String> {
    let joined = |question: &str| {
        let chosen: Vec<String> = items(question)
            .into_iter()
            .filter_map(|answer| Some(text_of(answer)?.decode().into_owned()))
            .collect();
        chosen.join(", ")
    };
    items(raw).into_iter().map(joined).filter(|answer| !answer.is_empty()).collect()
}
