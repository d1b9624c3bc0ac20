//! Reads labelled sessions, and counts what was rightly kept.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use nacre_api::wire::{
    ErrorCode, EvalExtractionReport, EvalExtractionRequest, FoundLabels, KeptEntries, MissedEntry,
    ReadingCost,
};
use nacre_engine::flows::extract::Rules;
use nacre_engine::flows::extract::eval::{
    self, BadLine, Entry, Kept, Labelled, Match, Scores, Verdict, entries, matches,
};
use nacre_engine::flows::models::AskRules;
use nacre_engine::flows::strategy::{SessionTrace, read_session};
use nacre_engine::model::Role;

use super::super::extract::core_strategy;
use super::read;
use crate::error::OpError;
use crate::events::Events;
use crate::host::{Host, Reading, ask_rules, named_trace};

/// The most sessions that are read at a time.
const MAX_JOBS: usize = 64;

/// A session that was read, or why it was not.
type SessionResult = Result<(Vec<Entry>, ReadingCost), OpError>;

pub fn extraction(
    host: &Host,
    request: &EvalExtractionRequest,
    events: &Events,
) -> Result<EvalExtractionReport, OpError> {
    let dataset = Path::new(&request.dataset);
    let sessions = eval::read(&read(host, dataset)?).map_err(|error| bad_line(&error))?;
    let verdicts = match &request.verdicts {
        Some(file) => {
            eval::read_verdicts(&read(host, Path::new(file))?).map_err(|error| bad_line(&error))?
        }
        None => Vec::new(),
    };
    let strategy = request.strategy.map(core_strategy);
    let reader = LabelReader {
        host,
        traces: traces_folder(host, request),
        reading: Reading::open(host, strategy, Role::Extract, events.cancel())?,
        rules: ask_rules(host.settings()),
        events,
    };
    let jobs = request.jobs.unwrap_or(1).clamp(1, MAX_JOBS);
    let read = reader.read_all(&sessions, jobs);
    events.cancel().check()?;
    Ok(report(request, &sessions, &verdicts, read))
}

fn bad_line(error: &BadLine) -> OpError {
    OpError { code: ErrorCode::Invalid, ..OpError::failed(error.to_string()) }
        .hint("docs/evaluation.md describes the format")
}

/// Where the traces lie: where the request says, else beside the labels.
fn traces_folder(host: &Host, request: &EvalExtractionRequest) -> PathBuf {
    let beside = || Path::new(&request.dataset).parent().unwrap_or(Path::new(""));
    let folder = request.traces.as_deref().map_or_else(beside, Path::new);
    host.environment.absolute(folder)
}

/// Reads the sessions of labels.
struct LabelReader<'a> {
    host: &'a Host,
    traces: PathBuf,
    reading: Reading,
    rules: AskRules,
    events: &'a Events,
}

impl LabelReader<'_> {
    /// Reads all sessions, `jobs` at a time; results in the order of the sessions.
    fn read_all(&self, sessions: &[Labelled], jobs: usize) -> Vec<SessionResult> {
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let results: Mutex<Vec<(usize, SessionResult)>> = Mutex::default();
        let work = || {
            while let Some((idx, session)) = take_next(&next, sessions) {
                let result = self.read_one(session);
                results.lock().unwrap_or_else(PoisonError::into_inner).push((idx, result));
                let n_done = done.fetch_add(1, Ordering::Relaxed) + 1;
                self.events.progress(n_done as u64, sessions.len() as u64, 0);
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..jobs.min(sessions.len()) {
                scope.spawn(work);
            }
        });
        let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.sort_by_key(|(idx, _)| *idx);
        results.into_iter().map(|(_, result)| result).collect()
    }

    fn read_one(&self, session: &Labelled) -> SessionResult {
        self.events.cancel().check()?;
        let path = self.traces.join(&session.file);
        let trace = named_trace(self.host, &path.display().to_string())?;
        let asker = self.reading.asker(self.host, &self.rules, &trace)?;
        let reader = self.reading.reader(&self.rules);
        let source = SessionTrace { trace: &trace, words: &self.rules.words };
        let read = read_session(source, Rules::default(), reader, asker.as_ref())?;
        let totals = asker.map(|asker| asker.budget().totals()).unwrap_or_default();
        let cost = ReadingCost {
            calls: totals.calls,
            input_tokens: totals.usage.total() - totals.usage.output,
            output_tokens: totals.usage.output,
            usd: (0 < totals.calls && totals.unpriced_calls == 0).then(|| totals.cost.dollars()),
        };
        Ok((entries(&trace, &read.extraction)?, cost))
    }
}

/// The next session that nobody reads yet, and its number.
fn take_next<'s>(next: &AtomicUsize, sessions: &'s [Labelled]) -> Option<(usize, &'s Labelled)> {
    let idx = next.fetch_add(1, Ordering::Relaxed);
    sessions.get(idx).map(|session| (idx, session))
}

fn report(
    request: &EvalExtractionRequest,
    sessions: &[Labelled],
    verdicts: &[Verdict],
    read: Vec<SessionResult>,
) -> EvalExtractionReport {
    let mut scores = Scores::default();
    let (mut cost, mut missed) = (ReadingCost::default(), Vec::new());
    for (session, result) in sessions.iter().zip(read) {
        match result {
            Ok((entries, own)) => {
                let matches = matches(session, &entries, verdicts);
                scores.add(session, &entries, &matches);
                missed.extend(missed_of(session, &entries, &matches));
                cost.calls += own.calls;
                cost.input_tokens += own.input_tokens;
                cost.output_tokens += own.output_tokens;
                cost.usd = match (cost.usd, own.usd) {
                    (Some(sum), Some(own)) => Some(sum + own),
                    (sum, own) => sum.or(own),
                };
            }
            Err(error) => missed.push(MissedEntry::Unread {
                file: session.file.clone(),
                reason: [vec![error.message], error.causes].concat().join(": "),
            }),
        }
    }
    missed.retain(|one| request.missed || matches!(one, MissedEntry::Unread { .. }));
    let found = scores.found.into_iter().map(|(group, found)| FoundLabels {
        group,
        labels: found.labels,
        found_active: found.active,
        found: found.any,
    });
    EvalExtractionReport {
        dataset: request.dataset.clone(),
        sessions: scores.sessions,
        active: kept(scores.active),
        candidates: kept(scores.candidates),
        empty: scores.empty,
        silent: scores.silent,
        found: found.collect(),
        cost,
        missed,
    }
}

fn kept(kept: Kept) -> KeptEntries {
    let Kept { entries, right, wrong, unknown } = kept;
    KeptEntries { entries, right, wrong, unknown }
}

/// What of a session went otherwise than labelled.
fn missed_of(session: &Labelled, entries: &[Entry], matches: &[Match]) -> Vec<MissedEntry> {
    let file = || session.file.clone();
    let mut missed = Vec::new();
    for (at, label) in session.keep.iter().enumerate() {
        if label.importance >= 2 && !matches.contains(&Match::Label(at)) {
            missed.push(MissedEntry::Label {
                file: file(),
                importance: label.importance,
                claim: label.claim.clone(),
                quote: label.quote.clone(),
            });
        }
    }
    for (entry, matched) in entries.iter().zip(matches) {
        match matched {
            Match::Label(_) | Match::Judged { .. } => {}
            Match::Tempting(at) => missed.push(MissedEntry::Tempting {
                file: file(),
                title: entry.title.clone(),
                why: session.not[*at].why.clone(),
            }),
            Match::Unknown { nearest } => missed.push(MissedEntry::Unknown {
                file: file(),
                title: entry.title.clone(),
                body: entry.body.clone(),
                quotes: entry.quotes.iter().map(|(_, quote)| quote.clone()).collect(),
                nearest: nearest.map(|at| session.keep[at].claim.clone()),
            }),
        }
    }
    missed
}
