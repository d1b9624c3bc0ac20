//! The agents there are, as data.

mod asker;
mod citations;
mod crew;
mod delegate;
mod explorer;
mod lead;

pub use asker::{NOT_KNOWN, asked, asker};
pub use citations::{Citation, CitationState, Report, check_report};
pub use crew::Crew;
pub use delegate::Delegate;
pub use explorer::explorer;
pub use lead::{
    Case, ExplorerReport, Finding, LEAD_DENIED, Lead, LeadAction, LeadOrder, LeadReport,
    LeadRuling, LeadStep, LeadTask, NearMemory, lead,
};
