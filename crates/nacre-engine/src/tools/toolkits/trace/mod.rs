//! What was said in sessions, as far as an agent may look for it.

mod search;

pub use search::{TraceHandle, TraceSearch};

/// The schemas of what a model writes for these, from their types.
#[cfg(test)]
pub(crate) fn derived_schemas() -> Vec<(String, serde_json::Value)> {
    use crate::schemas::derived;
    vec![derived::<search::TraceSearchInput>()]
}
