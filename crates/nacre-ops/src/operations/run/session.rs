//! The report of a run over one session, as it goes over the wire.

use std::collections::BTreeMap;

use nacre_api::wire::{
    ActionCounts, ChecklistStep, RunMode, SessionAction, SessionOutcome, SessionRun,
};
use nacre_engine::flows::run;
use nacre_engine::flows::sync::{ActionReport, Counts, Outcome, RunReport};
use serde_json::Value;

use super::candidate::{drop_counts, strategy};

pub(crate) fn session_run(report: RunReport) -> SessionRun {
    SessionRun {
        run_id: report.run_id.as_str().to_owned(),
        mode: run_mode(report.mode),
        outcome: match report.outcome {
            Outcome::Done => SessionOutcome::Done,
            Outcome::Unchanged => SessionOutcome::Unchanged,
        },
        trace_path: report.trace_path,
        session: report.session,
        agent: report.agent.to_owned(),
        memory_root: report.memory_root.display().to_string(),
        workspace_root: report.workspace_root.display().to_string(),
        run_folder: report.run_folder,
        finished_at: report.finished_at,
        checklist: report.checklist.iter().map(checklist_step).collect(),
        actions: report.actions.into_iter().map(session_action).collect(),
        counts: action_counts(report.counts),
        dropped: drop_counts(report.dropped),
        written_paths: report.written_paths,
        summary_path: report.summary_path,
        cost_usd: report.cost_usd,
        strategy: strategy(report.strategy),
        fallback: report.fallback,
        limit: report.limit.map(str::to_owned),
        lead_error: report.lead_error,
    }
}

fn run_mode(of: run::RunMode) -> RunMode {
    match of {
        run::RunMode::Sync => RunMode::Sync,
        run::RunMode::Hot => RunMode::Hot,
        run::RunMode::Cold => RunMode::Cold,
        run::RunMode::Maintain => RunMode::Maintain,
        run::RunMode::Undo => RunMode::Undo,
    }
}

fn checklist_step(of: &Value) -> ChecklistStep {
    let text = |key: &str| of[key].as_str().unwrap_or_default().to_owned();
    ChecklistStep { step: text("step"), state: text("state") }
}

fn session_action(of: ActionReport) -> SessionAction {
    let scores = |scores: BTreeMap<&'static str, f32>| {
        scores.into_iter().map(|(name, score)| (name.to_owned(), score)).collect()
    };
    SessionAction {
        candidate: of.candidate,
        title: of.title,
        signal: of.signal.to_owned(),
        action: of.action.to_owned(),
        target: of.target.map(|id| id.to_string()),
        supersedes: of.supersedes.map(|id| id.to_string()),
        nearest: of.nearest.map(|id| id.to_string()),
        band: of.band.to_owned(),
        relation: of.relation.map(str::to_owned),
        likelihood: of.likelihood,
        scores: of.scores.map(scores),
        reason: of.reason.to_owned(),
        by: of.by.to_owned(),
        note: of.note,
        quote: of.quote,
    }
}

fn action_counts(of: Counts) -> ActionCounts {
    let Counts { add, update, no_op, supersede } = of;
    ActionCounts { add, update, no_op, supersede }
}
