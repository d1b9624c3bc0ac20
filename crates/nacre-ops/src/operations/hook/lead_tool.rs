//! A lead that Nacre runs inside Claude Code is about to use a tool: whether it may.
//!
//! It needs no project and no settings, so that nothing in a repository can change what it says.

use std::path::Path;

use nacre_engine::agents::{LeadBoundary, LeadToolCall};
use serde_json::Value;

/// Why a call of the lead of this memory root may not run.
pub fn lead_tool(root: &Path, tool: &str, input: &Value, folder: Option<&Path>) -> Option<String> {
    match LeadBoundary::new(root) {
        Ok(boundary) => boundary.refuse(LeadToolCall { tool, input, folder }),
        Err(error) => Some(format!("Nothing may be read: {error}.")),
    }
}
