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

/// Plans the trust in every hook of ours that Codex knows, and writes it.
pub(super) fn trust(host: &Host, wiring: &WiringOptions) -> Result<ConnectReport, OpError> {
    let mut planner = apply::begin(host, wiring)?;
    let codex = program_path(host, "codex").ok_or_else(|| {
        OpError { code: ErrorCode::NotSet, ..OpError::failed("`codex` is not on the PATH") }
            .hint("Start codex and choose to trust the hooks when it asks")
    })?;
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

/// What a person has to do for hooks to run.
pub(super) fn notes(plan: &Plan) -> Vec<String> {
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
