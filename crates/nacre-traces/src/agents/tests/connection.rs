//! Tests the entries written for each agent, and their removal from files that have changed in the
//! meantime.

use std::path::Path;

use crate::agent_config::{ConnectedPart, Edit, EntryState, Places, Program, Undo};
use crate::agents::connectable_agents;

fn program() -> Program {
    Program { path: "/opt/nacre/bin/nacre".into(), has_guard: true }
}

fn edits() -> impl Iterator<Item = (&'static str, ConnectedPart, Edit)> {
    let places = Places::at(Path::new("/home/ada"));
    connectable_agents().flat_map(move |agent| {
        let places = places.clone();
        ConnectedPart::USUAL.into_iter().filter_map(move |part| {
            let edit = agent.edit(part, &places, &program())?;
            Some((agent.name, part, edit.edit))
        })
    })
}

#[test]
fn every_entry_comes_and_goes() {
    let mut n_edits = 0;
    for (agent, part, edit) in edits() {
        n_edits += 1;
        let (text, undo) = edit.put(None).unwrap();
        assert_eq!(edit.state(&text).unwrap(), EntryState::Current, "{agent} {part:?}");
        let left = edit.remove(&text, &undo).unwrap().unwrap_or_default();
        assert_eq!(left, "", "{agent} {part:?}");
        assert_eq!(edit.state("").unwrap(), EntryState::Missing, "{agent} {part:?}");
    }
    assert!(n_edits > 25, "{n_edits}");
}

#[test]
fn an_entry_of_another_program_is_outdated() {
    let places = Places::at(Path::new("/home/ada"));
    let other = Program { path: "/elsewhere/nacre".into(), has_guard: false };
    for agent in connectable_agents() {
        for part in [ConnectedPart::Mcp, ConnectedPart::Hooks] {
            let Some(ours) = agent.edit(part, &places, &program()) else { continue };
            let theirs = agent.edit(part, &places, &other).unwrap();
            let (text, _) = theirs.edit.put(None).unwrap();
            assert_eq!(ours.edit.state(&text).unwrap(), EntryState::Outdated, "{}", agent.name);
        }
    }
}

#[test]
fn hooks_of_a_person_stay() {
    let (_, _, edit) = edits()
        .find(|(agent, part, _)| *agent == "claude" && *part == ConnectedPart::Hooks)
        .unwrap();
    let text = "{\n  // mine\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]},\n    ],\n  },\n}\n";
    let (after, undo) = edit.put(Some(text)).unwrap();
    assert!(after.contains("say done") && after.contains("hook claude before-tool"));
    assert_eq!(edit.remove(&after, &undo).unwrap().unwrap(), text);
    // If the user moved Nacre's hook into another group, only that hook is removed.
    let moved = "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"command\": \"a\"}, {\"command\": \"/x/nacre hook claude turn-end\"}]}]}}";
    let left = edit.remove(moved, &undo).unwrap().unwrap();
    assert_eq!(left, "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"command\": \"a\"}]}]}}");
}

#[test]
fn toml_tables_come_and_go() {
    let (_, _, edit) = edits().find(|(agent, ..)| *agent == "codex").unwrap();
    for text in [
        "model = \"x\"",
        "model = \"x\"\n",
        "# a\r\n[a]\r\nb = 1\r\n",
        "\u{feff}a = 1\n",
        "[mcp_servers.other]\ncommand = \"y\" # z\n\n",
        "[mcp_servers]\n",
        "\n\n",
    ] {
        let (after, undo) = edit.put(Some(text)).unwrap();
        assert_eq!(edit.state(&after).unwrap(), EntryState::Current, "{after}");
        assert_eq!(edit.remove(&after, &undo).unwrap().unwrap(), text);
        // Tables appended by another program stay separate from the original text.
        let grown = format!("{after}[z]\nc = 2\n");
        let left = edit.remove(&grown, &undo).unwrap().unwrap();
        assert_eq!(edit.state(&left).unwrap(), EntryState::Missing, "{left}");
        assert!(left.ends_with("[z]\nc = 2\n") && left.starts_with(text.trim_end()), "{left}");
        // Removal must work even without a record of what was added.
        let left = edit.remove(&grown, &Undo::default()).unwrap().unwrap();
        assert_eq!(edit.state(&left).unwrap(), EntryState::Missing, "{left}");
    }
    for text in ["mcp_servers = {}\n", "[mcp_servers.nacre]\ncommand = \"mine\"\n", "a = \n"] {
        assert!(edit.put(Some(text)).is_err(), "{text}");
    }
}
