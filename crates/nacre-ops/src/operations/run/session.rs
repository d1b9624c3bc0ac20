//! The report of a run over one session, as it goes over the wire.

use nacre_api::wire::{
    ActionCounts, ActionScores, Band, CandidateVerb, ChecklistStep, DecidedBy, Relation, RunMode,
    SessionAction, SessionOutcome, SessionRun, StepState,
};
use nacre_core::memory;
use nacre_engine::flows::{run, sync};

use super::candidate::{drop_counts, signal, strategy};

pub(crate) fn session_run(report: sync::RunReport) -> SessionRun {
    SessionRun {
        run_id: report.run_id.into(),
        mode: run_mode(report.mode),
        outcome: match report.outcome {
            sync::Outcome::Done => SessionOutcome::Done,
            sync::Outcome::Unchanged => SessionOutcome::Unchanged,
        },
        trace_path: report.trace_path,
        session: report.session,
        agent: report.agent.as_str().to_owned(),
        memory_root: report.memory_root.display().to_string(),
        workspace_root: report.workspace_root.display().to_string(),
        run_folder: report.run_folder,
        finished_at: report.finished_at,
        checklist: report.checklist.into_iter().map(checklist_step).collect(),
        actions: report.actions.into_iter().map(session_action).collect(),
        counts: action_counts(report.counts),
        dropped: drop_counts(report.dropped),
        written_paths: report.written_paths,
        summary_path: report.summary_path,
        cost_usd: report.cost_usd,
        strategy: strategy(report.strategy),
        fallback: report.fallback,
        limit: report.limit.map(Into::into),
        lead_error: report.lead_error,
    }
}

pub(crate) fn run_mode(of: run::RunMode) -> RunMode {
    match of {
        run::RunMode::Sync => RunMode::Sync,
        run::RunMode::Hot => RunMode::Hot,
        run::RunMode::Cold => RunMode::Cold,
        run::RunMode::Maintain => RunMode::Maintain,
        run::RunMode::Undo => RunMode::Undo,
        run::RunMode::Memory => RunMode::Memory,
        run::RunMode::Review => RunMode::Review,
        run::RunMode::Import => RunMode::Import,
        run::RunMode::Connect => RunMode::Connect,
        run::RunMode::Config => RunMode::Config,
        run::RunMode::Export => RunMode::Export,
        run::RunMode::Project => RunMode::Project,
        run::RunMode::Trust => RunMode::Trust,
    }
}

pub(crate) fn action_counts(of: sync::Counts) -> ActionCounts {
    let sync::Counts { add, update, no_op, supersede } = of;
    ActionCounts { add, update, no_op, supersede }
}

fn checklist_step(of: sync::ChecklistStep) -> ChecklistStep {
    let state = match of.state {
        sync::StepState::Pending => StepState::Pending,
        sync::StepState::InProgress => StepState::InProgress,
        sync::StepState::Done => StepState::Done,
        sync::StepState::Failed => StepState::Failed,
        sync::StepState::Gated => StepState::Gated,
        sync::StepState::Skipped => StepState::Skipped,
    };
    ChecklistStep { step: of.step, state }
}

fn session_action(of: sync::ActionReport) -> SessionAction {
    SessionAction {
        candidate: of.candidate,
        title: of.title,
        signal: signal(of.signal),
        action: candidate_verb(of.action),
        target: of.target.map(|id| id.to_string()),
        supersedes: of.supersedes.map(|id| id.to_string()),
        nearest: of.nearest.map(|id| id.to_string()),
        band: match of.band {
            memory::Band::Clear => Band::Clear,
            memory::Band::Grey => Band::Grey,
        },
        relation: of.relation.map(relation),
        likelihood: of.likelihood,
        scores: of.scores.map(|sync::ActionScores { about, against, more }| ActionScores {
            about,
            against,
            more,
        }),
        reason: of.reason.into_owned(),
        by: match of.by {
            sync::DecidedBy::Rule => DecidedBy::Rule,
            sync::DecidedBy::Lead => DecidedBy::Lead,
        },
        note: of.note,
        quote: of.quote,
    }
}

fn candidate_verb(of: memory::Action) -> CandidateVerb {
    match of {
        memory::Action::Add => CandidateVerb::Add,
        memory::Action::Update => CandidateVerb::Update,
        memory::Action::NoOp => CandidateVerb::NoOp,
        memory::Action::Supersede => CandidateVerb::Supersede,
    }
}

fn relation(of: memory::Relation) -> Relation {
    match of {
        memory::Relation::Different => Relation::Different,
        memory::Relation::Contradicts => Relation::Contradicts,
        memory::Relation::Refines => Relation::Refines,
        memory::Relation::Same => Relation::Same,
    }
}
