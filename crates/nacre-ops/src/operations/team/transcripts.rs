//! Sends the transcripts of a project's sessions to a server, without secrets. A person chooses that; nothing does it by itself.

use std::borrow::Cow;

use jiff::SignedDuration;
use nacre_api::wire::{
    PushReport, PushedTranscripts, TranscriptForgetReport, TranscriptListReport,
    TranscriptListRequest, TranscriptPutReport, TranscriptPutRequest, TranscriptRequest,
    TranscriptState,
};
use nacre_core::base::ContentHash;
use nacre_core::catalog::{JobState, SessionFilter, SessionRow};
use nacre_core::memory::Store;
use nacre_core::transcript::render::{write_end, write_event, write_session};
use nacre_core::transcript::{ADAPTERS, Event, SessionRole, Sink};
use serde::Serialize;

use super::inbox::MAX_BYTES;
use super::remote::Remote;
use crate::error::OpError;
use crate::events::Events;
use crate::host::{Host, open_catalog};
use crate::operations::team_state::{self as state, SentTranscript, TeamState};

/// The most of a transcript in one request.
const PART_BYTES: usize = 256 << 10;

/// Sessions of one push, and bytes. The next one goes on.
const MAX_SESSIONS: usize = 200;
const MAX_PUSH_BYTES: u64 = 64 << 20;

/// A session that went on a moment ago is sent when it rests.
const RESTING: SignedDuration = SignedDuration::from_mins(5);

/// A transcript on its way.
struct Outgoing {
    session: String,
    agent: String,
    text: String,
    hash: String,
}

/// Sends what the server does not have. What was sent is written down after each session, so that a push that was stopped goes on.
pub(super) fn push_transcripts(
    host: &Host,
    remote: &Remote<'_>,
    state: &mut TeamState,
    report: &mut PushReport,
    (share, events): (bool, &Events),
) -> Result<(), OpError> {
    let (waiting, known) = pending(host, state, share)?;
    let mut pushed =
        PushedTranscripts { known, waiting: waiting.len(), ..PushedTranscripts::default() };
    let mut n_bytes = 0;
    let mut ended = Ok(());
    for row in waiting.into_iter().take(MAX_SESSIONS) {
        if report.dry_run || MAX_PUSH_BYTES < n_bytes {
            break;
        }
        events.cancel().check()?;
        pushed.waiting -= 1;
        let (key, seen) = (row.key.clone(), seen_of(&row));
        let Some(outgoing) = outgoing(&remote.scoped.store, row) else {
            // It is not read again before it changes.
            let sent = SentTranscript { hash: String::new(), seen, shared: true };
            state.transcripts.insert(key.clone(), sent);
            pushed.refused.push(key);
            continue;
        };
        n_bytes += outgoing.text.len() as u64;
        match send(remote, &outgoing, share) {
            Ok(TranscriptState::Taken) => pushed.sent.push(key.clone()),
            Ok(TranscriptState::Known) => pushed.known += 1,
            Ok(
                TranscriptState::Invalid
                | TranscriptState::TooLarge
                | TranscriptState::Full
                | TranscriptState::Partial,
            ) => {
                pushed.refused.push(key);
                continue;
            }
            Err(error) => {
                pushed.waiting += 1;
                ended = Err(error);
                break;
            }
        }
        let Outgoing { hash, .. } = outgoing;
        state.transcripts.insert(key, SentTranscript { hash, seen, shared: share });
        state::write(host, (&remote.url, &remote.project), state)?;
    }
    report.transcripts = Some(pushed);
    ended
}

/// The sessions of the project that the server does not have as they are now, and how many it has. What a person skipped stays here.
fn pending(
    host: &Host,
    state: &TeamState,
    share: bool,
) -> Result<(Vec<SessionRow>, usize), OpError> {
    let project = host.project.as_ref().map(|project| project.path.display().to_string());
    let filter = SessionFilter { project, ..SessionFilter::default() };
    let rested = host.now() - RESTING;
    let mut rows = open_catalog(host)?.sessions(&filter)?;
    rows.retain(|row| {
        let is_at_rest = row.facts.last_activity.is_none_or(|last| last <= rested);
        let is_wanted = row.state != JobState::Skipped && row.facts.role == SessionRole::Main;
        is_at_rest && is_wanted && !state.withdrawn.contains(&row.key)
    });
    let mut known = 0;
    rows.retain(|row| {
        let sent = state.transcripts.get(&row.key).filter(|sent| sent.seen == seen_of(row));
        let sent = sent.filter(|sent| sent.shared || !share);
        known += usize::from(sent.is_some_and(|sent| !sent.hash.is_empty()));
        sent.is_none()
    });
    Ok((rows, known))
}

/// What tells one state of a session from the next without reading it.
fn seen_of(row: &SessionRow) -> String {
    let last = row.facts.last_activity.map(|last| last.to_string()).unwrap_or_default();
    format!("{last} {}", row.report.lines)
}

/// The transcript as others may have it: no secrets, no words that the person keeps out, nothing that names this machine. `None` where it
/// is too large, or its trace cannot be read.
fn outgoing(store: &Store, row: SessionRow) -> Option<Outgoing> {
    let clean = |text: &str| store.redacted(&store.shareable(text));
    let mut events: Vec<u8> = Vec::new();
    let mut sink = |event: Event| {
        if (events.len() as u64) <= MAX_BYTES {
            let event =
                event.without_words(store.words()).with_text(|text| Cow::Owned(clean(text)));
            // A `Vec` takes everything.
            let _ = write_event(&event, &mut events);
        }
    };
    let adapter = ADAPTERS.iter().find(|adapter| adapter.agent() == row.trace.source.agent)?;
    let read = adapter.read(&row.trace, None, Sink::everything(&mut sink)).ok()?;
    let mut facts = read.facts.without_words(store.words());
    // Where it was on this machine is nobody else's.
    (facts.cwd, facts.other_cwds) = (None, Vec::new());
    facts.title = facts.title.as_deref().map(clean);
    let mut bytes = Vec::new();
    let _ = write_session(&facts, &mut bytes);
    bytes.append(&mut events);
    let _ = write_end(&facts, &mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let hash = ContentHash::of(text.as_bytes()).to_string();
    let agent = facts.agent.as_str().to_owned();
    (text.len() as u64 <= MAX_BYTES).then_some(Outgoing { session: row.key, agent, text, hash })
}

/// Sends a transcript piece by piece, from where the server has it.
fn send(remote: &Remote<'_>, outgoing: &Outgoing, share: bool) -> Result<TranscriptState, OpError> {
    let Outgoing { session, agent, text, hash, .. } = outgoing;
    let mut offset = 0;
    // Each answer moves on, and one says where to begin; a server that does neither is not believed.
    for _ in 0..=text.len().div_ceil(PART_BYTES / 2) + 1 {
        let end = text.floor_char_boundary((offset + PART_BYTES).min(text.len()));
        let request = TranscriptPutRequest {
            agent: agent.clone(),
            session: session.clone(),
            hash: hash.clone(),
            bytes: text.len() as u64,
            offset: offset as u64,
            text: text.get(offset..end).unwrap_or_default().to_owned(),
            share,
        };
        let answer: TranscriptPutReport = remote.post("/api/transcripts", &request)?;
        let received = usize::try_from(answer.received).unwrap_or(usize::MAX);
        let goes_on = received < text.len() && text.is_char_boundary(received);
        if answer.state != TranscriptState::Partial || !goes_on {
            return Ok(answer.state);
        }
        offset = received;
    }
    Ok(TranscriptState::Invalid)
}

/// The transcripts on the server that this machine's token may read.
pub fn sent(host: &Host, _: &TranscriptListRequest) -> Result<TranscriptListReport, OpError> {
    Remote::open(host, None, None)?.get("/api/transcripts", &[])
}

/// Has the server forget a transcript. It does not go again.
pub fn withdraw_transcript(
    host: &Host,
    request: &TranscriptRequest,
) -> Result<TranscriptForgetReport, OpError> {
    /// The name is in the path.
    #[derive(Serialize)]
    struct Nothing {}

    let remote = Remote::open(host, None, None)?;
    let is_plain = request.id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if !is_plain {
        return Err(OpError::not_found("There is no such transcript").hint("nacre push --list"));
    }
    let known: TranscriptListReport = remote.get("/api/transcripts", &[])?;
    let path = format!("/api/transcripts/{}/forget", request.id);
    let report: TranscriptForgetReport = remote.post(&path, &Nothing {})?;
    if let Some(entry) = known.transcripts.into_iter().find(|entry| entry.id == request.id) {
        let mut state = state::read(host, &remote.url, &remote.project)?;
        state.transcripts.remove(&entry.session);
        state.withdrawn.insert(entry.session);
        state::write(host, (&remote.url, &remote.project), &state)?;
    }
    Ok(report)
}
