//! The rollout parser's state between lines, bounded in size so that it fits in a watermark.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::transcript::toolkit::*;

const MAX_MESSAGES: usize = 2048;
const MAX_PROMPTS: usize = 1024;
/// How many entries of each map are stored in a watermark.
const CARRIED: usize = 128;
/// Consecutive records written by a model are at least this many milliseconds apart. A smaller gap
/// means that the record belongs to a copied history, which is written all at once.
const COPY_GAP_MS: i64 = 100;

#[derive(Clone, Copy)]
pub(super) enum Stream {
    Items,
    Shown,
    Completed,
}

/// The author of a text. The same text by different authors is not a duplicate.
#[derive(Clone, Copy)]
pub(super) enum Speaker {
    User,
    Assistant,
    Reasoning,
}

/// A user item that is held back until an event shows whether the user wrote it.
pub(super) struct Held {
    pub(super) texts: Vec<String>,
    pub(super) place: Position,
    pub(super) time: Option<Timestamp>,
    pub(super) key: String,
    pub(super) lane: Lane,
}

pub(super) struct RolloutParser {
    pub(super) calls: OpenCalls,
    pub(super) held: Option<Held>,
    pub(super) saved: Saved,
    /// How often each message occurs in each stream.
    told: RecentMap<[u32; 3]>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Saved {
    /// Whether the session's own header has been read. Later headers are copies or duplicates.
    pub(super) has_meta: bool,
    /// Whether the stream of events shown to the user contains user messages. If so, a user item
    /// without a matching event was not written by the user.
    pub(super) has_shown_users: bool,
    #[serde(default)]
    pub(super) is_programs: bool,
    pub(super) open_turns: u64,
    pub(super) has_turns: bool,
    pub(super) last_is_answer: bool,
    /// Timestamp of the record last read from a copied history; `None` outside such a history.
    pub(super) copying_since: Option<Timestamp>,
    /// Records with a smaller ordinal belong to the parent session.
    pub(super) own_from_ordinal: Option<u64>,
    pub(super) last_total: Option<u64>,
    prompts: Vec<u64>,
}

#[derive(Default, Serialize, Deserialize)]
struct Carry {
    saved: Saved,
    calls: Vec<(u64, OpenCall)>,
    told: Vec<(u64, [u32; 3])>,
}

impl RolloutParser {
    pub(super) fn restore(carry: Option<&str>) -> Self {
        let carry: Carry = from_carry(carry);
        Self {
            calls: OpenCalls::restore(carry.calls),
            held: None,
            saved: carry.saved,
            told: RecentMap::restore(MAX_MESSAGES, carry.told),
        }
    }

    pub(super) fn to_carry(&self) -> String {
        let mut saved = self.saved.clone();
        let kept = saved.prompts.len().saturating_sub(CARRIED);
        saved.prompts.drain(..kept);
        to_carry(&Carry { saved, calls: self.calls.carry(), told: self.told.youngest(CARRIED) })
    }

    /// Returns a record's lane. A gap between records shows that a copied history has ended.
    pub(super) fn lane(
        &mut self,
        time: Option<Timestamp>,
        record: &Fields,
        out: &mut Emitter,
    ) -> Lane {
        if let (Some(now), Some(last)) = (time, self.saved.copying_since) {
            let gap = now.as_millisecond().saturating_sub(last.as_millisecond());
            self.saved.copying_since = (gap <= COPY_GAP_MS).then_some(now);
        }
        let ordinal = record.number("ordinal").and_then(|ordinal| u64::try_from(ordinal).ok());
        let own_from = self.saved.own_from_ordinal;
        let is_before_own =
            own_from.zip(ordinal).is_some_and(|(own_from, ordinal)| ordinal < own_from);
        if is_before_own || self.saved.copying_since.is_some() {
            return Lane::Inherited;
        }
        out.note_time(time);
        own_lane(out)
    }

    /// Returns `false` if another stream already contained the message.
    pub(super) fn is_first(
        &mut self,
        stream: Stream,
        speaker: Speaker,
        text: &str,
        out: &mut Emitter,
    ) -> bool {
        let key = text_hash(text.trim()).rotate_left(16 * speaker as u32);
        let mut counts = self.told.get(key).copied().unwrap_or_default();
        let given = counts.into_iter().max().unwrap_or(0);
        let count = &mut counts[stream as usize];
        *count += 1;
        let is_first = given < *count;
        self.told.insert(key, counts);
        out.report.repeated += u64::from(!is_first);
        is_first
    }

    pub(super) fn note_prompt(&mut self, out: &Emitter) {
        let prompts = &mut self.saved.prompts;
        if prompts.len() == MAX_PROMPTS {
            prompts.drain(..MAX_PROMPTS / 2);
        }
        prompts.push(out.next_sequence());
    }

    pub(super) fn roll_back(&mut self, num_turns: u64, out: &mut Emitter) {
        let prompts = &mut self.saved.prompts;
        let num_turns = usize::try_from(num_turns).unwrap_or(usize::MAX);
        let first = prompts.len().saturating_sub(num_turns);
        if let Some(from) = prompts.get(first) {
            note_undone(*from, out);
        }
        prompts.truncate(first);
    }
}
