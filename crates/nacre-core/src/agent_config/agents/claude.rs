//! Claude Code. The servers lie beside its folder, in a file that the agent itself rewrites all the time.

use super::super::json::Json;
use super::super::spec::AgentSpec;
use super::shared::{TimeUnit, hooks, member, server, skill, usual_event};

pub(super) static CLAUDE: AgentSpec = AgentSpec {
    name: "claude",
    title: "Claude Code",
    shell_variables: &["CLAUDECODE"],
    signs: |places| vec![places.claude.clone(), places.claude_json.clone()],
    mcp: Some(|places, program| {
        let server = server(program, vec![("type", Json::text("stdio"))]);
        member(places.claude_json.clone(), &["mcpServers", "nacre"], server)
    }),
    // A project's settings are only read where Claude starts in its root, so hooks belong into the person's own.
    hooks: Some(|places, program| {
        let path = places.claude.join("settings.json");
        hooks(path, "claude", program, TimeUnit::Seconds, usual_event)
    }),
    skill: Some(|places, _| skill(places.claude.join("skills/nacre/SKILL.md"))),
};
