//! Visual Studio Code, of the default profile.

use super::super::json::Json;
use super::super::spec::AgentSpec;
use super::shared::{member, server, shared_skill};

pub(super) static VSCODE: AgentSpec = AgentSpec {
    name: "vscode",
    title: "VS Code",
    shell_variables: &[],
    signs: |places| vec![places.config.join("Code/User")],
    mcp: Some(|places, program| {
        let server = server(program, vec![("type", Json::text("stdio"))]);
        member(places.config.join("Code/User/mcp.json"), &["servers", "nacre"], server)
    }),
    hooks: None,
    skill: Some(shared_skill),
};
