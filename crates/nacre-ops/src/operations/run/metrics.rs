//! What a run took, as it goes over the wire.

use nacre_api::wire::{
    ExplorerFinding, ExplorerMetrics, LeadAction, LeadMetrics, MaintainDurations, MaintainMetrics,
    RunMetrics, SyncDurations, SyncMetrics, TokenCounts,
};
use nacre_engine::agents as agent;
use nacre_engine::flows::{maintain, record, sync};

use super::candidate::{drop_counts, gate, strategy};
use super::maintenance::maintain_counts;

pub(super) fn run_metrics(metrics: record::RunMetrics) -> RunMetrics {
    match metrics {
        record::RunMetrics::Sync(of) => RunMetrics::Sync(Box::new(sync_metrics(*of))),
        record::RunMetrics::Maintain(of) => RunMetrics::Maintain(Box::new(maintain_metrics(*of))),
    }
}

fn sync_metrics(of: sync::SyncMetrics) -> SyncMetrics {
    let sync::SyncDurations { read, decide, lead } = of.durations_ms;
    let sync::TokenCounts { input, output } = of.tokens;
    SyncMetrics {
        run_id: of.run_id.into(),
        strategy: strategy(of.strategy),
        gate: gate(of.gate),
        windows: of.windows,
        unread_windows: of.unread_windows,
        unread_events: of.unread_events,
        steps: of.steps,
        fallback: of.fallback,
        candidates: of.candidates,
        dropped: drop_counts(of.dropped),
        denied_writes: of.denied_writes,
        leads: of.leads.into_iter().map(lead_metrics).collect(),
        explorers: of.explorers.into_iter().map(explorer_metrics).collect(),
        model_calls: of.model_calls,
        tokens: TokenCounts { input, output },
        cost_usd: of.cost_usd,
        unpriced_calls: of.unpriced_calls,
        redactions: of.redactions,
        events: of.events,
        durations_ms: SyncDurations { read, decide, lead },
    }
}

fn maintain_metrics(of: maintain::MaintainMetrics) -> MaintainMetrics {
    let maintain::MaintainDurations { read, compare, whole } = of.durations_ms;
    MaintainMetrics {
        run_id: of.run_id.into(),
        memories: of.memories,
        broken: of.broken,
        pairs: of.pairs,
        counts: maintain_counts(&of.counts),
        model_calls: of.model_calls,
        tokens: of.tokens,
        cost_usd: of.cost_usd,
        denied_writes: of.denied_writes,
        explorers: of.explorers.into_iter().map(explorer_metrics).collect(),
        durations_ms: MaintainDurations { read, compare, whole },
    }
}

fn lead_metrics(of: sync::LeadMetrics) -> LeadMetrics {
    let sync::LeadMetrics { runtime, state, error, rulings, ms, tool_calls, cost_usd, .. } = of;
    let sync::TokenCounts { input, output } = of.tokens;
    LeadMetrics {
        task: of.task.into(),
        runtime,
        state,
        error,
        rulings,
        ms,
        tool_calls,
        tokens: TokenCounts { input, output },
        cost_usd,
    }
}

fn explorer_metrics(of: sync::ExplorerMetrics) -> ExplorerMetrics {
    let sync::ExplorerMetrics { task, candidates, state, findings, ms, model_calls } = of;
    ExplorerMetrics {
        task: task.into(),
        candidates,
        state,
        findings: findings.into_iter().map(finding).collect(),
        ms,
        model_calls,
    }
}

fn finding(of: agent::Finding) -> ExplorerFinding {
    let agent::Finding { candidate_id, action_hint, matched_file, overlap, evidence } = of;
    let action_hint = match action_hint {
        agent::LeadAction::Add => LeadAction::Add,
        agent::LeadAction::Update => LeadAction::Update,
        agent::LeadAction::NoOp => LeadAction::NoOp,
        agent::LeadAction::Supersede => LeadAction::Supersede,
    };
    ExplorerFinding { candidate_id, action_hint, matched_file, overlap, evidence }
}
