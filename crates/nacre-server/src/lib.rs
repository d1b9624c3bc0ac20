//! How other programs reach Nacre's operations: HTTP, and MCP over standard input and output.
//!
//! The only crate that waits for requests. It adds routes, descriptions and bounds to operations, and no logic: what a tool or a
//! route can do, `nacre-ops` can do.

mod calls;
pub mod control;
mod daemon;
pub mod http;
pub mod mcp;
mod people;
mod permit;
mod rpc;
#[cfg(test)]
mod stored;
