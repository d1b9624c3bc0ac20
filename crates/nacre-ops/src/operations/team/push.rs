//! Sends the memories of a project to a server, and transcripts where the person wants that.
//!
//! What was sent is written down after each request, so that a push that was stopped, or had no network, goes on with the next one.

use std::time::Duration;

use nacre_api::wire::{
    ErrorCode, Event, MovedMemory, PushReport, PushRequest, PushState, RefusedMemory, TakeInReport,
    TakeInRequest,
};
use nacre_core::base::ContentHash;
use nacre_core::memory::Store;

use super::offer::{claims, moved, moving};
use super::remote::Remote;
use super::take_in::MAX_MEMORIES;
use super::transcripts::push_transcripts;
use super::withdraw::withdraw;
use crate::error::OpError;
use crate::events::Events;
use crate::host::Host;
use crate::operations::team_state::{self as state, TeamState};

/// What one request holds, in bytes; a server reads a megabyte.
const MAX_BYTES: usize = 512 << 10;

/// How long one push may take. The next one goes on.
const MAX_TIME: Duration = Duration::from_secs(300);

pub fn push(host: &Host, request: &PushRequest, events: &Events) -> Result<PushReport, OpError> {
    let PushRequest { to, token, dry_run, transcripts, share } = request;
    let remote = Remote::open(host, to.as_deref(), token.as_deref())?;
    let mut state = state::read(host, &remote.url, &remote.project)?;
    let Pending { memories, known } = pending(&remote.scoped.store, &state)?;
    let mut report = PushReport {
        to: remote.url.clone(),
        project: remote.project.clone(),
        dry_run: *dry_run,
        sent: Vec::new(),
        known,
        refused: Vec::new(),
        waiting: memories.len(),
        withdrawn: Vec::new(),
        kept: Vec::new(),
        transcripts: None,
        stopped: None,
    };
    let with_transcripts = *transcripts || *share || host.own_settings().push.transcripts;
    if *dry_run {
        if with_transcripts {
            push_transcripts(host, &remote, &mut state, &mut report, (*share, events))?;
        }
        return Ok(report);
    }
    remote.keep(token.as_deref())?;
    match withdraw(&remote, &mut state, &mut report) {
        Err(error) if is_away(&error) => {
            report.stopped = Some(error.message);
            return Ok(report);
        }
        result => result?,
    }
    state::write(host, (&remote.url, &remote.project), &state)?;
    let (begun, total) = (host.stopwatch(), memories.len() as u64);
    for part in parts(memories) {
        events.cancel().check()?;
        if MAX_TIME < begun() {
            report.stopped = Some("The time for one push is over".to_owned());
            break;
        }
        match send(&remote, part, &mut state, &mut report) {
            // Nothing is lost: the next push goes on.
            Err(error) if is_away(&error) => {
                report.stopped = Some(error.message);
                break;
            }
            result => result?,
        }
        state::write(host, (&remote.url, &remote.project), &state)?;
        let done = total - report.waiting as u64;
        events.emit(Event::Progress { done, total, bytes: 0 });
    }
    if with_transcripts && report.stopped.is_none() {
        match push_transcripts(host, &remote, &mut state, &mut report, (*share, events)) {
            Err(error) if is_away(&error) => report.stopped = Some(error.message),
            result => result?,
        }
        state::write(host, (&remote.url, &remote.project), &state)?;
    }
    Ok(report)
}

fn is_away(error: &OpError) -> bool {
    [ErrorCode::Unavailable, ErrorCode::Busy].contains(&error.code)
}

/// A memory, and the hash of the version that it is.
type Version = (MovedMemory, String);

/// What the server does not have yet, and how much it has.
struct Pending {
    memories: Vec<Version>,
    known: usize,
}

/// Memories that hold and that this machine trusts: what others sent is theirs to send.
fn pending(store: &Store, state: &TeamState) -> Result<Pending, OpError> {
    let (mut memories, mut known) = (Vec::new(), 0);
    let mut ids = claims(store)?;
    ids.sort_unstable();
    for id in ids {
        let Some(memory) = moving(store, &id) else { continue };
        if store.trust_of(&memory).waits() {
            continue;
        }
        let before = state.sent.get(id.as_str()).cloned();
        let memory = moved(store, &memory, before.clone());
        let hash = ContentHash::of(memory.text.as_bytes()).to_string();
        match before.as_ref() == Some(&hash) {
            true => known += 1,
            false => memories.push((memory, hash)),
        }
    }
    Ok(Pending { memories, known })
}

/// Cuts a list so that each part fits into one request.
fn parts(memories: Vec<Version>) -> Vec<Vec<Version>> {
    let mut parts: Vec<Vec<Version>> = Vec::new();
    let mut n_bytes = 0;
    for (memory, hash) in memories {
        let size = memory.text.len() + memory.evidence.as_ref().map_or(0, String::len);
        n_bytes += size;
        match parts.last_mut() {
            Some(part) if part.len() < MAX_MEMORIES && n_bytes <= MAX_BYTES => {
                part.push((memory, hash));
            }
            Some(_) | None => {
                n_bytes = size;
                parts.push(vec![(memory, hash)]);
            }
        }
    }
    parts
}

/// Sends a part, and notes what became of it.
fn send(
    remote: &Remote<'_>,
    part: Vec<Version>,
    state: &mut TeamState,
    report: &mut PushReport,
) -> Result<(), OpError> {
    let (memories, hashes): (Vec<MovedMemory>, Vec<String>) = part.into_iter().unzip();
    let request = TakeInRequest { memories };
    let taken: TakeInReport = remote.post("/api/push", &request)?;
    for (memory, hash) in request.memories.into_iter().zip(hashes) {
        let id = memory.id;
        let found = taken.memories.iter().find(|taken| taken.id == id);
        let reason = found.map_or(PushState::Invalid, |taken| taken.state);
        report.waiting = report.waiting.saturating_sub(1);
        match reason {
            PushState::Taken => {
                state.sent.insert(id.clone(), hash);
                report.sent.push(id);
            }
            PushState::Known => {
                state.sent.insert(id, hash);
                report.known += 1;
            }
            PushState::Differs | PushState::Forgotten | PushState::Invalid => {
                report.refused.push(RefusedMemory { id, reason });
            }
        }
    }
    Ok(())
}
