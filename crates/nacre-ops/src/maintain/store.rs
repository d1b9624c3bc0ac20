//! Maintains one store. The plan is computed without a lock, and is computed again if a file has
//! changed before the commit.

use nacre_memory::search::MemoryIndex;
use nacre_memory::{Batch, MemoryError, PlannedChange};
use nacre_types::{MaintainDurations, MaintainMetrics, MaintainState, RunMode, StoreMaintenance};

use super::gather::{Collection, Ledger, count_actions};
use super::gone::{Checkout, find_gone};
use super::pairs::{Compared, MAX_NEAR, MIN_LIKENESS, compare_pairs};
use super::plan::{Inputs, Plan, Texts, make_plan};
use super::rewrite::write_texts;
use crate::host::{ModelClient, millis};
use crate::prelude::*;
use crate::run::change::{ChangeInfo, Reversal, stage_note};
use crate::run::folder::{METRICS_FILE, OF_MAINTENANCE, RunId, UndoPlan, pretty};
use crate::sync::pipeline::FlowContext;

/// Maximum number of attempts if files are edited during the run.
const MAX_TRIES: usize = 5;

const MAX_ROUNDS: usize = 8;

#[derive(Clone, Debug, Default)]
pub struct MaintainOptions {
    pub checkout: Option<Checkout>,
    pub force: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaintainStep {
    Read,
    Compare(usize),
    /// The number of memories to skip: one run can compare only a limited amount of text.
    LeaveOut(usize),
    Write,
    Commit,
    Index,
}

impl MaintainStep {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Compare(_) => "compare",
            Self::LeaveOut(_) => "leave out",
            Self::Write => "write",
            Self::Commit => "commit",
            Self::Index => "index",
        }
    }
}

pub fn maintain_store(
    ctx: &FlowContext<'_>,
    order: &MaintainOptions,
    asker: Option<&ModelClient<'_>>,
    mut watch: impl FnMut(MaintainStep),
) -> Result<StoreMaintenance, MemoryError> {
    let mut tries = 0;
    loop {
        let began = (ctx.clock)();
        let Some(round) = Round::open(ctx, order, asker, &mut watch)? else {
            return Ok(Round::skip(ctx));
        };
        if round.plan.revisions.is_empty() {
            settle(ctx, round.fingerprint, round.plan.next_change)?;
            return Ok(round.report(ctx, MaintainState::Clean, Vec::new()));
        }
        let mut batch = ctx.store.begin(ctx.owner, ctx.patience)?.by_reader();
        let committed = round.stage(ctx, &mut batch, began).and_then(|report| {
            watch(MaintainStep::Commit);
            batch.commit()?;
            Ok(report)
        });
        match committed {
            Ok(report) => {
                watch(MaintainStep::Index);
                // Frees the memories before the store is read again.
                let next_change = round.plan.next_change;
                drop(round);
                finish(ctx, order, next_change)?;
                return Ok(report);
            }
            Err(MemoryError::Fs(FsError::Conflict { .. })) if tries + 1 < MAX_TRIES => {
                tries += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

pub(super) fn preview_store(
    ctx: &FlowContext<'_>,
    order: &MaintainOptions,
    asker: Option<&ModelClient<'_>>,
    mut watch: impl FnMut(MaintainStep),
) -> Result<(StoreMaintenance, Vec<PlannedChange>), MemoryError> {
    let began = (ctx.clock)();
    let Some(round) = Round::open(ctx, order, asker, &mut watch)? else {
        return Ok((Round::skip(ctx), Vec::new()));
    };
    let mut batch = ctx.store.begin(ctx.owner, ctx.patience)?.by_reader();
    let report = round.stage(ctx, &mut batch, began)?;
    if round.plan.revisions.is_empty() {
        return Ok((round.report(ctx, MaintainState::Clean, Vec::new()), Vec::new()));
    }
    Ok((report, batch.plan()?))
}

struct Round {
    collection: Collection,
    fingerprint: ContentHash,
    plan: Plan,
    texts: Texts,
    n_pairs: usize,
    took: [Duration; 2],
}

impl Round {
    fn open(
        ctx: &FlowContext<'_>,
        order: &MaintainOptions,
        asker: Option<&ModelClient<'_>>,
        watch: &mut dyn FnMut(MaintainStep),
    ) -> Result<Option<Self>, MemoryError> {
        let began = (ctx.clock)();
        watch(MaintainStep::Read);
        let collection = Collection::read(ctx.store)?;
        let ledger = Ledger::read(ctx.store)?;
        let gone = find_gone(&collection, order.checkout.as_ref(), ctx.clock);
        let fingerprint = collection.fingerprint_with(&gone);
        if !order.force && ledger.is_settled(fingerprint, ctx.now) {
            return Ok(None);
        }
        if collection.n_left_out > 0 {
            watch(MaintainStep::LeaveOut(collection.n_left_out));
        }
        let read_for = (ctx.clock)().saturating_sub(began);
        watch(MaintainStep::Compare(collection.held.len()));
        let index = MemoryIndex::open(ctx.store, ctx.owner, ctx.now)?;
        let near = index.nearest(MAX_NEAR, MIN_LIKENESS);
        let planned = |compared: &[Compared], texts: &Texts| {
            let (collection, gone, ledger, now) = (&collection, &gone, &ledger, ctx.now);
            make_plan(&Inputs { collection, compared, gone, ledger, texts, now })
        };
        let (mut compared, mut texts) = (Vec::new(), Texts::default());
        let mut plan = planned(&compared, &texts);
        // Removing memories makes room to compare others. Repeat until no pairs are left, so that a
        // second run immediately afterwards has nothing to do.
        for _ in 0..MAX_ROUNDS {
            let removed = &plan.removed;
            let more = compare_pairs(&collection, &near, &compared, removed);
            if more.is_empty() {
                break;
            }
            compared.extend(more);
            plan = planned(&compared, &texts);
        }
        if let Some(asker) = asker {
            watch(MaintainStep::Write);
            texts = write_texts(&collection, &compared, &plan, asker);
            plan = planned(&compared, &texts);
        }
        let compared_for = (ctx.clock)().saturating_sub(began + read_for);
        let n_pairs = compared.len();
        let took = [read_for, compared_for];
        Ok(Some(Self { collection, fingerprint, plan, texts, n_pairs, took }))
    }

    /// Stages the plan. Returns a conflict if a memory's evidence or state has changed since it was
    /// read.
    fn stage(
        &self,
        ctx: &FlowContext<'_>,
        batch: &mut Batch<'_>,
        began: Duration,
    ) -> Result<StoreMaintenance, MemoryError> {
        for (idx, revision) in &self.plan.revisions {
            let one = &self.collection.held[*idx];
            let beside = (ctx.store.evidence(one.id())?, ctx.store.state(one.id())?);
            if beside != (one.evidence.clone(), one.state.clone()) {
                return Err(FsError::Conflict { paths: vec![one.memory.at.path.clone()] }.into());
            }
            batch.revise(&one.memory, revision)?;
        }
        let plan = batch.plan()?;
        let written = plan.iter().map(|change| change.path.as_str().to_owned());
        let written = written.filter(|path| path.starts_with("memory/")).collect();
        let report = self.report(ctx, MaintainState::Done, written);
        self.stage_artifacts(ctx, batch, &report, &plan, began)?;
        Ok(report)
    }

    fn stage_artifacts(
        &self,
        ctx: &FlowContext<'_>,
        batch: &mut Batch<'_>,
        report: &StoreMaintenance,
        plan: &[PlannedChange],
        began: Duration,
    ) -> Result<(), MemoryError> {
        let run = &self.run_id(ctx);
        let folder = run.folder()?;
        let [read_for, compared_for] = self.took;
        let metrics = MaintainMetrics {
            run_id: run.to_string(),
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
        let agent_log = match self.texts.n_asked {
            0 => "No model was used. All decisions were made by rule.\n",
            _ => &self.texts.log,
        };
        let files: [(&str, Vec<u8>); 5] = [
            (run.actions_file(), pretty(report)),
            (METRICS_FILE, pretty(&metrics)),
            ("agent.log", agent_log.to_owned().into_bytes()),
            ("subagents.log", Vec::new()),
            ("session.log", lines.collect::<String>().into_bytes()),
        ];
        for (name, bytes) in files {
            batch.put_file(folder.join(name)?, bytes)?;
        }
        let (path, bytes) = UndoPlan::of(plan, OF_MAINTENANCE).file(run)?;
        batch.put_file(path, bytes)?;
        let info = ChangeInfo { change: None, command: "maintain", undoes: None, now: ctx.now };
        stage_note(ctx.store, batch, run, &info, plan, Reversal::Plan)
    }

    /// Returns an id that depends only on the plan and the time, so that a retry uses the same id.
    fn run_id(&self, ctx: &FlowContext<'_>) -> RunId {
        RunId::new(RunMode::Maintain, ctx.now, &self.fingerprint.short())
    }

    fn report(
        &self,
        ctx: &FlowContext<'_>,
        outcome: MaintainState,
        written_paths: Vec<String>,
    ) -> StoreMaintenance {
        let actions = self.plan.actions.clone();
        StoreMaintenance {
            outcome,
            run_id: (outcome == MaintainState::Done).then(|| self.run_id(ctx).into()),
            memories: self.collection.held.len(),
            broken: self.collection.n_broken,
            counts: count_actions(&actions),
            contradictions: self.plan.open.clone(),
            actions,
            written_paths,
            model_calls: self.texts.spent.calls,
            tokens: self.texts.spent.usage.total(),
            cost_usd: self.texts.spent.cost.dollars(),
            ..Self::skip(ctx)
        }
    }

    fn skip(ctx: &FlowContext<'_>) -> StoreMaintenance {
        StoreMaintenance {
            outcome: MaintainState::Skipped,
            mode: RunMode::Maintain,
            run_id: None,
            finished_at: ctx.now.to_string(),
            memories: 0,
            broken: 0,
            counts: count_actions(&[]),
            actions: Vec::new(),
            contradictions: Vec::new(),
            written_paths: Vec::new(),
            model_calls: 0,
            tokens: 0,
            cost_usd: 0.0,
        }
    }
}

/// Records the result of the run. The state is recorded only if all pairs were compared.
fn finish(
    ctx: &FlowContext<'_>,
    order: &MaintainOptions,
    next_change: Option<Timestamp>,
) -> Result<(), MemoryError> {
    let index = MemoryIndex::open(ctx.store, ctx.owner, ctx.now)?;
    if index.n_postponed() != 0 {
        // The next run compares the remaining pairs.
        return Ok(());
    }
    drop(index);
    let collection = Collection::read(ctx.store)?;
    let gone = find_gone(&collection, order.checkout.as_ref(), ctx.clock);
    settle(ctx, collection.fingerprint_with(&gone), next_change)
}

/// Records that the store needs no maintenance until a file changes or `next_change` is reached.
fn settle(
    ctx: &FlowContext<'_>,
    fingerprint: ContentHash,
    next_change: Option<Timestamp>,
) -> Result<(), MemoryError> {
    let mut batch = ctx.store.begin(ctx.owner, ctx.patience)?.by_reader();
    let mut ledger = Ledger::read(ctx.store)?;
    ledger.settle(fingerprint, ctx.now, next_change);
    let (path, bytes) = ledger.file()?;
    batch.put_file(path, bytes)?;
    batch.commit()?;
    Ok(())
}
