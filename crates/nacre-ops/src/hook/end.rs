//! Runs at the end of a turn or a session: starts a sync in the background, and may ask the agent
//! to record what it learned.

use std::path::Path;

use jiff::Timestamp;
use nacre_traces::agents::trace_at;
use nacre_traces::transcript::injected::{ASK_TAG, marked};
use nacre_types::{HookEnd, HookEndRequest, HookReport};

use super::session::{SessionNotes, claim_question};
use super::upkeep::Stamp;
use crate::error::OpError;
use crate::host::Host;
use crate::sync::extract::is_worth_recording;

/// Minimum time between two syncs, in seconds.
const AFTER_TURN: i64 = 120;
const AFTER_SESSION: i64 = 10;

/// Longer sessions are not parsed here, because the user is waiting.
const MAX_TRACE_BYTES: u64 = 4 << 20;

const ASK: &str = "Before you stop: did this session settle something that later sessions should know, which the code and git do not \
say? A decision with its reason, a convention, a preference, a pitfall and what worked instead. If so, record it with Nacre's \
tool `memory_add`: at most three memories, each one claim in one sentence with the words of this session that prove it. If \
not, record nothing. Use at most 600 tokens for this, do no other work, and do not mention it unless something was recorded.";

pub fn end(host: &Host, request: &HookEndRequest) -> Result<HookReport, OpError> {
    let ask = ask(host, request)?;
    Ok(HookReport { is_due: is_due(host, request.end)?, ask, ..HookReport::default() })
}

/// Returns the prompt that asks the agent to record memories, or an empty string. It is sent at
/// most once per session, if the user has enabled it and the session seems worth recording.
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

/// Returns whether a sync is due. If so, updates the stamp, so that no other hook starts a sync.
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
    // If the clock was set back, the stamp is in the future and must not prevent syncs.
    let elapsed = now.duration_since(last).as_secs();
    if (0..least.max(stamp.back_off_seconds())).contains(&elapsed) {
        return Ok(false);
    }
    stamp.started(now).save(host)?;
    Ok(true)
}
