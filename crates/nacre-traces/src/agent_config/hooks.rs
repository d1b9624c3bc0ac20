//! Hooks in Claude Code's format, which several agents share: events that contain groups of
//! commands. Nacre recognizes its hooks by their command, even if the user has moved them to
//! another group.

use super::json::Json;
use super::jsonc::{self, Node, Result, value_at};
use super::parts::is_ours;
use super::undo::Undo;

const KEY: &str = "hooks";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookGroup {
    pub event: &'static str,
    pub group: Json,
}

pub(super) fn put(text: &str, keys: &[&str], groups: &[HookGroup]) -> Result<(String, Undo)> {
    let (mut text, mut undo) = (text.to_owned(), Undo::default());
    for HookGroup { event, group } in groups {
        let (new_text, step) = jsonc::append(&text, &[keys, &[event]].concat(), group)?;
        text = new_text;
        undo.containers.extend(step.containers);
    }
    Ok((text, undo))
}

pub(super) fn remove(text: &str, keys: &[&str], agent: &str, undo: &Undo) -> Result<String> {
    let mut text = text.to_owned();
    while let Some(shorter) = without_first(&text, keys, agent)? {
        text = shorter;
    }
    jsonc::tidy(&text, undo)
}

pub(super) fn find_hooks(
    text: &str,
    keys: &[&str],
    agent: &str,
) -> Result<Vec<(String, serde_json::Value)>> {
    let mut found = Vec::new();
    let Some((_, root)) = jsonc::parse_object(text)? else { return Ok(found) };
    let Some(events) = root.at(keys) else { return Ok(found) };
    for event in events.children().iter().filter(|event| event.value.is_list()) {
        let groups = event.value.children().iter().map(|group| &group.value);
        for group in groups.filter(|group| has_ours(text, group, agent)) {
            found.push((event.key.clone().unwrap_or_default(), value_at(text, group)));
        }
    }
    Ok(found)
}

fn has_ours(text: &str, group: &Node, agent: &str) -> bool {
    let hooks = group.at(&[KEY]).map(Node::children).unwrap_or_default();
    hooks.iter().any(|hook| is_our_hook(text, &hook.value, agent))
}

fn is_our_hook(text: &str, hook: &Node, agent: &str) -> bool {
    let command = hook.at(&["command"]).map(|command| value_at(text, command));
    command.is_some_and(|command| command.as_str().is_some_and(|text| is_ours(text, agent)))
}

fn without_first(text: &str, keys: &[&str], agent: &str) -> Result<Option<String>> {
    let Some((_, root)) = jsonc::parse_object(text)? else { return Ok(None) };
    let Some(events) = root.at(keys) else { return Ok(None) };
    for event in events.children().iter().filter(|event| event.value.is_list()) {
        for (group_idx, group) in event.value.children().iter().enumerate() {
            let Some(hooks) = group.value.at(&[KEY]) else { continue };
            let is_ours = |hook: &Node| is_our_hook(text, hook, agent);
            let Some(idx) = hooks.children().iter().position(|hook| is_ours(&hook.value)) else {
                continue;
            };
            return Ok(Some(match hooks.children() {
                [_] => jsonc::without_child(text, &event.value, group_idx),
                _ => jsonc::without_child(text, hooks, idx),
            }));
        }
    }
    Ok(None)
}
