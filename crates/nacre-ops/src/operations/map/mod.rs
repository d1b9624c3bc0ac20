//! The map of a project's code: what it says, what changed, and why a file is in it. One operation a file.
//!
//! Each opens the project's map and brings it up to date before it answers (`code_map.rs`). A budget is counted on the bytes
//! that are printed, so `explore`, `context` and `search_code` return the payload beside the report.

mod bench;
mod carried;
mod changes;
mod code_map;
mod context;
mod delta;
mod explain;
mod explore;
mod files;
mod kept_map;
mod payload;
mod recalled;
mod refresh;
mod search_code;
mod survey;
#[cfg(test)]
mod tests;
mod watch;
mod wire;

pub use bench::bench;
pub use context::{DEFAULT_BUDGET, context};
pub use delta::delta;
pub use explain::explain;
pub use explore::explore;
pub use files::files;
pub use payload::Answer;
pub(super) use refresh::bring_up_to_date;
pub use refresh::refresh;
pub use search_code::{DEFAULT_LIMIT as DEFAULT_MATCHES, MAX_LIMIT as MAX_MATCHES, search_code};
pub use watch::{MIN_INTERVAL_MS, watch};
