//! Pages of the web, and a search for them.

mod address;
mod connect;
mod fetch;
mod html;
mod search;

pub use address::AddressGuard;
pub use fetch::WebFetch;
pub use search::{SearchEndpoint, SearchEndpointError, WebSearch};

/// The schemas of what a model writes for these, from their types.
#[cfg(test)]
pub(crate) fn derived_schemas() -> Vec<(String, serde_json::Value)> {
    use crate::schemas::derived;
    vec![derived::<fetch::WebFetchInput>(), derived::<search::WebSearchInput>()]
}
