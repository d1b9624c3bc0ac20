//! Maintain: a store stays small and true.
//!
//! Read, compare, plan, commit, index. The plan is computed without the store's lock and without writing a byte; then it
//! is staged as one change set, guarded by what was read, and made anew when a person was faster. Every step is a
//! function of what stands in the files and of the time, so that running it often or seldom comes to the same.

mod compare;
mod contradictions;
mod gather;
mod gone;
mod ledger;
mod life;
mod links;
mod plan;
mod report;
mod repository;
mod rewrite;
#[cfg(test)]
mod tests;
mod texts;
mod twins;

use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use nacre_core::base::ContentHash;
use nacre_core::base::git::GitProgram;
use nacre_core::memory::{Batch, MemoryError, PlannedChange};
use nacre_core::safefs::{FsError, RelPath};
use nacre_core::search::{EmbedError, MemoryIndex, SearchError};

use self::compare::Compared;
use self::gather::Collection;
pub(super) use self::ledger::Ledger;
use self::plan::{Inputs, Plan};
pub use self::report::{
    MaintainAction, MaintainDurations, MaintainMetrics, MaintainOutcome, MaintainReport,
    MaintainVerb, OpenContradiction,
};
use self::texts::Texts;
use super::change::{ChangeInfo, Reversal, stage_note};
use super::models::ModelClient;
use super::run::{METRICS_FILE, RunId, RunMode, UndoPlan, pretty};
use super::sync::FlowContext;

/// How often it is planned anew when a person edits meanwhile.
const MAX_TRIES: usize = 5;

/// How often more pairs are compared, after what was planned for the others.
const MAX_ROUNDS: usize = 8;

/// What a maintenance is to do.
#[derive(Clone, Debug, Default)]
pub struct MaintainOptions {
    /// The checkout that the memories speak of, where there is one.
    pub checkout: Option<Checkout>,
    /// Look also where nothing changed since the last run.
    pub force: bool,
}

/// The files that memories speak of, and the git that knows their past.
#[derive(Clone, Debug)]
pub struct Checkout {
    pub root: PathBuf,
    pub git: GitProgram,
}

/// A step of a run, for whoever watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaintainStep {
    Read,
    /// So many memories are compared with each other.
    Compare(usize),
    /// A model is asked.
    Write,
    Commit,
    Index,
}

impl MaintainStep {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Compare(_) => "compare",
            Self::Write => "write",
            Self::Commit => "commit",
            Self::Index => "index",
        }
    }
}

/// Why a store could not be maintained.
#[derive(Debug, thiserror::Error)]
pub enum MaintainError {
    #[error(transparent)]
    Memory(#[from] MemoryError),
    #[error(transparent)]
    Search(#[from] SearchError),
    #[error(transparent)]
    Embed(#[from] EmbedError),
}

impl From<FsError> for MaintainError {
    fn from(error: FsError) -> Self {
        Self::Memory(error.into())
    }
}

/// Maintains one store.
pub fn maintain(
    ctx: &FlowContext<'_>,
    order: &MaintainOptions,
    asker: Option<&ModelClient<'_>>,
    mut watch: impl FnMut(MaintainStep),
) -> Result<MaintainReport, MaintainError> {
    let mut tries = 0;
    loop {
        let began = (ctx.clock)();
        let Some(round) = Round::open(ctx, order, asker, &mut watch)? else {
            return Ok(Round::skipped(ctx));
        };
        if round.plan.revisions.is_empty() {
            settle(ctx, round.fingerprint, round.plan.next_change)?;
            return Ok(round.report(ctx, MaintainOutcome::Clean, Vec::new()));
        }
        let mut batch = ctx.store.begin(ctx.owner, ctx.patience)?.by_reader();
        let staged = round.stage(ctx, &mut batch, began)?;
        watch(MaintainStep::Commit);
        let committed = match &staged {
            Ok(_) => batch.commit().map(|_| ()),
            Err(changed) => {
                Err(MemoryError::Fs(FsError::Conflict { paths: vec![changed.clone()] }))
            }
        };
        match (staged, committed) {
            (Ok(report), Ok(())) => {
                watch(MaintainStep::Index);
                // The store is read once more, and not held twice.
                let next_change = round.plan.next_change;
                drop(round);
                finish(ctx, order, next_change)?;
                return Ok(report);
            }
            (_, Err(MemoryError::Fs(FsError::Conflict { .. }))) if tries + 1 < MAX_TRIES => {
                tries += 1;
            }
            (_, Err(error)) => return Err(error.into()),
            (Err(_), Ok(())) => {}
        }
    }
}

/// Tells what a maintenance would do, file by file, and does nothing.
pub fn preview(
    ctx: &FlowContext<'_>,
    order: &MaintainOptions,
    asker: Option<&ModelClient<'_>>,
) -> Result<(MaintainReport, Vec<PlannedChange>), MaintainError> {
    let began = (ctx.clock)();
    let Some(round) = Round::open(ctx, order, asker, &mut |_| {})? else {
        return Ok((Round::skipped(ctx), Vec::new()));
    };
    let mut batch = ctx.store.begin(ctx.owner, ctx.patience)?.by_reader();
    let is_idle = round.plan.revisions.is_empty();
    let report = match round.stage(ctx, &mut batch, began)? {
        Ok(report) if !is_idle => report,
        Ok(_) => round.report(ctx, MaintainOutcome::Clean, Vec::new()),
        Err(path) => return Err(FsError::Conflict { paths: vec![path] }.into()),
    };
    Ok((report, if is_idle { Vec::new() } else { batch.plan()? }))
}

/// One look at a store, and what is to be done.
struct Round {
    collection: Collection,
    fingerprint: ContentHash,
    plan: Plan,
    texts: Texts,
    n_pairs: usize,
    /// Reading and comparing.
    took: [Duration; 2],
}

impl Round {
    /// Looks and plans; `None` when nothing changed since the last run.
    fn open(
        ctx: &FlowContext<'_>,
        order: &MaintainOptions,
        asker: Option<&ModelClient<'_>>,
        watch: &mut dyn FnMut(MaintainStep),
    ) -> Result<Option<Self>, MaintainError> {
        let began = (ctx.clock)();
        watch(MaintainStep::Read);
        let collection = Collection::read(ctx.store)?;
        let ledger = Ledger::read(ctx.store)?;
        let gone = gone::gone(&collection, order.checkout.as_ref(), ctx.clock);
        let fingerprint = collection.fingerprint_with(&gone);
        if !order.force && ledger.is_settled(fingerprint, ctx.now) {
            return Ok(None);
        }
        let read_for = (ctx.clock)().saturating_sub(began);
        watch(MaintainStep::Compare(collection.held.len()));
        let index = MemoryIndex::open(ctx.store, ctx.embedder, ctx.owner, ctx.now)?;
        let near = index.nearest(compare::MAX_NEAR, compare::MIN_LIKENESS);
        let planned = |compared: &[Compared], texts: &Texts| {
            let (collection, gone, ledger, now) = (&collection, &gone, &ledger, ctx.now);
            plan::plan(&Inputs { collection, compared, gone, ledger, texts, now })
        };
        let (mut compared, mut texts) = (Vec::new(), Texts::default());
        let mut plan = planned(&compared, &texts);
        // What goes makes room for others to be compared; the next run must find nothing of that.
        for _ in 0..MAX_ROUNDS {
            let known = (compared.as_slice(), &plan.removed);
            let more = compare::compare(&collection, &near, known, ctx.builtin)?;
            if more.is_empty() {
                break;
            }
            compared.extend(more);
            plan = planned(&compared, &texts);
        }
        if let Some(asker) = asker {
            watch(MaintainStep::Write);
            texts = rewrite::texts(&collection, &compared, &plan, (asker, ctx.builtin))?;
            plan = planned(&compared, &texts);
        }
        let compared_for = (ctx.clock)().saturating_sub(began + read_for);
        let n_pairs = compared.len();
        let took = [read_for, compared_for];
        Ok(Some(Self { collection, fingerprint, plan, texts, n_pairs, took }))
    }

    /// Stages the plan and the run's folder; names what stands beside a memory and is no longer what was read.
    fn stage(
        &self,
        ctx: &FlowContext<'_>,
        batch: &mut Batch<'_>,
        began: Duration,
    ) -> Result<Result<MaintainReport, RelPath>, MaintainError> {
        for (idx, revision) in &self.plan.revisions {
            let one = &self.collection.held[*idx];
            let beside = (ctx.store.evidence(one.id())?, ctx.store.state(one.id())?);
            if beside != (one.evidence.clone(), one.state.clone()) {
                return Ok(Err(one.memory.at.path.clone()));
            }
            batch.revise(&one.memory, revision)?;
        }
        let plan = batch.plan()?;
        let written = plan.iter().map(|change| change.path.as_str().to_owned());
        let written = written.filter(|path| path.starts_with("memory/")).collect();
        let report = self.report(ctx, MaintainOutcome::Done, written);
        self.stage_artifacts(ctx, batch, &report, &plan, began)?;
        Ok(Ok(report))
    }

    fn stage_artifacts(
        &self,
        ctx: &FlowContext<'_>,
        batch: &mut Batch<'_>,
        report: &MaintainReport,
        plan: &[PlannedChange],
        began: Duration,
    ) -> Result<(), MaintainError> {
        let Some(run) = &report.run_id else { return Ok(()) };
        let folder = run.folder()?;
        let [read_for, compared_for] = self.took;
        let metrics = MaintainMetrics {
            run_id: run.clone(),
            memories: report.memories,
            broken: report.broken,
            pairs: self.n_pairs,
            counts: report.counts.clone(),
            model_calls: report.model_calls,
            tokens: report.tokens,
            cost_usd: report.cost_usd,
            denied_writes: 0,
            explorers: Vec::new(),
            durations_ms: MaintainDurations {
                read: millis(read_for),
                compare: millis(compared_for),
                whole: millis((ctx.clock)().saturating_sub(began)),
            },
        };
        let lines = report.actions.iter().map(|action| {
            let with = action.with.as_ref().map(|with| format!(" with {with}")).unwrap_or_default();
            format!("{} {}{with}: {}\n", action.action, action.target, action.reason)
        });
        let files: [(&str, Vec<u8>); 5] = [
            (run.actions_file(), pretty(report)),
            (METRICS_FILE, pretty(&metrics)),
            ("agent.log", self.agent_log()),
            ("subagents.log", Vec::new()),
            ("session.log", lines.collect::<String>().into_bytes()),
        ];
        for (name, bytes) in files {
            batch.put_file(folder.join(name)?, bytes)?;
        }
        let (path, bytes) = UndoPlan::of_maintenance(plan).file(run)?;
        batch.put_file(path, bytes)?;
        let info = ChangeInfo { change: None, command: "maintain", undoes: None, now: ctx.now };
        Ok(stage_note(ctx.store, batch, run, &info, plan, Reversal::Plan)?)
    }

    fn agent_log(&self) -> Vec<u8> {
        match self.texts.n_asked {
            0 => b"No model was asked: everything was decided by rule.\n".to_vec(),
            _ => self.texts.log.clone().into_bytes(),
        }
    }

    fn report(
        &self,
        ctx: &FlowContext<'_>,
        outcome: MaintainOutcome,
        written_paths: Vec<String>,
    ) -> MaintainReport {
        let actions = self.plan.actions.clone();
        // What was found stands for the time: the same plan at the same time is the same run.
        let run = RunId::new(RunMode::Maintain, ctx.now, &self.fingerprint.short());
        MaintainReport {
            outcome,
            run_id: Some(run).filter(|_| outcome == MaintainOutcome::Done),
            memories: self.collection.held.len(),
            broken: self.collection.n_broken,
            left_out: self.collection.n_left_out,
            counts: report::counts(&actions),
            contradictions: self.plan.open.clone(),
            actions,
            written_paths,
            model_calls: self.texts.spent.calls,
            tokens: self.texts.spent.usage.total(),
            cost_usd: self.texts.spent.cost.dollars(),
            ..Self::skipped(ctx)
        }
    }

    /// The report of a store that was not looked at.
    fn skipped(ctx: &FlowContext<'_>) -> MaintainReport {
        MaintainReport {
            outcome: MaintainOutcome::Skipped,
            mode: RunMode::Maintain,
            run_id: None,
            finished_at: ctx.now.to_string(),
            memories: 0,
            broken: 0,
            left_out: 0,
            counts: report::counts(&[]),
            actions: Vec::new(),
            contradictions: Vec::new(),
            written_paths: Vec::new(),
            model_calls: 0,
            tokens: 0,
            cost_usd: 0.0,
        }
    }
}

/// Brings the index up to date, and says what the next run need not look at.
fn finish(
    ctx: &FlowContext<'_>,
    order: &MaintainOptions,
    next_change: Option<Timestamp>,
) -> Result<(), MaintainError> {
    let index = MemoryIndex::open(ctx.store, ctx.embedder, ctx.owner, ctx.now)?;
    if index.n_postponed() != 0 {
        // The next run has more to compare.
        return Ok(());
    }
    drop(index);
    let collection = Collection::read(ctx.store)?;
    let gone = gone::gone(&collection, order.checkout.as_ref(), ctx.clock);
    settle(ctx, collection.fingerprint_with(&gone), next_change)
}

/// Remembers that nothing is to be done until something changes.
fn settle(
    ctx: &FlowContext<'_>,
    fingerprint: ContentHash,
    next_change: Option<Timestamp>,
) -> Result<(), MaintainError> {
    let mut batch = ctx.store.begin(ctx.owner, ctx.patience)?.by_reader();
    let mut ledger = Ledger::read(ctx.store)?;
    ledger.settle(fingerprint, ctx.now, next_change);
    let (path, bytes) = ledger.file()?;
    batch.put_file(path, bytes)?;
    batch.commit()?;
    Ok(())
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
