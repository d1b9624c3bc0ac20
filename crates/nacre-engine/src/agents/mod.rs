//! The agents there are, as data.

mod asker;
mod chat;
mod citations;
mod delegate;
mod deps;
mod explorer;
mod lead;
mod mentions;
mod merged;

pub use asker::{NOT_KNOWN, asked, asker};
pub use chat::{CHAT_BUDGETS, InstructionFile, Orientation, chat};
pub use citations::{
    CheckedReport, Citation, CitationState, CitedFiles, LookedAt, Report, Unproven, check_report,
};
pub use delegate::Delegate;
pub use deps::AgentDeps;
pub use explorer::explorer;
pub use lead::{
    Case, ClaudeLead, ExplorerReport, Finding, LEAD_DENIED, Lead, LeadAction, LeadBoundary,
    LeadReport, LeadRequest, LeadRuling, LeadRunner, LeadStep, LeadTask, LeadToolCall, NearMemory,
    lead,
};
pub use mentions::unchecked_mentions;
pub use merged::{MergeSource, MergedText};

/// The schemas of what a model writes for these, from their types.
#[cfg(test)]
pub(crate) fn derived_schemas() -> Vec<(String, serde_json::Value)> {
    use crate::schemas::derived;
    vec![derived::<citations::Report>(), derived::<delegate::DelegateInput>()]
}
