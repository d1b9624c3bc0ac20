//! Editors that can use Nacre's tools but whose transcripts Nacre cannot read.

use super::AgentSpec;
use crate::agent_config::shared::*;

pub(crate) static VSCODE: AgentSpec = AgentSpec {
    signs: |places| vec![places.config.join("Code/User")],
    mcp: Some(|places, program| {
        let server = server(program, vec![("type", Json::text("stdio"))]);
        member(places.config.join("Code/User/mcp.json"), &["servers", "nacre"], server)
    }),
    skill: Some(edit_shared_skill),
    ..AgentSpec::new("vscode", "VS Code")
};

pub(crate) static ZED: AgentSpec = AgentSpec {
    signs: |places| vec![places.config.join("zed")],
    mcp: Some(|places, program| {
        let server = server(program, vec![("source", Json::text("custom"))]);
        member(places.config.join("zed/settings.json"), &["context_servers", "nacre"], server)
    }),
    ..AgentSpec::new("zed", "Zed")
};
