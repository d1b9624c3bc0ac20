//! Sync: one session into memories.
//!
//! Read, decide, commit, index; everything that a run writes is one change set, and what was read is part of it. So
//! the same trace again changes nothing, a grown one adds what is new, and a kill at any instant leaves a store that
//! the next run finishes as if nothing had happened. The store's lock is held while it is decided and written: when
//! a person was faster all the same, it is decided again.

mod decide;
mod mark;
mod reading;
mod report;
mod stage;

use std::time::Duration;

use jiff::Timestamp;
use nacre_core::base::ContentHash;
use nacre_core::memory::{
    Batch, Located, MemoryError, MemoryId, PlannedChange, Store, SummaryDraft,
};
use nacre_core::safefs::{FsError, Owner};
use nacre_core::search::{Builtin, EmbedError, Embedder, MemoryIndex, SearchError};
use nacre_core::transcript::{Error as TraceError, Trace};
use serde_json::json;

pub use self::mark::Mark;
use self::reading::{News, Reading, read};
use self::report::checklist;
pub use self::report::{ActionReport, Counts, Outcome, RunReport};
use self::stage::{Origin, fitting, stage_all};
use super::candidate::Strategy;
use super::models::{AskError, Asker};
use super::run::{RunId, RunMode, UndoPlan, WORKSPACE, pretty};
use super::strategy::Reader;
use crate::agent::state::{SpentOn, StateError};
use crate::model::{NextStep, Reached, SpentTotals};

/// How often it is decided anew when a person edits meanwhile.
const MAX_TRIES: usize = 5;

/// Where a run works.
pub struct Desk<'a> {
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
}

/// What a run is to do.
#[derive(Clone, Debug)]
pub struct Order<'a> {
    pub trace: &'a Trace,
    /// The session's short name.
    pub key: &'a str,
    /// The trace's path as it is written into memories.
    pub trace_name: String,
    pub repo_name: String,
    pub mode: RunMode,
    /// Read also what was read before.
    pub force: bool,
}

/// A step of a run, for whoever watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Extract,
    Decide,
    Commit,
    Index,
}

impl Step {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Extract => "extract",
            Self::Decide => "decide",
            Self::Commit => "commit",
            Self::Index => "index",
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
    desk: &Desk<'_>,
    order: &Order<'_>,
    mut watch: impl FnMut(Step),
) -> Result<RunReport, SyncError> {
    let began = (desk.clock)();
    watch(Step::Extract);
    let Some(session) = Session::open(desk, order)? else {
        return unchanged(desk, order);
    };
    let mut tries = 0;
    loop {
        watch(Step::Decide);
        let mut batch = desk.store.begin(desk.owner, desk.patience)?;
        let index = session.index(desk)?;
        let report = session.stage(desk, order, &mut batch, index.as_ref(), began)?;
        watch(Step::Commit);
        match batch.commit() {
            Ok(_) => {
                watch(Step::Index);
                take_over(index, &report, desk.owner)?;
                return Ok(report);
            }
            Err(MemoryError::Fs(FsError::Conflict { .. })) if tries + 1 < MAX_TRIES => tries += 1,
            Err(error) => return Err(error.into()),
        }
    }
}

/// Tells what a sync of one session would do, file by file, and does nothing.
pub fn preview_session(
    desk: &Desk<'_>,
    order: &Order<'_>,
) -> Result<(RunReport, Vec<PlannedChange>), SyncError> {
    let Some(session) = Session::open(desk, order)? else {
        return Ok((unchanged(desk, order)?, Vec::new()));
    };
    let mut batch = desk.store.begin(desk.owner, desk.patience)?;
    let index = session.index(desk)?;
    let report = session.stage(desk, order, &mut batch, index.as_ref(), (desk.clock)())?;
    Ok((report, batch.plan()?))
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
pub fn bring_up_to_date(desk: &Desk<'_>) -> Result<(), SyncError> {
    MemoryIndex::open(desk.store, desk.embedder, desk.owner, desk.now)?;
    Ok(())
}

/// The report of a session that was read to its end before.
fn unchanged(desk: &Desk<'_>, order: &Order<'_>) -> Result<RunReport, SyncError> {
    let mark = Mark::read(desk.store, order.key)?;
    let run = mark.as_ref().and_then(|mark| mark.runs.last().cloned());
    let run_id = run.unwrap_or_else(|| RunId::new(order.mode, desk.now, order.key));
    let folder = run_id.folder()?;
    Ok(RunReport {
        outcome: Outcome::Unchanged,
        mode: order.mode,
        trace_path: order.trace_name.clone(),
        session: mark.map(|mark| mark.session).unwrap_or_default(),
        agent: order.trace.source.agent.as_str(),
        memory_root: desk.store.path().join("memory"),
        workspace_root: desk.store.path().join(WORKSPACE),
        run_folder: folder.as_str().to_owned(),
        finished_at: desk.now.to_string(),
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
        run_id,
    })
}

/// A session that has something to settle.
struct Session<'d> {
    reading: Reading,
    /// Who was asked about it, and may be asked again.
    asker: Option<Asker<'d>>,
    mark: Option<Mark>,
    /// When the session ended: the time of everything that it says.
    when: Timestamp,
}

impl<'d> Session<'d> {
    /// Reads a session; `None` when it was read to its end before.
    fn open(desk: &Desk<'d>, order: &Order<'_>) -> Result<Option<Self>, SyncError> {
        if !order.trace.source.path.exists() {
            return Err(SyncError::NoTrace(order.trace_name.clone()));
        }
        let mark = Mark::read(desk.store, order.key)?;
        let from = mark.as_ref().filter(|_| !order.force);
        let project = desk.store.path().parent().map(|path| path.display().to_string());
        let asker =
            desk.reader.asker(SpentOn { project, session: order.key.to_owned() }, desk.now)?;
        let Some(reading) = read(desk, order.trace, from, asker.as_ref())? else {
            return Ok(None);
        };
        let when = reading.facts.last_activity.unwrap_or(desk.now).min(desk.now);
        Ok(Some(Self { reading, asker, mark, when }))
    }

    /// What was spent on it.
    fn spent(&self) -> SpentTotals {
        self.asker.as_ref().map(|asker| asker.purse().totals()).unwrap_or_default()
    }

    /// The index to decide by; most sessions have nothing to decide.
    fn index(&self, desk: &Desk<'d>) -> Result<Option<MemoryIndex<'d>>, SyncError> {
        if self.reading.extraction.candidates.is_empty() {
            return Ok(None);
        }
        Ok(Some(MemoryIndex::open(desk.store, desk.embedder, desk.owner, desk.now)?))
    }

    /// The same events at the same time are the same run.
    fn run_id(&self, desk: &Desk<'_>, order: &Order<'_>) -> RunId {
        let input = format!("{} {} {}", order.key, self.reading.digest, order.force);
        RunId::new(order.mode, desk.now, &input)
    }

    /// Decides by what the store holds now, and stages all of the run.
    fn stage(
        &self,
        desk: &Desk<'_>,
        order: &Order<'_>,
        batch: &mut Batch<'_>,
        index: Option<&MemoryIndex<'_>>,
        began: Duration,
    ) -> Result<RunReport, SyncError> {
        let run = self.run_id(desk, order);
        let read_for = (desk.clock)().saturating_sub(began);
        let extraction = &self.reading.extraction;
        let decided = index.map(|index| {
            decide::decide_all(desk.store, index, desk.builtin, &extraction.candidates)
        });
        let decided = decided.transpose()?.unwrap_or_default();
        let origin = Origin { session: order.key, source: &order.trace_name, when: self.when };
        let actions = stage_all(desk.store, batch, decided, &origin)?;
        let (summary, is_kept) = self.stage_summary(desk, order, batch, &run, &actions)?;
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
            agent: order.trace.source.agent.as_str(),
            memory_root: desk.store.path().join("memory"),
            workspace_root: desk.store.path().join(WORKSPACE),
            run_folder: run.folder()?.as_str().to_owned(),
            finished_at: desk.now.to_string(),
            checklist: checklist(extraction.gate.is_open()),
            counts: Counts::of(&actions),
            dropped: extraction.dropped_counts.clone(),
            summary_path: summary_path.cloned(),
            written_paths: written,
            cost_usd: dollars(self.spent()),
            strategy: extraction.strategy,
            fallback: self.reading.how.fallback.clone(),
            limit: self.reading.how.limit,
            run_id: run.clone(),
            actions,
        };
        self.stage_mark(order, batch, &run, (summary, is_kept), &plan)?;
        let decided_for = (desk.clock)().saturating_sub(began + read_for);
        self.stage_artifacts(batch, &report, &plan, [read_for, decided_for])?;
        Ok(report)
    }

    /// The session's one summary: made, or brought up to date where nobody changed it. Says whether a person's
    /// words were left alone.
    fn stage_summary(
        &self,
        desk: &Desk<'_>,
        order: &Order<'_>,
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
            raw_trace_path: order.trace_name.clone(),
            run_id: run.as_str().to_owned(),
            repo_name: order.repo_name.clone(),
            related,
            tags: summary.tags.clone(),
        };
        let known = self.mark.as_ref().and_then(|mark| mark.summary.clone());
        let at = known.as_ref().and_then(|id| desk.store.locate(id.as_str()).ok());
        let (Some(id), Some(at)) = (known, at) else {
            return Ok((batch.add_summary(&draft, self.when)?, false));
        };
        let bytes = desk.store.read_file(&at.path)?;
        let written = self.mark.as_ref().and_then(|mark| mark.summary_bytes);
        if written.is_some_and(|written| written != ContentHash::of(&bytes)) {
            return Ok((id, true));
        }
        Ok((batch.update_summary(&id, &draft, self.when)?, false))
    }

    /// Says how far the session was read, and keeps what it was read as.
    fn stage_mark(
        &self,
        order: &Order<'_>,
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

    fn stage_artifacts(
        &self,
        batch: &mut Batch<'_>,
        report: &RunReport,
        plan: &[PlannedChange],
        [read_for, decided_for]: [Duration; 2],
    ) -> Result<(), SyncError> {
        let folder = report.run_id.folder()?;
        let extraction = &self.reading.extraction;
        let redactions = batch.redactions().clone();
        let (how, spent) = (&self.reading.how, self.spent());
        let input = spent.usage.total().saturating_sub(spent.usage.output);
        let metrics = json!({
            "run_id": report.run_id, "strategy": extraction.strategy, "gate": extraction.gate,
            "windows": how.windows, "unread_windows": how.unread_windows,
            "unread_events": how.unread_events, "steps": how.steps, "fallback": how.fallback,
            "candidates": extraction.candidates.len(), "dropped": report.dropped,
            "denied_writes": 0, "explorers": [], "model_calls": spent.calls,
            "tokens": { "input": input, "output": spent.usage.output },
            "cost_usd": report.cost_usd, "unpriced_calls": spent.unpriced_calls, "redactions": redactions,
            "events": self.reading.next_sequence,
            "durations_ms": { "read": millis(read_for), "decide": millis(decided_for) },
        });
        let session = json!({
            "run_id": report.run_id, "session": report.session, "agent": report.agent,
            "trace_path": report.trace_path, "repo": self.reading.facts.cwd, "at": report.finished_at,
        });
        let summary =
            json!({ "summary_path": report.summary_path, "summary": self.reading.summary });
        let files: [(&str, Vec<u8>); 7] = [
            ("extract.json", pretty(extraction)),
            ("summary.json", pretty(&summary)),
            ("memory_actions.json", pretty(report)),
            ("metrics.json", pretty(&metrics)),
            ("agent.log", agent_log(report, spent).into_bytes()),
            ("subagents.log", Vec::new()),
            ("session.log", format!("{session}\n").into_bytes()),
        ];
        for (name, bytes) in files {
            batch.put_file(folder.join(name)?, bytes)?;
        }
        let (path, bytes) = UndoPlan::of(plan).file(&report.run_id)?;
        Ok(batch.put_file(path, bytes)?)
    }
}

/// What a model had to do with a run.
fn agent_log(report: &RunReport, spent: SpentTotals) -> String {
    let fallback = report.fallback.as_ref().map(|why| format!("Fell back: {why}.\n"));
    let told = match spent.calls {
        0 => "No model was asked: candidates and decisions are by rule.\n".to_owned(),
        calls => format!(
            "A model was asked {calls} times: {} tokens, {}.\n",
            spent.usage.total(),
            spent.cost
        ),
    };
    told + &fallback.unwrap_or_default()
}

fn dollars(spent: SpentTotals) -> f64 {
    spent.cost.nano_dollars() as f64 / 1e9
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
