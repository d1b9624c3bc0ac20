//! Factory droid. Hooks in the usual form, in a file of their own whose events have no key above them.

use super::super::edit::Edit;
use super::super::json::Json;
use super::super::spec::{AgentSpec, FileEdit};
use super::shared::{TimeUnit, hook_groups, member, server, shared_skill, usual_event};

pub(super) static DROID: AgentSpec = AgentSpec {
    name: "droid",
    title: "Factory droid",
    shell_variables: &["FACTORY_EXEC_TARGET_AUTONOMY"],
    signs: |places| vec![places.home.join(".factory")],
    mcp: Some(|places, program| {
        let server = server(program, vec![("type", Json::text("stdio"))]);
        member(places.home.join(".factory/mcp.json"), &["mcpServers", "nacre"], server)
    }),
    hooks: Some(|places, program| {
        let path = places.home.join(".factory/hooks.json");
        let groups = hook_groups("droid", program, TimeUnit::Seconds, usual_event);
        FileEdit::new(path, Edit::Hooks { agent: "droid", keys: Vec::new(), groups })
    }),
    skill: Some(shared_skill),
};
