//! `status`

use nacre_api::wire::{StatusReport, StatusRequest, StoreStatus};
use nacre_ops::host::Tolerance;
use nacre_ops::{OpError, status as ops};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::text::{Lines, line};
use super::{Effect, Output, ToolSpec, parse};
use crate::calls::Call;

pub(super) const TOOL: ToolSpec = ToolSpec {
    name: "status",
    title: "State of project memory",
    description: "Which project this is, how many memories it has by type, how many wait for the person's review or cannot \
                  be read, which sessions of agents were seen, and when they were last synced. Use it when memory seems \
                  empty or wrong.",
    effect: Effect::Reads,
    is_always_loaded: false,
    tolerance: Tolerance::OfRepository,
    call,
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {}

fn call(call: &Call, arguments: JsonObject) -> Result<Output, OpError> {
    let Arguments {} = parse(arguments)?;
    let report = ops::status(&call.host, &StatusRequest {})?;
    Ok(render(&report).into())
}

fn render(report: &StatusReport) -> String {
    let mut lines = Lines::default();
    let root = report.root.as_deref().map(|root| line(root, 300));
    lines.add(&match (&report.project, root) {
        (Some(name), Some(root)) => format!("Project {} in {root}", line(name, 100)),
        (None, Some(root)) => format!("Project in {root} (not registered)"),
        (_, None) => "No project around this folder: `nacre init` prepares one".to_owned(),
    });
    for store in &report.stores {
        lines.add(&store_line(store));
    }
    // Sessions of other projects are not this agent's.
    let is_here = |project: &Option<String>| project.is_some() && *project == report.root;
    for seen in report.sessions.iter().filter(|seen| is_here(&seen.project)) {
        let states: Vec<String> =
            seen.states.iter().map(|(state, n)| format!("{n} {state}")).collect();
        lines.add(&format!(
            "Sessions of {}: {} seen, {}",
            seen.agent,
            seen.seen,
            states.join(", ")
        ));
    }
    let last = report.last_sync.as_deref().unwrap_or("never");
    lines.add(&format!("Last sync: {}", line(last, 200)));
    if let Some(mistake) = &report.config {
        lines.add(&format!("The settings of the repository are wrong: {}", line(mistake, 300)));
    }
    lines.end_with("")
}

fn store_line(store: &StoreStatus) -> String {
    let counts: Vec<String> = store
        .memories
        .iter()
        .map(|count| format!("{} {}", count.active, count.r#type.as_str()))
        .collect();
    let mut text = format!("Memories ({}): {}", store.scope.as_str(), counts.join(", "));
    if store.candidates != 0 {
        text.push_str(&format!("; {} wait for review (nacre review)", store.candidates));
    }
    if store.broken != 0 {
        text.push_str(&format!("; {} cannot be read (nacre doctor)", store.broken));
    }
    text
}
