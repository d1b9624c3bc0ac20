//! The report of a maintenance of one store, as it goes over the wire.

use std::collections::BTreeMap;

use nacre_api::wire::{
    MaintainAction, MaintainOutcome, MaintainVerb, OpenContradiction, RunMode, StoreMaintenance,
};
use nacre_engine::flows::maintain;

pub(crate) fn store_maintenance(report: maintain::MaintainReport) -> StoreMaintenance {
    StoreMaintenance {
        outcome: match report.outcome {
            maintain::MaintainOutcome::Done => MaintainOutcome::Done,
            maintain::MaintainOutcome::Clean => MaintainOutcome::Clean,
            maintain::MaintainOutcome::Skipped => MaintainOutcome::Skipped,
        },
        mode: RunMode::Maintain,
        run_id: report.run_id.map(Into::into),
        finished_at: report.finished_at,
        memories: report.memories,
        broken: report.broken,
        counts: maintain_counts(&report.counts),
        actions: report.actions.into_iter().map(maintain_action).collect(),
        contradictions: report.contradictions.into_iter().map(open_contradiction).collect(),
        written_paths: report.written_paths,
        model_calls: report.model_calls,
        tokens: report.tokens,
        cost_usd: report.cost_usd,
    }
}

pub(crate) fn maintain_counts(
    counts: &BTreeMap<maintain::MaintainVerb, usize>,
) -> BTreeMap<MaintainVerb, usize> {
    counts.iter().map(|(verb, n)| (maintain_verb(*verb), *n)).collect()
}

fn maintain_action(action: maintain::MaintainAction) -> MaintainAction {
    let maintain::MaintainAction { action, target, title, with, reason, likelihood, key } = action;
    MaintainAction {
        action: maintain_verb(action),
        target: target.to_string(),
        title,
        with: with.map(|id| id.to_string()),
        reason,
        likelihood,
        key,
    }
}

fn open_contradiction(open: maintain::OpenContradiction) -> OpenContradiction {
    let maintain::OpenContradiction { newer, older, likelihood, reason } = open;
    OpenContradiction {
        newer: newer.to_string(),
        older: older.to_string(),
        likelihood,
        reason: reason.into_owned(),
    }
}

fn maintain_verb(of: maintain::MaintainVerb) -> MaintainVerb {
    match of {
        maintain::MaintainVerb::Merge => MaintainVerb::Merge,
        maintain::MaintainVerb::Consolidate => MaintainVerb::Consolidate,
        maintain::MaintainVerb::Supersede => MaintainVerb::Supersede,
        maintain::MaintainVerb::Archive => MaintainVerb::Archive,
        maintain::MaintainVerb::Stale => MaintainVerb::Stale,
        maintain::MaintainVerb::Restore => MaintainVerb::Restore,
        maintain::MaintainVerb::Freshen => MaintainVerb::Freshen,
        maintain::MaintainVerb::Establish => MaintainVerb::Establish,
        maintain::MaintainVerb::Validate => MaintainVerb::Validate,
        maintain::MaintainVerb::Doubt => MaintainVerb::Doubt,
        maintain::MaintainVerb::Relink => MaintainVerb::Relink,
    }
}
