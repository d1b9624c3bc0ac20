//! Adds many memories as one change. Each line of the input is a JSON object with the fields of
//! [`MemoryAddRequest`].

use nacre_memory::{Batch, MemoryType, StoreArea};
use nacre_types::{
    DropReason, MemoryAddLinesReport, MemoryAddRequest, RunMode, Scope, SkippedLine,
};

use super::add::{draft_added, explain_drop, stage_added, warn_unquoted};
use super::change::warn_redacted;
use crate::prelude::*;
use crate::recording::CommandChange;
use crate::run::change::Reversal;

/// The undo plan contains each text twice, escaped, and is read only if it is at most 64 MiB.
pub const MAX_LINES_BYTES: usize = 8 << 20;

/// An undo plan has at most 50,000 steps, and adding a memory takes up to four of them.
const MAX_LINES: usize = 10_000;

/// Twice the maximum size of a memory file, because JSON escapes some characters.
const MAX_LINE_BYTES: usize = 128 << 10;

/// Adds a memory for each line. Lines that are malformed, contain a secret or repeat a memory are
/// skipped.
pub fn add_lines(
    host: &Host,
    text: &[u8],
    scope: Option<Scope>,
    events: &Events,
) -> Result<MemoryAddLinesReport> {
    let numbered = text.split(|byte| *byte == b'\n').zip(1..);
    let written = numbered.filter(|(line, _)| !line.trim_ascii().is_empty());
    let lines: Vec<(&[u8], usize)> = written.collect();
    if MAX_LINES_BYTES < text.len() || MAX_LINES < lines.len() {
        let megabytes = MAX_LINES_BYTES >> 20;
        let message =
            format!("The input exceeds the limit of {MAX_LINES} lines or {megabytes} MiB");
        return Err(OpError::new(ErrorCode::TooLarge, message).hint("Split it into several files"));
    }
    let scoped = host.store_to_write(scope)?;
    let store = &scoped.store;
    let mut known = known_claims(store)?;
    let mut batch = store.begin(&host.owner("memory add"), host.settings().lock.wait)?;
    warn_unquoted(host, events);
    let (mut ids, mut skipped) = (Vec::new(), Vec::new());
    for (n_done, (line, number)) in lines.iter().enumerate() {
        events.progress(n_done as u64, lines.len() as u64, 0);
        match stage_line(host, store, &mut batch, &mut known, line) {
            Ok(id) => ids.push(id.to_string()),
            // The disk failed, so the other lines would fail, too.
            Err(error) if error.code == ErrorCode::Failed => return Err(error),
            Err(error) => skipped.push(SkippedLine { line: *number, failure: error.into() }),
        }
    }
    let command = CommandChange::new(RunMode::Memory, "memory add --from");
    if !ids.is_empty() {
        let redacted = batch.redactions().clone();
        command.commit(host, &scoped, batch, Reversal::Plan)?;
        warn_redacted(events, &redacted);
    }
    Ok(MemoryAddLinesReport { ids, skipped, change: command.id() })
}

type KnownClaims = BTreeMap<ContentHash, MemoryId>;

/// Maps the claims that need not be added again to their memories.
fn known_claims(store: &Store) -> Result<KnownClaims> {
    let mut files = store.locate_all()?;
    files.retain(|at| at.area == StoreArea::Active && at.memory_type != MemoryType::Summary);
    let claims = store.map_all(&files, |memory| {
        let memory = memory.ok()?;
        // A memory from another machine does not make the user's own words redundant.
        let is_known = !memory.says_overturned() && !store.trust_of(&memory).waits();
        let claim = store.claim_hash(&memory.title, memory.document.body());
        is_known.then_some((claim, memory.at.id))
    });
    Ok(claims.into_iter().flatten().collect())
}

fn stage_line(
    host: &Host,
    store: &Store,
    batch: &mut Batch<'_>,
    known: &mut KnownClaims,
    line: &[u8],
) -> Result<MemoryId> {
    let request = parse(line)?;
    let texts = [&request.title, &request.body].into_iter();
    let mut texts = texts.chain(&request.tags).chain(&request.applies);
    if texts.any(|text| store.redact_text(text) != *text) {
        return Err(explain_drop(DropReason::Secret));
    }
    let draft = draft_added(host, store, &request)?;
    let claim = store.claim_hash(&draft.title, &draft.body);
    if let Some(id) = known.get(&claim).filter(|_| request.supersedes.is_none()) {
        let message = format!("`{id}` already contains this");
        return Err(OpError::new(ErrorCode::Conflict, message));
    }
    let id = batch.try_stage(|batch| stage_added(host, store, batch, &request, &draft))?;
    known.insert(claim, id.clone());
    Ok(id)
}

fn parse(line: &[u8]) -> Result<MemoryAddRequest> {
    if MAX_LINE_BYTES < line.len() {
        let message = format!("The line is longer than {} KiB", MAX_LINE_BYTES >> 10);
        return Err(OpError::new(ErrorCode::TooLarge, message));
    }
    let request: MemoryAddRequest = serde_json::from_slice(line).map_err(|error| {
        // The line number in the message is relative to this line.
        let message = error.to_string().replace(" at line 1 column ", " at column ");
        OpError::new(ErrorCode::Invalid, message)
    })?;
    match request.scope {
        None => Ok(request),
        Some(_) => Err(OpError::usage("All lines have the same scope").hint("Use `--scope`")),
    }
}
