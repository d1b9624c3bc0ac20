//! What several agents have in common: the server's entry, hooks in the usual form, the skill.

use std::path::PathBuf;

use super::super::commands::Program;
use super::super::edit::{Edit, MARK};
use super::super::hooks::HookGroup;
use super::super::json::Json;
use super::super::parts::HookEvent;
use super::super::places::Places;
use super::super::spec::FileEdit;

/// How long a hook may take before its agent goes on without it, in seconds. A hook ends itself long before
/// (`hooks.deadline_ms`); this is how long a person waits at each event for a program that hangs.
pub(super) const HOOK_SECONDS: u64 = 1;

/// The skill that is also part of the plugin.
const SKILL: &str = include_str!("../../../../../plugin/skills/nacre/SKILL.md");

/// How an agent counts the time of a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimeUnit {
    Seconds,
    Milliseconds,
}

impl TimeUnit {
    fn count(self, seconds: u64) -> Json {
        match self {
            Self::Seconds => Json::Number(seconds),
            Self::Milliseconds => Json::Number(seconds * 1000),
        }
    }
}

/// A server in the form that most agents read: `command` and `args`, after what else the agent wants.
pub(super) fn server(program: &Program, first: Vec<(&'static str, Json)>) -> Json {
    let mut members = first;
    members.push(("command", Json::text(program.text())));
    members.push(("args", Json::List(vec![Json::text("mcp")])));
    Json::Map(members)
}

/// A member of a JSON file.
pub(super) fn member(path: PathBuf, keys: &[&'static str], value: Json) -> FileEdit {
    FileEdit::new(path, Edit::Member { keys: keys.to_vec(), value })
}

/// Hooks in the form that Claude Code made usual, below the key `hooks`.
pub(super) fn hooks(
    path: PathBuf,
    agent: &'static str,
    program: &Program,
    unit: TimeUnit,
    name: fn(HookEvent) -> &'static str,
) -> FileEdit {
    let groups = hook_groups(agent, program, unit, name);
    FileEdit::new(path, Edit::Hooks { agent, keys: vec!["hooks"], groups })
}

/// A group for each event, in the agent's own words.
pub(super) fn hook_groups(
    agent: &'static str,
    program: &Program,
    unit: TimeUnit,
    name: fn(HookEvent) -> &'static str,
) -> Vec<HookGroup> {
    let groups = program.events().map(|event| {
        let hook = Json::Map(vec![
            ("type", Json::text("command")),
            ("command", Json::text(program.silent_hook(agent, event))),
            ("timeout", unit.count(HOOK_SECONDS)),
        ]);
        HookGroup { event: name(event), group: Json::Map(vec![("hooks", Json::List(vec![hook]))]) }
    });
    groups.collect()
}

/// The events as Claude Code names them.
pub(super) fn usual_event(event: HookEvent) -> &'static str {
    match event {
        HookEvent::Start => "SessionStart",
        HookEvent::Prompt => "UserPromptSubmit",
        HookEvent::BeforeTool => "PreToolUse",
        HookEvent::TurnEnd => "Stop",
        HookEvent::SessionEnd => "SessionEnd",
    }
}

/// The skill, with a line that says where it came from.
pub(super) fn skill(path: PathBuf) -> FileEdit {
    let note = format!("\n<!-- {MARK}; `nacre connect AGENT --remove` takes it away. -->\n");
    FileEdit::new(path, Edit::Whole(format!("{SKILL}{note}")))
}

/// The skill in the folder that most agents read.
pub(super) fn shared_skill(places: &Places, _program: &Program) -> FileEdit {
    skill(places.shared_skill())
}

/// A script with the program's path in it.
pub(super) fn script(path: PathBuf, template: &str, program: &Program) -> FileEdit {
    let text = template
        .replace("__NACRE__", &super::super::json::string(&program.text()))
        .replace("__GUARD__", &program.has_guard.to_string());
    FileEdit::new(path, Edit::Whole(text))
}
