//! Sync: one session into memories.
//!
//! Read, decide, commit, index; everything that a run writes is one change set, and what was read is part of it. So
//! the same trace again changes nothing, a grown one adds what is new, and a kill at any instant leaves a store that
//! the next run finishes as if nothing had happened. The store's lock is held while it is decided and written, not
//! while a lead thinks about what is unclear: where a person was faster, it is decided again.

mod answers;
mod artifacts;
mod asked;
mod decide;
pub(super) mod decided;
mod mark;
mod metrics;
mod reading;
mod report;
pub(super) mod stage;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::time::Duration;

use jiff::Timestamp;
use nacre_core::base::ContentHash;
use nacre_core::memory::{
    Batch, Located, MemoryError, MemoryId, PlannedChange, Profile, Store, SummaryDraft, Trust,
};
use nacre_core::safefs::{FsError, Owner};
use nacre_core::search::{Builtin, EmbedError, Embedder, MemoryIndex, SearchError};
use nacre_core::transcript::{Error as TraceError, Trace};

use self::artifacts::RunNotes;
pub use self::asked::AskLead;
use self::asked::Asked;
pub use self::decide::said_already;
use self::decided::{Decided, claimed};
pub use self::mark::Mark;
pub use self::metrics::{ExplorerMetrics, LeadMetrics, SyncDurations, SyncMetrics, TokenCounts};
use self::reading::{News, Reading, read};
use self::report::checklist;
pub use self::report::{
    ActionReport, ActionScores, ChecklistStep, Counts, DecidedBy, Outcome, RunReport, StepState,
};
use self::stage::{Origin, fitting, stage_all};
use super::candidate::{Candidate, DropReason, Extraction, Strategy};
use super::change::{ChangeInfo, Reversal, stage_note};
use super::models::{AskError, ModelClient};
use super::run::{RunId, RunMode, WORKSPACE, pretty};
use super::strategy::Reader;
use crate::agents::{LeadRequest, LeadStep};
use crate::model::{ErrorKind, NextStep, Reached, SpentTotals};
use crate::record::state::{SpentOn, StateError};

/// How often it is decided anew when a person edits meanwhile.
const MAX_TRIES: usize = 5;

/// Where a run works.
pub struct FlowContext<'a> {
    pub store: &'a Store,
    /// The model that memories are searched by.
    pub embedder: &'a dyn Embedder,
    /// The one that the decision was fitted with.
    pub builtin: &'a Builtin,
    pub owner: &'a Owner,
    pub patience: Duration,
    pub now: Timestamp,
    /// Who reads sessions.
    pub reader: Reader<'a>,
    /// Time since some moment, for durations.
    pub clock: &'a dyn Fn() -> Duration,
    /// Who settles what is unclear; without one it is settled by rule.
    pub lead: Option<&'a AskLead<'a>>,
}

/// What a run is to do.
#[derive(Clone, Debug)]
pub struct SessionRequest<'a> {
    pub trace: &'a Trace,
    /// The session's short name.
    pub key: &'a str,
    /// The trace's path as it is written into memories.
    pub trace_name: String,
    pub repo_name: String,
    pub mode: RunMode,
    /// Read also what was read before.
    pub force: bool,
    /// The id of the whole sync, where it is one of many sessions.
    pub change: Option<&'a str>,
}

/// A step of a run, for whoever watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Extract,
    Decide,
    /// Explorers look for memories that say what is unclear.
    Explore,
    /// The lead decides.
    Settle,
    Commit,
    Index,
}

impl Step {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Extract => "extract",
            Self::Decide => "decide",
            Self::Explore => "explore",
            Self::Settle => "settle",
            Self::Commit => "commit",
            Self::Index => "index",
        }
    }

    fn of_lead(step: LeadStep) -> Self {
        match step {
            LeadStep::Explore => Self::Explore,
            LeadStep::Settle => Self::Settle,
            LeadStep::Check => Self::Decide,
        }
    }
}

/// Why a session could not be synced.
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    #[error("There is no trace `{0}`")]
    NoTrace(String),
    #[error(transparent)]
    Trace(#[from] TraceError),
    #[error(transparent)]
    Memory(#[from] MemoryError),
    #[error(transparent)]
    Search(#[from] SearchError),
    #[error(transparent)]
    Embed(#[from] EmbedError),
    #[error(transparent)]
    Ask(#[from] AskError),
    #[error(transparent)]
    State(#[from] StateError),
}

/// Why a session waits for a model, untouched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pause {
    /// A limit is reached.
    Limit(Reached),
    /// The model cannot be had at present.
    Model,
    /// Whoever asked for the sync wants it stopped.
    Cancelled,
}

impl From<FsError> for SyncError {
    fn from(error: FsError) -> Self {
        Self::Memory(error.into())
    }
}

impl SyncError {
    /// Whether another process holds the store.
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Memory(MemoryError::Fs(FsError::Busy { .. })))
    }

    /// Whether the session only has to wait: nothing is wrong with it.
    pub fn pause(&self) -> Option<Pause> {
        match self {
            Self::Ask(AskError::OverLimit(reached)) => Some(Pause::Limit(*reached)),
            Self::Ask(AskError::Model(error)) if error.kind == ErrorKind::Cancelled => {
                Some(Pause::Cancelled)
            }
            Self::Ask(AskError::Model(error)) if error.kind.next_step() != NextStep::Stop => {
                Some(Pause::Model)
            }
            Self::NoTrace(_)
            | Self::Trace(_)
            | Self::Memory(_)
            | Self::Search(_)
            | Self::Embed(_)
            | Self::Ask(_)
            | Self::State(_) => None,
        }
    }
}

/// Syncs one session.
pub fn sync_session(
    ctx: &FlowContext<'_>,
    order: &SessionRequest<'_>,
    mut watch: impl FnMut(Step),
) -> Result<RunReport, SyncError> {
    let began = (ctx.clock)();
    watch(Step::Extract);
    let Some(session) = Session::open(ctx, order)? else {
        return unchanged(ctx, order);
    };
    let read_for = (ctx.clock)().saturating_sub(began);
    let (mut tries, mut asked) = (0, Asked::default());
    loop {
        watch(Step::Decide);
        let mut batch = ctx.store.begin(ctx.owner, ctx.patience)?.by_reader();
        let index = session.index(ctx)?;
        let decided = session.decide(ctx, index.as_ref(), &asked)?;
        if let Some(lead) = ctx.lead.filter(|_| asked.may_ask())
            && decided.iter().any(Decided::is_open)
        {
            // A model takes its time, and nobody should wait for the store meanwhile.
            drop((index, batch));
            session.ask(ctx, order, (lead, decided), &mut asked, &mut watch)?;
            continue;
        }
        let times = Times { began, read_for };
        let report = session.stage(ctx, order, &mut batch, (decided, &asked), times)?;
        watch(Step::Commit);
        match batch.commit() {
            Ok(_) => {
                watch(Step::Index);
                take_over(index, &report, ctx.owner)?;
                return Ok(report);
            }
            Err(MemoryError::Fs(FsError::Conflict { .. })) if tries + 1 < MAX_TRIES => tries += 1,
            Err(error) => return Err(error.into()),
        }
    }
}

/// Tells what a sync of one session would do, file by file, and does nothing. No lead is asked: what is unclear is shown as
/// the rule would settle it.
pub fn preview_session(
    ctx: &FlowContext<'_>,
    order: &SessionRequest<'_>,
) -> Result<(RunReport, Vec<PlannedChange>), SyncError> {
    planned(ctx, order, |_, _, _| Ok(()))
}

/// The same on a copy of the store, where it is done: the next session then finds what this one would leave.
pub fn rehearse_session(
    ctx: &FlowContext<'_>,
    order: &SessionRequest<'_>,
) -> Result<(RunReport, Vec<PlannedChange>), SyncError> {
    planned(ctx, order, |batch, index, report| {
        batch.commit()?;
        take_over(index, report, ctx.owner)
    })
}

/// Stages a session by rule, and hands it to `then`.
fn planned<'d>(
    ctx: &FlowContext<'d>,
    order: &SessionRequest<'_>,
    then: impl FnOnce(Batch<'_>, Option<MemoryIndex<'d>>, &RunReport) -> Result<(), SyncError>,
) -> Result<(RunReport, Vec<PlannedChange>), SyncError> {
    let Some(session) = Session::open(ctx, order)? else {
        return Ok((unchanged(ctx, order)?, Vec::new()));
    };
    let mut batch = ctx.store.begin(ctx.owner, ctx.patience)?.by_reader();
    let index = session.index(ctx)?;
    let asked = Asked::default();
    let decided = session.decide(ctx, index.as_ref(), &asked)?;
    let times = Times { began: (ctx.clock)(), read_for: Duration::ZERO };
    let report = session.stage(ctx, order, &mut batch, (decided, &asked), times)?;
    let plan = batch.plan()?;
    then(batch, index, &report)?;
    Ok((report, plan))
}

/// When a run began, and how long it read.
#[derive(Clone, Copy)]
struct Times {
    began: Duration,
    read_for: Duration,
}

/// Takes what a run wrote over into the index that it decided by. Without one there was nothing to decide, and
/// [`bring_up_to_date`] sees to it at the end.
fn take_over(
    index: Option<MemoryIndex<'_>>,
    report: &RunReport,
    owner: &Owner,
) -> Result<(), SyncError> {
    if let Some(index) = index {
        let written = report.written_paths.iter();
        let changed: Vec<Located> = written.filter_map(|path| Located::from_path(path)).collect();
        index.refresh(&changed, owner)?;
    }
    Ok(())
}

/// Brings the index of a store up to date after a row of runs.
pub fn bring_up_to_date(ctx: &FlowContext<'_>) -> Result<(), SyncError> {
    MemoryIndex::open(ctx.store, ctx.embedder, ctx.owner, ctx.now)?;
    Ok(())
}

/// The report of a session that was read to its end before.
fn unchanged(ctx: &FlowContext<'_>, order: &SessionRequest<'_>) -> Result<RunReport, SyncError> {
    let mark = Mark::read(ctx.store, order.key)?;
    let run = mark.as_ref().and_then(|mark| mark.runs.last().cloned());
    let run_id = run.unwrap_or_else(|| RunId::new(order.mode, ctx.now, order.key));
    let folder = run_id.folder()?;
    Ok(RunReport {
        outcome: Outcome::Unchanged,
        mode: order.mode,
        trace_path: order.trace_name.clone(),
        session: mark.map(|mark| mark.session).unwrap_or_default(),
        agent: order.trace.source.agent,
        memory_root: ctx.store.path().join("memory"),
        workspace_root: ctx.store.path().join(WORKSPACE),
        run_folder: folder.as_str().to_owned(),
        finished_at: ctx.now.to_string(),
        checklist: Vec::new(),
        actions: Vec::new(),
        counts: Counts::default(),
        dropped: std::collections::BTreeMap::new(),
        written_paths: Vec::new(),
        summary_path: None,
        cost_usd: 0.0,
        strategy: Strategy::Offline,
        fallback: None,
        limit: None,
        lead_error: None,
        run_id,
    })
}

/// A session that has something to settle.
struct Session<'d> {
    reading: Reading,
    /// Who was asked about it, and may be asked again.
    asker: Option<ModelClient<'d>>,
    mark: Option<Mark>,
    /// When the session ended: the time of everything that it says.
    when: Timestamp,
}

impl<'d> Session<'d> {
    /// Reads a session; `None` when it was read to its end before.
    fn open(ctx: &FlowContext<'d>, order: &SessionRequest<'_>) -> Result<Option<Self>, SyncError> {
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
        // Compared as they are stored: the same session again says nothing new.
        for candidate in &mut reading.extraction.candidates {
            make_shareable(candidate, ctx.store);
        }
        drop_repeated(&mut reading.extraction);
        let when = reading.facts.last_activity.unwrap_or(ctx.now).min(ctx.now);
        Ok(Some(Self { reading, asker, mark, when }))
    }

    /// The session as memories name it: where its trace lies says something about one machine only.
    fn source(&self, order: &SessionRequest<'_>) -> String {
        format!("{}:{}", order.trace.source.agent.as_str(), self.reading.facts.id)
    }

    /// What was spent on it.
    fn spent(&self) -> SpentTotals {
        self.asker.as_ref().map(|asker| asker.budget().totals()).unwrap_or_default()
    }

    /// The index to decide by; most sessions have nothing to decide.
    fn index(&self, ctx: &FlowContext<'d>) -> Result<Option<MemoryIndex<'d>>, SyncError> {
        if self.reading.extraction.candidates.is_empty() {
            return Ok(None);
        }
        Ok(Some(MemoryIndex::open(ctx.store, ctx.embedder, ctx.owner, ctx.now)?))
    }

    /// The same events at the same time are the same run.
    fn run_id(&self, ctx: &FlowContext<'_>, order: &SessionRequest<'_>) -> RunId {
        let input = format!("{} {} {}", order.key, self.reading.digest, order.force);
        RunId::new(order.mode, ctx.now, &input)
    }

    /// Decides by what the store holds now.
    fn decide(
        &self,
        ctx: &FlowContext<'_>,
        index: Option<&MemoryIndex<'_>>,
        asked: &Asked,
    ) -> Result<Vec<Decided>, SyncError> {
        let Some(index) = index else { return Ok(Vec::new()) };
        let candidates = &self.reading.extraction.candidates;
        decide::decide_all(ctx.store, index, ctx.builtin, candidates, asked)
    }

    /// Asks the lead about everything that is open.
    fn ask(
        &self,
        ctx: &FlowContext<'_>,
        order: &SessionRequest<'_>,
        (lead, decided): (&AskLead<'_>, Vec<Decided>),
        asked: &mut Asked,
        watch: &mut impl FnMut(Step),
    ) -> Result<(), SyncError> {
        let run = self.run_id(ctx, order);
        let open: Vec<Decided> = decided.into_iter().filter(Decided::is_open).collect();
        let lead_order = LeadRequest {
            run_folder: run.folder()?.as_str().to_owned(),
            run_id: run.as_str().to_owned(),
            session: order.key.to_owned(),
            trace_path: order.trace_name.clone(),
            cases: open.iter().map(asked::case).collect(),
        };
        let begun = (ctx.clock)();
        let report = lead(&lead_order, &mut |step| watch(Step::of_lead(step)));
        asked.take(&open, report, (ctx.clock)().saturating_sub(begun));
        Ok(())
    }

    /// Stages all of the run.
    fn stage(
        &self,
        ctx: &FlowContext<'_>,
        order: &SessionRequest<'_>,
        batch: &mut Batch<'_>,
        (decided, asked): (Vec<Decided>, &Asked),
        times: Times,
    ) -> Result<RunReport, SyncError> {
        let run = self.run_id(ctx, order);
        let extraction = &self.reading.extraction;
        let origin = Origin { session: order.key, source: &self.source(order), when: self.when };
        let actions = stage_all(ctx.store, batch, decided, &origin)?;
        let (summary, is_kept) = self.stage_summary(ctx, order, batch, &run, &actions)?;
        let plan = batch.plan()?;
        let written: Vec<String> = plan
            .iter()
            .map(|change| change.path.as_str().to_owned())
            .filter(|path| path.starts_with("memory/"))
            .collect();
        let summary_path = written.iter().find(|path| path.starts_with("memory/summaries/"));
        let report = RunReport {
            outcome: Outcome::Done,
            mode: order.mode,
            trace_path: order.trace_name.clone(),
            session: self.reading.facts.id.clone(),
            agent: order.trace.source.agent,
            memory_root: ctx.store.path().join("memory"),
            workspace_root: ctx.store.path().join(WORKSPACE),
            run_folder: run.folder()?.as_str().to_owned(),
            finished_at: ctx.now.to_string(),
            checklist: checklist(extraction.gate.is_open(), asked.checklist()),
            counts: Counts::of(&actions),
            dropped: extraction.dropped_counts.clone(),
            summary_path: summary_path.cloned(),
            written_paths: written,
            cost_usd: self.spent().cost.dollars() + asked.cost_usd(),
            strategy: extraction.strategy,
            fallback: self.reading.how.fallback.clone(),
            limit: self.reading.how.limit.map(Cow::Borrowed),
            lead_error: asked.error(),
            run_id: run.clone(),
            actions,
        };
        self.stage_mark(order, batch, &run, (summary, is_kept), &plan)?;
        let decided_for = (ctx.clock)().saturating_sub(times.began + times.read_for + asked.took);
        let durations = SyncDurations {
            read: millis(times.read_for),
            decide: millis(decided_for),
            lead: millis(asked.took),
        };
        let notes = RunNotes { asked, durations: &durations, words: ctx.store.words() };
        self.stage_artifacts(batch, &report, &plan, notes)?;
        let info = ChangeInfo { change: order.change, command: "sync", undoes: None, now: ctx.now };
        stage_note(ctx.store, batch, &run, &info, &plan, Reversal::Plan)?;
        Ok(report)
    }

    /// The session's one summary: made, or brought up to date where nobody changed it. Says whether a person's
    /// words were left alone.
    fn stage_summary(
        &self,
        ctx: &FlowContext<'_>,
        order: &SessionRequest<'_>,
        batch: &mut Batch<'_>,
        run: &RunId,
        actions: &[ActionReport],
    ) -> Result<(MemoryId, bool), SyncError> {
        let summary = &self.reading.summary;
        let related = actions.iter().filter_map(|action| action.target.clone());
        let mut related: Vec<MemoryId> = related.collect();
        related.dedup();
        let draft = SummaryDraft {
            title: fitting(&summary.title, "A session without a title"),
            description: summary.description.clone(),
            body: summary.body(),
            coding_agent: order.trace.source.agent.as_str().to_owned(),
            raw_trace_path: self.source(order),
            run_id: run.as_str().to_owned(),
            repo_name: order.repo_name.clone(),
            related,
            tags: summary.tags.clone(),
        };
        let known = self.mark.as_ref().and_then(|mark| mark.summary.clone());
        let at = known.as_ref().and_then(|id| ctx.store.locate(id.as_str()).ok());
        let most = if summary.is_repeated { Trust::Derived } else { Trust::Assistant };
        let (Some(id), Some(at)) = (known, at) else {
            let id = batch.add_summary(&draft, self.when)?;
            batch.lower(&id, most);
            return Ok((id, false));
        };
        let bytes = ctx.store.read_file(&at.path)?;
        let written = self.mark.as_ref().and_then(|mark| mark.summary_bytes);
        if written.is_some_and(|written| written != ContentHash::of(&bytes)) {
            return Ok((id, true));
        }
        let id = batch.update_summary(&id, &draft, self.when)?;
        batch.lower(&id, most);
        Ok((id, false))
    }

    /// Says how far the session was read, and keeps what it was read as.
    fn stage_mark(
        &self,
        order: &SessionRequest<'_>,
        batch: &mut Batch<'_>,
        run: &RunId,
        (summary, is_kept): (MemoryId, bool),
        plan: &[PlannedChange],
    ) -> Result<(), SyncError> {
        let (facts, agent) = (&self.reading.facts, order.trace.source.agent);
        let old = self.mark.clone().unwrap_or_else(|| Mark::new(&facts.id, agent));
        let mut runs = old.runs;
        // The transcript of a grown session holds the older one.
        if self.reading.news != News::Rewritten {
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
        let mark = Mark {
            next_sequence: self.reading.next_sequence,
            digest: self.reading.digest.clone(),
            summary_bytes: if is_kept { old.summary_bytes } else { bytes.map(ContentHash::of) },
            summary: Some(summary),
            runs,
            ..Mark::new(&facts.id, agent)
        };
        batch.put_file(Mark::path(order.key)?, pretty(&mark))?;
        batch.put_file(Mark::transcript(agent, run)?, self.reading.transcript.clone())?;
        Ok(())
    }
}

/// Leaves out candidates whose body another one of the session has: two titles do not make two claims.
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

/// Takes out of a candidate what names this machine and its user.
fn make_shareable(candidate: &mut Candidate, store: &Store) {
    let texts = [&mut candidate.title, &mut candidate.body].into_iter();
    let quotes = candidate.quotes.iter_mut().map(|quote| &mut quote.text);
    let found_by = candidate.tags.iter_mut().chain(&mut candidate.applies);
    for text in texts.chain(found_by).chain(quotes) {
        let shareable = store.shareable(text).into_owned();
        *text = shareable;
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
