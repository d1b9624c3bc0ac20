//! Pages of the web, and a search for them.

mod address;
mod connect;
mod fetch;
mod html;
mod search;

pub use address::AddressGuard;
pub use fetch::WebFetch;
pub use search::{SearchEndpoint, SearchEndpointError, WebSearch};
