//! Factory droid. Hooks in the usual form, in a file of their own.

use super::super::json::Json;
use super::super::spec::AgentSpec;
use super::shared::{TimeUnit, hooks, member, server, shared_skill, usual_event};

pub(super) static DROID: AgentSpec = AgentSpec {
    name: "droid",
    title: "Factory droid",
    signs: |places| vec![places.home.join(".factory")],
    mcp: Some(|places, program| {
        let server = server(program, vec![("type", Json::text("stdio"))]);
        member(places.home.join(".factory/mcp.json"), &["mcpServers", "nacre"], server)
    }),
    hooks: Some(|places, program| {
        let path = places.home.join(".factory/hooks.json");
        hooks(path, "droid", program, TimeUnit::Seconds, usual_event)
    }),
    skill: Some(shared_skill),
};
