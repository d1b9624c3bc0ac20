//! A turn or a session ends: what is new is read in the background, and the agent may be asked to record what should last.

use std::path::Path;

use jiff::Timestamp;
use nacre_api::wire::{HookEnd, HookEndReport, HookEndRequest};
use nacre_core::transcript::injected::{ASK_TAG, marked};
use nacre_core::transcript::trace_at;
use nacre_engine::flows::extract::is_worth_recording;

use super::session::{SessionNotes, claim_question};
use super::upkeep::Stamp;
use crate::error::OpError;
use crate::host::Host;

/// How long after the last one a sync is due again, in seconds.
const AFTER_TURN: i64 = 120;
const AFTER_SESSION: i64 = 10;

/// A longer session is not read while somebody waits.
const MAX_TRACE_BYTES: u64 = 4 << 20;

/// What the agent is asked, and what it may spend on it.
const ASK: &str = "Before you stop: did this session settle something that later sessions should know, which the code and git do not \
say? A decision with its reason, a convention, a preference, a pitfall and what worked instead. If so, record it with Nacre's \
tool `memory_add`: at most three memories, each one claim in one sentence with the words of this session that prove it. If \
not, record nothing. Use at most 600 tokens for this, do no other work, and do not mention it unless something was recorded.";

pub fn end(host: &Host, request: &HookEndRequest) -> Result<HookEndReport, OpError> {
    let ask = ask(host, request)?;
    Ok(HookEndReport { is_due: is_due(host, request.end)?, ask })
}

/// What to ask the agent: once a session, where the person said yes, and only about a session that the gate lets pass.
fn ask(host: &Host, request: &HookEndRequest) -> Result<String, OpError> {
    let is_wanted = host.settings().hooks.ask_to_record && request.can_ask;
    let Some(trace) = request.trace.as_deref().filter(|_| is_wanted) else {
        return Ok(String::new());
    };
    let notes = SessionNotes::open(host, &request.session)?;
    if notes.is_asked() || request.end != HookEnd::Turn || host.project.is_none() {
        return Ok(String::new());
    }
    let path = host.environment.absolute(Path::new(trace));
    let is_short =
        path.metadata().is_ok_and(|file| file.is_file() && file.len() <= MAX_TRACE_BYTES);
    if !is_short || !is_worth_recording(&trace_at(&path)?)? {
        return Ok(String::new());
    }
    Ok(match claim_question(host, &request.session)? {
        true => marked(ASK_TAG, ASK),
        false => String::new(),
    })
}

/// Whether it is time for a sync; the stamp is set, so that no other hook starts one, too.
fn is_due(host: &Host, end: HookEnd) -> Result<bool, OpError> {
    if !host.settings().hooks.sync {
        return Ok(false);
    }
    let least = match end {
        HookEnd::Turn => AFTER_TURN,
        HookEnd::Session => AFTER_SESSION,
    };
    let now = host.now();
    let stamp = Stamp::read(host);
    let last: Timestamp = stamp.at;
    // A clock that was set back must not stop it for ever.
    let elapsed = now.duration_since(last).as_secs();
    if (0..least.max(stamp.back_off_seconds())).contains(&elapsed) {
        return Ok(false);
    }
    stamp.started(now).save(host)?;
    Ok(true)
}
