//! What a reader of a rollout must remember between lines.
//!
//! Everything is bounded, and small enough to travel inside a watermark.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::super::calls::{OpenCall, OpenCalls, RecentMap, text_hash};
use super::super::emit::{Draft, Emitter};
use super::super::event::{Lane, Place};
use super::super::facts::{Ending, SessionRole, Undone};
use super::super::json::Text;
use super::record::Record;

const MAX_MESSAGES: usize = 2048;
const MAX_PROMPTS: usize = 1024;
const MAX_UNDONE: usize = 1024;
/// Of each of the above, what a watermark holds.
const CARRIED: usize = 128;
/// A copied history is written in one go; a model never answers this fast.
const COPY_GAP_MS: i64 = 100;

/// The streams in which a rollout tells the same talk.
#[derive(Clone, Copy)]
pub(super) enum Stream {
    /// What went to the model.
    Items,
    /// What was shown to the person.
    Shown,
    /// Completed items of a paginated rollout.
    Completed,
}

/// A text and who said it: an answer that repeats the question is no echo of it.
#[derive(Clone, Copy)]
pub(super) enum Said<'a> {
    User(&'a str),
    Assistant(&'a str),
    Reasoning(&'a str),
}

impl Said<'_> {
    /// What the message is remembered by.
    pub(super) fn key(self) -> u64 {
        match self {
            Said::User(text) => text_hash(text.trim()),
            Said::Assistant(text) => text_hash(text.trim()).rotate_left(16),
            Said::Reasoning(text) => text_hash(text.trim()).rotate_left(32),
        }
    }
}

/// The last answer, because the next line is often its echo, written alike to the letter.
#[derive(Default)]
pub(super) struct LastAnswer {
    raw: String,
    key: u64,
}

/// Longer answers are not remembered as written.
const MAX_RAW_ANSWER: usize = 64 * 1024;

impl LastAnswer {
    /// The key of an answer that is written like the last one.
    pub(super) fn key_of(&self, texts: &[Text<'_>]) -> Option<u64> {
        match texts {
            [one] if one.raw() == self.raw && !self.raw.is_empty() => Some(self.key),
            _ => None,
        }
    }

    pub(super) fn note(&mut self, texts: &[Text<'_>], key: u64) {
        self.raw.clear();
        self.key = key;
        if let [one] = texts
            && one.raw().len() <= MAX_RAW_ANSWER
        {
            self.raw.push_str(one.raw());
        }
    }
}

/// A user-role item that waits for the event which tells whether a person wrote it.
pub(super) struct Held {
    pub(super) texts: Vec<String>,
    pub(super) place: Place,
    pub(super) timestamp: Option<Timestamp>,
    pub(super) key: Option<String>,
    pub(super) lane: Lane,
}

/// Reads one rollout.
pub(super) struct Reader {
    pub(super) calls: OpenCalls,
    pub(super) held: Option<Held>,
    pub(super) last_answer: LastAnswer,
    pub(super) saved: Saved,
    /// How often each stream has told a message.
    told: RecentMap<[u32; 3]>,
}

/// The plain part of what is remembered.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Saved {
    /// The session's own header was read; later ones are copies or repeats.
    pub(super) has_meta: bool,
    /// The shown stream has user messages, so an item without one is no person's.
    pub(super) has_shown_users: bool,
    pub(super) open_turns: u64,
    pub(super) has_turns: bool,
    pub(super) last_is_answer: bool,
    /// While a copied history is read: the time of its last record.
    pub(super) copying_since: Option<Timestamp>,
    /// Records below this number belong to the parent.
    pub(super) own_from_ordinal: Option<u64>,
    /// The last cumulative token count, to notice repeats.
    pub(super) last_total: Option<u64>,
    /// Sequences at which the person's prompts start.
    prompts: Vec<u64>,
}

#[derive(Default, Serialize, Deserialize)]
struct Carry {
    saved: Saved,
    calls: Vec<(u64, OpenCall)>,
    told: Vec<(u64, [u32; 3])>,
}

impl Reader {
    pub(super) fn new(carry: Option<&str>) -> Self {
        let carry: Carry =
            carry.and_then(|carry| serde_json::from_str(carry).ok()).unwrap_or_default();
        Self {
            calls: OpenCalls::restore(carry.calls),
            held: None,
            last_answer: LastAnswer::default(),
            saved: carry.saved,
            told: RecentMap::restore(MAX_MESSAGES, carry.told),
        }
    }

    pub(super) fn to_carry(&self) -> String {
        let mut saved = self.saved.clone();
        let kept = saved.prompts.len().saturating_sub(CARRIED);
        saved.prompts.drain(..kept);
        let carry = Carry { saved, calls: self.calls.carry(), told: self.told.youngest(CARRIED) };
        serde_json::to_string(&carry).unwrap_or_default()
    }

    pub(super) fn ending(&self) -> Ending {
        if self.saved.has_turns {
            if self.saved.open_turns == 0 { Ending::Finished } else { Ending::Active }
        } else if self.saved.last_is_answer && self.calls.is_empty() {
            Ending::Finished
        } else {
            Ending::Unknown
        }
    }

    /// Follows the clock of the records: it tells where a copied history ends.
    pub(super) fn note_time(&mut self, record: &Record<'_>, out: &mut Emitter<'_>) {
        let Some(now) = record.timestamp else { return };
        if let Some(last) = self.saved.copying_since {
            let gap = now.as_millisecond().saturating_sub(last.as_millisecond());
            self.saved.copying_since = (gap <= COPY_GAP_MS).then_some(now);
        }
        if !self.is_inherited(record) {
            out.note_time(now);
        }
    }

    pub(super) fn is_inherited(&self, record: &Record<'_>) -> bool {
        let is_before_own = match (self.saved.own_from_ordinal, record.ordinal) {
            (Some(own_from), Some(ordinal)) => ordinal < own_from,
            (Some(_) | None, _) => false,
        };
        is_before_own || self.saved.copying_since.is_some()
    }

    pub(super) fn lane(&self, record: &Record<'_>, out: &Emitter<'_>) -> Lane {
        if self.is_inherited(record) {
            return Lane::Inherited;
        }
        match out.facts.role {
            SessionRole::Main => Lane::Main,
            SessionRole::SubAgent | SessionRole::Helper => Lane::Sidechain,
        }
    }

    /// Whether a message is told for the first time; its echo in another stream is not.
    pub(super) fn is_first(
        &mut self,
        stream: Stream,
        said: Said<'_>,
        out: &mut Emitter<'_>,
    ) -> bool {
        self.is_first_of(stream, said.key(), out)
    }

    /// Whether the message of this key is told for the first time.
    pub(super) fn is_first_of(&mut self, stream: Stream, key: u64, out: &mut Emitter<'_>) -> bool {
        let mut counts = self.told.get(key).copied().unwrap_or_default();
        let given = counts.into_iter().max().unwrap_or(0);
        let count = &mut counts[stream as usize];
        *count += 1;
        let is_first = given < *count;
        self.told.insert(key, counts);
        out.report.repeated += u64::from(!is_first);
        is_first
    }

    /// Notes that a prompt of the person starts here.
    pub(super) fn note_prompt(&mut self, out: &Emitter<'_>) {
        let prompts = &mut self.saved.prompts;
        if prompts.len() == MAX_PROMPTS {
            prompts.drain(..MAX_PROMPTS / 2);
        }
        prompts.push(out.next_sequence());
    }

    /// The person took back the last turns.
    pub(super) fn roll_back(&mut self, num_turns: u64, out: &mut Emitter<'_>) {
        let prompts = &mut self.saved.prompts;
        let num_turns = usize::try_from(num_turns).unwrap_or(usize::MAX);
        let first = prompts.len().saturating_sub(num_turns);
        if let Some(from) = prompts.get(first).copied()
            && from < out.next_sequence()
            && out.facts.undone.len() < MAX_UNDONE
        {
            out.facts.undone.push(Undone { from, to: out.next_sequence() - 1 });
        }
        prompts.truncate(first);
    }
}

/// Gives a draft what every event takes from its record.
pub(super) fn stamped<'a>(draft: Draft<'a>, record: &Record<'_>, lane: Lane) -> Draft<'a> {
    Draft { timestamp: record.timestamp, lane, ..draft }
}
