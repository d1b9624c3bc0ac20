//! What operations are asked, what they answer, what they emit and how they fail, as plain data.
//!
//! `--json`, the HTTP API, MCP and the SDKs use these types as they are, and `client` asks a server for them. Nothing here
//! knows what a memory or a map is: serde, serde_json and schemars are all that this crate needs.

pub mod client;
pub mod wire;
