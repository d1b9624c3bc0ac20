//! The state that parsers of line-based formats share, bounded in size so that it fits in a
//! watermark.

use std::marker::PhantomData;

use serde::{Deserialize, Serialize};

use super::voice;
use crate::transcript::toolkit::*;

/// Whether the latest relevant record left a turn open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) enum TurnState {
    #[default]
    Unknown,
    Open,
    Closed,
}

impl TurnState {
    pub(crate) fn ending(self, has_open_calls: bool) -> Ending {
        if self == Self::Unknown {
            Ending::Unknown
        } else if self == Self::Closed && !has_open_calls {
            Ending::Finished
        } else {
            Ending::Active
        }
    }
}

pub(crate) struct Thread {
    pub(crate) calls: OpenCalls,
    pub(crate) chain: Chain,
    pub(crate) turn: TurnState,
    /// Whether the transcript contained the session's ID.
    pub(crate) is_named: bool,
    /// Whether the current record's prompt was already recorded. All text blocks in a record
    /// together count as one prompt.
    has_noted_prompt: bool,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ThreadCarry {
    calls: Vec<(u64, OpenCall)>,
    #[serde(alias = "chain")]
    ends: Vec<(u64, u64)>,
    prompts: Vec<u64>,
    turn: TurnState,
    is_named: bool,
}

impl Thread {
    pub(crate) fn new() -> Self {
        Self::restore(ThreadCarry::default())
    }

    pub(crate) fn restore(carry: ThreadCarry) -> Self {
        Self {
            calls: OpenCalls::restore(carry.calls),
            chain: Chain::restore(carry.ends, carry.prompts),
            turn: carry.turn,
            is_named: carry.is_named,
            has_noted_prompt: false,
        }
    }

    pub(crate) fn to_carry(&self) -> ThreadCarry {
        let (ends, prompts) = self.chain.carry();
        let (calls, turn, is_named) = (self.calls.carry(), self.turn, self.is_named);
        ThreadCarry { calls, ends, prompts, turn, is_named }
    }

    pub(crate) fn name(&mut self, id: &str, out: &mut Emitter) {
        if !self.is_named && !id.is_empty() {
            self.is_named = true;
            out.facts.id = short_name(id);
        }
    }

    pub(crate) fn ending(&self) -> Ending {
        self.turn.ending(!self.calls.is_empty())
    }

    pub(crate) fn begin(&mut self) {
        self.has_noted_prompt = false;
    }

    /// Keeps the record's ID, because it may be the parent of later records.
    pub(crate) fn end(&mut self, id: &str, lane: Lane, out: &Emitter) {
        if lane == Lane::Main {
            self.chain.note(id, out);
        }
    }

    /// Ends the turn and drops its open calls.
    pub(crate) fn close(&mut self) {
        self.turn = TurnState::Closed;
        self.calls.clear();
    }

    /// Emits text with the user role. `parent` is the parent record's ID.
    pub(crate) fn user(&mut self, spot: &Spot, parent: &str, text: &str, out: &mut Emitter) {
        if voice::holds_words(text) {
            self.turn = TurnState::Open;
            self.note_prompt(spot, parent, out);
        }
        voice::user(spot, text, out);
    }

    /// All texts in one record count as one prompt.
    pub(crate) fn note_prompt(&mut self, spot: &Spot, parent: &str, out: &mut Emitter) {
        if spot.lane == Lane::Main && !self.has_noted_prompt {
            self.has_noted_prompt = true;
            self.chain.note_prompt(parent, out);
        }
    }

    pub(crate) fn agent(&mut self, spot: &Spot, kind: EventKind, text: &str, out: &mut Emitter) {
        if !text.trim().is_empty() {
            self.turn =
                if kind == EventKind::Assistant { TurnState::Closed } else { TurnState::Open };
        }
        voice::agent(spot, kind, text, out);
    }

    /// `arguments` is JSON or plain text.
    pub(crate) fn call(
        &mut self,
        spot: &Spot,
        id: &str,
        tool: &str,
        arguments: &str,
        out: &mut Emitter,
    ) {
        self.turn = TurnState::Open;
        voice::call(spot, &mut self.calls, id, tool, arguments, out);
    }

    pub(crate) fn result(
        &mut self,
        spot: &Spot,
        id: &str,
        has_failed: bool,
        raw: &str,
        out: &mut Emitter,
    ) {
        self.turn = TurnState::Open;
        voice::result(spot, &mut self.calls, id, has_failed, raw, out);
    }
}

pub(crate) fn own_lane(out: &Emitter) -> Lane {
    if out.facts.role == SessionRole::Main { Lane::Main } else { Lane::Sidechain }
}

/// A line format that keeps no state apart from its conversation.
pub(crate) trait ThreadFormat {
    fn record(thread: &mut Thread, record: &Record, out: &mut Emitter);
}

pub(crate) struct ThreadReader<F>(Thread, PhantomData<F>);

impl<F: ThreadFormat> LineFormat for ThreadReader<F> {
    fn new(carry: Option<&str>) -> Self {
        Self(Thread::restore(from_carry(carry)), PhantomData)
    }

    fn record(&mut self, record: &Record, out: &mut Emitter) {
        F::record(&mut self.0, record, out);
    }

    fn ending(&self) -> Ending {
        self.0.ending()
    }

    fn carry(&self) -> String {
        to_carry(&self.0.to_carry())
    }
}
