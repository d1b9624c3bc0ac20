//! The agents there are, as data.

mod citations;
mod crew;
mod delegate;
mod explorer;

pub use citations::{Citation, CitationState, Report, check_report};
pub use crew::Crew;
pub use delegate::Delegate;
pub use explorer::explorer;
