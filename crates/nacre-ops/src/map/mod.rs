//! Operations on the code map. Token budgets apply to the printed bytes, so `explore`, `context`
//! and `search_code` return these bytes along with the report.

mod changes;
mod code_map;
mod context;
mod explore;
mod search_code;
#[cfg(test)]
mod tests;

pub(super) use changes::bring_up_to_date;
pub use changes::{MIN_INTERVAL_MS, delta, refresh, watch};
pub use code_map::{Answer, files};
pub use context::{DEFAULT_BUDGET, context};
pub use explore::{explain, explore};
pub use search_code::{DEFAULT_LIMIT as DEFAULT_MATCHES, MAX_LIMIT as MAX_MATCHES, search_code};
