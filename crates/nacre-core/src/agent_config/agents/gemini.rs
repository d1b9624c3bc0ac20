//! Gemini CLI. Hooks in the usual form with names of its own, and milliseconds.

use super::super::parts::HookEvent;
use super::super::spec::AgentSpec;
use super::shared::{TimeUnit, hooks, member, server, shared_skill};

pub(super) static GEMINI: AgentSpec = AgentSpec {
    name: "gemini",
    title: "Gemini CLI",
    shell_variables: &["GEMINI_CLI"],
    signs: |places| vec![places.home.join(".gemini")],
    mcp: Some(|places, program| {
        let path = places.home.join(".gemini/settings.json");
        member(path, &["mcpServers", "nacre"], server(program, Vec::new()))
    }),
    hooks: Some(|places, program| {
        let path = places.home.join(".gemini/settings.json");
        hooks(path, "gemini", program, TimeUnit::Milliseconds, |event| match event {
            HookEvent::Start => "SessionStart",
            HookEvent::Prompt => "BeforeAgent",
            HookEvent::BeforeTool => "BeforeTool",
            HookEvent::TurnEnd => "AfterAgent",
            HookEvent::SessionEnd => "SessionEnd",
        })
    }),
    skill: Some(shared_skill),
};
