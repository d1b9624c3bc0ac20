//! How other programs reach Nacre's operations: today MCP over standard input and output.
//!
//! The only crate that waits for requests. It adds descriptions and bounds to operations, and no logic: what a tool can do,
//! `nacre-ops` can do.

pub mod mcp;
