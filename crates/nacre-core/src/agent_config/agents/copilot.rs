//! Copilot CLI. Hooks lie in files of their own. A hook before a tool that fails would refuse every tool, so none may fail.

use super::super::commands::Program;
use super::super::edit::{Edit, MARK};
use super::super::json::{Json, Layout};
use super::super::parts::HookEvent;
use super::super::spec::{AgentSpec, FileEdit};
use super::shared::{HOOK_SECONDS, member, server, shared_skill};

pub(super) static COPILOT: AgentSpec = AgentSpec {
    name: "copilot",
    title: "Copilot CLI",
    shell_variables: &["COPILOT_CLI"],
    signs: |places| vec![places.home.join(".copilot")],
    mcp: Some(|places, program| {
        let first = vec![("type", Json::text("local"))];
        let Json::Map(mut members) = server(program, first) else { unreachable!("it is a map") };
        members.push(("tools", Json::List(vec![Json::text("*")])));
        let path = places.home.join(".copilot/mcp-config.json");
        member(path, &["mcpServers", "nacre"], Json::Map(members))
    }),
    hooks: Some(|places, program| {
        let path = places.home.join(".copilot/hooks/nacre.json");
        FileEdit::new(path, Edit::Whole(hooks_file(program)))
    }),
    skill: Some(shared_skill),
};

fn hooks_file(program: &Program) -> String {
    let events = program.events().map(|event| {
        let name = match event {
            HookEvent::Start => "sessionStart",
            HookEvent::Prompt => "userPromptSubmitted",
            HookEvent::BeforeTool => "preToolUse",
            HookEvent::TurnEnd => "agentStop",
            HookEvent::SessionEnd => "sessionEnd",
        };
        let hook = Json::Map(vec![
            ("type", Json::text("command")),
            ("bash", Json::text(format!("{} || exit 0", program.hook("copilot", event)))),
            ("timeoutSec", Json::Number(HOOK_SECONDS)),
        ]);
        (name, Json::List(vec![hook]))
    });
    let file = Json::Map(vec![
        ("version", Json::Number(1)),
        ("description", Json::text(MARK)),
        ("hooks", Json::Map(events.collect())),
    ]);
    let layout = Layout { newline: "\n", unit: "  ".to_owned(), is_open: true, is_spaced: true };
    format!("{}\n", layout.value(&file, ""))
}
