//! Provides Nacre's operations over HTTP, and as an MCP server on standard input and output. The
//! operations themselves are implemented in `nacre-ops`.

mod calls;
pub mod client;
pub mod control;
mod daemon;
pub mod http;
pub mod mcp;
mod people;
mod prelude;
mod rpc;
#[cfg(test)]
mod stored_tests;
