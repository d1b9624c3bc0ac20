//! pi. It knows no MCP; hooks are an extension that runs inside it.

use super::super::spec::AgentSpec;
use super::shared::{script, shared_skill};

const EXTENSION: &str = include_str!("pi.ts");

pub(super) static PI: AgentSpec = AgentSpec {
    name: "pi",
    title: "pi",
    shell_variables: &["PI_CODING_AGENT"],
    signs: |places| vec![places.home.join(".pi")],
    mcp: None,
    hooks: Some(|places, program| {
        script(places.home.join(".pi/agent/extensions/nacre.ts"), EXTENSION, program)
    }),
    skill: Some(shared_skill),
};
