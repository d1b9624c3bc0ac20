//! Candidates and summaries as they go over the wire.

use nacre_api::wire::{
    Candidate, DroppedCandidate, ExtractReport, ReadFallback, StrategyChoice, SummarizeReport,
};
use nacre_core::config;
use nacre_core::memory::{Claim, LearningKind};
use nacre_engine::flows::candidate::{self, Dropped, Extraction, SessionSummary};
use nacre_engine::flows::strategy::{HowRead, SessionRead};

use crate::operations::memory::{memory_type, quote};
use crate::operations::run::{drop_counts, drop_reason, gate, signal, strategy};

pub(crate) fn core_strategy(of: StrategyChoice) -> config::StrategyChoice {
    match of {
        StrategyChoice::Auto => config::StrategyChoice::Auto,
        StrategyChoice::Offline => config::StrategyChoice::Offline,
        StrategyChoice::Windows => config::StrategyChoice::Windows,
        StrategyChoice::Rlm => config::StrategyChoice::Rlm,
    }
}

pub(super) fn fallback(how: HowRead) -> ReadFallback {
    ReadFallback { fallback: how.fallback, limit: how.limit.map(str::to_owned) }
}

pub(super) fn extract_report(read: SessionRead) -> ExtractReport {
    let Extraction {
        version,
        session,
        agent,
        strategy: by,
        gate: at,
        candidates,
        dropped_counts,
        dropped,
    } = read.extraction;
    ExtractReport {
        version,
        session,
        agent: agent.as_str().to_owned(),
        strategy: strategy(by),
        gate: gate(at),
        candidates: candidates.into_iter().map(candidate).collect(),
        dropped_counts: drop_counts(dropped_counts),
        dropped: dropped.into_iter().map(dropped_candidate).collect(),
        read: fallback(read.how),
    }
}

pub(super) fn summarize_report(summary: SessionSummary, how: HowRead) -> SummarizeReport {
    SummarizeReport {
        version: summary.version,
        session: summary.session,
        agent: summary.agent.as_str().to_owned(),
        strategy: strategy(summary.strategy),
        title: summary.title,
        description: summary.description,
        intent: summary.intent,
        narrative: summary.narrative,
        outcome: summary.outcome,
        files: summary.files,
        commands: summary.commands,
        started: summary.started.map(|time| time.to_string()),
        ended: summary.ended.map(|time| time.to_string()),
        tags: summary.tags,
        read: fallback(how),
    }
}

fn candidate(of: candidate::Candidate) -> Candidate {
    let kind = match of.claim {
        Claim::Decision => None,
        Claim::Learning(kind) => Some(LearningKind::as_str(kind).to_owned()),
    };
    Candidate {
        id: of.id.as_str().to_owned(),
        r#type: memory_type(of.claim.memory_type()),
        kind,
        title: of.title,
        body: of.body,
        tags: of.tags,
        applies: of.applies,
        confidence: of.confidence,
        signal: signal(of.signal),
        quotes: of.quotes.into_iter().map(quote).collect(),
    }
}

fn dropped_candidate(of: Dropped) -> DroppedCandidate {
    let Dropped { reason, signal: by, title, place } = of;
    DroppedCandidate { reason: drop_reason(reason), signal: signal(by), title, place }
}
