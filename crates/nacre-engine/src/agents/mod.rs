//! Definitions of all agents.

mod asker;
mod chat;
mod citations;
mod delegate;
mod deps;
mod explorer;
mod lead;
mod mentions;
mod merged;

pub use asker::{NOT_KNOWN, asker, build_prompt};
pub use chat::{CHAT_BUDGETS, InstructionFile, Orientation, chat};
pub use citations::{CheckedReport, Citation, LookedAt, Report, check_report};
pub use delegate::delegate_tool;
pub use deps::AgentDeps;
pub use explorer::explorer;
pub use lead::{
    Case, ExplorerReport, LEAD_DENIED, Lead, LeadAction, LeadReport, LeadRequest, LeadRuling,
    LeadStep, NearMemory, lead,
};
pub use mentions::find_unchecked_mentions;
pub use merged::{MergeSource, MergedText};

#[cfg(test)]
pub(crate) fn derive_schemas() -> Vec<(String, serde_json::Value)> {
    use crate::schemas::derive_schema;
    vec![derive_schema::<citations::Report>(), derive_schema::<delegate::DelegateInput>()]
}
