//! Codex. Its hooks run only when each is trusted by a hash that Codex itself knows.

use super::super::edit::Edit;
use super::super::json::string;
use super::super::places::Places;
use super::super::spec::{AgentSpec, FileEdit};
use super::super::tables::TomlTable;
use super::shared::{TimeUnit, hooks, shared_skill, usual_event};

pub(super) static CODEX: AgentSpec = AgentSpec {
    name: "codex",
    title: "Codex",
    shell_variables: &["CODEX_THREAD_ID", "CODEX_CI"],
    signs: |places| vec![places.codex.clone()],
    mcp: Some(|places, program| {
        let lines = vec![
            // A JSON string is a TOML string, too.
            format!("command = {}", string(&program.text())),
            r#"args = ["mcp"]"#.to_owned(),
            // Without it a tool that writes a memory is refused wherever nobody can be asked. No tool of ours does more.
            r#"default_tools_approval_mode = "approve""#.to_owned(),
        ];
        let path = vec!["mcp_servers".to_owned(), "nacre".to_owned()];
        let table = TomlTable { path, lines };
        FileEdit::new(places.codex.join("config.toml"), Edit::Tables(vec![table]))
    }),
    hooks: Some(|places, program| {
        let path = places.codex.join("hooks.json");
        hooks(path, "codex", program, TimeUnit::Seconds, usual_event)
    }),
    skill: Some(shared_skill),
};

/// What says that hooks may run: their keys and hashes, as Codex tells them.
pub fn trust(places: &Places, hashes: &[(String, String)]) -> FileEdit {
    let tables = hashes.iter().map(|(key, hash)| TomlTable {
        path: vec!["hooks".to_owned(), "state".to_owned(), key.clone()],
        lines: vec![format!("trusted_hash = {}", string(hash))],
    });
    FileEdit::new(places.codex.join("config.toml"), Edit::Tables(tables.collect()))
}
