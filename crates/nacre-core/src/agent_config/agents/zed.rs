//! Zed. Its settings are JSON with comments and trailing commas.

use super::super::json::Json;
use super::super::spec::AgentSpec;
use super::shared::{member, server};

pub(super) static ZED: AgentSpec = AgentSpec {
    name: "zed",
    title: "Zed",
    shell_variables: &[],
    signs: |places| vec![places.config.join("zed")],
    mcp: Some(|places, program| {
        let server = server(program, vec![("source", Json::text("custom"))]);
        member(places.config.join("zed/settings.json"), &["context_servers", "nacre"], server)
    }),
    hooks: None,
    skill: None,
};
