//! Cursor. Nobody here has seen its hooks run, so none are written.

use super::super::spec::AgentSpec;
use super::shared::{member, server, shared_skill};

pub(super) static CURSOR: AgentSpec = AgentSpec {
    name: "cursor",
    title: "Cursor",
    shell_variables: &["CURSOR_AGENT"],
    signs: |places| vec![places.home.join(".cursor")],
    mcp: Some(|places, program| {
        let path = places.home.join(".cursor/mcp.json");
        member(path, &["mcpServers", "nacre"], server(program, Vec::new()))
    }),
    hooks: None,
    skill: Some(shared_skill),
};
