//! What a reader of a Claude Code transcript must remember between lines.
//!
//! Everything is bounded, and small enough to travel inside a watermark.

use serde::{Deserialize, Serialize};

use super::super::calls::{OpenCall, OpenCalls, RecentMap, text_hash};
use super::super::chain::Chain;
use super::super::emit::Emitter;
use super::super::event::Lane;
use super::super::facts::{Ending, LinkKind, SessionRole};
use super::super::names::short_name;
use super::record::{Record, Usage};

const MAX_MESSAGES: usize = 4096;
const MAX_QUEUED: usize = 256;
/// Of each of the above, what a watermark holds.
const CARRIED: usize = 128;

/// How the talk stood at the last record that says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) enum Turn {
    #[default]
    Unknown,
    Open,
    Closed,
}

/// Reads one transcript.
pub(super) struct Reader {
    pub(super) calls: OpenCalls,
    pub(super) turn: Turn,
    /// Prompts that were queued and not yet seen as messages, with how often.
    queued: RecentMap<u32>,
    /// Usage already counted for a model message that comes in several lines.
    usage: RecentMap<[u64; 4]>,
    /// Records and prompts of the main lane.
    chain: Chain,
    /// The prompt of the current record is among them.
    pub(super) has_noted_prompt: bool,
    is_named: bool,
}

#[derive(Default, Serialize, Deserialize)]
struct Carry {
    calls: Vec<(u64, OpenCall)>,
    turn: Turn,
    queued: Vec<(u64, u32)>,
    usage: Vec<(u64, [u64; 4])>,
    chain: Vec<(u64, u64)>,
    prompts: Vec<u64>,
    is_named: bool,
}

impl Reader {
    pub(super) fn new(carry: Option<&str>) -> Self {
        let carry: Carry =
            carry.and_then(|carry| serde_json::from_str(carry).ok()).unwrap_or_default();
        Self {
            calls: OpenCalls::restore(carry.calls),
            turn: carry.turn,
            queued: RecentMap::restore(MAX_QUEUED, carry.queued),
            usage: RecentMap::restore(MAX_MESSAGES, carry.usage),
            chain: Chain::restore(carry.chain, carry.prompts),
            has_noted_prompt: false,
            is_named: carry.is_named,
        }
    }

    pub(super) fn to_carry(&self) -> String {
        let (chain, prompts) = self.chain.carry();
        let carry = Carry {
            calls: self.calls.carry(),
            turn: self.turn,
            queued: self.queued.youngest(CARRIED),
            usage: self.usage.youngest(CARRIED),
            chain,
            prompts,
            is_named: self.is_named,
        };
        serde_json::to_string(&carry).unwrap_or_default()
    }

    pub(super) fn ending(&self) -> Ending {
        match self.turn {
            Turn::Closed if self.calls.is_empty() => Ending::Finished,
            Turn::Closed | Turn::Open => Ending::Active,
            Turn::Unknown => Ending::Unknown,
        }
    }

    /// The lane of a record.
    pub(super) fn lane(record: &Record<'_>, out: &Emitter<'_>) -> Lane {
        if record.is_forked {
            Lane::Inherited
        } else if record.is_sidechain || out.facts.role != SessionRole::Main {
            Lane::Sidechain
        } else {
            Lane::Main
        }
    }

    /// Takes over what the envelope of a record says about the session.
    pub(super) fn note_envelope(&mut self, record: &Record<'_>, out: &mut Emitter<'_>) {
        if !self.is_named && !record.session.is_empty() {
            self.is_named = true;
            name_session(record, out);
        }
        if record.is_forked {
            out.note_link(LinkKind::ForkOf, record.forked_from, None);
        }
        if let Some(cwd) = record.cwd {
            out.note_cwd(&cwd.decode());
        }
        // A detached head has no name of its own.
        if let Some(branch) = record.branch.filter(|branch| !branch.is("HEAD")) {
            out.note_branch(&branch.decode());
        }
        out.note_version(record.version);
        if let Some(timestamp) = record.timestamp
            && !record.is_forked
        {
            out.note_time(timestamp);
        }
    }

    /// Remembers where a record of the main lane ended, so that a later prompt can be seen to
    /// start again from before it.
    pub(super) fn note_chain(&mut self, record: &Record<'_>, out: &Emitter<'_>) {
        if Self::lane(record, out) == Lane::Main {
            self.chain.note(record.uuid, out);
        }
    }

    /// Notes that a prompt of the person starts here. One that hangs on a record before earlier
    /// prompts means that the person rewound the talk: those are taken back.
    pub(super) fn note_prompt(&mut self, record: &Record<'_>, out: &mut Emitter<'_>) {
        self.chain.note_prompt(record.parent, out);
    }

    /// Remembers a queued prompt, which comes again as a message when the agent takes it up.
    pub(super) fn note_queued(&mut self, text: &str) {
        let key = text_hash(text.trim());
        let count = self.queued.get(key).copied().unwrap_or(0);
        self.queued.insert(key, count + 1);
    }

    /// Whether a message is a queued prompt that was given already.
    pub(super) fn was_queued(&mut self, text: &str) -> bool {
        if self.queued.is_empty() {
            return false;
        }
        let key = text_hash(text.trim());
        match self.queued.get(key).copied() {
            None => false,
            Some(1) => self.queued.remove(key).is_some(),
            Some(count) => {
                self.queued.insert(key, count - 1);
                true
            }
        }
    }

    /// Counts the tokens of a model message once, although each of its lines repeats them and only
    /// the last has the final number.
    pub(super) fn note_usage(&mut self, id: &str, usage: Usage, out: &mut Emitter<'_>) {
        let now = [usage.input, usage.output, usage.cache_read, usage.cache_write];
        let key = text_hash(id);
        let before = self.usage.get(key).copied().unwrap_or_default();
        let mut most = before;
        let tokens = &mut out.facts.tokens;
        let totals =
            [&mut tokens.input, &mut tokens.output, &mut tokens.cached, &mut tokens.cache_write];
        for (total, (most, now)) in totals.into_iter().zip(most.iter_mut().zip(now)) {
            *total = total.saturating_add(now.saturating_sub(*most));
            *most = now.max(*most);
        }
        if !id.is_empty() {
            self.usage.insert(key, most);
        }
    }
}

/// Takes the session's id from its records where the file's name is not one.
fn name_session(record: &Record<'_>, out: &mut Emitter<'_>) {
    match out.facts.role {
        SessionRole::SubAgent | SessionRole::Helper => {
            out.note_link(LinkKind::Parent, record.session, None);
            out.facts.id = short_name(&format!("{}@{}", out.facts.id, record.session));
        }
        SessionRole::Main if !is_uuid(&out.facts.id) => {
            out.facts.id = short_name(record.session);
        }
        SessionRole::Main => {}
    }
}

fn is_uuid(name: &str) -> bool {
    name.len() == 36
        && name.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}
