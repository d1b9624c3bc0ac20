//! Homes with realistic settings files, and helpers that inspect them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::home::TestHome;

/// Every agent, with realistic settings files.
pub(super) const HOMES: &[(&str, &[(&str, &str)])] = &[
    (
        "claude",
        &[
            (
                ".claude.json",
                "{\n  \"numStartups\": 184,\n  \"mcpServers\": {\n    \"github\": {\n      \"type\": \"stdio\",\n      \"command\": \"npx\",\n      \"args\": [\"-y\", \"server-github\"],\n      \"env\": {}\n    }\n  },\n  \"projects\": {\n    \"/home/ada/x\": {\"allowedTools\": [], \"history\": [{\"display\": \"a {b} // c\"}]}\n  },\n  \"oauthAccount\": null\n}\n",
            ),
            (
                ".claude/settings.json",
                "{\n  \"permissions\": {\"allow\": [\"Bash(git:*)\"]},\n  \"hooks\": {\n    \"PostToolUse\": [\n      {\n        \"matcher\": \"Edit|Write\",\n        \"hooks\": [{\"type\": \"command\", \"command\": \"prettier --write\"}]\n      }\n    ],\n    \"Stop\": []\n  },\n  \"statusLine\": {\"type\": \"command\", \"command\": \"~/bin/status\"}\n}\n",
            ),
        ],
    ),
    (
        "codex",
        &[
            (
                ".codex/config.toml",
                "# my settings\nmodel = \"gpt-5\"\napproval_policy = \"on-request\"\n\n[mcp_servers.docs]\ncommand = \"docs-server\" # local\nargs = [\n  \"--stdio\",\n]\n\n[projects.\"/home/ada/x\"]\ntrust_level = \"trusted\"\n",
            ),
            (
                ".codex/hooks.json",
                "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"notify-send done\"}]}]}}\n",
            ),
        ],
    ),
    (
        "opencode",
        &[(
            ".config/opencode/opencode.jsonc",
            "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  // the cheap one\n  \"small_model\": \"x/y\",\n  \"mcp\": {\n    \"jira\": { \"type\": \"remote\", \"url\": \"https://jira.example/mcp\", \"enabled\": false }, // off\n  },\n  /* \"theme\": \"system\" */\n}\n",
        )],
    ),
    (
        "gemini",
        &[(
            ".gemini/settings.json",
            "{\n    \"security\": { \"auth\": { \"selectedType\": \"oauth-personal\" } },\n    \"hooks\": { \"SessionStart\": [ { \"hooks\": [ { \"type\": \"command\", \"command\": \"date\" } ] } ] },\n    \"ui\": { \"theme\": \"Dracula\" } // nice\n}\n",
        )],
    ),
    (
        "qwen",
        &[(
            ".qwen/settings.json",
            "{\"security\":{\"auth\":{\"selectedType\":\"openai\"}},\"$version\":2}",
        )],
    ),
    (
        "copilot",
        &[
            (
                ".copilot/mcp-config.json",
                "{\n  \"mcpServers\": {\n    \"x\": {\"type\": \"http\", \"url\": \"https://x\", \"tools\": [\"*\"]}\n  }\n}\n",
            ),
            (".copilot/hooks/mine.json", "{\"version\": 1, \"hooks\": {}}\n"),
        ],
    ),
    ("pi", &[(".pi/agent/settings.json", "{\n  \"defaultProvider\": \"anthropic\"\n}\n")]),
    (
        "droid",
        &[
            (".factory/mcp.json", "{\n  \"mcpServers\": {}\n}\n"),
            (
                ".factory/hooks.json",
                "{\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}]}\n",
            ),
            (".factory/settings.json", "{\n  // Factory\n  \"model\": \"opus\"\n}\n"),
        ],
    ),
    (
        "cursor",
        &[(
            ".cursor/mcp.json",
            "{\n\t\"mcpServers\": {\n\t\t\"linear\": {\n\t\t\t\"command\": \"npx\",\n\t\t\t\"args\": [ \"mcp-remote\" ]\n\t\t}\n\t}\n}\n",
        )],
    ),
    (
        "vscode",
        &[(
            ".config/Code/User/mcp.json",
            "{\n\t\"inputs\": [],\n\t\"servers\": {\n\t\t\"play\": { \"command\": \"npx\" }, // browser\n\t},\n}\n",
        )],
    ),
    (
        "zed",
        &[(
            ".config/zed/settings.json",
            "// Zed settings\n//\n// For information, see the documentation\n{\n  \"vim_mode\": true,\n  \"context_servers\": {\n    // none of these yet\n  },\n  \"theme\": {\n    \"mode\": \"system\",\n  },\n}\n",
        )],
    ),
];

type Change = fn(&str) -> String;

/// Returns functions that write the same settings in different ways.
pub(super) fn variants() -> [(&'static str, Change); 4] {
    [
        ("as it is", str::to_owned),
        ("BOM and CRLF", |text| format!("\u{feff}{}", text.replace('\n', "\r\n"))),
        ("tabs and no final newline", |text| text.replace("  ", "\t").trim_end().to_owned()),
        ("blank lines around", |text| format!("\n\n{text}\n\n\n")),
    ]
}

/// A home whose files are all compared.
pub(super) struct Machine {
    pub(super) home: TestHome,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    File(Vec<u8>),
    Link(PathBuf),
    Folder,
}

impl Machine {
    pub(super) fn new() -> Self {
        Self { home: TestHome::empty() }
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.home.root().join(path)
    }

    pub(super) fn put(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(super) fn text(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    pub(super) fn edit(&self, path: &str, change: impl FnOnce(String) -> String) {
        self.put(path, &change(self.text(path)));
    }

    pub(super) fn ok(&self, args: &[&str]) -> String {
        self.home.ok(args)
    }

    pub(super) fn json(&self, args: &[&str]) -> Value {
        let (code, value) = self.home.json(args);
        assert_eq!(code, 0, "{value}");
        value
    }

    /// Returns the entry that `connect list` shows for an agent.
    pub(super) fn entry(&self, agent: &str) -> Value {
        entry(&self.json(&["connect", "list"]), agent).clone()
    }

    /// Returns everything in the home except the store, the repository and the global directory.
    pub(super) fn tree(&self) -> BTreeMap<PathBuf, Found> {
        let mut found = BTreeMap::new();
        collect(&self.home.root(), &self.home.root(), &mut found);
        found
    }
}

/// Returns an agent's entry in a report.
pub(super) fn entry<'r>(report: &'r Value, agent: &str) -> &'r Value {
    let agents = report["agents"].as_array().unwrap();
    agents.iter().find(|entry| entry["agent"] == agent).unwrap()
}

fn collect(root: &Path, folder: &Path, found: &mut BTreeMap<PathBuf, Found>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(root).unwrap().to_owned();
        if name == Path::new(".nacre") || name == Path::new("work") {
            continue;
        }
        if path.is_symlink() {
            found.insert(name, Found::Link(fs::read_link(&path).unwrap()));
        } else if path.is_dir() {
            found.insert(name, Found::Folder);
            collect(root, &path, found);
        } else {
            found.insert(name, Found::File(fs::read(&path).unwrap()));
        }
    }
}

/// Checks that a file still has all its content in the same order and, if it is JSON, is valid.
pub(super) fn check_kept(before: &str, after: &str, name: &str) {
    let mut lines = after.lines();
    for line in before.lines() {
        let line = line.trim_end();
        // A comma may have been added between a value and its comment, and an empty pair of
        // brackets may have been split over several lines.
        let bare = |text: &str| text.replace(',', "").trim().to_owned();
        let is_it = |other: &str| {
            bare(other).starts_with(bare(line).trim_end_matches(['{', '}', '[', ']', ' ']))
        };
        assert!(lines.any(is_it), "{name}: {line:?} is gone from\n{after}");
    }
    if name.ends_with(".toml") {
        return;
    }
    let (old, new) = (parse_json(before), parse_json(after));
    assert!(is_within(&old, &new), "{name}: {old} is not within {new}");
}

/// Returns whether the new value contains everything in the old one.
fn is_within(old: &Value, new: &Value) -> bool {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            old.iter().all(|(key, value)| new.get(key).is_some_and(|new| is_within(value, new)))
        }
        (Value::Array(old), Value::Array(new)) => {
            old.len() <= new.len() && old.iter().zip(new).all(|(old, new)| is_within(old, new))
        }
        _ => old == new,
    }
}

/// Parses JSON with comments, independently of the product's parser.
pub(super) fn parse_json(text: &str) -> Value {
    let mut plain = String::new();
    let mut rest = text.trim_start_matches('\u{feff}');
    while let Some(c) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").unwrap() + 2
        } else if c == '"' {
            let mut end = 1;
            while !rest[end..].starts_with('"') {
                end += if rest[end..].starts_with('\\') {
                    2
                } else {
                    rest[end..].chars().next().unwrap().len_utf8()
                };
            }
            plain.push_str(&rest[..=end]);
            end + 1
        } else {
            if matches!(c, '}' | ']') && plain.trim_end().ends_with(',') {
                plain.truncate(plain.trim_end().len() - 1);
            }
            plain.push(c);
            c.len_utf8()
        };
        rest = &rest[length..];
    }
    serde_json::from_str(&plain).unwrap_or_else(|error| panic!("{error}: {plain}"))
}
