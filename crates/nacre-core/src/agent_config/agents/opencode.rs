//! OpenCode. It has no hooks but plugins, which run inside it: ours catches everything and waits for nothing long.

use super::super::edit::Edit;
use super::super::json::Json;
use super::super::spec::{AgentSpec, FileEdit};
use super::shared::{script, shared_skill};

const PLUGIN: &str = include_str!("opencode.js");

pub(super) static OPENCODE: AgentSpec = AgentSpec {
    name: "opencode",
    title: "OpenCode",
    shell_variables: &["OPENCODE"],
    signs: |places| vec![places.config.join("opencode"), places.home.join(".local/share/opencode")],
    mcp: Some(|places, program| {
        let command = Json::List(vec![Json::text(program.text()), Json::text("mcp")]);
        let value = Json::Map(vec![
            ("type", Json::text("local")),
            ("command", command),
            ("enabled", Json::Bool(true)),
        ]);
        let folder = places.config.join("opencode");
        let names = ["opencode.json", "opencode.jsonc", "config.json"];
        let candidates = names.iter().map(|name| folder.join(name)).collect();
        FileEdit { candidates, edit: Edit::Member { keys: vec!["mcp", "nacre"], value } }
    }),
    hooks: Some(|places, program| {
        script(places.config.join("opencode/plugins/nacre.js"), PLUGIN, program)
    }),
    skill: Some(shared_skill),
};
