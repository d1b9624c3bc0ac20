//! Pushes memories and, on request, session transcripts to a team's server. Also handles pushes
//! from other machines.

use std::borrow::Cow;

use jiff::SignedDuration;
use nacre_memory::{
    Batch, Brought, ForeignMemory, Memory, MemoryError, MemoryType, Status, StoreArea, Trust,
};
use nacre_traces::agents::adapter_of;
use nacre_traces::agents::generic::{write_end, write_event, write_session};
use nacre_traces::catalog::{JobState, SessionFilter, SessionRow};
use nacre_traces::transcript::{SessionRole, Sink, TranscriptEvent, without_words};
use nacre_types::{
    EmptyRequest, HandOverRequest, ItemId, KeptMemory, MemoryChangesReport, MovedMemories,
    MovedMemory, OfferReport, OfferRequest, OfferedMemory, PushReport, PushRequest, PushState,
    PushedTranscripts, RefusedMemory, RunMode, Scope, TakeInReport, TakenMemory,
    TranscriptListReport, TranscriptPutReport, TranscriptPutRequest, TranscriptState,
};

use super::pull::MAX_TRANSCRIPT_BYTES;
use super::{Remote, SentTranscript, TeamState};
use crate::host::open_catalog;
use crate::prelude::*;
use crate::recording::CommandChange;
use crate::run::change::Reversal;

/// Maximum size of a request, which is well below the server's limit of one megabyte.
const MAX_BYTES: usize = 512 << 10;

/// Time limit for one push. The next push sends the remaining memories.
const MAX_TIME: Duration = Duration::from_secs(300);

pub fn push(host: &Host, request: &PushRequest, events: &Events) -> Result<PushReport> {
    let PushRequest { to, token, dry_run, transcripts, share } = request;
    let remote = Remote::open(host, to.as_deref(), token.as_deref())?;
    let mut state = remote.read_state()?;
    let (memories, known) = pending(&remote.scoped.store, &state)?;
    let mut report = PushReport {
        to: remote.url.clone(),
        project: remote.project.clone(),
        dry_run: *dry_run,
        known,
        waiting: memories.len(),
        ..PushReport::default()
    };
    let with_transcripts = *transcripts || *share || host.own_settings().push.transcripts;
    if *dry_run {
        if with_transcripts {
            push_transcripts(host, &remote, &mut state, &mut report, *share, events)?;
        }
        return Ok(report);
    }
    remote.keep(token.as_deref())?;
    let withdrawn = withdraw(&remote, &mut state, &mut report);
    if is_stopped(withdrawn, &mut report)? {
        return Ok(report);
    }
    remote.write_state(&state)?;
    let (begun, total) = (host.stopwatch(), memories.len() as u64);
    for part in parts(memories) {
        events.check_cancelled()?;
        if MAX_TIME < begun() {
            report.stopped = Some("The time limit for one push was reached".to_owned());
            break;
        }
        let sent = send(&remote, part, &mut state, &mut report);
        if is_stopped(sent, &mut report)? {
            break;
        }
        remote.write_state(&state)?;
        let done = total - report.waiting as u64;
        events.progress(done, total, 0);
    }
    if with_transcripts && report.stopped.is_none() {
        let pushed = push_transcripts(host, &remote, &mut state, &mut report, *share, events);
        is_stopped(pushed, &mut report)?;
        remote.write_state(&state)?;
    }
    Ok(report)
}

/// Returns whether the server is unavailable, in which case the next push sends the remaining
/// memories.
fn is_stopped(result: Result<()>, report: &mut PushReport) -> Result<bool> {
    match result {
        Err(error) if [ErrorCode::Unavailable, ErrorCode::Busy].contains(&error.code) => {
            report.stopped = Some(error.message);
            Ok(true)
        }
        result => result.map(|()| false),
    }
}

type Version = (MovedMemory, String);

/// Returns the memories to send, and the number of memories that are already on the server.
/// Untrusted memories from other machines are not forwarded.
fn pending(store: &Store, state: &TeamState) -> Result<(Vec<Version>, usize)> {
    let (mut memories, mut known) = (Vec::new(), 0);
    let mut ids = claims(store)?;
    ids.sort_unstable();
    for id in ids {
        let Some(memory) = moving(store, &id) else { continue };
        if store.trust_of(&memory).waits() {
            continue;
        }
        let before = state.sent.get(id.as_str()).cloned();
        let memory = to_moved_memory(store, &memory, before.clone());
        let hash = ContentHash::of(memory.text.as_bytes()).to_string();
        if before.as_ref() == Some(&hash) { known += 1 } else { memories.push((memory, hash)) }
    }
    Ok((memories, known))
}

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

fn send(
    remote: &Remote<'_>,
    part: Vec<Version>,
    state: &mut TeamState,
    report: &mut PushReport,
) -> Result<()> {
    let (memories, hashes): (Vec<MovedMemory>, Vec<String>) = part.into_iter().unzip();
    let request = MovedMemories { memories };
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

const PAGE: usize = 1000;

pub fn offer(host: &Host, request: &OfferRequest) -> Result<OfferReport> {
    let OfferRequest { after } = request;
    let store = host.project_store()?.ok_or_else(|| host.no_project())?.store;
    let mut ids = claims(&store)?;
    ids.retain(|id| after.as_deref().is_none_or(|after| after < id.as_str()));
    ids.sort_unstable();
    let more = PAGE < ids.len();
    ids.truncate(PAGE);
    let memories = ids.iter().filter_map(|id| {
        let memory = moving(&store, id)?;
        let hash = ContentHash::of(memory.document.as_str().as_bytes()).to_string();
        Some(OfferedMemory { id: id.to_string(), hash })
    });
    // A page without active memories is not necessarily the last one.
    let memories: Vec<OfferedMemory> = memories.collect();
    let last = ids.last().filter(|_| more).map(ToString::to_string);
    Ok(OfferReport { memories, more: last })
}

/// Returns the requested memories, except those that have been removed in the meantime.
pub fn hand_over(host: &Host, request: &HandOverRequest) -> Result<MovedMemories> {
    let HandOverRequest { ids } = request;
    if MAX_MEMORIES < ids.len() {
        return Err(OpError::usage(format!(
            "A request can contain at most {MAX_MEMORIES} memories"
        )));
    }
    let store = host.project_store()?.ok_or_else(|| host.no_project())?.store;
    let ids = ids.iter().filter_map(|id| id.parse::<MemoryId>().ok());
    let memories = ids.filter_map(|id| Some(to_moved_memory(&store, &moving(&store, &id)?, None)));
    Ok(MovedMemories { memories: memories.collect() })
}

pub(super) fn claims(store: &Store) -> Result<Vec<MemoryId>> {
    let located = store.locate_all()?.into_iter();
    let claims =
        located.filter(|at| at.area == StoreArea::Active && at.memory_type != MemoryType::Summary);
    Ok(claims.map(|at| at.id).collect())
}

/// Returns a memory if it may be sent to another machine. It must be active, and must not contain
/// instructions that the user has not approved.
fn moving(store: &Store, id: &MemoryId) -> Option<Memory> {
    let memory = store.get(id.as_str()).ok().filter(|memory| memory.at.id == *id)?;
    let is_claim =
        memory.at.area == StoreArea::Active && memory.at.memory_type != MemoryType::Summary;
    let may_go = memory.status == Status::Active && store.trust_of(&memory) != Trust::Quarantined;
    (is_claim && may_go).then_some(memory)
}

/// Converts a memory for sending. Removes secrets, because the user may have written one into the
/// file.
fn to_moved_memory(store: &Store, memory: &Memory, replaces: Option<String>) -> MovedMemory {
    let evidence = store.evidence(&memory.at.id).ok().flatten();
    let evidence = evidence.and_then(|evidence| serde_json::to_string(&evidence).ok());
    let clean = |text: &str| store.redact_text(&store.shareable(text));
    MovedMemory {
        id: memory.at.id.to_string(),
        r#type: memory.at.memory_type,
        text: clean(memory.document.as_str()),
        evidence: evidence.as_deref().map(clean),
        replaces,
    }
}

pub(super) const MAX_MEMORIES: usize = 100;

pub fn take_in(host: &Host, request: &MovedMemories) -> Result<TakeInReport> {
    let MovedMemories { memories } = request;
    if MAX_MEMORIES < memories.len() {
        return Err(OpError::usage(format!(
            "A request can contain at most {MAX_MEMORIES} memories"
        )));
    }
    let scoped = host.project_store()?.ok_or_else(|| host.no_project())?;
    let mut batch = scoped.store.begin(&host.owner("push"), host.settings().lock.wait)?;
    let mut taken: Vec<TakenMemory> = Vec::new();
    for memory in memories {
        let is_repeated = taken.iter().any(|before| before.id == memory.id);
        let state = if is_repeated { PushState::Invalid } else { take_one(&mut batch, memory)? };
        taken.push(TakenMemory { id: memory.id.clone(), state });
    }
    if taken.iter().any(|memory| memory.state == PushState::Taken) {
        CommandChange::new(RunMode::Import, "push").commit(host, &scoped, batch, Reversal::Plan)?;
    }
    Ok(TakeInReport { memories: taken })
}

/// Stages a received memory. If the memory is invalid, reports this in its state, so that the other
/// memories are not affected.
fn take_one(batch: &mut Batch<'_>, memory: &MovedMemory) -> Result<PushState> {
    let replaces = memory.replaces.as_deref().and_then(|hash| hash.parse().ok());
    Ok(match bring(batch, memory, replaces) {
        Ok(Some(Brought::New | Brought::Updated)) => PushState::Taken,
        Ok(Some(Brought::Same)) => PushState::Known,
        Ok(Some(Brought::Differs)) => PushState::Differs,
        Ok(Some(Brought::Forgotten)) => PushState::Forgotten,
        Err(error @ (MemoryError::Fs(_) | MemoryError::Unreadable(_))) => return Err(error.into()),
        Ok(None) | Err(_) => PushState::Invalid,
    })
}

/// Converts a received memory. Returns `None` if the memory is invalid. Summaries are not accepted,
/// because they describe what individual users did and asked for.
pub(super) fn bring(
    batch: &mut Batch<'_>,
    memory: &MovedMemory,
    replaces: Option<ContentHash>,
) -> Result<Option<Brought>, MemoryError> {
    let Ok(id) = memory.id.parse::<MemoryId>() else { return Ok(None) };
    let MovedMemory { r#type: memory_type, text, evidence, .. } = memory;
    if *memory_type == MemoryType::Summary {
        return Ok(None);
    }
    let evidence = evidence.as_deref();
    let foreign = ForeignMemory { id: &id, memory_type: *memory_type, text, evidence };
    batch.bring(&foreign, replaces).map(Some)
}

const MAX_WITHDRAWN: usize = 100;

/// Removes forgotten memories from the server. If the token does not permit this, reports the
/// memory, and the next push tries again.
fn withdraw(remote: &Remote<'_>, state: &mut TeamState, report: &mut PushReport) -> Result<()> {
    let ids: Vec<String> = state.forgotten.iter().take(MAX_WITHDRAWN).cloned().collect();
    for id in ids {
        let body = serde_json::json!({ "scope": Scope::ProjectOnly });
        let path = format!("/api/memories/{id}/forget");
        let asked: Result<MemoryChangesReport> = remote.post(&path, &body);
        match asked {
            Ok(_) => report.withdrawn.push(id.clone()),
            Err(error) if error.code == ErrorCode::NotFound => report.withdrawn.push(id.clone()),
            Err(error) if error.code == ErrorCode::Refused => {
                report.kept.push(KeptMemory { id, reason: error.message });
                continue;
            }
            Err(error) => return Err(error),
        }
        state.forgotten.remove(&id);
    }
    Ok(())
}

const PART_BYTES: usize = 256 << 10;

/// Maximum number of sessions per push. The next push sends the rest.
const MAX_SESSIONS: usize = 200;
const MAX_PUSH_BYTES: u64 = 64 << 20;

/// Minimum time since a session's last activity. More recent sessions are not sent yet.
const RESTING: SignedDuration = SignedDuration::from_mins(5);

/// Pushes transcripts. Saves the state after each session, so that an interrupted push can be
/// continued.
fn push_transcripts(
    host: &Host,
    remote: &Remote<'_>,
    state: &mut TeamState,
    report: &mut PushReport,
    share: bool,
    events: &Events,
) -> Result<()> {
    let (waiting, known) = pending_transcripts(host, state, share)?;
    let mut pushed =
        PushedTranscripts { known, waiting: waiting.len(), ..PushedTranscripts::default() };
    let mut n_bytes = 0;
    let mut ended = Ok(());
    for row in waiting.into_iter().take(MAX_SESSIONS) {
        if report.dry_run || MAX_PUSH_BYTES < n_bytes {
            break;
        }
        events.check_cancelled()?;
        pushed.waiting -= 1;
        let (key, seen) = (row.key.clone(), seen_of(&row));
        let Some(outgoing) = outgoing(&remote.scoped.store, row, share) else {
            // Prevents the session from being read again until it changes.
            let sent = SentTranscript { hash: String::new(), seen, shared: true };
            state.transcripts.insert(key.clone(), sent);
            pushed.refused.push(key);
            continue;
        };
        n_bytes += outgoing.text.len() as u64;
        match send_transcript(remote, &outgoing) {
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
        let hash = outgoing.hash;
        state.transcripts.insert(key, SentTranscript { hash, seen, shared: share });
        remote.write_state(state)?;
    }
    report.transcripts = Some(pushed);
    ended
}

/// Returns the sessions to send, and the number of sessions that are up to date on the server.
/// Sessions skipped by the user are not sent.
fn pending_transcripts(
    host: &Host,
    state: &TeamState,
    share: bool,
) -> Result<(Vec<SessionRow>, usize)> {
    let project = host.project_key();
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

/// Returns a value that changes whenever the session does. Does not read the trace.
fn seen_of(row: &SessionRow) -> String {
    let last = row.facts.last_activity.map(|last| last.to_string()).unwrap_or_default();
    format!("{last} {}", row.report.lines)
}

/// Prepares a transcript for sending. Removes secrets, excluded words and data about this machine.
/// Returns `None` if the transcript is too large or the trace cannot be read.
fn outgoing(store: &Store, row: SessionRow, share: bool) -> Option<TranscriptPutRequest> {
    let clean = |text: &str| store.redact_text(&store.shareable(text));
    let mut events: Vec<u8> = Vec::new();
    let mut sink = |event: TranscriptEvent| {
        if (events.len() as u64) <= MAX_TRANSCRIPT_BYTES {
            let event =
                event.without_words(store.words()).with_text(|text| Cow::Owned(clean(text)));
            // Writing to a `Vec` cannot fail.
            let _ = write_event(&event, &mut events);
        }
    };
    let adapter = adapter_of(row.trace.source.agent);
    let read = adapter.read(&row.trace, None, Sink::everything(&mut sink)).ok()?;
    let mut facts = without_words(read.facts, store.words());
    // Local paths must not leave this machine.
    (facts.cwd, facts.other_cwds) = (None, Vec::new());
    facts.title = facts.title.as_deref().map(clean);
    let mut bytes = Vec::new();
    let _ = write_session(&facts, &mut bytes);
    bytes.append(&mut events);
    let _ = write_end(&facts, &mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let hash = ContentHash::of(text.as_bytes()).to_string();
    let agent = facts.agent.as_str().to_owned();
    let (bytes, session) = (text.len() as u64, row.key);
    let whole = TranscriptPutRequest { agent, session, hash, bytes, offset: 0, text, share };
    (bytes <= MAX_TRANSCRIPT_BYTES).then_some(whole)
}

/// Sends a transcript, starting at the position that the server reports.
fn send_transcript(remote: &Remote<'_>, whole: &TranscriptPutRequest) -> Result<TranscriptState> {
    let text = &whole.text;
    let mut offset = 0;
    // The first response can reset the position, and each later response advances it. The number of
    // requests is limited in case the server is faulty.
    for _ in 0..=text.len().div_ceil(PART_BYTES / 2) + 1 {
        let end = text.floor_char_boundary((offset + PART_BYTES).min(text.len()));
        let request = TranscriptPutRequest {
            agent: whole.agent.clone(),
            session: whole.session.clone(),
            hash: whole.hash.clone(),
            offset: offset as u64,
            text: text.get(offset..end).unwrap_or_default().to_owned(),
            ..*whole
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

pub fn sent(host: &Host, _: &EmptyRequest) -> Result<TranscriptListReport> {
    Remote::open(host, None, None)?.get("/api/transcripts", &[])
}

/// Withdraws a transcript from the server. It is not sent again.
pub fn withdraw_transcript(host: &Host, request: &ItemId) -> Result<ItemId> {
    let remote = Remote::open(host, None, None)?;
    let is_plain = request.id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if !is_plain {
        return Err(OpError::not_found("Transcript not found").hint("nacre push --list"));
    }
    let known: TranscriptListReport = remote.get("/api/transcripts", &[])?;
    let path = format!("/api/transcripts/{}/forget", request.id);
    let report: ItemId = remote.post(&path, &serde_json::json!({}))?;
    if let Some(entry) = known.transcripts.into_iter().find(|entry| entry.id == request.id) {
        let mut state = remote.read_state()?;
        state.transcripts.remove(&entry.session);
        state.withdrawn.insert(entry.session);
        remote.write_state(&state)?;
    }
    Ok(report)
}
