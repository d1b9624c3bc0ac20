//! Lets Codex run the hooks that were written for it. Only Codex knows their hashes, so it is asked; a person has to want it.

use std::path::PathBuf;

use nacre_api::wire::{ConnectReport, ErrorCode, WiringOptions};
use nacre_core::agent_config::{Part, is_ours};
use serde_json::{Value, json};

use super::dialogue::Dialogue;
use super::plan::Plan;
use super::{apply, report};
use crate::error::OpError;
use crate::host::{Host, program_path};

/// Where Codex is; an error where it cannot be asked.
pub fn codex_program(host: &Host) -> Result<PathBuf, OpError> {
    program_path(host, "codex").ok_or_else(|| {
        OpError { code: ErrorCode::NotSet, ..OpError::failed("`codex` is not on the PATH") }
            .hint("Start codex and choose to trust the hooks when it asks")
    })
}

/// Plans the trust in every hook of ours that Codex knows, and writes it.
pub(super) fn trust(host: &Host, wiring: &WiringOptions) -> Result<ConnectReport, OpError> {
    let mut planner = apply::begin(host, wiring)?;
    let codex = codex_program(host)?;
    let folder = planner.places().codex.clone();
    let hashes = hashes(host, &codex, &folder).map_err(|why| {
        let error = OpError::failed("Codex could not list its hooks");
        OpError { code: ErrorCode::Unavailable, causes: vec![why], ..error }
            .hint("Start codex and choose to trust the hooks when it asks")
    })?;
    if hashes.is_empty() {
        return Err(
            OpError::not_found("Codex knows no hooks of Nacre").hint("nacre connect codex --hooks")
        );
    }
    planner.add_trust(hashes)?;
    let plan = planner.plan;
    if !wiring.dry_run {
        apply::apply(host, &plan, wiring)?;
    }
    report(host, &plan)
}

/// The keys and hashes of our hooks, as Codex tells them.
fn hashes(
    host: &Host,
    codex: &std::path::Path,
    folder: &std::path::Path,
) -> Result<Vec<(String, String)>, String> {
    let mut server = Dialogue::start(host, codex, &["app-server"])?;
    let client = json!({"clientInfo": {"name": "nacre", "title": "Nacre", "version": env!("CARGO_PKG_VERSION")}});
    server.ask("initialize", client, None)?;
    server.tell("initialized", None)?;
    let cwds = json!({"cwds": [folder]});
    let listed = server.ask("hooks/list", cwds, None)?;
    let mut hashes = Vec::new();
    collect(&listed, &mut hashes);
    hashes.sort();
    hashes.dedup();
    match listed.pointer("/data/0/errors/0/message").and_then(Value::as_str) {
        // Settings that Codex cannot use are why it has no hooks.
        Some(why) if hashes.is_empty() => Err(why.to_owned()),
        Some(_) | None => Ok(hashes),
    }
}

/// Finds hooks of ours anywhere in an answer, whose shape differs between versions.
fn collect(value: &Value, hashes: &mut Vec<(String, String)>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, hashes)),
        Value::Object(members) => {
            let text = |name: &str| members.get(name).and_then(Value::as_str);
            let hook = text("command").zip(text("key")).zip(text("currentHash"));
            if let Some(((command, key), hash)) = hook
                && is_ours(command, "codex")
            {
                hashes.push((key.to_owned(), hash.to_owned()));
            }
            members.values().for_each(|value| collect(value, hashes));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// What a person should know about the files that change: what else they have an effect on, and what is left to do.
pub(super) fn notes(plan: &Plan) -> Vec<String> {
    let mut notes = side_effects(plan);
    notes.extend(left_to_do(plan));
    notes
}

/// What the settings do beyond the agent and the tools that were asked for.
fn side_effects(plan: &Plan) -> Vec<String> {
    let brings = |end: &str, sign: &str| {
        let has = |text: &Option<String>| text.as_ref().is_some_and(|text| text.contains(sign));
        plan.files
            .iter()
            .any(|(path, file)| path.ends_with(end) && has(&file.after) && !has(&file.before))
    };
    let effects = [
        (
            brings("config.toml", "default_tools_approval_mode"),
            "Codex calls Nacre's tools without asking you (`default_tools_approval_mode`)",
        ),
        (
            brings(".agents/skills/nacre/SKILL.md", ""),
            "Other agents read `~/.agents/skills`, too, and find the skill there",
        ),
    ];
    effects.into_iter().filter(|(is_so, _)| *is_so).map(|(_, note)| note.to_owned()).collect()
}

/// What a person has to do for hooks to run.
fn left_to_do(plan: &Plan) -> Vec<String> {
    let holds = |part: Part| {
        let mut entries = plan.new.files.values().flat_map(|record| &record.entries);
        entries.any(|entry| entry.is("codex", part))
    };
    let changes_hooks = |path: &PathBuf| path.ends_with("hooks.json");
    let is_written = plan.files.iter().any(|(path, file)| changes_hooks(path) && file.changes());
    if !is_written || !holds(Part::Hooks) || holds(Part::Trust) {
        return Vec::new();
    }
    vec![
        "Codex runs hooks only when you trust them: `nacre connect codex --trust-hooks`, or choose it when codex asks"
            .to_owned(),
    ]
}
