//! Entries shared by several agents: the MCP server, hooks in Claude Code's format, and the skill.

use std::path::PathBuf;

pub(crate) use super::edit::{Edit, FileEdit, MARK};
use super::hooks::HookGroup;
pub(crate) use super::json::{Json, Layout, string};
pub(crate) use super::parts::{HookEvent, HookSpec, Places, Program};
pub(crate) use super::tables::TomlTable;

/// The agent continues without the hook after this many seconds. Hooks normally end much earlier
/// (`hooks.deadline_ms`), so this only matters if the program hangs.
pub(crate) const SECONDS: u64 = 1;

const SKILL: &str = include_str!("../../../../plugin/skills/nacre/SKILL.md");

pub(crate) const MILLISECONDS: u64 = SECONDS * 1000;

/// Limits calls and the start, in milliseconds. Without it, a server that hangs delays the start of
/// some agents by up to ten minutes.
pub(crate) const SERVER_TIMEOUT: (&str, Json) = ("timeout", Json::Number(30_000));

/// Returns a server entry that starts with agent-specific members, followed by `command` and
/// `args`, which most agents use.
pub(crate) fn server(program: &Program, first: Vec<(&'static str, Json)>) -> Json {
    let mut members = first;
    members.push(("command", Json::text(program.text())));
    members.push(("args", Json::List(vec![Json::text("mcp")])));
    Json::Map(members)
}

pub(crate) fn member(path: PathBuf, keys: &[&'static str], value: Json) -> FileEdit {
    FileEdit::new(path, Edit::Member { keys: keys.to_vec(), value })
}

pub(crate) fn hook_file(
    path: PathBuf,
    agent: &'static str,
    program: &Program,
    timeout: u64,
    hooks: impl Iterator<Item = HookSpec>,
) -> FileEdit {
    let groups = hook_groups(agent, program, timeout, hooks);
    FileEdit::new(path, Edit::Hooks { agent, keys: vec!["hooks"], groups })
}

pub(crate) fn hook_groups(
    agent: &'static str,
    program: &Program,
    timeout: u64,
    hooks: impl Iterator<Item = HookSpec>,
) -> Vec<HookGroup> {
    let groups = hooks.map(|HookSpec { event, name, tools }| {
        let hook = Json::Map(vec![
            ("type", Json::text("command")),
            ("command", Json::text(program.silent_hook(agent, event))),
            ("timeout", Json::Number(timeout)),
        ]);
        let matcher = tools.map(|tools| ("matcher", Json::text(tools)));
        let members = matcher.into_iter().chain([("hooks", Json::List(vec![hook]))]);
        HookGroup { event: name, group: Json::Map(members.collect()) }
    });
    groups.collect()
}

/// Appends a line that names Nacre as the origin.
pub(crate) fn skill(path: PathBuf) -> FileEdit {
    let note = format!("\n<!-- {MARK}; `nacre connect AGENT --remove` takes it away. -->\n");
    FileEdit::new(path, Edit::Whole(format!("{SKILL}{note}")))
}

pub(crate) fn edit_shared_skill(places: &Places, _program: &Program) -> FileEdit {
    skill(places.home.join(".agents/skills/nacre/SKILL.md"))
}

pub(crate) fn script(path: PathBuf, template: &str, program: &Program) -> FileEdit {
    let text = template
        .replace("__NACRE__", &string(&program.text()))
        .replace("__GUARD__", &program.has_guard.to_string());
    FileEdit::new(path, Edit::Whole(text))
}
