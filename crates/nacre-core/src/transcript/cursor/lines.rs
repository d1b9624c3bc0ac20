//! Transcripts of Cursor's agent as lines of JSON: roles and blocks, with no ids, times, results.

use serde::{Deserialize, Serialize};

use super::super::calls::{OpenCall, OpenCalls};
use super::super::emit::{Draft, Emitter};
use super::super::event::{EventKind, Lane, Origin, Place};
use super::super::facts::{Ending, SessionRole};
use super::super::json::{Cursor, Parsed};
use super::super::names::short_name;
use super::super::stream::LineFormat;
use super::super::view::Fields;
use super::super::voice::{self, Spot};
use super::bubble::Speaker;
use super::message::Messages;

/// Of the paths that were met, what a watermark holds.
const CARRIED_PATHS: usize = 64;

/// How the last turn stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) enum Turn {
    #[default]
    Unknown,
    Open,
    Closed,
}

/// Reads one transcript.
pub(super) struct Lines {
    messages: Messages,
    turn: Turn,
}

#[derive(Default, Serialize, Deserialize)]
pub(super) struct Carry {
    calls: Vec<(u64, OpenCall)>,
    pub(super) paths: Vec<String>,
    pub(super) folder: Option<String>,
    turn: Turn,
}

impl Lines {
    pub(super) fn new(carry: Option<&str>) -> Self {
        let carry: Carry =
            carry.and_then(|carry| serde_json::from_str(carry).ok()).unwrap_or_default();
        let mut messages = Messages::new(Lane::Main);
        messages.calls = OpenCalls::restore(carry.calls);
        messages.folder = carry.folder;
        carry.paths.into_iter().for_each(|path| messages.files.note(path));
        Self { messages, turn: carry.turn }
    }
}

impl LineFormat for Lines {
    fn record(
        &mut self,
        cursor: &mut Cursor<'_>,
        place: &Place,
        out: &mut Emitter<'_>,
    ) -> Parsed<()> {
        let raw = cursor.raw()?;
        let record = Fields::of(raw);
        if out.facts.role != SessionRole::Main {
            self.messages.lane = Lane::Sidechain;
        }
        let key = match place {
            Place::Line { line, .. } => format!("{}:{line}", out.facts.id),
            Place::Row { .. } => String::new(),
        };
        let spot = Spot { place, key: &key, time: None, lane: self.messages.lane };
        if record.word("type") == "turn_ended" {
            self.turn = Turn::Closed;
            if record.word("status") == "error" || !record.raw("error").is_empty() {
                voice::failure(&spot, raw, out);
            }
        } else if self.messages.read((place, &key), &record, out) {
            self.turn = match self.messages.last {
                Speaker::Person => Turn::Open,
                Speaker::Agent | Speaker::Nobody => Turn::Unknown,
            };
        } else {
            voice::unknown(&spot, record.word("type"), raw, out);
        }
        Ok(())
    }

    fn cut_record(&mut self, head: &str, place: &Place, out: &mut Emitter<'_>) {
        let draft = Draft::new(EventKind::Meta, Origin::Host, head, place.clone());
        out.push(Draft { is_error: true, ..draft });
    }

    fn finish(&mut self, out: &mut Emitter<'_>) {
        out.facts.ending = match self.turn {
            Turn::Closed => Ending::Finished,
            Turn::Open => Ending::Active,
            Turn::Unknown => Ending::Unknown,
        };
    }

    fn carry(&self) -> String {
        let carry = Carry {
            calls: self.messages.calls.carry(),
            paths: self.messages.files.paths().take(CARRIED_PATHS).map(short_name).collect(),
            folder: self.messages.folder.as_deref().map(short_name),
            turn: self.turn,
        };
        serde_json::to_string(&carry).unwrap_or_default()
    }
}
