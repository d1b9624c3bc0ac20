//! What the readers of line formats remember between lines, and how the talk stands.
//!
//! Everything is bounded, and small enough to travel inside a watermark.

use serde::{Deserialize, Serialize};

use super::calls::{OpenCall, OpenCalls};
use super::chain::Chain;
use super::emit::Emitter;
use super::event::{EventKind, Lane};
use super::facts::{Ending, SessionRole};
use super::voice::{self, Ended, Spot};

/// How the talk stood at the last record that says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) enum Turn {
    #[default]
    Unknown,
    Open,
    Closed,
}

/// The state of one talk.
pub(super) struct Thread {
    pub(super) calls: OpenCalls,
    pub(super) chain: Chain,
    pub(super) turn: Turn,
    /// The session's id was read from the trace.
    pub(super) is_named: bool,
    /// The prompt of the current record is noted: several texts still are one prompt.
    has_noted_prompt: bool,
}

#[derive(Default, Serialize, Deserialize)]
struct Carry {
    calls: Vec<(u64, OpenCall)>,
    ends: Vec<(u64, u64)>,
    prompts: Vec<u64>,
    turn: Turn,
    is_named: bool,
}

impl Thread {
    /// From the carry of a watermark, or afresh.
    pub(super) fn new(carry: Option<&str>) -> Self {
        let carry: Carry =
            carry.and_then(|carry| serde_json::from_str(carry).ok()).unwrap_or_default();
        Self {
            calls: OpenCalls::restore(carry.calls),
            chain: Chain::restore(carry.ends, carry.prompts),
            turn: carry.turn,
            is_named: carry.is_named,
            has_noted_prompt: false,
        }
    }

    pub(super) fn carry(&self) -> String {
        let (ends, prompts) = self.chain.carry();
        let (calls, turn, is_named) = (self.calls.carry(), self.turn, self.is_named);
        serde_json::to_string(&Carry { calls, ends, prompts, turn, is_named }).unwrap_or_default()
    }

    pub(super) fn ending(&self) -> Ending {
        match self.turn {
            Turn::Closed if self.calls.is_empty() => Ending::Finished,
            Turn::Closed | Turn::Open => Ending::Active,
            Turn::Unknown => Ending::Unknown,
        }
    }

    /// Starts a record.
    pub(super) fn begin(&mut self) {
        self.has_noted_prompt = false;
    }

    /// Ends a record of this id, so that later ones can hang on it.
    pub(super) fn end(&mut self, id: &str, lane: Lane, out: &Emitter<'_>) {
        if lane == Lane::Main {
            self.chain.note(id, out);
        }
    }

    /// The turn is over, whatever was still open in it.
    pub(super) fn close(&mut self) {
        self.turn = Turn::Closed;
        self.calls.clear();
    }

    /// A text with the role of the user, whose record hangs on the record `parent`.
    pub(super) fn user(
        &mut self,
        spot: &Spot<'_>,
        parent: &str,
        text: &str,
        out: &mut Emitter<'_>,
    ) {
        if voice::holds_words(text) {
            self.turn = Turn::Open;
            if spot.lane == Lane::Main && !self.has_noted_prompt {
                self.has_noted_prompt = true;
                self.chain.note_prompt(parent, out);
            }
        }
        voice::user(spot, text, out);
    }

    /// What the model said or thought.
    pub(super) fn agent(
        &mut self,
        spot: &Spot<'_>,
        kind: EventKind,
        text: &str,
        out: &mut Emitter<'_>,
    ) {
        if !text.trim().is_empty() {
            self.turn = if kind == EventKind::Assistant { Turn::Closed } else { Turn::Open };
        }
        voice::agent(spot, kind, text, out);
    }

    /// A tool call, with its arguments as JSON or as text.
    pub(super) fn call(
        &mut self,
        spot: &Spot<'_>,
        (id, tool): (&str, &str),
        arguments: &str,
        out: &mut Emitter<'_>,
    ) {
        self.turn = Turn::Open;
        voice::call(spot, &mut self.calls, (id, tool), arguments, out);
    }

    /// A tool's result, as a JSON value.
    pub(super) fn result(
        &mut self,
        spot: &Spot<'_>,
        id: &str,
        result: (Ended, &str),
        out: &mut Emitter<'_>,
    ) {
        self.turn = Turn::Open;
        voice::result(spot, &mut self.calls, id, result, out);
    }
}

/// The lane of a session's own talk.
pub(super) fn own_lane(out: &Emitter<'_>) -> Lane {
    match out.facts.role {
        SessionRole::Main => Lane::Main,
        SessionRole::SubAgent | SessionRole::Helper => Lane::Sidechain,
    }
}
