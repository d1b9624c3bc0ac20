//! Syncs one session. All files are committed together with a mark that records how much of the
//! session was read. Reading the session again therefore changes nothing, and an interrupted run
//! can be repeated.

mod decide;
mod reading;
mod repeats;
pub(crate) mod stage;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;
use nacre_base::ContentHash;
use nacre_base::fs::{FsError, Owner};
use nacre_engine::agents::{LeadRequest, LeadStep};
use nacre_engine::model::{ErrorKind, NextStep, Reached, SpentTotals};
use nacre_engine::record::state::{SpentOn, StateError};
use nacre_memory::recall::claim_text as claimed;
use nacre_memory::search::MemoryIndex;
use nacre_memory::{
    Batch, Located, MemoryError, MemoryId, MemoryType, PlannedChange, Profile, Status, Store,
    SummaryDraft, Trust,
};
use nacre_traces::transcript::{Error as TraceError, Trace};
use nacre_types::{
    ActionCounts, DropReason, Gate, RunMode, SessionAction, SessionOutcome, SessionRun, Strategy,
    SyncDurations,
};

pub use self::decide::{AskLead, said_already};
use self::decide::{DecidedCandidate, LeadRulings};
pub use self::reading::Mark;
use self::reading::{ReadSession, read};
pub use self::repeats::RemarkIndex;
use self::repeats::sign;
use self::stage::{Stager, checklist, count_actions};
use crate::host::{AskError, ModelClient, millis};
use crate::run::change::{ChangeInfo, Reversal, stage_note};
use crate::run::folder::{OF_SYNC, RunId, UndoPlan, WORKSPACE, pretty};
use crate::sync::candidate::{Candidate, Extraction, Remark, fit_title};
use crate::sync::strategy::ReadingStrategy;

/// Maximum number of attempts if files are edited during the run.
const MAX_TRIES: usize = 5;

pub struct FlowContext<'a> {
    pub store: &'a Store,
    pub owner: &'a Owner,
    pub patience: Duration,
    pub now: Timestamp,
    pub reader: ReadingStrategy<'a>,
    /// Returns the time elapsed since an arbitrary starting point.
    pub clock: &'a dyn Fn() -> Duration,
    pub lead: Option<&'a AskLead<'a>>,
    /// What the project's sessions say, for finding repetitions.
    pub remarks: &'a RemarkIndex,
}

#[derive(Clone, Debug)]
pub struct SessionRequest<'a> {
    pub trace: &'a Trace,
    /// The session's short id.
    pub key: &'a str,
    /// The path of the trace, as stored in memories.
    pub trace_name: String,
    pub repo_name: String,
    pub mode: RunMode,
    pub force: bool,
    /// The id of the whole sync, if it covers several sessions.
    pub change: Option<&'a str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Extract,
    Decide,
    Lead(LeadStep),
    Commit,
    Index,
}

impl Step {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Extract => "extract",
            Self::Decide => "decide",
            Self::Lead(step) => step.as_str(),
            Self::Commit => "commit",
            Self::Index => "index",
        }
    }
}

type Result<T, E = SyncError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    #[error("Trace `{0}` not found")]
    NoTrace(String),
    #[error(transparent)]
    Trace(#[from] TraceError),
    #[error(transparent)]
    Memory(#[from] MemoryError),
    #[error(transparent)]
    Ask(#[from] AskError),
    #[error(transparent)]
    State(#[from] StateError),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pause {
    Limit(Reached),
    Model,
    Cancelled,
}

impl From<FsError> for SyncError {
    fn from(error: FsError) -> Self {
        Self::Memory(error.into())
    }
}

impl SyncError {
    /// Returns how this error pauses the sync, or `None` if the error is permanent.
    pub fn pause(&self) -> Option<Pause> {
        match self {
            Self::Ask(AskError::OverLimit(reached)) => Some(Pause::Limit(*reached)),
            Self::Ask(AskError::Model(error)) if error.kind == ErrorKind::Cancelled => {
                Some(Pause::Cancelled)
            }
            Self::Ask(AskError::Model(error)) if error.kind.next_step() != NextStep::Stop => {
                Some(Pause::Model)
            }
            Self::NoTrace(_) | Self::Trace(_) | Self::Memory(_) | Self::Ask(_) | Self::State(_) => {
                None
            }
        }
    }
}

pub fn sync_session(
    ctx: &FlowContext<'_>,
    order: &SessionRequest<'_>,
    mut watch: impl FnMut(Step),
) -> Result<SessionRun> {
    watch(Step::Extract);
    let Some(session) = Session::open(ctx, order)? else {
        return report_unchanged(ctx, order);
    };
    let (mut tries, mut asked) = (0, LeadRulings::default());
    loop {
        watch(Step::Decide);
        let mut batch = ctx.store.begin(ctx.owner, ctx.patience)?.by_reader();
        let index = session.index(ctx)?;
        let decided = session.decide(ctx, index.as_ref(), &asked)?;
        if let Some(lead) = ctx.lead.filter(|_| asked.may_ask())
            && decided.iter().any(DecidedCandidate::is_open)
        {
            // A lead runs for minutes, so the store must not be locked in the meantime.
            drop((index, batch));
            let open: Vec<DecidedCandidate> =
                decided.into_iter().filter(DecidedCandidate::is_open).collect();
            let request = session.lead_request(ctx, order, &open)?;
            let begun = (ctx.clock)();
            let report = lead(&request, &mut |step| watch(Step::Lead(step)));
            asked.take(&open, report, (ctx.clock)().saturating_sub(begun));
            continue;
        }
        let report = session.stage(ctx, order, &mut batch, decided, &asked)?;
        watch(Step::Commit);
        match batch.commit() {
            Ok(_) => {
                ctx.remarks.add(&session.reading.extraction.remarks);
                watch(Step::Index);
                take_over(index, &report, ctx.owner);
                return Ok(report);
            }
            Err(MemoryError::Fs(FsError::Conflict { .. })) if tries + 1 < MAX_TRIES => tries += 1,
            Err(error) => return Err(error.into()),
        }
    }
}

/// Plans the sync without a lead. If the store is a copy, also commits the plan, so that the next
/// session is compared with the result.
pub fn preview_session(
    ctx: &FlowContext<'_>,
    order: &SessionRequest<'_>,
    is_on_copy: bool,
) -> Result<(SessionRun, Vec<PlannedChange>)> {
    let Some(session) = Session::open(ctx, order)? else {
        return Ok((report_unchanged(ctx, order)?, Vec::new()));
    };
    let mut batch = ctx.store.begin(ctx.owner, ctx.patience)?.by_reader();
    let index = session.index(ctx)?;
    let asked = LeadRulings::default();
    let decided = session.decide(ctx, index.as_ref(), &asked)?;
    let report = session.stage(ctx, order, &mut batch, decided, &asked)?;
    let plan = batch.plan()?;
    if is_on_copy {
        batch.commit()?;
        ctx.remarks.add(&session.reading.extraction.remarks);
        take_over(index, &report, ctx.owner);
    }
    Ok((report, plan))
}

/// If there is no index, [`bring_up_to_date`] indexes the changes later.
fn take_over(index: Option<MemoryIndex<'_>>, report: &SessionRun, owner: &Owner) {
    if let Some(index) = index {
        let written = report.written_paths.iter();
        let changed: Vec<Located> = written.filter_map(|path| Located::from_path(path)).collect();
        index.refresh(&changed, owner);
    }
}

fn is_open(status: Status) -> bool {
    matches!(status, Status::Active | Status::Candidate | Status::Stale)
}

pub fn bring_up_to_date(ctx: &FlowContext<'_>) -> Result<()> {
    MemoryIndex::open(ctx.store, ctx.owner, ctx.now)?;
    Ok(())
}

fn report_unchanged(ctx: &FlowContext<'_>, order: &SessionRequest<'_>) -> Result<SessionRun> {
    let mark = Mark::read(ctx.store, order.key)?;
    let run = mark.as_ref().and_then(|mark| mark.runs.last().cloned());
    let run = run.unwrap_or_else(|| RunId::new(order.mode, ctx.now, order.key));
    let session = mark.map(|mark| mark.session).unwrap_or_default();
    Ok(empty_report(ctx, order, &run, session)?)
}

fn empty_report(
    ctx: &FlowContext<'_>,
    order: &SessionRequest<'_>,
    run: &RunId,
    session: String,
) -> Result<SessionRun, FsError> {
    let below = |name: &str| ctx.store.path().join(name).display().to_string();
    Ok(SessionRun {
        run_id: run.to_string(),
        mode: order.mode,
        outcome: SessionOutcome::Unchanged,
        trace_path: order.trace_name.clone(),
        session,
        agent: order.trace.source.agent.as_str().to_owned(),
        memory_root: below("memory"),
        workspace_root: below(WORKSPACE),
        run_folder: run.folder()?.as_str().to_owned(),
        finished_at: ctx.now.to_string(),
        checklist: Vec::new(),
        actions: Vec::new(),
        counts: ActionCounts::default(),
        dropped: BTreeMap::new(),
        written_paths: Vec::new(),
        summary_path: None,
        cost_usd: 0.0,
        strategy: Strategy::Offline,
        fallback: None,
        limit: None,
        lead_error: None,
    })
}

struct Session<'d> {
    reading: ReadSession,
    asker: Option<ModelClient<'d>>,
    mark: Option<Mark>,
    /// When the session ended. All of the session's claims use this time.
    when: Timestamp,
    /// When this session's sync started, and how long the session took to read.
    began: Duration,
    read_for: Duration,
}

impl<'d> Session<'d> {
    /// Opens a session. Returns `None` if the session has no new events.
    fn open(ctx: &FlowContext<'d>, order: &SessionRequest<'_>) -> Result<Option<Self>> {
        let began = (ctx.clock)();
        if !order.trace.source.path.exists() {
            return Err(SyncError::NoTrace(order.trace_name.clone()));
        }
        let mark = Mark::read(ctx.store, order.key)?;
        let from = mark.as_ref().filter(|_| !order.force);
        let project = ctx.store.path().parent().map(|path| path.display().to_string());
        let asker =
            ctx.reader.asker(SpentOn { project, session: order.key.to_owned() }, ctx.now)?;
        let Some(mut reading) = read(ctx, order.trace, from, asker.as_ref())? else {
            return Ok(None);
        };
        let is_forgotten =
            |title: &str, body: &str| ctx.store.is_forgotten(title, body).unwrap_or(false);
        let extraction = &mut reading.extraction;
        ctx.remarks.add_repeated(ctx.store, extraction, &is_forgotten);
        // Compare candidates in the form in which they are stored, so that reading the session
        // again adds nothing.
        for candidate in &mut reading.extraction.candidates {
            make_shareable(candidate, ctx.store);
        }
        drop_repeated(&mut reading.extraction);
        let when = reading.facts.last_activity.unwrap_or(ctx.now).min(ctx.now);
        let read_for = (ctx.clock)().saturating_sub(began);
        Ok(Some(Self { reading, asker, mark, when, began, read_for }))
    }

    /// Returns the session's source. This is not the path of the trace, because the path reveals
    /// private details about the machine.
    fn source(&self, order: &SessionRequest<'_>) -> String {
        format!("{}:{}", order.trace.source.agent.as_str(), self.reading.facts.id)
    }

    fn sum_spending(&self) -> SpentTotals {
        self.asker.as_ref().map(|asker| asker.budget().totals()).unwrap_or_default()
    }

    /// Opens the index. Returns `None` if the session has no candidates, which is the most common
    /// case.
    fn index(&self, ctx: &FlowContext<'d>) -> Result<Option<MemoryIndex<'d>>> {
        if self.reading.extraction.candidates.is_empty() {
            return Ok(None);
        }
        Ok(Some(MemoryIndex::open(ctx.store, ctx.owner, ctx.now)?))
    }

    /// Returns the run id. The same events and time always produce the same id.
    fn run_id(&self, ctx: &FlowContext<'_>, order: &SessionRequest<'_>) -> RunId {
        let input = format!("{} {} {}", order.key, self.reading.digest, order.force);
        RunId::new(order.mode, ctx.now, &input)
    }

    fn decide(
        &self,
        ctx: &FlowContext<'_>,
        index: Option<&MemoryIndex<'_>>,
        asked: &LeadRulings,
    ) -> Result<Vec<DecidedCandidate>> {
        let Some(index) = index else { return Ok(Vec::new()) };
        let candidates = &self.reading.extraction.candidates;
        decide::decide_all(ctx.store, index, candidates, asked)
    }

    fn lead_request(
        &self,
        ctx: &FlowContext<'_>,
        order: &SessionRequest<'_>,
        open: &[DecidedCandidate],
    ) -> Result<LeadRequest> {
        let run = self.run_id(ctx, order);
        Ok(LeadRequest {
            run_folder: run.folder()?.as_str().to_owned(),
            run_id: run.as_str().to_owned(),
            session: order.key.to_owned(),
            trace_path: order.trace_name.clone(),
            cases: open.iter().map(decide::case).collect(),
        })
    }

    fn stage(
        &self,
        ctx: &FlowContext<'_>,
        order: &SessionRequest<'_>,
        batch: &mut Batch<'_>,
        decided: Vec<DecidedCandidate>,
        asked: &LeadRulings,
    ) -> Result<SessionRun> {
        let run = self.run_id(ctx, order);
        let extraction = &self.reading.extraction;
        let source = self.source(order);
        let stager = Stager::new(ctx.store, order.key, &source, self.when);
        let actions = stager.stage_all(batch, decided)?;
        let summary = self.stage_summary(ctx, order, batch, &run, &actions)?;
        let plan = batch.plan()?;
        let written: Vec<String> = plan
            .iter()
            .map(|change| change.path.as_str().to_owned())
            .filter(|path| path.starts_with("memory/"))
            .collect();
        let summary_path = written.iter().find(|path| path.starts_with("memory/summaries/"));
        let report = SessionRun {
            outcome: SessionOutcome::Done,
            checklist: checklist(extraction.gate == Gate::Open, asked.checklist()),
            counts: count_actions(&actions),
            dropped: extraction.dropped_counts.clone(),
            summary_path: summary_path.cloned(),
            written_paths: written,
            cost_usd: self.sum_spending().cost.dollars() + asked.cost_usd(),
            strategy: extraction.strategy,
            fallback: self.reading.how.fallback.clone(),
            limit: self.reading.how.limit.map(str::to_owned),
            lead_error: asked.error(),
            actions,
            ..empty_report(ctx, order, &run, self.reading.facts.id.clone())?
        };
        self.stage_mark(ctx, order, batch, summary, &plan)?;
        let before = self.began + self.read_for + asked.took;
        let decided_for = (ctx.clock)().saturating_sub(before);
        let durations = SyncDurations {
            read: millis(self.read_for),
            decide: millis(decided_for),
            lead: millis(asked.took),
            total: millis((ctx.clock)().saturating_sub(self.began)),
        };
        let metrics = self.metrics(&report, batch, asked, durations);
        let folder = run.folder()?;
        for (name, bytes) in self.artifacts(&report, &metrics, asked, ctx.store.words()) {
            batch.put_file(folder.join(name)?, bytes)?;
        }
        let (path, bytes) = UndoPlan::of(&plan, OF_SYNC).file(&run)?;
        batch.put_file(path, bytes)?;
        let info = ChangeInfo { change: order.change, command: "sync", undoes: None, now: ctx.now };
        stage_note(ctx.store, batch, &run, &info, &plan, Reversal::Plan)?;
        Ok(report)
    }

    /// Stages the summary, unless the user has edited it.
    fn stage_summary(
        &self,
        ctx: &FlowContext<'_>,
        order: &SessionRequest<'_>,
        batch: &mut Batch<'_>,
        run: &RunId,
        actions: &[SessionAction],
    ) -> Result<MemoryId> {
        let summary = &self.reading.summary;
        let related = actions.iter().filter_map(|action| action.target.as_ref()?.parse().ok());
        let mut related: Vec<MemoryId> = related.collect();
        related.dedup();
        let draft = SummaryDraft {
            title: fit_title(&summary.title, "Untitled session"),
            description: summary.description.clone(),
            body: summary.body(),
            coding_agent: order.trace.source.agent.as_str().to_owned(),
            raw_trace_path: self.source(order),
            run_id: run.as_str().to_owned(),
            repo_name: order.repo_name.clone(),
            related,
            tags: summary.tags.clone(),
        };
        // Marks can be forged, so this mark is used only if it contains the hash of the summary's
        // current content.
        let known =
            self.mark.as_ref().and_then(|mark| mark.summary.clone().zip(mark.summary_bytes));
        let known = known.and_then(|(id, written)| {
            let at = ctx.store.locate(id.as_str()).ok();
            let at = at.filter(|at| at.memory_type == MemoryType::Summary)?;
            Some((id, written, at))
        });
        let most = if summary.is_repeated { Trust::Derived } else { Trust::Assistant };
        let id = match known {
            None => batch.add_summary(&draft, self.when)?,
            Some((id, written, at)) => {
                if written != ContentHash::of(&ctx.store.read_file(&at.path)?) {
                    return Ok(id);
                }
                batch.update_summary(&id, &draft, self.when)?
            }
        };
        batch.lower(&id, most);
        Ok(id)
    }

    fn stage_mark(
        &self,
        ctx: &FlowContext<'_>,
        order: &SessionRequest<'_>,
        batch: &mut Batch<'_>,
        summary: MemoryId,
        plan: &[PlannedChange],
    ) -> Result<()> {
        let run = &self.run_id(ctx, order);
        let (facts, agent) = (&self.reading.facts, order.trace.source.agent);
        let old = self.mark.clone().unwrap_or_else(|| Mark::new(&facts.id, agent));
        let mut runs = old.runs;
        // The new transcript includes the earlier ones.
        if !self.reading.is_rewritten {
            for run in std::mem::take(&mut runs).iter().filter(|known| *known != run) {
                batch.remove_file(Mark::transcript(agent, run)?)?;
            }
        }
        runs.retain(|known| known != run);
        runs.push(run.clone());
        let is_summary = |change: &&PlannedChange| {
            Located::from_path(change.path.as_str()).is_some_and(|at| at.id == summary)
        };
        let bytes = plan.iter().find(is_summary).and_then(|change| change.after.as_deref());
        let new = &self.reading.extraction.remarks;
        let is_old = |known: &Remark| !new.iter().any(|new| new.quotes == known.quotes);
        let earlier = old.remarks.into_iter().filter(is_old);
        let remarks: Vec<Remark> = earlier.chain(new.iter().cloned()).collect();
        let mark = Mark {
            signature: sign(ctx.store, &facts.id, &remarks),
            remarks,
            next_sequence: self.reading.next_sequence,
            digest: self.reading.digest.clone(),
            // If the summary is not in the plan, the old summary was kept.
            summary_bytes: bytes.map(ContentHash::of).or(old.summary_bytes),
            summary: Some(summary),
            runs,
            ..Mark::new(&facts.id, agent)
        };
        batch.put_file(Mark::path(order.key)?, pretty(&mark))?;
        batch.put_file(Mark::transcript(agent, run)?, self.reading.transcript.clone())?;
        Ok(())
    }
}

/// Drops candidates that have the same body, even if their titles differ.
fn drop_repeated(extraction: &mut Extraction) {
    let n_before = extraction.candidates.len();
    let mut known = BTreeSet::new();
    extraction.candidates.retain(|candidate| {
        let body = Profile::of("", &claimed(&candidate.body)).plain().to_owned();
        body.is_empty() || known.insert((candidate.claim.memory_type(), body))
    });
    let n_dropped = (n_before - extraction.candidates.len()) as u64;
    if n_dropped > 0 {
        *extraction.dropped_counts.entry(DropReason::Repeated).or_default() += n_dropped;
    }
}

/// Removes any text that identifies this machine or its user.
fn make_shareable(candidate: &mut Candidate, store: &Store) {
    let texts = [&mut candidate.title, &mut candidate.body].into_iter();
    let quotes = candidate.quotes.iter_mut().map(|quote| &mut quote.text);
    let found_by = candidate.tags.iter_mut().chain(&mut candidate.applies);
    for text in texts.chain(found_by).chain(quotes) {
        let shareable = store.shareable(text).into_owned();
        *text = shareable;
    }
}
