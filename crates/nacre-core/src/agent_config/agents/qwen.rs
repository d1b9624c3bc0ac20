//! Qwen Code. Claude Code's names for the events, and milliseconds.

use super::super::spec::AgentSpec;
use super::shared::{TimeUnit, hooks, member, server, shared_skill, usual_event};

pub(super) static QWEN: AgentSpec = AgentSpec {
    name: "qwen",
    title: "Qwen Code",
    shell_variables: &["QWEN_CODE"],
    signs: |places| vec![places.home.join(".qwen")],
    mcp: Some(|places, program| {
        let path = places.home.join(".qwen/settings.json");
        member(path, &["mcpServers", "nacre"], server(program, Vec::new()))
    }),
    hooks: Some(|places, program| {
        let path = places.home.join(".qwen/settings.json");
        hooks(path, "qwen", program, TimeUnit::Milliseconds, usual_event)
    }),
    skill: Some(shared_skill),
};
